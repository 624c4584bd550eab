//! Random legal schemas, with realistic and extreme values.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use cubewire_codec::schema::{
    Axis, Field, FieldForm, Kind, Levels, Linear, MAX_TICKS_PER_SECOND, Range, Schema, Shape,
    Slots, Support, World,
};
use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;

/// Runs `usual` cases, scaled like proptest's default of 256 by `PROPTEST_CASES`.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let scaled = u64::from(usual) * u64::from(config.cases) / 256;
    ProptestConfig { cases: scaled.clamp(1, u32::MAX.into()) as u32, ..config }
}

/// Schemas with fixed bodies or up to `max_living` living ones.
pub(crate) fn schema(max_living: u32) -> impl Strategy<Value = Schema> {
    let support = any::<[bool; 4]>().prop_map(|[floats, other_steps, velocities, simulation]| {
        Support { floats, other_steps, velocities, simulation }
    });
    let start = (
        name(),
        1..=MAX_TICKS_PER_SECOND,
        prop::sample::select(&Axis::ALL),
        position(),
        (2..=15u8, prop::sample::select(vec![Levels::Odd, Levels::Even])),
    );
    (start, slots(max_living), kinds(), fields(), world(), (support, 1..=Schema::MAX_SEATS))
        .prop_map(|(start, (slots, anchor), kinds, fields, world, (support, seats))| {
            let (name, ticks_per_second, up, position, (component_bits, levels)) = start;
            Schema {
                name: name.into(),
                ticks_per_second,
                up,
                position,
                component_bits,
                levels,
                anchor,
                kinds: kinds.into(),
                fields: fields.into(),
                world,
                slots,
                support,
                seats,
            }
        })
        .prop_filter("it is too fast, too strong or rounded too far", |schema| {
            schema.check().is_ok()
        })
}

/// Lists of named values, mostly short.
fn named<T: Debug>(
    value: impl Strategy<Value = T> + Clone,
    min: usize,
    max: usize,
) -> impl Strategy<Value = Vec<(String, T)>> {
    let few = btree_map(name(), value.clone(), min..=4);
    let many = btree_map(name(), value, max / 2..=max);
    let named = prop_oneof![7 => few, 1 => many];
    named.prop_map(|named| named.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

fn name() -> impl Strategy<Value = String> {
    "[a-z0-9_-]{1,32}"
}

/// Lengths up to a power of ten. Small ones are as frequent as large ones.
fn length(exponents: RangeInclusive<i32>) -> impl Strategy<Value = f32> {
    (1.0..10.0f64, exponents).prop_map(|(digits, exponent)| (digits * 10f64.powi(exponent)) as f32)
}

/// In half of the cases, all axes have the same steps.
fn position() -> impl Strategy<Value = [Range; 3]> {
    let steps = || prop_oneof![(0..12).prop_map(|log| f64::from(1 << log)), 0.001..2000.0f64];
    let steps = prop_oneof![steps().prop_map(|steps| [steps; 3]), [steps(), steps(), steps()]];
    let number = || prop_oneof![1..=1_048_576i32, (0..=20).prop_map(|log| 1 << log)];
    let ends = || (-1_048_576..=1_048_575i32, number(), 0.0..1.0f64);
    (steps, [ends(), ends(), ends()]).prop_map(|(steps, ends)| {
        std::array::from_fn(|axis| {
            let (steps, (first, number, part)) = (steps[axis], ends[axis]);
            let end = (first + number).min(1 << 20);
            let min = (f64::from(first) - part) / steps;
            let max = (f64::from(end) - part) / steps;
            // Adding 0 turns −0 into 0.
            Range::new(min + 0.0, max + 0.0, steps)
        })
    })
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let length = || prop_oneof![length(-2..=0), length(-44..=1)];
    let shape = prop_oneof![
        [length(), length(), length()].prop_map(Shape::Box),
        length().prop_map(Shape::Ball),
        (length(), length()).prop_map(|(half, radius)| Shape::Capsule { half, radius }),
        Just(Shape::Unknown),
    ];
    named(shape, 1, Schema::MAX_KINDS).prop_map(|kinds| {
        let kind = |(name, shape): (String, _)| Kind { name: name.into(), shape };
        kinds.into_iter().map(kind).collect()
    })
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let form = prop_oneof![
        Just(FieldForm::Flag),
        any::<[i32; 2]>()
            .prop_filter("it has one value", |[one, other]| one != other)
            .prop_map(|[one, other]| FieldForm::Int { min: one.min(other), max: one.max(other) }),
        (-1e6..1e6f32, length(-6..=6), 2..1_000_000u32)
            .prop_map(|(min, step, steps)| (min, min + step * steps as f32, step))
            .prop_filter("steps vanish next to min", |(min, max, _)| min < max)
            .prop_map(|(min, max, step)| FieldForm::Float { min, max, step }),
        (1..=16u8).prop_map(|bits| FieldForm::Angle { bits }),
        Just(FieldForm::Body),
    ];
    named(form, 0, Schema::MAX_FIELDS).prop_map(|fields| {
        let field = |(name, form): (String, _)| Field { name: name.into(), form };
        fields.into_iter().map(field).collect()
    })
}

fn world() -> impl Strategy<Value = World> {
    let gravity = prop_oneof![Just(0.0), length(0..=1), length(-40..=30)];
    let floor = option::of(prop_oneof![Just(0.0), -500.0..500.0f32]);
    let denominator = prop_oneof![1..=1i64 << 31, (0..=31).prop_map(|log| 1i64 << log)];
    let linear = (
        (-1i64 << 31..=1 << 31, denominator),
        0..=65_536i64,
        -1 << 21..=1 << 21,
        -1 << 21..=1 << 21,
    );
    let linear = linear.prop_map(|(gravity, drag_per_tick, rest_height, fall_height)| Linear {
        gravity,
        drag_per_tick,
        rest_height,
        fall_height,
    });
    let max_speed = prop_oneof![length(0..=2), length(-40..=2)];
    (gravity, floor, max_speed, option::of(linear))
        .prop_map(|(gravity, floor, max_speed, linear)| World { gravity, floor, max_speed, linear })
}

fn slots(max_living: u32) -> impl Strategy<Value = (Slots, Option<u16>)> {
    let living = (1..=max_living, option::of(any::<u16>())).prop_map(|(max, anchor)| {
        let anchor = anchor.map(|body| (u32::from(body) % max) as u16);
        (Slots::Living { max }, anchor)
    });
    prop_oneof![option::of(any::<u16>()).prop_map(|anchor| (Slots::Fixed, anchor)), living]
}
