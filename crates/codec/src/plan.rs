//! A [`Schema`] compiled for the coder: constants in steps and ticks, with z up.

mod legal;
mod solid;
mod values;

use std::sync::{Arc, LazyLock};

use glam::{Quat, Vec3};

use crate::precision::{Position, Velocity};
use crate::quantize::affine::{AFFINE_POSITION, AFFINE_VELOCITY};
use crate::quantize::bounded::{Bounded, VELOCITY};
use crate::quantize::smallest_three::{Levels, MAX_ARITHMETIC_BITS};
use crate::schema::{Axis, CUBES, FieldForm, Linear, Range, Schema, SchemaError, Slots};

pub(crate) use self::solid::{Contact, Lengths, Solid};
pub(crate) use self::values::ValuePlan;

/// A schema, compiled for the coder. Both ends need the same schema.
#[derive(Debug)]
pub struct Plan {
    schema: Schema,
    hash: u64,
    /// Bounds of positions in the schema's steps.
    bounds: [Bounded; 3],
    /// Number of steps of a velocity in this scene for a step in the demo.
    velocity_scale: f64,
    /// By kind.
    pub(crate) solids: Vec<Solid>,
    pub(crate) contacts: Vec<Contact>,
    /// Fields except the flag that is stored with the position.
    pub(crate) values: Vec<ValuePlan>,
    /// Number of words for the values of a body.
    pub(crate) words: usize,
    pub(crate) components: Components,
    pub(crate) linear: Linear,
    pub(crate) motion: MotionPlan,
    pub(crate) lengths: Lengths,
    /// Index of the body that others gather around (the player).
    pub(crate) anchor: Option<usize>,
}

/// Maximum number of values of a component for arithmetic coding.
const MAX_COMPONENTS: usize = 1 << MAX_ARITHMETIC_BITS;

/// Conversion of smallest-three components to and from integers.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// The largest integer.
    pub(crate) max: i32,
    /// Number of steps per unit of a component.
    pub(crate) scale: f32,
    /// Integer of a component of 0, plus ½ for rounding.
    pub(crate) middle: f32,
    /// Approximate number of steps of a component per radian.
    pub(crate) steps_per_radian: f32,
    /// Component by integer. The rest of the table is unused.
    values: Box<[f32; MAX_COMPONENTS]>,
}

/// Constants of the motion of bodies, in steps and ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MotionPlan {
    /// In steps per tick squared, downwards.
    pub(crate) gravity: f32,
    /// Maximum along each axis, in steps per tick.
    pub(crate) max_velocity: f32,
    /// Maximum about each axis, in radians per tick: 16 radians per second.
    pub(crate) max_spin: f32,
    /// Height of the floor, in steps.
    pub(crate) floor: Option<f32>,
}

impl Components {
    fn new(bits: u8, levels: Levels) -> Self {
        let largest = levels.max_component(bits);
        let max = f32::from(largest);
        let mut values = Box::new([0.0; MAX_COMPONENTS]);
        let count = usize::from(largest) + 1;
        for (component, value) in values.iter_mut().take(count).enumerate() {
            *value = (component as f32 / max * 2.0 - 1.0) * std::f32::consts::FRAC_1_SQRT_2;
        }
        Self {
            max: largest.into(),
            scale: std::f32::consts::FRAC_1_SQRT_2 * max,
            middle: (max + 1.0) * 0.5,
            // A component is sin(angle / 2), and 512 steps cover √2: 512 / √2 / 2 = 181.
            steps_per_radian: 181.0 * ((max + 1.0) / 512.0),
            values,
        }
    }

    #[inline]
    pub(crate) fn value(&self, component: u16) -> f32 {
        self.values[usize::from(component) % MAX_COMPONENTS]
    }
}

