//! What is known of a lane's two simulations.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::stages::Delta;
use cubewire_protocol::{SnapshotReceiver, SyncStatus};

use crate::replication::mean::Mean;

/// Whether the two ends of a lane simulate the same world, as far as they are in this process. All figures stay as they
/// are while the lane is on another rung.
#[derive(Component, Clone, Debug, Default)]
pub struct LaneSync {
    /// The newest tick that this says something about: that of the newest packet that was acked, or decoded.
    pub tick: u64,
    /// How long nothing newer has been known, ticks.
    pub silent_ticks: u64,
    /// Whether they do. A receiving half without its sender knows what the packets said.
    pub status: SyncStatus,
    /// How often the receiver has reported that it simulates something else.
    pub desyncs: u64,
    /// How many chunks of a state have arrived, of how many, while the sender sends one.
    pub state_progress: Option<(usize, usize)>,
    /// What the packets carried of states since the lane exists; at a receiving half alone, those that arrived.
    pub state_kilobits: f64,
    mean_ticks: Mean,
    mean_seconds: Mean,
}

impl LaneSync {
    /// How long the two ends have been in sync, as far as is known; none if they are not.
    #[must_use]
    pub const fn synced_ticks(&self) -> Option<u64> {
        match self.status {
            SyncStatus::Synced { since } => Some(self.tick.saturating_sub(since)),
            SyncStatus::Desynced => None,
        }
    }

    /// Ticks that the receiver simulates for a packet, smoothed.
    #[must_use]
    pub fn mean_ticks(&self) -> f64 {
        self.mean_ticks.get()
    }

    /// How long a packet takes the receiver, smoothed.
    #[must_use]
    pub fn mean_time(&self) -> Duration {
        Duration::from_secs_f64(self.mean_seconds.get())
    }

    /// The receiver has decoded the packet of `tick`, in that time; it had simulated `before` ticks before.
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

    /// What a packet said, where the sender is in another process.
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
            // Too late.
            (14, true, Some(4)),
            (16, false, None),
            (17, true, Some(0)),
        ] {
            sync.heard(tick, is_simulated);
            assert_eq!(sync.synced_ticks(), synced_ticks, "tick {tick}");
        }
    }
}
