//! The components of a lane.

use bevy::prelude::*;
use cubewire_bevy::{MessageBuffer, disconnect};
use cubewire_codec::{InitialStateError, Limits, Plan, Snapshot};
use cubewire_protocol::{SendBudget, SendState, SnapshotSender, WaitHistory};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::LaneMeter;
use super::settings::{LinkSettings, SenderSettings};
use super::sync::LaneSync;

/// Marks a lane: a path of snapshots from a simulation to a replica, or the half of it that is in this process.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(LaneMeter, LaneSync)]
pub struct Lane;

/// Marks a lane with both halves in this process, connected by the in-memory transport.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Lane, LinkSettings)]
pub struct LocalLane;

/// Limits a lane to its budget and, over a real network, to an adaptive rate. A simulated [link](super::LinkSettings) has no
/// adaptive rate: it may be overloaded to show the cost of stages.
#[derive(Component, Debug)]
pub struct LaneBudget(pub(crate) SendBudget);

impl Default for LaneBudget {
    fn default() -> Self {
        Self(SendBudget::new(TICKS_PER_SECOND as u16))
    }
}

impl LaneBudget {
    pub fn granted(&self, asked: &SenderSettings) -> SenderSettings {
        SenderSettings { budget: self.0.granted_kbps(asked.budget), ..*asked }
    }
}

#[derive(Component, Debug)]
#[require(Lane, MessageBuffer, LaneBudget)]
pub(crate) struct Sender(pub(super) SnapshotSender);

impl Sender {
    pub(super) fn new(initial: Snapshot) -> Result<Self, InitialStateError> {
        Ok(Self(SnapshotSender::new(Plan::cubes(), initial, Limits::default())?))
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
