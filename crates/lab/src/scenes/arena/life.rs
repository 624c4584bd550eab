//! State of a body besides its pose.

use std::borrow::Cow;

use cubewire_codec::schema::{Field, FieldForm};
use glam::Vec3;
use rapier3d::prelude::RigidBodyHandle;

use crate::scenes::heading::{HEADING, Heading};

/// Fields of a body, in the order of [`Life::values`].
pub(in crate::scenes) const FIELDS: [Field; 4] = [
    field("touched", FieldForm::Flag),
    field("burning", FieldForm::Flag),
    field("health", FieldForm::Int { min: 0, max: FULL_HEALTH }),
    field("heading", HEADING),
];

const fn field(name: &'static str, form: FieldForm) -> Field {
    Field { name: Cow::Borrowed(name), form }
}

const FULL_HEALTH: i32 = 100;

/// Number of ticks that a body stays touched, and that it burns.
const TOUCH_TICKS: u64 = 30;
const BURN_TICKS: u64 = 240;

/// Number of ticks per point of health that a burning body loses, and that other bodies regain.
const HURT_TICKS: u64 = 12;
const HEAL_TICKS: u64 = 300;

/// Change of velocity in a tick that does no damage, metres per second, and damage per metre per second above it.
const HARMLESS: f32 = 4.0;
const HARM: f32 = 4.0;

/// Horizontal speed above which a body turns in its direction of travel, metres per second, and maximum turn in a
/// tick, in 1/4096 of a turn.
const TURNING_SPEED: f32 = 1.0;
const TURN: i16 = 40;

/// State of a body besides its pose.
pub(super) struct Life {
    pub(super) body: RigidBodyHandle,
    pub(super) identity: cubewire_codec::Life,
    velocity: Vec3,
    health: i32,
    heading: Heading,
    touched_until: u64,
    burning_until: u64,
}

impl Life {
    pub(super) const fn new(
        body: RigidBodyHandle,
        identity: cubewire_codec::Life,
        heading: Heading,
    ) -> Self {
        Self {
            body,
            identity,
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

    /// Turns towards a horizontal direction that is not zero. Returns the new heading.
    pub(super) fn turn(&mut self, direction: Vec3) -> Heading {
        let wanted = Heading::of(direction.x, direction.z);
        self.heading = self.heading.turned_towards(wanted, TURN);
        self.heading
    }

    /// Updates health and heading for a tick. `velocity` is the velocity after the tick. The slot number staggers
    /// healing over the ticks.
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

    /// Returns the values of [`FIELDS`].
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
