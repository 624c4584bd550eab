//! The components of a lane, and when it has a turn.

use bevy::prelude::*;
use cubewire_bevy::Mailbox;
use cubewire_codec::{InitialStateError, Limits, Plan, Snapshot};
use cubewire_protocol::SnapshotSender;

use super::budget::LaneCost;
use super::lane_budget::LaneBudget;
use super::meter::LaneMeter;
use super::settings::SenderSettings;
use super::sync::status::LaneSync;

/// Marks a lane: a path of snapshots from a simulation to a replica, or the half of one that is in this
/// process.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(LaneMeter, LaneSync)]
pub struct Lane;

/// Marks a lane whose two halves are both in this process. The in-memory transport connects them.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Lane)]
pub struct LocalLane;

/// The sender's state of one lane.
#[derive(Component, Debug)]
#[require(Lane, Mailbox, LaneBudget)]
pub(crate) struct Sender(pub(super) SnapshotSender);

impl Sender {
    pub(super) fn new(initial: Snapshot) -> Result<Self, InitialStateError> {
        Ok(Self(SnapshotSender::new(
            Plan::cubes(),
            initial,
            Limits::default(),
        )?))
    }
}

/// Whether a lane has a turn in this tick. `cost` is that of a lane to another process.
pub(super) fn is_due(
    lane: Entity,
    settings: &SenderSettings,
    cost: Option<&LaneCost>,
    tick: u64,
) -> bool {
    match cost {
        Some(cost) => cost.is_due(lane, settings, tick),
        None => settings.sends_at(tick),
    }
}
