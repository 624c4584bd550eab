//! The receiving half of a lane.

use bevy::prelude::*;
use cubewire_protocol::Arrival;

use super::playout::Playback;
use super::transport::{CHANNEL, Connection};
use super::{LaneMeter, LaneSettings, Replica};

/// Ticks of the snapshots that were decoded in this tick.
#[derive(Component, Debug, Default)]
pub(super) struct Decoded(pub(super) Vec<u64>);

type Receivers<'a> = (
    &'a LaneSettings,
    &'a mut Connection,
    &'a mut Replica,
    &'a mut Decoded,
    &'a mut Playback,
    &'a mut LaneMeter,
);

pub(super) fn receive(time: Res<Time>, mut lanes: Query<Receivers<'_>>) {
    let now = time.elapsed();
    for (settings, mut connection, mut replica, mut decoded, mut playback, mut meter) in &mut lanes
    {
        let waits = settings.shown_interpolation().waits();
        let receiver = &mut replica.0;
        decoded.0.clear();
        while let Some(message) = connection.client.receive_message(CHANNEL) {
            let newest = receiver.newest();
            match receiver.on_packet(now, &message) {
                Ok(Arrival::Decoded { tick, late, .. }) => {
                    decoded.0.push(tick);
                    meter.received += 1;
                    // Where nothing waits, what is newer is shown.
                    let is_late = if waits { late } else { Some(tick) < newest };
                    meter.current().late += usize::from(is_late);
                    let lateness = receiver.playout().clock().lateness(now, tick);
                    playback.adaptive.arrived(now, tick, lateness);
                }
                Ok(Arrival::Duplicate { .. }) => meter.duplicates += 1,
                Ok(Arrival::OutOfWindow { .. }) => meter.out_of_window += 1,
                Err(error) => meter.refuse(error),
            }
        }
        while let Some(feedback) = receiver.poll_feedback() {
            let message = feedback.encode();
            connection.client.send_message(CHANNEL, message);
        }
    }
}
