//! Tracks whether both ends of a lane simulate the same world, on the rung [`simulated`](cubewire_codec::ladder::SIMULATED),
//! and can break this on purpose.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::BitKind;
use cubewire_codec::stages::Delta;
use cubewire_protocol::{SnapshotReceiver, SyncStatus};

use super::lane::{LocalLane, Sender};
use super::meter::{LaneMeter, Mean};
use super::receive::Decoded;

/// Whether both ends of a lane simulate the same world, as known in this process. On other rungs the figures do not change.
#[derive(Component, Clone, Debug, Default)]
pub struct LaneSync {
    /// Tick of the newest acked packet, or at a receiving half of the newest decoded one.
    pub tick: u64,
    /// Age of the newest acked packet in ticks, or at a receiving half ticks since the newest packet arrived.
    pub silent_ticks: u64,
    /// Whether both ends are in sync. A receiving half derives this from the packets.
    pub status: SyncStatus,
    pub desyncs: u64,
    /// Chunks of a state that have arrived, and chunks in total, while a state is being sent.
    pub state_progress: Option<(usize, usize)>,
    /// Kilobits of states in the packets so far: sent, or at a receiving half received.
    pub state_kilobits: f64,
    mean_ticks: Mean,
    mean_seconds: Mean,
}

impl LaneSync {
    /// Number of ticks since both ends came into sync. `None` if they are not in sync.
    pub const fn synced_ticks(&self) -> Option<u64> {
        match self.status {
            SyncStatus::Synced { since } => Some(self.tick.saturating_sub(since)),
            SyncStatus::Desynced => None,
        }
    }

    /// Ticks that the receiver simulates per packet, as a moving average.
    pub fn mean_ticks(&self) -> f64 {
        self.mean_ticks.get()
    }

    /// Time to decode a packet, including the simulation, as a moving average.
    pub fn mean_time(&self) -> Duration {
        Duration::from_secs_f64(self.mean_seconds.get())
    }

    /// Records a packet that the receiver decoded in time `took`. `before` is the number of simulated ticks before decoding.
    pub(super) fn decoded(
        &mut self,
        receiver: &SnapshotReceiver,
        tick: u64,
        before: u64,
        took: Duration,
    ) {
        let stages = receiver.get(tick).map(|held| held.stages());
        if stages.is_some_and(|stages| stages.delta == Delta::ArithmeticSimulated) {
            let simulated = receiver.engine().simulated_ticks() - before;
            self.mean_ticks.add(simulated as f64);
            self.mean_seconds.add(took.as_secs_f64());
        }
    }

    /// Updates the status from a packet, if the sender is in another process.
    fn heard(&mut self, tick: u64, is_simulated: bool) {
        self.tick = self.tick.max(tick);
        self.status = match (is_simulated, self.status) {
            (false, _) => SyncStatus::Desynced,
            (true, SyncStatus::Synced { since }) => SyncStatus::Synced { since },
            (true, SyncStatus::Desynced) => SyncStatus::Synced { since: tick },
        };
    }
}

/// Makes the receiver of a local lane lose its simulated world. Its packets are then encoded as on `predicted`, until it has
/// received a state of the scene.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct ForceDesync {
    pub entity: Entity,
}

pub(super) fn force_desync(
    desync: On<ForceDesync>,
    mut lanes: Query<&mut Sender, With<LocalLane>>,
) {
    if let Ok(mut sender) = lanes.get_mut(desync.entity) {
        sender.0.force_desync();
    }
}

type ObservedLane<'a> = (&'a LaneMeter, Option<&'a Sender>, Option<&'a Decoded>, &'a mut LaneSync);

pub(super) fn observe(mut lanes: Query<ObservedLane<'_>>) {
    for (meter, sender, decoded, mut sync) in &mut lanes {
        let Some(sample) = meter.samples().back() else {
            continue;
        };
        let packets = sample.snapshots.iter();
        let state_bits: f64 = packets.map(|packet| packet.ledger.kind(BitKind::State)).sum();
        sync.state_kilobits += state_bits / 1000.0;
        if let Some(Sender(protocol)) = sender {
            sync.silent_ticks = sample.acked_age_ticks.map_or(0, u64::from);
            sync.tick = sample.tick - sync.silent_ticks;
            sync.status = protocol.sync();
            sync.desyncs = protocol.desyncs();
            sync.state_progress = protocol.state_progress();
        } else if let Some(Decoded(decoded)) = decoded {
            sync.silent_ticks = meter.silent_ticks.into();
            for packet in decoded {
                sync.heard(packet.tick, packet.is_simulated);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_learns_from_the_packets_whether_it_is_in_sync() {
        let mut sync = LaneSync::default();
        for (tick, is_simulated, synced_ticks) in [
            (10, false, None),
            (11, true, Some(0)),
            (15, true, Some(4)),
            // An old packet, received late, does not change it.
            (14, true, Some(4)),
            (16, false, None),
            (17, true, Some(0)),
        ] {
            sync.heard(tick, is_simulated);
            assert_eq!(sync.synced_ticks(), synced_ticks, "tick {tick}");
        }
    }
}
