//! The sending half of a lane.

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use cubewire_bevy::{Clocks, ConnectionClock, EncodeLimit, MessageBuffer, encode};
use cubewire_protocol::{Extras, SendJob};

use super::inputs;
use super::lane::{LocalLane, SendStates, Sender, end};
use super::meter::{Detailed, LaneMeter};
use super::quantized::QuantizedWorld;
use super::rebuilds::Rebuilds;
use super::seats::Seat;
use super::settings::SenderSettings;
use crate::simulation::CubeWorld;

/// Delivers the acks of local lanes.
pub(super) fn receive_acks(
    world: Res<CubeWorld>,
    mut lanes: Query<(Entity, &mut MessageBuffer, &mut Sender), With<LocalLane>>,
    mut commands: Commands,
) {
    for (entity, mut buffer, mut sender) in &mut lanes {
        let mut acks = buffer.incoming.datagrams.drain(..);
        let outcome = acks.try_for_each(|ack| sender.0.on_datagram(world.tick(), &ack).map(drop));
        if let Err(why) = outcome.and_then(|()| sender.0.check(default(), 0, 0)) {
            end(&mut commands, entity, why);
        }
    }
}

/// Puts changed settings to use.
pub(super) fn apply_settings(
    mut lanes: Query<(&SenderSettings, &mut Sender), Changed<SenderSettings>>,
) {
    for (settings, mut sender) in &mut lanes {
        sender.0.set_settings(settings.to_wire());
    }
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct SendingLane {
    entity: Entity,
    settings: &'static SenderSettings,
    buffer: &'static mut MessageBuffer,
    sender: &'static mut Sender,
    clock: &'static ConnectionClock,
    meter: &'static mut LaneMeter,
    send_states: Option<&'static mut SendStates>,
    seat: Option<&'static Seat>,
    is_detailed: Has<Detailed>,
    is_local: Has<LocalLane>,
}

/// Where the packet of a lane goes.
struct Output<'w> {
    lane: Entity,
    buffer: &'w mut MessageBuffer,
    meter: &'w mut LaneMeter,
    send_states: Option<&'w mut SendStates>,
}

/// Encodes the newest snapshot for each lane that is due, in parallel, and begins the meter's sample of this tick.
pub(super) fn send(
    world: Res<CubeWorld>,
    clocks: Clocks,
    mut quantized: ResMut<QuantizedWorld>,
    limit: Option<Res<EncodeLimit>>,
    rebuilds: Res<Rebuilds>,
    mut lanes: Query<SendingLane>,
    mut commands: Commands,
) {
    let tick = world.tick();
    let reports = (0..world.players()).map(|player| world.own(player));
    let reports = reports.map(|own| own.map(|own| inputs::report(own, tick)).unwrap_or_default());
    let reports: Vec<_> = reports.collect();
    // Local lanes have no limit of time, so that a run is the same on every machine.
    let (mut local, mut remote) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for lane in &mut lanes {
        let (buffer, meter) = (lane.buffer.into_inner(), lane.meter.into_inner());
        let connection = &mut lane.sender.into_inner().0;
        buffer.allow(connection, clocks.now(lane.clock), tick);
        meter.begin(connection.sample(tick));
        let Some(sender) = connection.sender_mut() else { continue };
        sender.itemize(lane.is_detailed);
        let must_send = rebuilds.is_planned && sender.wants_state().is_some();
        // For a planned rebuild, send even between due ticks or while the last complete snapshot is still being sent.
        if !must_send && !connection.is_due(tick) {
            continue;
        }
        let snapshot = quantized.get(tick, world.current(), lane.settings.stages.precision());
        let snapshot = match snapshot {
            Ok(snapshot) => snapshot,
            Err(error) => {
                end(&mut commands, lane.entity, error);
                continue;
            }
        };
        let state = world.rebuilt().as_ref().map(|(rebuilt, state)| (*rebuilt, state));
        let inputs = Some(world.inputs());
        let own = &reports[lane.seat.map_or(0, |seat| seat.0)];
        let extras = Extras { inputs, state, must_send, own, ..Extras::default() };
        if let Some(job) = connection.prepare(tick, snapshot, extras) {
            let (jobs, outputs) = if lane.is_local { &mut local } else { &mut remote };
            jobs.push(job);
            let send_states = lane.send_states.map(Mut::into_inner);
            outputs.push(Output { lane: lane.entity, buffer, meter, send_states });
        }
    }
    encode(tick, &mut local.0, None);
    encode(tick, &mut remote.0, limit.as_deref());
    for (jobs, outputs) in [local, remote] {
        for (job, output) in jobs.into_iter().zip(outputs) {
            output.finish(tick, job, &mut commands);
        }
    }
}

impl Output<'_> {
    fn finish(self, tick: u64, job: SendJob<'_>, commands: &mut Commands<'_, '_>) {
        if let Some(send_states) = self.send_states {
            job.sender().send_states(tick, &mut send_states.now);
            send_states.record(tick);
        }
        match job.finish(Some(self.meter.current())) {
            Ok(Some(packet)) => {
                self.buffer.spread_ticks = packet.spread_ticks;
                self.buffer.outgoing.datagrams.push(packet.bytes);
            }
            Ok(None) => {}
            Err(error) => end(commands, self.lane, error),
        }
    }
}
