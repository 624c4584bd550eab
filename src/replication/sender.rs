//! The sender of a lane, and when it has a turn.

use bevy::prelude::*;
use cubewire_codec::{InitialStateError, Limits, Plan, Snapshot};
use cubewire_protocol::SnapshotSender;

use super::budget::LaneCost;
use super::lane::Lane;
use super::lane_budget::LaneBudget;
use super::settings::SenderSettings;
use super::transport::SenderMail;

/// The sender's state of one lane.
#[derive(Component, Debug)]
#[require(Lane, SenderMail, LaneBudget)]
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
