//! The components of a lane.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::{ConnectionClock, MessageBuffer, disconnect};
use cubewire_codec::stages::Delta;
use cubewire_protocol::{
    SendState, ServerConnection, SnapshotReceiver, SnapshotSender, SyncStatus, WaitHistory,
};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::{LaneMeter, Mean};
use super::settings::LinkSettings;

/// Marks a lane: a path of snapshots from a simulation to a replica, or the half of it that is in this process.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(LaneMeter, LaneSync)]
pub struct Lane;

/// Marks a lane with both halves in this process, connected by the in-memory transport.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Lane, LinkSettings, ConnectionClock::Fixed)]
pub struct LocalLane;

/// The server's end of a lane.
#[derive(Component, Debug)]
#[require(Lane, MessageBuffer, ConnectionClock)]
pub(crate) struct Sender(pub(super) ServerConnection);

impl Sender {
    /// Returns the sender of snapshots. `None` before a viewer's welcome.
    pub(super) fn snapshots(&self) -> Option<&SnapshotSender> {
        self.0.sender()
    }

    /// Returns the tick of the last packet if the receiver needs a state of the scene.
    pub(super) fn wants_state(&self) -> Option<u64> {
        self.snapshots()?.wants_state()
    }
}

/// Whether each cube of a lane is up to date, in flight or waiting, now and in the last second.
#[derive(Component, Clone, Debug)]
pub struct SendStates {
    /// State of each cube after the newest tick. Empty without a budget.
    pub now: Vec<SendState>,
    /// Longest wait of each cube in the last second.
    pub waits: WaitHistory,
}

impl Default for SendStates {
    fn default() -> Self {
        Self { now: Vec::new(), waits: WaitHistory::new(TICKS_PER_SECOND as u16) }
    }
}

impl SendStates {
    pub(crate) fn record(&mut self, tick: u64) {
        self.waits.record(tick, &self.now);
    }
}

/// Whether both ends of a lane simulate the same world, as known in this process. On other rungs the figures do not change.
#[derive(Component, Clone, Debug, Default)]
pub struct LaneSync {
    /// Tick of the newest acked packet, or at a receiving half of the newest decoded one.
    pub tick: u64,
    /// Age of the newest acked packet in ticks, or at a receiving half ticks since the newest packet arrived.
    pub silent_ticks: u64,
    /// Whether both ends are in sync. A receiving half derives this from the packets.
    pub status: SyncStatus,
    /// Whether the ends come into sync only when the scene is reset, because it is [never](super::Rebuilds::never) rebuilt.
    pub awaits_reset: bool,
    pub desyncs: u64,
    /// Chunks of a state that have arrived, and chunks in total, while a state is being sent.
    pub state_progress: Option<(usize, usize)>,
    /// Kilobits of states in the packets so far: sent, or at a receiving half received.
    pub state_kilobits: f64,
    /// Ticks that the receiver simulates per packet.
    pub mean_ticks: Mean,
    /// Seconds to decode a packet, including the simulation.
    pub mean_seconds: Mean,
}

impl LaneSync {
    /// Number of ticks since both ends came into sync. `None` if they are not in sync.
    pub const fn synced_ticks(&self) -> Option<u64> {
        match self.status {
            SyncStatus::Synced { since } => Some(self.tick.saturating_sub(since)),
            SyncStatus::Desynced => None,
        }
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
    pub(super) fn heard(&mut self, tick: u64, is_simulated: bool) {
        self.tick = self.tick.max(tick);
        self.status = match (is_simulated, self.status) {
            (false, _) => SyncStatus::Desynced,
            (true, SyncStatus::Synced { since }) => SyncStatus::Synced { since },
            (true, SyncStatus::Desynced) => SyncStatus::Synced { since: tick },
        };
    }
}

/// Ends a lane that has failed. A viewer is disconnected, and the transport logs the reason. A local lane stays visible but
/// sends no more snapshots.
pub(crate) fn end(commands: &mut Commands<'_, '_>, lane: Entity, why: impl ToString) {
    let why = why.to_string();
    commands.queue(move |world: &mut World| {
        if world.get::<LocalLane>(lane).is_none() {
            disconnect(world, lane, why);
        } else if let Ok(mut lane) = world.get_entity_mut(lane)
            && lane.take::<Sender>().is_some()
        {
            error!("a lane stopped sending: {why}");
        }
    });
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
