//! The schema of the demo.

use std::borrow::Cow;

use super::{Axis, Field, FieldForm, Kind, Levels, Linear, Range, Schema, Shape, Slots, World};

const KINDS: &[Kind] = &[
    Kind { name: Cow::Borrowed("player"), shape: Shape::Box([0.75; 3]) },
    Kind { name: Cow::Borrowed("cube"), shape: Shape::Box([0.2; 3]) },
];

const FIELDS: &[Field] = &[Field { name: Cow::Borrowed("interacting"), form: FieldForm::Flag }];

/// The demo: a player's cube among small cubes.
///
/// Orientations have the article's 2⁹ levels, so that packets can be compared with the article's. 0 is between two
/// levels, so the identity arrives turned by 0.27 degrees.
pub const CUBES: Schema = Schema {
    name: Cow::Borrowed("cubes"),
    ticks_per_second: 60,
    up: Axis::Z,
    position: [
        Range::new(-256.0, 256.0, 512.0),
        Range::new(-256.0, 256.0, 512.0),
        Range::new(0.0, 32.0, 512.0),
    ],
    component_bits: 9,
    levels: Levels::Even,
    anchor: Some(0),
    kinds: Cow::Borrowed(KINDS),
    fields: Cow::Borrowed(FIELDS),
    world: World {
        gravity: 20.0,
        floor: Some(0.0),
        max_speed: 32.0,
        linear: Some(Linear {
            gravity: (25, 9),
            drag_per_tick: 64_841,
            rest_height: 102,
            fall_height: 250,
        }),
    },
    slots: Slots::Fixed,
};
