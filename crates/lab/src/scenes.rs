//! Scenes other than the cube demo, simulated from a seed.
//!
//! A scene has a fixed number of slots. A slot is empty or holds a body with a pose, a kind, the slot's generation
//! and the fields of the scene's schema. `record` writes the frames to a file.
//!
//! | module | |
//! | --- | --- |
//! | `heading` | 12-bit angles |
//! | `arena` | 2000 bodies in Rapier: clusters, walkers, blasts |
//! | `asteroids` | 250 bodies in Rapier without gravity, from a public benchmark |

mod arena;
mod asteroids;
mod heading;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use cubewire_codec::Life;
use cubewire_codec::schema::{self, Axis, Levels, Range, Schema, Support, World};
use glam::{Quat, Vec3, Vec4};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) use self::arena::{Arena, Play};
pub(crate) use self::asteroids::Asteroids;

/// The arena, with positions in 1/128 m.
pub(crate) const ARENA: Schema = Schema {
    name: Cow::Borrowed("arena"),
    ticks_per_second: arena::TICKS_PER_SECOND,
    up: Axis::Y,
    position: [
        Range::new(-500.0, 500.0, 128.0),
        Range::new(-20.0, 108.0, 128.0),
        Range::new(-500.0, 500.0, 128.0),
    ],
    component_bits: 9,
    levels: Levels::Odd,
    anchor: None,
    kinds: Cow::Borrowed(&arena::KINDS),
    fields: Cow::Borrowed(&arena::FIELDS),
    world: World { gravity: 9.81, floor: Some(0.0), max_speed: 60.0, linear: None },
    slots: schema::Slots::Living { max: arena::SLOTS as u32 },
    support: Support::NONE,
    seats: 1,
};

/// The asteroids, with positions in 0.01 m and steps of less than 0.001 for quaternion components.
pub(crate) const ASTEROIDS: Schema = Schema {
    name: Cow::Borrowed("asteroids"),
    ticks_per_second: asteroids::TICKS_PER_SECOND,
    up: Axis::Y,
    position: [Range::new(-64.0, 64.0, 100.0); 3],
    component_bits: 11,
    levels: Levels::Odd,
    anchor: None,
    kinds: Cow::Borrowed(&asteroids::KINDS),
    fields: Cow::Borrowed(&[]),
    world: World { gravity: 0.0, floor: None, max_speed: 20.0, linear: None },
    slots: schema::Slots::Living { max: asteroids::BODIES as u32 },
    support: Support::NONE,
    seats: 1,
};

/// A scene that is simulated tick by tick. The same seed gives the same frames.
pub(crate) trait Scene {
    /// Simulates one tick and returns the state after it.
    fn step(&mut self) -> Frame;
}

/// Body in each slot, `None` if the slot is empty.
pub(crate) type Frame = Vec<Option<SceneBody>>;

/// A body after a tick.
#[derive(Debug)]
pub(crate) struct SceneBody {
    /// Index of the kind in the schema, and number of earlier bodies in the slot, modulo 256.
    pub(crate) life: Life,
    /// Centre, metres.
    pub(crate) position: Vec3,
    /// Rotation from local to world axes.
    pub(crate) orientation: Quat,
    /// Values of the schema's fields, in the form that
    /// [`FieldForm::quantize`](cubewire_codec::schema::FieldForm::quantize) takes.
    pub(crate) values: Vec<f64>,
}

/// Returns a uniformly distributed orientation.
fn orientation(random: &mut ChaCha8Rng) -> Quat {
    loop {
        let point = Vec4::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)));
        if (0.01..1.0).contains(&point.length_squared()) {
            return Quat::from_vec4(point.normalize());
        }
    }
}
