//! What the pages of a packet and of a cube read.

use cubewire_protocol::Standing;

use crate::replication::{CubeError, LaneMeter};

/// A lane, and when it is looked at.
pub(in crate::panel) struct Inspected<'a> {
    /// The lane's meter.
    pub(in crate::panel) meter: &'a LaneMeter,
    /// The tick of the past that the views show.
    pub(in crate::panel) moment: Option<u64>,
    /// Errors of the displayed cubes.
    pub(in crate::panel) errors: &'a [CubeError],
    /// How the cubes stand within the budget.
    pub(in crate::panel) standings: &'a [Standing],
}
