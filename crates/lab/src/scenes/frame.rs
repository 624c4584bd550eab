//! What a scene is after a tick.

use std::borrow::Cow;

use cubewire_codec::schema::{Field, FieldForm};
use glam::{Quat, Vec3};

/// Ticks per second of every scene.
pub(super) const TICKS_PER_SECOND: u16 = 60;

/// A scene that is simulated tick by tick. The same seed makes the same frames.
pub(crate) trait Scene {
    /// Simulates one tick, and describes what is there after it.
    fn step(&mut self) -> &SceneFrame;
}

/// One body after a tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SceneBody {
    /// Index of its kind in the schema. It stays so for the generation.
    pub(crate) kind: u8,
    /// How many bodies its slot had before, modulo 256.
    pub(crate) generation: u8,
    /// Centre, metres.
    pub(crate) position: Vec3,
    /// Rotation from local to world axes.
    pub(crate) orientation: Quat,
    /// Values of the schema's fields: see [`FieldForm::quantize`](cubewire_codec::schema::FieldForm::quantize).
    pub(crate) values: Vec<f64>,
}

/// A scene after a tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SceneFrame {
    /// The body in each slot.
    pub(crate) slots: Vec<Option<SceneBody>>,
}

/// A field of a scene.
pub(super) const fn field(name: &'static str, form: FieldForm) -> Field {
    Field {
        name: Cow::Borrowed(name),
        form,
    }
}
