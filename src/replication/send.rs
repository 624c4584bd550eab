//! The sending half of a lane.

use std::sync::Arc;

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use bevy::tasks::{ComputeTaskPool, TaskPool};
use cubewire_bevy::MessageBuffer;
use cubewire_codec::QuantizedSnapshot;
use cubewire_protocol::record::{PacketRecord, Sample};
use cubewire_protocol::{AllowedSnapshot, SendError};

use super::budget::{EncodeBudget, LaneCost};
use super::lane::{LaneBudget, SendStates, Sender, end};
use super::meter::{Detailed, LaneMeter};
use super::quantized::QuantizedWorld;
use super::rebuilds::Rebuilds;
use super::settings::SenderSettings;
use crate::clock;
use crate::simulation::CubeWorld;

type AckedLane<'a> = (&'a mut MessageBuffer, &'a mut Sender, &'a mut LaneMeter, &'a mut LaneBudget);

pub(super) fn receive_acks(world: Res<CubeWorld>, mut lanes: Query<AckedLane<'_>>) {
    for (mut buffer, mut sender, mut meter, mut limit) in &mut lanes {
        for message in buffer.incoming.datagrams.drain(..) {
            match sender.0.on_message(&message) {
                Ok(feedback) => limit.0.on_feedback(world.tick(), &feedback),
                Err(_) => meter.refused_acks += 1,
            }
        }
    }
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct SendingLane {
    entity: Entity,
    settings: &'static SenderSettings,
    buffer: &'static mut MessageBuffer,
    sender: &'static mut Sender,
    meter: &'static mut LaneMeter,
    limit: &'static mut LaneBudget,
    /// Present for lanes to remote viewers.
    cost: Option<&'static mut LaneCost>,
    send_states: Option<&'static mut SendStates>,
    is_detailed: Has<Detailed>,
}

impl SendingLaneItem<'_, '_> {
    fn cost(&self) -> LaneCost {
        self.cost.as_deref().copied().unwrap_or_default()
    }
}

/// Encodes the newest snapshot for each lane that is due, in parallel, and begins the meter's sample of this tick.
pub(super) fn send(
    world: Res<CubeWorld>,
    (ticks, frames): (Res<Time>, Res<Time<Real>>),
    mut quantized: ResMut<QuantizedWorld>,
    budget: Option<Res<EncodeBudget>>,
    rebuilds: Res<Rebuilds>,
    mut lanes: Query<SendingLane>,
    mut commands: Commands,
) {
    let tick = world.tick();
    let mut due = Vec::new();
    for mut lane in &mut lanes {
        lane.sender.0.itemize(lane.is_detailed);
        let (settings, stages) = (lane.settings, lane.settings.stages);
        let sample = Sample {
            tick,
            stages,
            budget_kbps: settings.kept_budget(),
            send_interval_ticks: settings.send_interval_ticks,
            acked_age_ticks: lane.sender.0.acked_ages(tick)[0],
            ..Sample::default()
        };
        // A simulated link runs on tick time. A real network runs on frame time: all ticks of a frame send at the same moment.
        let now = match lane.cost {
            Some(_) => frames.elapsed(),
            None => ticks.elapsed(),
        };
        let (limit, is_partial) = (&mut lane.limit.0, stages.can_be_partial());
        let allowed = lane.buffer.allow(limit, tick, now, settings.budget, is_partial);
        let must_send = rebuilds.is_planned && lane.sender.0.wants_state().is_some();
        let is_due = lane.cost().is_due(lane.entity, settings, tick);
        // For a planned rebuild, send even between due ticks or while the last complete snapshot is still being sent.
        if must_send || is_due && !matches!(allowed, AllowedSnapshot::Nothing) {
            match quantized.get(tick, world.current(), stages.precision()) {
                Ok(snapshot) => due.push(Due { snapshot, lane, must_send, allowed, sample }),
                Err(error) => end(&mut commands, lane.entity, error),
            }
        } else {
            lane.meter.begin(sample);
        }
    }
    // Rotate, so that it is not always the same lane that runs out of encoding time.
    let first = tick as usize % due.len().max(1);
    due.rotate_left(first);
    let (world, budget) = (&*world, budget.as_deref());
    let send = |due: Due<'_, '_>| (due.lane.entity, due.send(world, budget));
    let results = match due.len() {
        0 | 1 => due.into_iter().map(send).collect(),
        _ => ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
            for lane in due {
                scope.spawn(async move { send(lane) });
            }
        }),
    };
    for (lane, sent) in results {
        if let Err(error) = sent {
            end(&mut commands, lane, error);
        }
    }
}

struct Due<'w, 's> {
    snapshot: Arc<QuantizedSnapshot>,
    lane: SendingLaneItem<'w, 's>,
    /// The scene may be rebuilt after this tick. This lane's receiver needs its state, so the lane must send now.
    must_send: bool,
    allowed: AllowedSnapshot,
    sample: Sample,
}

impl Due<'_, '_> {
    /// Encodes the snapshot if there is time, and begins the meter's sample.
    fn send(mut self, world: &CubeWorld, budget: Option<&EncodeBudget>) -> Result<(), SendError> {
        let has_time = budget.is_none_or(EncodeBudget::has_time);
        if self.lane.cost.is_none() || self.must_send || has_time {
            self.encode(world, budget)?;
        }
        self.lane.meter.begin(self.sample);
        Ok(())
    }

    fn encode(
        &mut self,
        world: &CubeWorld,
        budget: Option<&EncodeBudget>,
    ) -> Result<(), SendError> {
        let (tick, stages, snapshot) = (world.tick(), self.sample.stages, &self.snapshot);
        let lane = &mut self.lane;
        let granted = lane.cost().granted(lane.settings);
        let protocol = &mut lane.sender.0;
        let started = clock::now();
        if let Some((rebuilt, state)) = world.rebuilt() {
            protocol.offer_state(*rebuilt, state);
        }
        let inputs = Some(world.inputs());
        let sent = match self.allowed {
            AllowedSnapshot::Partial(packet_budget) => {
                protocol.send_within(tick, stages, snapshot, packet_budget)?
            }
            AllowedSnapshot::Complete | AllowedSnapshot::Nothing => {
                Some(protocol.send_simulated(tick, stages, snapshot, granted.baseline, inputs)?)
            }
        };
        if matches!(self.allowed, AllowedSnapshot::Partial(_)) {
            self.sample.longest_wait_ticks = protocol.longest_wait(tick);
        }
        if let Some(send_states) = &mut lane.send_states {
            protocol.send_states(tick, &mut send_states.now);
            send_states.record(tick);
        }
        if sent.is_none() {
            return Ok(());
        }
        let took = started.elapsed();
        let acked_ages_ticks = protocol.acked_ages(tick);
        let packet = protocol.packet();
        lane.buffer.spread_ticks = lane.limit.0.on_sent(tick, packet.bytes.len());
        if let (Some(cost), Some(budget)) = (&mut lane.cost, budget) {
            budget.spend(cost, granted.baseline, took);
        }
        self.sample
            .snapshots
            .push(PacketRecord { acked_ages_ticks, ..PacketRecord::new(tick, packet, stages) });
        lane.buffer.outgoing.datagrams.push(packet.bytes.clone());
        Ok(())
    }
}
