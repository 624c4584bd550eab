//! Connects the two ends of a lane in one process over a simulated link.

use bevy::prelude::*;
use cubewire_bevy::{DirectionTraffic, HEADER_BYTES, MemoryLink, MessageBuffer};
use cubewire_link::LinkStats;

use crate::replication::transport::{End, ReceiverBuffer, TransportSystems};
use crate::replication::{LaneMeter, LinkSettings, LocalLane, end};

/// Connects every [`LocalLane`] over the link that its [`LinkSettings`] describe. Packets are delayed in simulation time.
pub struct MemoryTransportPlugin;

impl Plugin for MemoryTransportPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(connect).add_systems(
            FixedUpdate,
            (
                (follow_settings, receive(End::Server))
                    .chain()
                    .in_set(TransportSystems::Receive(End::Server)),
                flush(End::Server).in_set(TransportSystems::Flush(End::Server)),
                (receive(End::Client), count_losses)
                    .chain()
                    .in_set(TransportSystems::Receive(End::Client)),
                flush(End::Client).in_set(TransportSystems::Flush(End::Client)),
            ),
        );
    }
}

#[derive(Component, Debug)]
struct Connection(MemoryLink);

fn connect(added: On<Add, LocalLane>, lanes: Query<&LinkSettings>, mut commands: Commands) {
    let Ok(settings) = lanes.get(added.entity) else {
        return;
    };
    // A link uses this seed and the next one, for its two directions. Different settings must not share any.
    let link = MemoryLink::new(&settings.conditions, settings.seed.wrapping_mul(2));
    commands.entity(added.entity).try_insert((Connection(link), MessageBuffer::new(HEADER_BYTES)));
}

fn follow_settings(mut lanes: Query<(&mut Connection, &LinkSettings, &mut LaneMeter)>) {
    for (mut connection, settings, mut meter) in &mut lanes {
        if connection.0.set_conditions(&settings.conditions) {
            meter.link_since = meter.samples().back().map_or(0, |sample| sample.tick + 1);
        }
    }
}

type LinkedLane<'a> = (Entity, &'a mut Connection, &'a mut MessageBuffer, &'a mut ReceiverBuffer);

fn receive(at: End) -> impl FnMut(Res<Time>, Query<LinkedLane<'_>>, Commands) {
    move |time, mut lanes, mut commands| {
        for (lane, mut connection, mut sender, mut receiver) in &mut lanes {
            let buffer = buffer(at, &mut sender, &mut receiver);
            if let Err(error) = connection.0.receive(at, time.elapsed(), buffer) {
                end(&mut commands, lane, error);
            }
        }
    }
}

/// Sends the outgoing messages of an end, and counts the traffic.
fn flush(from: End) -> impl FnMut(Res<Time>, Query<(LinkedLane<'_>, &mut LaneMeter)>, Commands) {
    move |time, mut lanes, mut commands| {
        for ((lane, mut connection, mut sender, mut receiver), mut meter) in &mut lanes {
            let buffer = buffer(from, &mut sender, &mut receiver);
            let before = buffer.traffic;
            if let Err(reason) = connection.0.flush(from, time.elapsed(), buffer) {
                end(&mut commands, lane, reason);
            }
            let sent = buffer.traffic.since(&before).sent;
            match from {
                End::Server => meter.count_traffic(&sent, &DirectionTraffic::default()),
                End::Client => meter.count_traffic(&DirectionTraffic::default(), &sent),
            }
        }
    }
}

fn buffer<'a>(
    of: End,
    sender: &'a mut MessageBuffer,
    receiver: &'a mut ReceiverBuffer,
) -> &'a mut MessageBuffer {
    match of {
        End::Server => sender,
        End::Client => receiver,
    }
}

fn count_losses(mut lanes: Query<(&Connection, &mut LaneMeter)>) {
    for (connection, mut meter) in &mut lanes {
        let (link, before) = (connection.0.stats(End::Server), meter.link);
        let lost = |link: LinkStats| link.lost + link.queue_dropped;
        meter.current().lost = lost(link).saturating_sub(lost(before)) as usize;
        meter.link = link;
    }
}
