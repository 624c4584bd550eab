//! The receiving half alone, as it runs in a viewer of a server in another process.
//!
//! There is one lane. Its sender settings are requested from the server. The meter measures what arrives:
//! each snapshot is encoded again to find its bits by kind.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{
    BaselineId, Baselines, BitLedger, Encoder, InitialStateError, Limits, Packet, Snapshot,
};
use cubewire_physics::ReceiverWorld;
use cubewire_protocol::SnapshotReceiver;
use cubewire_scene::TICKS_PER_SECOND;

use super::detail::{Detailed, PacketDetail};
use super::digest::{self, Digest};
use super::meter::{LaneMeter, Sample};
use super::packet::{Arrival, PacketRecord};
use super::peer::Welcomed;
use super::playout::{self, Playback};
use super::receive::{self, Decoded, DecodedPacket};
use super::settings::{PlayoutSettings, SenderSettings};
use super::sync::status::LaneSync;
use super::transport::{End, TransportSystems};
use super::{Replica, ReplicationSystems, spawn, sync, text};

/// Runs the receiving lane. Needs a transport that receives from a server.
#[derive(Debug)]
pub struct ViewerPlugin;

impl Plugin for ViewerPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .add_observer(welcome)
            .add_observer(spawn::change)
            .configure_sets(
                FixedUpdate,
                (
                    TransportSystems::Receive(End::Receiver),
                    ReplicationSystems::Receive,
                    TransportSystems::Flush(End::Receiver),
                    ReplicationSystems::Observe,
                )
                    .chain(),
            )
            .add_systems(
                FixedUpdate,
                (
                    (begin, receive::receive, playout::advance)
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (
                        account,
                        sync::observe,
                        playout::sample,
                        digest::of_decoded.run_if(resource_exists::<Digest>),
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                ),
            );
        // Frames may take long with a software renderer, and the ticks of a viewer are cheap.
        if let Some(mut time) = app.world_mut().get_resource_mut::<Time<Virtual>>() {
            time.set_max_delta(MAX_FRAME);
        }
    }
}

/// Maximum length of a frame in which ticks keep pace with the sender's.
const MAX_FRAME: Duration = Duration::from_secs(2);

/// Restarts from the initial state that the server has sent.
fn welcome(
    welcomed: On<Welcomed>,
    time: Res<Time<Fixed>>,
    mut lanes: Query<(&SenderSettings, &PlayoutSettings, &mut LaneMeter)>,
    mut commands: Commands,
) -> Result {
    let Ok((sender, playout, mut meter)) = lanes.get_mut(welcomed.entity) else {
        return Ok(());
    };
    let welcome = welcomed.welcome.clone();
    let delay = playout.rule_delay(sender);
    let accountant = Accountant::new(welcome.initial.clone())?;
    let now = time.elapsed();
    let receiver = SnapshotReceiver::new(welcome, Limits::default(), delay, now)?
        .with_engine(Box::new(ReceiverWorld::new()));
    *meter = LaneMeter::default();
    meter.fallback = receiver.fallback();
    if let Some(text) = text::fallback(sender.stages, meter.fallback) {
        info!("{text}");
    }
    commands.entity(welcomed.entity).insert((
        LaneSync::default(),
        Decoded::default(),
        Playback::new(delay),
        Replica(receiver),
        accountant,
    ));
    Ok(())
}

/// Encodes decoded snapshots again to find their bits by kind.
#[derive(Component, Debug)]
struct Accountant {
    encoder: Encoder,
    packet: Packet,
}

impl Accountant {
    fn new(initial: Snapshot) -> Result<Self, InitialStateError> {
        Ok(Self {
            encoder: Encoder::new(initial, Limits::default())?,
            packet: Packet::default(),
        })
    }

    /// The record of a snapshot that was decoded; none if it is no longer held.
    fn record(
        &mut self,
        decoded: &DecodedPacket,
        receiver: &SnapshotReceiver,
        is_detailed: bool,
    ) -> Result<Option<PacketRecord>> {
        let Some(current) = receiver.get(decoded.tick) else {
            return Ok(None);
        };
        let sequence = decoded.header.sequence;
        let reference_age_ticks = match decoded.header.baseline {
            BaselineId::Initial { .. } => None,
            BaselineId::Named { sequence: of, .. } => Some(sequence.ticks_since(of)),
        };
        let baseline_tick =
            reference_age_ticks.and_then(|age| decoded.tick.checked_sub(age.into()));
        let baseline = baseline_tick.and_then(|tick| receiver.get(tick));
        let (stages, snapshot) = (current.stages(), current.snapshot());
        let packet = &mut self.packet;
        packet.ledger = match is_detailed {
            true => BitLedger::itemized(),
            false => BitLedger::new(),
        };
        let references = Baselines::from(baseline);
        self.encoder
            .encode(sequence, stages, snapshot, references, packet, None)?;
        // The server may have encoded the snapshot differently, with more than one reference: then this
        // ledger does not apply.
        if packet.bytes[..] != decoded.bytes[..] {
            packet.ledger.reset();
        }
        let detail = || PacketDetail::new(packet, decoded.bytes.clone());
        let record = PacketRecord {
            header: Some(decoded.header),
            payload_bytes: decoded.bytes.len(),
            reference_age_ticks,
            arrival: Some(Arrival {
                after_ticks: 0,
                is_late: decoded.is_late,
            }),
            detail: is_detailed.then(|| Box::new(detail())),
            ..PacketRecord::new(packet, stages)
        };
        Ok(Some(record))
    }
}

/// Begins the sample of a tick, by the viewer's own count.
fn begin(mut tick: Local<u64>, mut lanes: Query<&mut LaneMeter>) {
    *tick += 1;
    for mut meter in &mut lanes {
        let last = meter.samples().back();
        let stages = last.map_or(Sample::default().stages, |sample| sample.stages);
        meter.begin(Sample {
            tick: *tick,
            stages,
            ..Sample::default()
        });
    }
}

type AccountedLane<'a> = (
    &'a Replica,
    &'a Decoded,
    &'a mut Accountant,
    &'a mut LaneMeter,
    Has<Detailed>,
);

fn account(mut lanes: Query<AccountedLane<'_>>) -> Result {
    for (replica, decoded, mut accountant, mut meter, is_detailed) in &mut lanes {
        for decoded in &decoded.0 {
            if let Some(record) = accountant.record(decoded, &replica.0, is_detailed)? {
                let sample = meter.current();
                sample.stages = record.stages;
                sample.snapshots.push(record);
            }
        }
    }
    Ok(())
}
