//! What a scene is after a tick.

use glam::{Quat, Vec3};

/// A scene that is simulated tick by tick, at 60 a second. The same seed makes the same frames.
pub(crate) trait Scene {
    /// Number of slots.
    fn slots(&self) -> usize;

    /// The shape of each kind.
    fn shapes(&self) -> &'static [Shape];

    /// What a body has besides its pose, in the order of its values.
    fn fields(&self) -> &'static [Field];

    /// Simulates one tick, and describes what is there after it.
    fn step(&mut self) -> &SceneFrame;
}

/// The shape of a body about its centre, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Ball {
        radius: f32,
    },
    /// Half of its extent along each axis.
    Box {
        half: Vec3,
    },
    /// All points within the radius of a segment of the y axis.
    Capsule {
        half_height: f32,
        radius: f32,
    },
    Unknown,
}

/// What a body has besides its pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldKind,
}

/// Which values a field has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FieldKind {
    /// [`Value::Flag`].
    Flag,
    /// [`Value::Integer`] from `min` to `max`, both included.
    Integer { min: i32, max: i32 },
    /// [`Value::Integer`] from 0: a full turn has 2^`bits`, and wraps.
    Angle { bits: u32 },
    /// [`Value::Float`] from `min` to `max`; differences below `step` do not matter.
    Float { min: f32, max: f32, step: f32 },
    /// [`Value::Slot`].
    Slot,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Flag(bool),
    Integer(i32),
    Float(f32),
    /// The index of a slot that has a body, or none.
    Slot(Option<u16>),
}

/// One body after a tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SceneBody {
    /// Index of its [shape](Scene::shapes). It stays so for the generation.
    pub(crate) kind: u8,
    /// How many bodies its slot had before, modulo 256.
    pub(crate) generation: u8,
    /// Centre, metres.
    pub(crate) position: Vec3,
    /// Rotation from local to world axes.
    pub(crate) orientation: Quat,
    /// Values of the scene's [fields](Scene::fields).
    pub(crate) values: Vec<Value>,
}

/// A scene after a tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SceneFrame {
    /// The body in each slot.
    pub(crate) slots: Vec<Option<SceneBody>>,
}