impl Plan {
    /// Maximum number of words for the values of a body.
    pub(crate) const MAX_WORDS: usize = 32;

    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError`] if a value in it is out of bounds.
    pub fn new(schema: Schema) -> Result<Arc<Self>, SchemaError> {
        schema.check()?;
        let order = core_order(schema.up);
        let bounds = order.map(|axis| bounded(&schema.position[axis]));
        let steps = bounds[2].steps_per_unit as f32;
        let solids = schema.kinds.iter();
        let solids: Vec<_> = solids.map(|kind| Solid::new(kind.shape, order, steps)).collect();
        let has_flag = schema.fields.first().is_some_and(|field| field.form == FieldForm::Flag);
        let (values, words) = values::pack(&schema.fields, has_flag.into());
        let rate = f32::from(schema.ticks_per_second);
        let world = schema.world;
        let motion = MotionPlan {
            gravity: world.gravity * steps / (rate * rate),
            max_velocity: world.max_speed * steps / rate,
            max_spin: 16.0 / rate,
            floor: world.floor.map(|floor| floor * steps),
        };
        // Without a floor, corners do not touch anything.
        let contacts = solids.iter().map(|&solid| match motion.floor {
            Some(_) => Contact::of(solid),
            None => Contact::of(Solid::Unknown),
        });
        let contacts = contacts.collect();
        let typical = typical(&solids, &schema);
        let lengths = Lengths::new(match typical > 0.0 {
            true => typical / CUBE_HALF,
            false => steps / 512.0,
        });
        Ok(Arc::new(Self {
            hash: Schema { seats: 1, ..schema.clone() }.hash(),
            bounds,
            velocity_scale: f64::from(CUBES.world.max_speed) / f64::from(world.max_speed),
            components: Components::new(
                schema.component_bits.min(MAX_ARITHMETIC_BITS),
                schema.levels,
            ),
            linear: world.linear.unwrap_or_else(|| linear(&motion, &solids)),
            motion,
            lengths,
            anchor: schema.anchor.map(usize::from),
            contacts,
            solids,
            values,
            words,
            schema,
        }))
    }

    /// The plan of the demo's scene.
    pub fn cubes() -> Arc<Self> {
        static PLAN: LazyLock<Arc<Plan>> =
            LazyLock::new(|| Plan::new(CUBES).expect("the demo's schema is legal"));
        Arc::clone(&PLAN)
    }

    /// Returns the plan of the same schema with another number of seats.
    ///
    /// # Errors
    /// [`SchemaError`] if it is out of bounds.
    pub fn with_seats(self: &Arc<Self>, seats: u8) -> Result<Arc<Self>, SchemaError> {
        if seats == self.schema.seats {
            return Ok(Arc::clone(self));
        }
        Self::new(Schema { seats, ..self.schema.clone() })
    }

    /// The schema that it was compiled from.
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Steps and bounds of positions along each axis, with z up. `None` if positions are floats.
    #[inline]
    pub fn position_bounds(&self, position: Position) -> Option<[Bounded; 3]> {
        match position {
            Position::Full => None,
            Position::Affine => Some(AFFINE_POSITION),
            Position::QUANTIZED => Some(self.bounds),
            Position::Quantized { steps_per_metre } => {
                let ranges = self.ranges(steps_per_metre);
                Some(ranges.each_ref().map(bounded))
            }
        }
    }

    /// Ranges of positions along each axis in other steps, with z up. 512 stands for the schema's steps.
    fn ranges(&self, steps_per_metre: u16) -> [Range; 3] {
        core_order(self.schema.up).map(|axis| {
            let range = self.schema.position[axis];
            let steps_per_unit = range.steps_per_unit * f64::from(steps_per_metre) / 512.0;
            Range { steps_per_unit, ..range }
        })
    }

    /// Steps and bounds of a component of a velocity. `None` if velocities are floats or omitted.
    pub(crate) fn velocity_bounds(&self, velocity: Velocity) -> Option<Bounded> {
        let demo = match velocity {
            Velocity::Full | Velocity::Omitted => return None,
            Velocity::Quantized | Velocity::AtRestFlag => VELOCITY,
            Velocity::Affine => AFFINE_VELOCITY,
        };
        Some(Bounded { steps_per_unit: demo.steps_per_unit * self.velocity_scale, ..demo })
    }

    /// Bounds of positions along each axis in the schema's steps, with z up.
    pub const fn bounds(&self) -> &[Bounded; 3] {
        &self.bounds
    }

    /// Kind of a body in a scene of fixed bodies.
    #[inline]
    pub(crate) fn fixed_kind(&self, body: usize) -> usize {
        body.min(self.solids.len() - 1)
    }

    /// Whether bodies come and go.
    pub const fn has_lives(&self) -> bool {
        matches!(self.schema.slots, Slots::Living { .. })
    }

    /// Number of slots if bodies come and go; `None` if bodies are fixed.
    pub const fn max_slots(&self) -> Option<usize> {
        match self.schema.slots {
            Slots::Living { max } => Some(max as usize),
            Slots::Fixed => None,
        }
    }

    /// Whether the first field is a flag, which is stored with the position.
    #[inline]
    pub(crate) fn has_flag(&self) -> bool {
        self.values.len() < self.schema.fields.len()
    }

    /// Whether slots contain more than a pose and a flag.
    #[inline]
    pub(crate) const fn has_slots(&self) -> bool {
        self.words > 0 || self.has_lives()
    }

    /// Converts a vector from the caller's axes to z up.
    pub(crate) fn to_core(&self, vector: Vec3) -> Vec3 {
        let [x, y, z] = vector.to_array();
        match self.schema.up {
            Axis::X => Vec3::new(y, z, x),
            Axis::Y => Vec3::new(z, x, y),
            Axis::Z => vector,
        }
    }

    /// Converts a vector with z up to the caller's axes. The third of three equal cyclic permutations restores it.
    pub(crate) fn to_caller(&self, core: Vec3) -> Vec3 {
        self.to_core(self.to_core(core))
    }

    /// Converts a rotation from the caller's axes to z up.
    pub(crate) fn rotation_to_core(&self, rotation: Quat) -> Quat {
        let [x, y, z] = self.to_core(rotation.xyz()).to_array();
        Quat::from_xyzw(x, y, z, rotation.w)
    }

    /// Converts a rotation with z up to the caller's axes.
    pub(crate) fn rotation_to_caller(&self, core: Quat) -> Quat {
        let [x, y, z] = self.to_caller(core.xyz()).to_array();
        Quat::from_xyzw(x, y, z, core.w)
    }
}

/// Compares hashes of the schemas, except for the number of seats, which does not matter to snapshots. The schemas themselves are
/// compared when two ends connect.
impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for Plan {}

/// Half of a cube of 0.4 m, in 1/512 m.
const CUBE_HALF: f32 = 102.4;

/// Bounds of the steps of a range. They are clamped to the integers of a
/// [packed position](crate::snapshot::PackedPosition), but a legal precision has no others.
fn bounded(range: &Range) -> Bounded {
    let (min, max) = range.integers().into_inner();
    let min = min.clamp(-PACKED_END, PACKED_END - 1);
    let max = max.clamp(min, PACKED_END - 1);
    Bounded::new(range.steps_per_unit, min as i32, max as i32)
}

/// End of the integers of a [packed position](crate::snapshot::PackedPosition). They start at its negative.
const PACKED_END: i64 = 1 << 20;

/// The caller's axes that become x, y and z. A cyclic permutation keeps the handedness.
const fn core_order(up: Axis) -> [usize; 3] {
    match up {
        Axis::X => [1, 2, 0],
        Axis::Y => [2, 0, 1],
        Axis::Z => [0, 1, 2],
    }
}

/// Mean half size of the bodies of known shape, without the anchor.
fn typical(solids: &[Solid], schema: &Schema) -> f32 {
    let is_anchor =
        |kind: usize| schema.slots == Slots::Fixed && schema.anchor.map(usize::from) == Some(kind);
    let halves = solids.iter().enumerate().filter(|&(kind, _)| !is_anchor(kind));
    let halves: Vec<_> = halves.map(|(_, solid)| solid.half()).filter(|&half| half > 0.0).collect();
    halves.iter().sum::<f32>() / halves.len().max(1) as f32
}

/// Linear predictor of a schema that does not define one: no drag, and a floor for the smallest body.
fn linear(motion: &MotionPlan, solids: &[Solid]) -> Linear {
    const DENOMINATOR: i64 = 1 << 16;
    let smallest = solids.iter().map(|solid| solid.half()).fold(f32::MAX, f32::min);
    let height =
        |above: f32| motion.floor.map_or(i32::MIN / 2, |floor| (floor + above * smallest) as i32);
    Linear {
        gravity: ((f64::from(motion.gravity) * DENOMINATOR as f64).round() as i64, DENOMINATOR),
        drag_per_tick: 1 << 16,
        rest_height: height(1.0),
        fall_height: height(2.5),
    }
}
