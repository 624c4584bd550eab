//! Sync state of a lane's two simulations.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::stages::Delta;
use cubewire_protocol::{SnapshotReceiver, SyncStatus};

use crate::replication::mean::Mean;

/// Whether both ends of a lane simulate the same world, as known in this process. On other rungs the figures do not change.
#[derive(Component, Clone, Debug, Default)]
pub struct LaneSync {
    /// Tick of the newest acked packet, or at a receiving half of the newest decoded one.
    pub tick: u64,
    /// Age of the newest acked packet in ticks, or at a receiving half ticks since the newest packet arrived.
    pub silent_ticks: u64,
    /// Whether both ends are in sync. A receiving half derives this from the packets.
    pub status: SyncStatus,
    /// Number of desyncs that the receiver has reported.
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
    #[must_use]
    pub const fn synced_ticks(&self) -> Option<u64> {
        match self.status {
            SyncStatus::Synced { since } => Some(self.tick.saturating_sub(since)),
            SyncStatus::Desynced => None,
        }
    }

    /// Ticks that the receiver simulates per packet, as a moving average.
    #[must_use]
    pub fn mean_ticks(&self) -> f64 {
        self.mean_ticks.get()
    }

    /// Time to decode a packet, including the simulation, as a moving average.
    #[must_use]
    pub fn mean_time(&self) -> Duration {
        Duration::from_secs_f64(self.mean_seconds.get())
    }

    /// Records a packet that the receiver decoded in time `took`. `before` is the number of simulated ticks before decoding.
    pub(in crate::replication) fn decoded(
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
    pub(super) fn heard(&mut self, tick: u64, is_simulated: bool) {
        self.tick = self.tick.max(tick);
        self.status = match (is_simulated, self.status) {
            (false, _) => SyncStatus::Desynced,
            (true, SyncStatus::Synced { since }) => SyncStatus::Synced { since },
            (true, SyncStatus::Desynced) => SyncStatus::Synced { since: tick },
        };
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
