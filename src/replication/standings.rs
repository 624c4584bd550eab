//! How the cubes of a lane with a budget stand.

use bevy::prelude::*;
use cubewire_protocol::Standing;

/// What is on its way of each cube, and what waits, for lanes that have this component; empty without a budget, and where
/// the sender is in another process.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Standings(pub Vec<Standing>);
