//! The sending half of a lane.

use bevy::prelude::*;
use cubewire_codec::{InitialStateError, Limits, Snapshot, Stages};
use cubewire_protocol::{SendBackoff, SnapshotSender};
use renet::Bytes;

use super::meter::Sample;
use super::packet::PacketRecord;
use super::quantized::QuantizedWorld;
use super::transport::{SLICE_BYTES, SenderMail};
use super::{Detailed, Lane, LaneMeter, PacketDetail, SenderSettings};
use crate::simulation::CubeWorld;

/// The sender's state of one lane.
#[derive(Component, Debug)]
#[require(Lane, SenderMail)]
pub(crate) struct Sender {
    pub(super) protocol: SnapshotSender,
    /// The last legal stages, in case the settings become illegal.
    stages: Stages,
}

/// Lowers the send rate while long snapshots do not arrive. Only for lanes over a real network, whose
/// bandwidth may be too low for them; over a simulated [link](super::LinkSettings), which demonstrates the
/// cost of stages, every snapshot is sent.
#[derive(Component, Debug, Default)]
pub struct LaneBackoff(pub SendBackoff);

impl Sender {
    pub(super) fn new(initial: Snapshot, stages: Stages) -> Result<Self, InitialStateError> {
        Ok(Self {
            protocol: SnapshotSender::new(initial, Limits::default())?,
            stages,
        })
    }
}

type AckedLane<'a> = (
    &'a mut SenderMail,
    &'a mut Sender,
    &'a mut LaneMeter,
    Option<&'a mut LaneBackoff>,
);

/// Processes the acks that have arrived.
pub(super) fn receive_acks(world: Res<CubeWorld>, mut lanes: Query<AckedLane<'_>>) {
    for (mut mail, mut sender, mut meter, backoff) in &mut lanes {
        let acked = sender.protocol.newest_acked();
        while let Some(message) = mail.0.take() {
            if sender.protocol.on_message(&message).is_err() {
                meter.refused_acks += 1;
            }
        }
        if let Some(mut backoff) = backoff
            && sender.protocol.newest_acked() != acked
        {
            backoff.0.on_ack(world.tick());
        }
    }
}

type SendingLane<'a> = (
    &'a SenderSettings,
    &'a mut SenderMail,
    &'a mut Sender,
    &'a mut LaneMeter,
    Option<&'a mut LaneBackoff>,
    Has<Detailed>,
);

/// Encodes the newest snapshot on lanes where one is due, and begins the meter's sample of this tick.
pub(super) fn send(
    world: Res<CubeWorld>,
    mut quantized: ResMut<QuantizedWorld>,
    mut lanes: Query<SendingLane<'_>>,
) -> Result {
    let tick = world.tick();
    let age = |of: Option<u64>| of.map(|of| (tick - of) as u16);
    for (settings, mut mail, mut sender, mut meter, backoff, is_detailed) in &mut lanes {
        let sender = &mut *sender;
        sender.protocol.itemize(is_detailed);
        if settings.stages.check().is_ok() {
            sender.stages = settings.stages;
        }
        let stages = sender.stages;
        let mut sample = Sample {
            tick,
            stages,
            acked_age_ticks: age(sender.protocol.newest_acked()),
            ..Sample::default()
        };
        let is_due = backoff
            .as_ref()
            .is_none_or(|backoff| backoff.0.is_due(tick));
        if settings.sends_at(tick) && is_due {
            let protocol = &mut sender.protocol;
            let quantized = quantized.get(tick, world.current(), stages.precision())?;
            let sent = protocol.send(tick, stages, quantized, settings.baseline)?;
            let newest = protocol.newest_acked();
            let [second, third] = protocol.acked_before(newest.unwrap_or(0));
            let packet = protocol.packet();
            if let Some(mut backoff) = backoff {
                backoff.0.on_sent(tick, packet.bytes.len() > SLICE_BYTES);
            }
            let bytes = Bytes::from(packet.bytes.clone());
            let detail = || PacketDetail::new(packet, bytes.clone());
            sample.snapshots.push(PacketRecord {
                header: Some(sent.header),
                reference_age_ticks: age(sent.named()),
                acked_ages_ticks: [newest, second, third].map(age),
                detail: is_detailed.then(|| Box::new(detail())),
                ..PacketRecord::new(packet, stages)
            });
            mail.0.outgoing.push(bytes);
        }
        meter.begin(sample);
    }
    Ok(())
}
