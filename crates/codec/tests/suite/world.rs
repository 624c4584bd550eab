//! Bodies that rest, move, fall, jump and change, in a scene of any schema.

use std::sync::Arc;

use cubewire_codec::glam::{Quat, Vec3};
use cubewire_codec::schema::Range;
use cubewire_codec::{BodyState, Life, Plan, QuantizedSnapshot, Snapshot, Stages};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Debug)]
struct Mover {
    life: Life,
    /// The velocity is in units per tick.
    state: BodyState,
    values: Vec<u32>,
    is_resting: bool,
}

/// A world of bodies within the bounds of a schema.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) plan: Arc<Plan>,
    pub(crate) random: ChaCha8Rng,
    slots: Vec<Option<Mover>>,
}

impl World {
    /// Creates the schema's number of empty slots or, in a scene of fixed bodies, `fixed` bodies.
    pub(crate) fn new(plan: Arc<Plan>, fixed: usize, seed: u64) -> Self {
        let mut world = Self {
            slots: vec![None; plan.max_slots().unwrap_or(fixed)],
            plan,
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        if !world.plan.has_lives() {
            (0..fixed).for_each(|slot| world.add(slot, Life::default()));
        }
        world
    }

    /// The bodies as floats. Bodies at rest have no velocity.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let state = |mover: &Mover| BodyState {
            linear_velocity: match mover.is_resting {
                true => Vec3::ZERO,
                false => mover.state.linear_velocity,
            },
            interacting: mover.values.first() == Some(&1),
            ..mover.state
        };
        Snapshot { bodies: self.slots.iter().flatten().map(state).collect() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Adds a body: often near another, on the floor, or with the exact state of the slot's previous body.
    pub(crate) fn add(&mut self, slot: usize, life: Life) {
        let (schema, random) = (self.plan.schema(), &mut self.random);
        if let Some(before) = self.slots[slot].as_mut().filter(|_| random.random()) {
            before.life = life;
            return;
        }
        let mut position =
            schema.position.map(|Range { min, max, .. }| random.random_range(min..max) as f32);
        let other = random.random_range(0..self.slots.len());
        if let Some(other) = &self.slots[other].as_ref().filter(|_| random.random()) {
            let offset = steps(&self.plan, random, 9);
            position = (other.state.position + offset).to_array();
        }
        if let Some(floor) = schema.world.floor.filter(|_| random.random()) {
            position[schema.up.index()] = floor;
        }
        let turned = [(); 4].map(|()| random.random_range(-1.0_f32..1.0));
        let orientation = Quat::from_array(turned);
        let max = schema.fields.iter().map(|field| field.form.max());
        let values: Vec<u32> = max.map(|max| random.random_range(0..=max)).collect();
        self.slots[slot] = Some(Mover {
            life,
            state: BodyState {
                position: position.into(),
                orientation: match orientation.length() > 0.1 {
                    true => orientation.normalize(),
                    false => Quat::IDENTITY,
                },
                ..BodyState::default()
            },
            values,
            is_resting: random.random(),
        });
    }

    /// Removes a body. Returns whether there was one.
    pub(crate) fn remove(&mut self, slot: usize) -> bool {
        self.slots[slot].take().is_some()
    }

    /// Moves all bodies by a tick.
    pub(crate) fn step(&mut self) {
        let (plan, random) = (&self.plan, &mut self.random);
        let schema = plan.schema();
        let rate = f32::from(schema.ticks_per_second);
        for mover in self.slots.iter_mut().flatten() {
            if random.random_ratio(1, 20) {
                mover.is_resting ^= true;
                mover.state.linear_velocity = steps(plan, random, 12);
            }
            if !mover.is_resting {
                let state = &mut mover.state;
                state.linear_velocity[schema.up.index()] -= schema.world.gravity / (rate * rate);
                let position = state.position + state.linear_velocity;
                // Positions can be slightly out of bounds.
                state.position = Vec3::from_array(std::array::from_fn(|axis| {
                    let Range { min, max, .. } = schema.position[axis];
                    let margin = 0.1 * (max - min);
                    position[axis].clamp((min - margin) as f32, (max + margin) as f32)
                }));
                let turn = Vec3::from_array([(); 3].map(|()| random.random_range(-0.1..0.1)));
                state.orientation = (Quat::from_scaled_axis(turn) * state.orientation).normalize();
            }
            if random.random_ratio(1, 10) && !schema.fields.is_empty() {
                let field = random.random_range(0..schema.fields.len());
                let max = schema.fields[field].form.max();
                let value = &mut mover.values[field];
                *value = match random.random_ratio(1, 4) {
                    true => random.random_range(0..=max),
                    false => value.saturating_add(random.random_range(0..3)).min(max),
                };
            }
        }
    }

    pub(crate) fn quantize(&self, snapshot: &mut QuantizedSnapshot) {
        snapshot.clear_slots(self.slots.len());
        for (slot, mover) in self.slots.iter().enumerate() {
            if let Some(mover) = mover {
                let put = snapshot.put(slot, mover.life, &mover.state, &mover.values);
                put.expect("all numbers are finite and every value is one of its field");
            }
        }
    }

    pub(crate) fn quantized(&self, stages: Stages) -> QuantizedSnapshot {
        let mut snapshot = QuantizedSnapshot::new(Arc::clone(&self.plan), stages.precision());
        self.quantize(&mut snapshot);
        snapshot
    }
}

/// A vector of up to 2^`log` steps along each axis, mostly much shorter.
fn steps(plan: &Plan, random: &mut impl Rng, log: u32) -> Vec3 {
    let size = f64::from(1 << random.random_range(0..=log));
    let steps = |range: &Range| random.random_range(-size..size) / range.steps_per_unit;
    plan.schema().position.each_ref().map(steps).map(|length| length as f32).into()
}
