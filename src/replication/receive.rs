//! The receiving half of a lane.

use bevy::prelude::*;
use cubewire_protocol::Arrival;

use super::playout::Playback;
use super::transport::{CHANNEL, Connection};
use super::{LaneMeter, Replica};

/// Ticks of the snapshots that were decoded in this tick.
#[derive(Component, Debug, Default)]
pub(super) struct Decoded(pub(super) Vec<u64>);

type Receivers<'a> = (
    &'a mut Connection,
    &'a mut Replica,
    &'a mut Decoded,
    &'a mut Playback,
    &'a mut LaneMeter,
);

pub(super) fn receive(time: Res<Time>, mut lanes: Query<Receivers<'_>>) {
    let now = time.elapsed();
    for (mut connection, mut replica, mut decoded, mut playback, mut meter) in &mut lanes {
        let receiver = &mut replica.0;
        decoded.0.clear();
        while let Some(message) = connection.client.receive_message(CHANNEL) {
            match receiver.on_packet(now, &message) {
                Ok(Arrival::Decoded { tick, late, .. }) => {
                    decoded.0.push(tick);
                    meter.received += 1;
                    meter.current().late += usize::from(late);
                    let lateness = receiver.playout().clock().lateness(now, tick);
                    playback.adaptive.arrived(now, tick, lateness);
                }
                Ok(Arrival::Duplicate { .. }) => meter.duplicates += 1,
                Ok(Arrival::TooOld { .. }) => meter.too_old += 1,
                Err(error) => meter.refuse(error),
            }
        }
        while let Some(feedback) = receiver.poll_feedback() {
            let message = feedback.encode();
            connection.client.send_message(CHANNEL, message);
        }
    }
}
