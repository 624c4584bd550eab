//! The state of a scene after a tick.

use std::borrow::Cow;

use cubewire_codec::schema::{Field, FieldForm};
use glam::{Quat, Vec3};

/// Ticks per second of the arena.
pub(super) const TICKS_PER_SECOND: u16 = 60;

/// A scene that is simulated tick by tick. The same seed gives the same frames.
pub(crate) trait Scene {
    /// Simulates one tick and returns the state after it.
    fn step(&mut self) -> &SceneFrame;
}

/// A body after a tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SceneBody {
    /// Index of the kind in the schema. It is constant for a generation.
    pub(crate) kind: u8,
    /// Number of earlier bodies in the slot, modulo 256.
    pub(crate) generation: u8,
    /// Centre, metres.
    pub(crate) position: Vec3,
    /// Rotation from local to world axes.
    pub(crate) orientation: Quat,
    /// Values of the schema's fields, in the form that
    /// [`FieldForm::quantize`](cubewire_codec::schema::FieldForm::quantize) takes.
    pub(crate) values: Vec<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SceneFrame {
    /// Body in each slot, `None` if the slot is empty.
    pub(crate) slots: Vec<Option<SceneBody>>,
}

pub(super) const fn field(name: &'static str, form: FieldForm) -> Field {
    Field { name: Cow::Borrowed(name), form }
}
