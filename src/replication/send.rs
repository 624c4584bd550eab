//! The sending half of a lane.

use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::tasks::{ComputeTaskPool, TaskPool};
use cubewire_protocol::{SendError, Within};
use renet::Bytes;

use super::budget::{EncodeBudget, LaneCost};
use super::detail::{Detailed, PacketDetail};
use super::lane_budget::LaneBudget;
use super::meter::{LaneMeter, Sample};
use super::packet::PacketRecord;
use super::quantized::QuantizedWorld;
use super::rebuilds::Rebuilds;
use super::sender::{LaneBackoff, Sender, is_due};
use super::settings::SenderSettings;
use super::standings::Standings;
use super::transport::{SLICE_BYTES, SenderMail};
use crate::simulation::CubeWorld;

type AckedLane<'a> = (
    &'a mut SenderMail,
    &'a mut Sender,
    &'a mut LaneMeter,
    Option<&'a mut LaneBackoff>,
);

/// Processes the acks that have arrived.
pub(super) fn receive_acks(world: Res<CubeWorld>, mut lanes: Query<AckedLane<'_>>) {
    for (mut mail, mut sender, mut meter, backoff) in &mut lanes {
        let acked = sender.0.newest_acked();
        while let Some(message) = mail.0.take() {
            if sender.0.on_message(&message).is_err() {
                meter.refused_acks += 1;
            }
        }
        if let Some(mut backoff) = backoff
            && sender.0.newest_acked() != acked
        {
            backoff.0.on_ack(world.tick());
        }
    }
}

type SendingLane<'a> = (
    Entity,
    &'a SenderSettings,
    &'a mut SenderMail,
    &'a mut Sender,
    &'a mut LaneMeter,
    &'a mut LaneBudget,
    Option<(&'a mut LaneBackoff, &'a mut LaneCost)>,
    Option<&'a mut Standings>,
    Has<Detailed>,
);

/// Encodes the newest snapshot on lanes where one is due, all of them at the same time, and begins the meter's
/// sample of this tick.
pub(super) fn send(
    world: Res<CubeWorld>,
    mut quantized: ResMut<QuantizedWorld>,
    budget: Option<Res<EncodeBudget>>,
    rebuilds: Res<Rebuilds>,
    mut lanes: Query<SendingLane<'_>>,
) -> Result {
    let tick = world.tick();
    let mut due = Vec::new();
    for lane in &mut lanes {
        let (
            lane,
            settings,
            mail,
            mut sender,
            mut meter,
            mut limit,
            remote,
            standings,
            is_detailed,
        ) = lane;
        sender.0.itemize(is_detailed);
        let stages = settings.stages;
        let sample = Sample {
            tick,
            stages,
            budget_kbps: settings.kept_budget(),
            acked_age_ticks: age(tick, sender.0.newest_acked()),
            ..Sample::default()
        };
        let within = limit.begin(tick, settings, &meter);
        let must_send = rebuilds.is_planned() && sender.0.wants_state().is_some();
        let wishes = remote.as_ref().map(|(backoff, cost)| (&**backoff, &**cost));
        if must_send || is_due(lane, settings, wishes, tick) {
            quantized.get(tick, world.current(), stages.precision())?;
            due.push(Due {
                settings,
                mail,
                sender,
                meter,
                remote,
                standings,
                is_detailed,
                must_send,
                within,
                sample,
            });
        } else {
            meter.begin(sample);
        }
    }
    // So that it is not always the same lane that finds no time left.
    let first = tick as usize % due.len().max(1);
    due.rotate_left(first);
    let (world, quantized, budget) = (&*world, &*quantized, budget.as_deref());
    let results = match due.len() {
        0 | 1 => due
            .into_iter()
            .map(|lane| lane.send(world, quantized, budget))
            .collect(),
        _ => ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
            for lane in due {
                scope.spawn(async move { lane.send(world, quantized, budget) });
            }
        }),
    };
    Ok(results.into_iter().collect::<Result<_, _>>()?)
}

/// A lane on which a snapshot is due.
struct Due<'a> {
    settings: &'a SenderSettings,
    mail: Mut<'a, SenderMail>,
    sender: Mut<'a, Sender>,
    meter: Mut<'a, LaneMeter>,
    remote: Option<(Mut<'a, LaneBackoff>, Mut<'a, LaneCost>)>,
    standings: Option<Mut<'a, Standings>>,
    is_detailed: bool,
    /// The scene is rebuilt after this tick, for the receiver among others.
    must_send: bool,
    /// What the packet may take, if the lane has a budget.
    within: Option<Within<'static>>,
    sample: Sample,
}

impl Due<'_> {
    /// Encodes, unless there is no time, and begins the meter's sample.
    fn send(
        mut self,
        world: &CubeWorld,
        quantized: &QuantizedWorld,
        budget: Option<&EncodeBudget>,
    ) -> Result<(), SendError> {
        let has_time = budget.is_none_or(EncodeBudget::has_time);
        if self.remote.is_none() || self.must_send || has_time {
            self.encode(world, quantized, budget)?;
        }
        self.meter.begin(self.sample);
        Ok(())
    }

    fn encode(
        &mut self,
        world: &CubeWorld,
        quantized: &QuantizedWorld,
        budget: Option<&EncodeBudget>,
    ) -> Result<(), SendError> {
        let (tick, stages) = (world.tick(), self.sample.stages);
        // It has been quantized before.
        let Some(quantized) = quantized.found(tick, stages.precision()) else {
            return Ok(());
        };
        let granted = match &self.remote {
            Some((_, cost)) => cost.granted(self.settings),
            None => *self.settings,
        };
        let protocol = &mut self.sender.0;
        let started = Instant::now();
        if let Some((rebuilt, state)) = world.rebuilt() {
            protocol.offer_state(*rebuilt, state);
        }
        let inputs = Some(world.inputs());
        let sent = match self.within {
            None => {
                Some(protocol.send_simulated(tick, stages, quantized, granted.baseline, inputs)?)
            }
            Some(within) => protocol.send_within(tick, stages, quantized, within)?,
        };
        if self.within.is_some() {
            self.sample.longest_wait_ticks = protocol.longest_wait(tick);
        }
        if let Some(standings) = &mut self.standings {
            protocol.standings(tick, &mut standings.0);
        }
        let Some(sent) = sent else {
            return Ok(());
        };
        let took = started.elapsed();
        let newest = protocol.newest_acked();
        let [second, third] = protocol.acked_before(newest.unwrap_or(0));
        let packet = protocol.packet();
        if let Some((backoff, cost)) = &mut self.remote {
            backoff.0.on_sent(tick, packet.bytes.len() > SLICE_BYTES);
            if let Some(budget) = budget {
                budget.spend(cost, granted.baseline, took);
            }
        }
        let bytes = Bytes::from(packet.bytes.clone());
        let detail = || PacketDetail::new(&packet.ledger, bytes.clone());
        self.sample.snapshots.push(PacketRecord {
            header: Some(sent.header),
            acked_ages_ticks: [newest, second, third].map(|acked| age(tick, acked)),
            detail: self.is_detailed.then(|| Box::new(detail())),
            ..PacketRecord::new(packet, stages)
        });
        self.mail.0.outgoing.push(bytes);
        Ok(())
    }
}

/// Ticks since another.
fn age(tick: u64, of: Option<u64>) -> Option<u16> {
    of.map(|of| (tick - of) as u16)
}
