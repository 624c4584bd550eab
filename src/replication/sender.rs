//! The sender of a lane, and when it has a turn.

use bevy::prelude::*;
use cubewire_codec::{InitialStateError, Limits, Plan, Snapshot};
use cubewire_protocol::{SendBackoff, SnapshotSender};

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

/// Lowers the send rate while long snapshots do not arrive. Only for lanes over a real network, whose
/// bandwidth may be too low for them; over a simulated [link](super::LinkSettings), which demonstrates the
/// cost of stages, every snapshot is sent.
#[derive(Component, Debug, Default)]
pub struct LaneBackoff(pub SendBackoff);

/// Whether a lane has a turn in this tick. `remote` is that of a lane over a real network.
pub(super) fn is_due(
    lane: Entity,
    settings: &SenderSettings,
    remote: Option<(&LaneBackoff, &LaneCost)>,
    tick: u64,
) -> bool {
    match remote {
        Some((backoff, cost)) => backoff.0.is_due(tick) && cost.is_due(lane, settings, tick),
        None => settings.sends_at(tick),
    }
}
