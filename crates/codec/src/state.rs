//! Snapshots of a simulation, in floats.

use glam::{Quat, Vec3};

/// The state of one body. The [schema](crate::schema::Schema) defines axes and unit of length: in the demo z up and
/// metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyState {
    /// Centre of mass. Quantized precisions clamp it to the schema's range: in the demo
    /// [−256, 256) × [−256, 256) × [0, 32).
    pub position: Vec3,
    /// Unit quaternion, local to world. `q` and `−q` are the same orientation.
    pub orientation: Quat,
    /// In units per second. Quantized precisions clamp each component to [−32, 32).
    pub linear_velocity: Vec3,
    /// The schema's first field, if it is a flag, otherwise ignored. In the demo, whether the player has touched the
    /// body, directly or through other bodies.
    pub interacting: bool,
}

/// Every body at one tick. Indices and number of bodies stay the same during a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// At most 65 536 bodies.
    pub bodies: Vec<BodyState>,
}
