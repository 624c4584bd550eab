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
        app.add_observer(connect)
            .add_systems(FixedUpdate, follow.before(TransportSystems::Receive(End::Server)));
        for end in [End::Server, End::Client] {
            let receive = receive(end).in_set(TransportSystems::Receive(end));
            let flush = flush(end).in_set(TransportSystems::Flush(end));
            app.add_systems(FixedUpdate, (receive, flush));
        }
    }
}

fn connect(added: On<Add, LocalLane>, lanes: Query<&LinkSettings>, mut commands: Commands) {
    let Ok(settings) = lanes.get(added.entity) else { return };
    // A link uses this seed and the next one, for its two directions. Different settings must not share any.
    let link = MemoryLink::new(&settings.conditions, settings.seed.wrapping_mul(2));
    commands.entity(added.entity).try_insert((link, MessageBuffer::new(HEADER_BYTES)));
}

fn follow(
    mut lanes: Query<(&mut MemoryLink, &LinkSettings, &mut LaneMeter), Changed<LinkSettings>>,
) {
    for (mut link, settings, mut meter) in &mut lanes {
        link.set_conditions(&settings.conditions);
        meter.link_since = meter.samples().back().map_or(0, |sample| sample.tick + 1);
    }
}

type LinkedLane<'a> =
    (Entity, &'a mut MemoryLink, &'a mut MessageBuffer, &'a mut ReceiverBuffer, &'a mut LaneMeter);

/// Receives the messages that have arrived at an end. The client counts the lost packets of snapshots.
fn receive(at: End) -> impl FnMut(Res<Time>, Query<LinkedLane<'_>>, Commands) {
    move |time, mut lanes, mut commands| {
        for (lane, mut link, mut sender, mut receiver, mut meter) in &mut lanes {
            let buffer = buffer(at, &mut sender, &mut receiver);
            if let Err(error) = link.receive(at, time.elapsed(), buffer) {
                end(&mut commands, lane, error);
            }
            if at == End::Client {
                let (stats, before) = (link.stats(End::Server), meter.link);
                let lost = |link: LinkStats| link.lost + link.queue_dropped;
                meter.current().lost = lost(stats).saturating_sub(lost(before)) as usize;
                meter.link = stats;
            }
        }
    }
}

/// Sends the outgoing messages of an end, and counts the traffic.
fn flush(from: End) -> impl FnMut(Res<Time>, Query<LinkedLane<'_>>, Commands) {
    move |time, mut lanes, mut commands| {
        for (lane, mut link, mut sender, mut receiver, mut meter) in &mut lanes {
            let buffer = buffer(from, &mut sender, &mut receiver);
            let before = buffer.traffic;
            if let Err(reason) = link.flush(from, time.elapsed(), buffer) {
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
