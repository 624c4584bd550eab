//! What both ends know of a scene before its first packet.

use std::borrow::Cow;

use cubewire_codec::schema::{Axis, Field, FieldForm, Kind, Range, Schema, Shape, Slots, World};

use super::frame::{self, FieldKind, Scene};

/// What a scene does not say of itself.
pub(crate) struct Surroundings {
    pub(crate) name: &'static str,
    pub(crate) up: Axis,
    pub(crate) position: [Range; 3],
    pub(crate) component_bits: u8,
    pub(crate) world: World,
}

/// The arena: positions in 1/128 m.
pub(crate) const ARENA: Surroundings = Surroundings {
    name: "arena",
    up: Axis::Y,
    position: [
        Range::new(-500.0, 500.0, 128.0),
        Range::new(-20.0, 108.0, 128.0),
        Range::new(-500.0, 500.0, 128.0),
    ],
    component_bits: 9,
    world: World {
        gravity: 9.81,
        floor: Some(0.0),
        max_speed: 60.0,
        linear: None,
    },
};

/// The ships: positions in 1/256 m, as ranges of 2²⁰ steps must reach 1.2 km.
pub(crate) const SHIPS: Surroundings = Surroundings {
    name: "ships",
    up: Axis::X,
    position: [Range::new(-2048.0, 2048.0, 256.0); 3],
    component_bits: 12,
    world: World {
        gravity: 0.0,
        floor: None,
        max_speed: 200.0,
        linear: None,
    },
};

/// The schema of a scene.
pub(crate) fn schema(scene: &impl Scene, surroundings: Surroundings) -> Schema {
    let kinds = scene.shapes().iter().enumerate().map(|(kind, &shape)| {
        let (name, shape) = match shape {
            frame::Shape::Ball { radius } => ("ball", Shape::Ball(radius)),
            frame::Shape::Box { half } => ("box", Shape::Box(half.to_array())),
            frame::Shape::Capsule {
                half_height,
                radius,
            } => {
                let half = half_height;
                ("capsule", Shape::Capsule { half, radius })
            }
            frame::Shape::Unknown => ("kind", Shape::Unknown),
        };
        Kind {
            name: format!("{name}-{kind}").into(),
            shape,
        }
    });
    let fields = scene.fields().iter().map(|field| Field {
        name: field.name.into(),
        form: form(field.kind),
    });
    Schema {
        name: surroundings.name.into(),
        ticks_per_second: 60,
        up: surroundings.up,
        position: surroundings.position,
        component_bits: surroundings.component_bits,
        anchor: None,
        kinds: Cow::Owned(kinds.collect()),
        fields: Cow::Owned(fields.collect()),
        world: surroundings.world,
        slots: Slots::Living {
            max: scene.slots() as u32,
        },
    }
}

const fn form(kind: FieldKind) -> FieldForm {
    match kind {
        FieldKind::Flag => FieldForm::Flag,
        FieldKind::Integer { min, max } => FieldForm::Int { min, max },
        FieldKind::Angle { bits } => FieldForm::Angle { bits: bits as u8 },
        FieldKind::Float { min, max, step } => FieldForm::Float { min, max, step },
        FieldKind::Slot => FieldForm::Body,
    }
}
