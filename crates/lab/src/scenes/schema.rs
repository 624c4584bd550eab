//! The schemas of the scenes.

use std::borrow::Cow;

use cubewire_codec::schema::{Axis, Levels, Range, Schema, Slots, World};

use super::frame::TICKS_PER_SECOND;
use super::{arena, asteroids};

/// The arena, with positions in 1/128 m.
pub(crate) const ARENA: Schema = Schema {
    name: Cow::Borrowed("arena"),
    ticks_per_second: TICKS_PER_SECOND,
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
    slots: Slots::Living { max: arena::SLOTS as u32 },
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
    slots: Slots::Living { max: asteroids::BODIES as u32 },
};
