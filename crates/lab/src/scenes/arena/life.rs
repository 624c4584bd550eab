//! What a body is besides its pose.

use cubewire_codec::schema::{Field, FieldForm};
use glam::Vec3;
use rapier3d::prelude::RigidBodyHandle;

use crate::scenes::frame::field;
use crate::scenes::heading::{HEADING, Heading};

/// What each body has, in the order of [`Life::values`].
pub(in crate::scenes) const FIELDS: [Field; 4] = [
    field("touched", FieldForm::Flag),
    field("burning", FieldForm::Flag),
    field(
        "health",
        FieldForm::Int {
            min: 0,
            max: FULL_HEALTH,
        },
    ),
    field("heading", HEADING),
];

const FULL_HEALTH: i32 = 100;

/// Ticks for which a body is touched, and burns.
const TOUCH_TICKS: u64 = 30;
const BURN_TICKS: u64 = 240;

/// Ticks in which a burning body loses a point of health, and another regains one.
const HURT_TICKS: u64 = 12;
const HEAL_TICKS: u64 = 300;

/// A change of velocity in a tick that does no harm, metres per second, and the health that each above it costs.
const HARMLESS: f32 = 4.0;
const HARM: f32 = 4.0;

/// Horizontal speed from which on a body turns to where it goes, metres per second, and by how much in a tick.
const TURNING_SPEED: f32 = 1.0;
const TURN: i16 = 40;

/// What a body is besides its pose.
pub(super) struct Life {
    pub(super) body: RigidBodyHandle,
    pub(super) kind: u8,
    velocity: Vec3,
    health: i32,
    heading: Heading,
    touched_until: u64,
    burning_until: u64,
}

impl Life {
    pub(super) const fn new(body: RigidBodyHandle, kind: u8, heading: Heading) -> Self {
        Self {
            body,
            kind,
            velocity: Vec3::ZERO,
            health: FULL_HEALTH,
            heading,
            touched_until: 0,
            burning_until: 0,
        }
    }

    pub(super) const fn touch(&mut self, tick: u64) {
        self.touched_until = tick + TOUCH_TICKS;
    }

    pub(super) const fn burn(&mut self, tick: u64) {
        self.burning_until = tick + BURN_TICKS;
    }

    /// Turns towards a horizontal direction that is not zero, and says where that leads.
    pub(super) fn turn(&mut self, direction: Vec3) -> Heading {
        let wanted = Heading::of(direction.x, direction.z);
        self.heading = self.heading.turned_towards(wanted, TURN);
        self.heading
    }

    /// Lives for a tick, after which the body has this velocity. Slots do not heal all at once.
    pub(super) fn live(&mut self, tick: u64, slot: usize, velocity: Vec3) {
        let turn = tick + slot as u64;
        let impact = velocity.distance(self.velocity) - HARMLESS;
        let harm = if impact > 0.0 {
            1 + (impact * HARM) as i32
        } else if tick < self.burning_until {
            i32::from(turn.is_multiple_of(HURT_TICKS))
        } else {
            -i32::from(turn.is_multiple_of(HEAL_TICKS))
        };
        self.health = (self.health - harm).clamp(0, FULL_HEALTH);
        self.velocity = velocity;
        if velocity.with_y(0.0).length_squared() > TURNING_SPEED * TURNING_SPEED {
            self.turn(velocity);
        }
    }

    /// Values of [`FIELDS`].
    pub(super) fn values(&self, tick: u64) -> Vec<f64> {
        let is_until = |end| f64::from(u8::from(tick < end));
        vec![
            is_until(self.touched_until),
            is_until(self.burning_until),
            self.health.into(),
            self.heading.turns(),
        ]
    }
}
