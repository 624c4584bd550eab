//! Connects the two ends of a lane in one process over a simulated link.

use bevy::ecs::component::Mutable;
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
                (follow_settings, receive::<MessageBuffer>)
                    .chain()
                    .in_set(TransportSystems::Receive(End::Server)),
                flush::<MessageBuffer>.in_set(TransportSystems::Flush(End::Server)),
                (receive::<ReceiverBuffer>, count_losses)
                    .chain()
                    .in_set(TransportSystems::Receive(End::Client)),
                flush::<ReceiverBuffer>.in_set(TransportSystems::Flush(End::Client)),
            ),
        );
    }
}

trait LaneEnd: Component<Mutability = Mutable> {
    const END: End;

    fn as_buffer(&mut self) -> &mut MessageBuffer;
}

impl LaneEnd for MessageBuffer {
    const END: End = End::Server;

    fn as_buffer(&mut self) -> &mut MessageBuffer {
        self
    }
}

impl LaneEnd for ReceiverBuffer {
    const END: End = End::Client;

    fn as_buffer(&mut self) -> &mut MessageBuffer {
        self
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

fn receive<LocalEnd: LaneEnd>(
    time: Res<Time>,
    mut lanes: Query<(Entity, &mut Connection, &mut LocalEnd)>,
    mut commands: Commands,
) {
    for (lane, mut connection, mut buffer) in &mut lanes {
        let now = time.elapsed();
        if let Err(error) = connection.0.receive(LocalEnd::END, now, buffer.as_buffer()) {
            end(&mut commands, lane, error);
        }
    }
}

type FlushedLane<'a, LocalEnd> = (Entity, &'a mut Connection, &'a mut LocalEnd, &'a mut LaneMeter);

/// Sends the outgoing messages of an end, and counts the traffic.
fn flush<LocalEnd: LaneEnd>(
    time: Res<Time>,
    mut lanes: Query<FlushedLane<'_, LocalEnd>, With<LocalLane>>,
    mut commands: Commands,
) {
    for (lane, mut connection, mut buffer, mut meter) in &mut lanes {
        let buffer = buffer.as_buffer();
        let before = buffer.traffic;
        if let Err(reason) = connection.0.flush(LocalEnd::END, time.elapsed(), buffer) {
            end(&mut commands, lane, reason);
        }
        let sent = buffer.traffic.since(&before).sent;
        match LocalEnd::END {
            End::Server => meter.count_traffic(&sent, &DirectionTraffic::default()),
            End::Client => meter.count_traffic(&DirectionTraffic::default(), &sent),
        }
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
