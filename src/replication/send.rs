//! The sending half of a lane.

use bevy::prelude::*;
use cubewire_codec::stages::Delta;
use cubewire_codec::{InitialStateError, Limits, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::{SendBackoff, SnapshotSender};

use super::meter::Sample;
use super::transport::{SLICE_BYTES, SenderMail};
use super::{HEADER_BYTES, LaneMeter, LaneSettings};
use crate::simulation::World as CubeWorld;

/// What the sender of one lane knows.
#[derive(Component, Debug)]
pub(super) struct Sender {
    pub(super) protocol: SnapshotSender,
    /// What was last sent with, in case the settings become illegal.
    stages: Stages,
    quantized: QuantizedSnapshot,
    /// Quantized in the stages' precision, to count changes while there is no baseline.
    initial: Snapshot,
    changed: Vec<bool>,
}

/// Lanes that have it spare a way that may be too narrow: a real one. Over a [link](LaneSettings::link)
/// of our own, which is there to show what stages cost, every snapshot is sent.
#[derive(Component, Debug, Default)]
pub(super) struct Paced(pub(super) SendBackoff);

impl Sender {
    pub(super) fn new(initial: Snapshot, stages: Stages) -> Result<Self, InitialStateError> {
        Ok(Self {
            protocol: SnapshotSender::new(initial.clone(), Limits::default())?,
            stages,
            quantized: QuantizedSnapshot::new(stages.precision()),
            initial,
            changed: Vec::new(),
        })
    }

    /// Cubes of the newest snapshot that differ from the baseline, or from the initial state.
    fn changed_cubes(&mut self, baseline: Option<u64>) -> Result<usize> {
        let precision = self.stages.precision();
        let baseline = baseline
            .and_then(|tick| self.protocol.get(tick))
            .filter(|baseline| baseline.snapshot().precision() == precision);
        if let Some(baseline) = baseline {
            let (quantized, baseline) = (&self.quantized, baseline.snapshot());
            quantized.compare(baseline, &mut self.changed);
        } else {
            let mut initial = QuantizedSnapshot::new(precision);
            initial.quantize(&self.initial, precision)?;
            self.quantized.compare(&initial, &mut self.changed);
        }
        Ok(self.changed.iter().filter(|&&changed| changed).count())
    }
}

type FeedbackEnd<'a> = (
    &'a mut SenderMail,
    &'a mut Sender,
    &'a mut LaneMeter,
    Option<&'a mut Paced>,
);

pub(super) fn take_feedback(world: Res<CubeWorld>, mut lanes: Query<FeedbackEnd<'_>>) {
    for (mut mail, mut sender, mut meter, paced) in &mut lanes {
        let acked = sender.protocol.newest_acked();
        while let Some(message) = mail.0.take() {
            if sender.protocol.on_message(&message).is_err() {
                meter.refused_acks += 1;
            }
        }
        if let Some(mut paced) = paced
            && sender.protocol.newest_acked() != acked
        {
            paced.0.on_ack(world.tick());
        }
    }
}

type SendingEnd<'a> = (
    &'a LaneSettings,
    &'a mut SenderMail,
    &'a mut Sender,
    &'a mut LaneMeter,
    Option<&'a mut Paced>,
);

pub(super) fn send(world: Res<CubeWorld>, mut lanes: Query<SendingEnd<'_>>) -> Result {
    let tick = world.tick();
    let age = |baseline: Option<u64>| baseline.map(|baseline| (tick - baseline) as u16);
    for (settings, mut mail, mut sender, mut meter, paced) in &mut lanes {
        let sender = &mut *sender;
        if settings.stages.check().is_ok() {
            sender.stages = settings.stages;
        }
        let stages = sender.stages;
        let is_due = paced.as_ref().is_none_or(|paced| paced.0.is_due(tick));
        if !(settings.sends_at(tick) && is_due) {
            meter.begin(Sample {
                tick,
                stages,
                baseline_age_ticks: age(sender.protocol.newest_acked()),
                ..Sample::default()
            });
            continue;
        }
        sender
            .quantized
            .quantize(world.current(), stages.precision())?;
        let (quantized, choice) = (&sender.quantized, settings.baseline);
        let sent = sender.protocol.send(tick, stages, quantized, choice)?;
        let newest_acked = sender.protocol.newest_acked();
        let earlier = sender.protocol.acked_before(newest_acked.unwrap_or(0));
        let earlier_age_ticks = earlier.map(age);
        let changed_cubes = sender.changed_cubes(sent.baseline)?;

        let packet = sender.protocol.packet();
        if let Some(mut paced) = paced {
            paced.0.on_sent(tick, packet.bytes.len() > SLICE_BYTES);
        }
        meter.begin(Sample {
            tick,
            stages,
            snapshots: 1,
            payload_bytes: packet.bytes.len(),
            article_bytes: packet.bytes.len() + HEADER_BYTES,
            ledger: packet.ledger.clone(),
            changed_cubes,
            sent_cubes: match stages.delta {
                Delta::Off => sender.quantized.len(),
                _ => changed_cubes,
            },
            baseline_age_ticks: age(newest_acked),
            earlier_age_ticks,
            reference_age_ticks: age(sent.named()),
            ..Sample::default()
        });
        mail.0.outgoing.push(packet.bytes.clone().into());
    }
    Ok(())
}
