//! The receiving half alone: what a viewer of a server in another process runs.
//!
//! There is one lane. Its settings are asked of the server, as far as they are the sender's, and its
//! meter measures what arrives: the sender's account of the bits is made again by encoding each
//! snapshot once more.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Encoder, InitialStateError, Limits, Packet, QuantizedSnapshot, Reference, Snapshot,
};
use cubewire_protocol::SnapshotReceiver;
use cubewire_scene::TICKS_PER_SECOND;

use super::digest::{self, Digest};
use super::meter::Sample;
use super::playout::{self, Playback};
use super::receive::{self, Decoded, DecodedPacket};
use super::transport::{ReceiverMail, udp};
use super::{HEADER_BYTES, LaneMeter, LaneSettings, Replica, ReplicationSystems};

/// Shows what a server sends. Needs a [`UdpViewer`](super::UdpViewer).
#[derive(Debug)]
pub struct ReceptionPlugin;

impl Plugin for ReceptionPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .configure_sets(
                FixedUpdate,
                (ReplicationSystems::Receive, ReplicationSystems::Observe).chain(),
            )
            .add_systems(PreUpdate, udp::receive_viewer)
            .add_systems(
                FixedUpdate,
                (
                    (begin, receive::receive, playout::advance)
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (
                        account,
                        playout::note,
                        digest::of_decoded.run_if(resource_exists::<Digest>),
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                ),
            )
            .add_systems(Update, udp::flush_viewer)
            .add_systems(Last, udp::close_viewer.run_if(on_message::<AppExit>));
        // A frame may take long where it is rendered in software; ticks here are cheap.
        if let Some(mut time) = app.world_mut().get_resource_mut::<Time<Virtual>>() {
            time.set_max_delta(LONGEST_FRAME);
        }
    }
}

/// Up to this, ticks keep pace with the sender's.
const LONGEST_FRAME: Duration = Duration::from_secs(2);

/// Spawns the lane, which has nothing to show until the welcome comes.
pub fn spawn_reception(world: &mut World, settings: LaneSettings) -> Entity {
    let receiving = Receiving::new(settings.ruled_delay());
    let lane = world.spawn((
        settings,
        ReceiverMail::default(),
        receiving,
        LaneMeter::default(),
    ));
    lane.id()
}

/// What every lane's receiving half starts with, beside its [`Replica`].
#[derive(Bundle, Debug)]
pub(super) struct Receiving {
    decoded: Decoded,
    playback: Playback,
}

impl Receiving {
    pub(super) fn new(delay: Duration) -> Self {
        Self {
            decoded: Decoded::default(),
            playback: Playback::new(delay),
        }
    }
}

/// Encodes what was decoded, to know where its bits went.
#[derive(Component, Debug)]
pub(super) struct Accountant {
    encoder: Encoder,
    initial: Snapshot,
    packet: Packet,
    changed: Vec<bool>,
}

impl Accountant {
    pub(super) fn new(initial: Snapshot) -> Result<Self, InitialStateError> {
        Ok(Self {
            encoder: Encoder::new(initial.clone(), Limits::default())?,
            initial,
            packet: Packet::default(),
            changed: Vec::new(),
        })
    }

    /// Adds one snapshot to the sample of this tick.
    fn add(
        &mut self,
        decoded: &DecodedPacket,
        receiver: &SnapshotReceiver,
        sample: &mut Sample,
    ) -> Result {
        let Some(current) = receiver.get(decoded.tick) else {
            return Ok(());
        };
        let stages = current.stages();
        let age = match decoded.header.reference {
            Reference::Initial { .. } => None,
            Reference::Baseline { sequence, .. } => {
                Some(decoded.header.sequence.ticks_since(sequence))
            }
        };
        let baseline = age.and_then(|age| receiver.get(decoded.tick.checked_sub(age.into())?));
        sample.stages = stages;
        sample.snapshots += 1;
        sample.payload_bytes += decoded.bytes.len();
        sample.article_bytes += decoded.bytes.len() + HEADER_BYTES;
        sample.reference_age_ticks = age;

        let Self {
            encoder,
            initial,
            packet,
            changed,
        } = self;
        let snapshot = current.snapshot();
        let sequence = decoded.header.sequence;
        encoder.encode(sequence, stages, snapshot, baseline, packet, None)?;
        // Whoever packs otherwise than we do keeps the account to himself.
        if packet.bytes[..] == decoded.bytes[..] {
            sample.ledger.add(&packet.ledger);
        }
        let precision = stages.precision();
        match baseline.map(|baseline| baseline.snapshot()) {
            Some(baseline) if baseline.precision() == precision => {
                snapshot.compare(baseline, changed);
            }
            _ => {
                let mut first = QuantizedSnapshot::new(precision);
                first.quantize(initial, precision)?;
                snapshot.compare(&first, changed);
            }
        }
        let changed_cubes = changed.iter().filter(|&&changed| changed).count();
        sample.changed_cubes += changed_cubes;
        sample.sent_cubes += match stages.delta {
            Delta::Off => snapshot.len(),
            _ => changed_cubes,
        };
        Ok(())
    }
}

/// Begins the sample of a tick. Ticks here are the viewer's own.
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

fn account(mut lanes: Query<(&Replica, &Decoded, &mut Accountant, &mut LaneMeter)>) -> Result {
    for (replica, decoded, mut accountant, mut meter) in &mut lanes {
        for decoded in &decoded.0 {
            accountant.add(decoded, &replica.0, meter.current())?;
        }
    }
    Ok(())
}
