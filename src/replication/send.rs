//! The sending half of a lane.

use bevy::prelude::*;
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Encoder, InitialStateError, Limits, Packet, QuantizedSnapshot, Reference, Sequence, Snapshot,
    Stages,
};
use cubewire_protocol::{Ack, SentBaselines};

use super::meter::Sample;
use super::transport::{CHANNEL, Connection, Server};
use super::{HEADER_BYTES, LaneMeter, LaneSettings};
use crate::simulation::World as CubeWorld;

/// What the sender of one lane knows.
#[derive(Component, Debug)]
pub(super) struct Sender {
    encoder: Encoder,
    /// What was last sent with, in case the settings become illegal.
    stages: Stages,
    quantized: QuantizedSnapshot,
    /// Quantized in the stages' precision, to count changes while there is no baseline.
    initial: Snapshot,
    packet: Packet,
    changed: Vec<bool>,
    pub(super) sent: SentBaselines,
}

impl Sender {
    pub(super) fn new(initial: Snapshot, stages: Stages) -> Result<Self, InitialStateError> {
        Ok(Self {
            encoder: Encoder::new(initial.clone(), Limits::default())?,
            stages,
            quantized: QuantizedSnapshot::new(stages.precision()),
            initial,
            packet: Packet::default(),
            changed: Vec::new(),
            sent: SentBaselines::new(),
        })
    }

    /// Cubes of the newest snapshot that differ from the baseline, or from the initial state.
    fn changed_cubes(&mut self, sequence: Sequence) -> Result<usize> {
        let stages = self.stages;
        match self.sent.baseline(sequence) {
            Some(baseline) if baseline.snapshot().precision() == stages.precision() => {
                self.quantized
                    .compare(baseline.snapshot(), &mut self.changed);
            }
            _ => {
                let mut initial = QuantizedSnapshot::new(stages.precision());
                initial.quantize(&self.initial, stages.precision())?;
                self.quantized.compare(&initial, &mut self.changed);
            }
        }
        Ok(self.changed.iter().filter(|&&changed| changed).count())
    }
}

pub(super) fn take_acks(
    mut server: ResMut<Server>,
    mut lanes: Query<(&Connection, &mut Sender, &mut LaneMeter)>,
) {
    for (connection, mut sender, mut meter) in &mut lanes {
        while let Some(message) = server.renet.receive_message(connection.id, CHANNEL) {
            match Ack::decode(&message) {
                Ok(ack) => sender.sent.on_ack(ack),
                Err(_) => meter.refused_acks += 1,
            }
        }
    }
}

pub(super) fn send(
    world: Res<CubeWorld>,
    mut server: ResMut<Server>,
    mut lanes: Query<(&LaneSettings, &Connection, &mut Sender, &mut LaneMeter)>,
) -> Result {
    // A sequence number is the tick, modulo 2¹⁶.
    let sequence = Sequence(world.tick() as u16);
    for (settings, connection, mut sender, mut meter) in &mut lanes {
        let sender = &mut *sender;
        if settings.stages.check().is_ok() {
            sender.stages = settings.stages;
        }
        let stages = sender.stages;
        sender
            .quantized
            .quantize(world.current(), stages.precision())?;
        let changed_cubes = sender.changed_cubes(sequence)?;

        let mut kept = sender.sent.take_slot(sequence);
        let baseline = sender.sent.baseline(sequence);
        let baseline_age_ticks = baseline.map(|baseline| sequence.ticks_since(baseline.sequence()));
        let header = sender.encoder.encode(
            sequence,
            stages,
            &sender.quantized,
            baseline,
            &mut sender.packet,
            Some(&mut kept),
        )?;
        sender.sent.insert(kept);

        meter.begin(Sample {
            tick: world.tick(),
            stages,
            payload_bytes: sender.packet.bytes.len(),
            article_bytes: sender.packet.bytes.len() + HEADER_BYTES,
            ledger: sender.packet.ledger.clone(),
            changed_cubes,
            sent_cubes: match stages.delta {
                Delta::Off => sender.quantized.len(),
                _ => changed_cubes,
            },
            baseline_age_ticks,
            reference_age_ticks: match header.reference {
                Reference::Initial { .. } => None,
                Reference::Baseline {
                    sequence: named, ..
                } => Some(sequence.ticks_since(named)),
            },
            ..Sample::default()
        });
        server
            .renet
            .send_message(connection.id, CHANNEL, sender.packet.bytes.clone());
    }
    Ok(())
}
