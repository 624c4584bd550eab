//! The components that mark a lane.

use bevy::prelude::*;

use super::meter::LaneMeter;
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
