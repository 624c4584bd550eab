//! Validation of schemas.

use std::ops::RangeInclusive;

use super::{Axis, FieldForm, Linear, MAX_TICKS_PER_SECOND, Range, Schema, Shape, Slots};
use crate::limits::MAX_BODIES;
use crate::quantize::smallest_three::{MAX_BITS, MIN_BITS};

/// Error of a [`Schema`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{item}: {fault}")]
pub struct SchemaError {
    /// The item, in the words of the [text](Schema::text), such as `ticks` or `field health`.
    pub item: String,
    /// The fault, such as `min must be below max`.
    pub fault: String,
}

impl SchemaError {
    pub(super) fn new(item: impl Into<String>, fault: impl Into<String>) -> Self {
        Self { item: item.into(), fault: fault.into() }
    }
}

/// The fault is the error.
type Checked<T = ()> = Result<T, String>;

const MAX_STEPS: i64 = 1 << 20;
const MAX_NAME: usize = 32;

impl Schema {
    /// Checks all ranges that the fields document.
    ///
    /// # Errors
    /// The first fault, with its item.
    pub fn check(&self) -> Result<(), SchemaError> {
        let at = |item: &'static str| move |fault| SchemaError::new(item, fault);
        name(&self.name).map_err(at("scene"))?;
        whole("the number per second", self.ticks_per_second, 1..=MAX_TICKS_PER_SECOND.into())
            .map_err(at("ticks"))?;
        for (axis, range) in Axis::ALL.into_iter().zip(&self.position) {
            range.check().map_err(|fault| SchemaError::new(format!("position {axis:?}"), fault))?;
        }
        let bits = i64::from(MIN_BITS)..=MAX_BITS.into();
        whole("bits of a component", self.component_bits, bits).map_err(at("orientation"))?;
        if let Slots::Living { max } = self.slots {
            whole("the number of bodies", max, 1..=MAX_BODIES as i64).map_err(at("slots"))?;
            let is_below = self.anchor.is_none_or(|body| u32::from(body) < max);
            let fault = format!("it must be below {max}, the maximum number of bodies");
            ensure(is_below, &fault).map_err(at("anchor"))?;
        }
        let seats = 1..=Self::MAX_SEATS.into();
        whole("the number of players", self.seats, seats).map_err(at("seats"))?;
        let (kinds, fields) = (self.kinds.len() as i64, self.fields.len() as i64);
        whole("the number of kinds", kinds, 1..=Self::MAX_KINDS as i64).map_err(at("kind"))?;
        whole("the number of fields", fields, 0..=Self::MAX_FIELDS as i64).map_err(at("field"))?;
        for (index, kind) in self.kinds.iter().enumerate() {
            let earlier = self.kinds[..index].iter().map(|kind| &*kind.name);
            unique_name(&kind.name, earlier)
                .and_then(|()| kind.shape.check(self.finest_steps()))
                .map_err(|fault| SchemaError::new(named("kind", &kind.name), fault))?;
        }
        for (index, field) in self.fields.iter().enumerate() {
            let earlier = self.fields[..index].iter().map(|field| &*field.name);
            unique_name(&field.name, earlier)
                .and_then(|()| field.form.check())
                .map_err(|fault| SchemaError::new(named("field", &field.name), fault))?;
        }
        self.check_gravity().map_err(at("gravity"))?;
        self.check_floor().map_err(at("floor"))?;
        self.check_max_speed().map_err(at("max-speed"))?;
        self.world.linear.map_or(Ok(()), Linear::check).map_err(at("linear"))
    }

    /// Steps per unit of the finest axis.
    fn finest_steps(&self) -> f64 {
        self.position.iter().map(|range| range.steps_per_unit).fold(0.0, f64::max)
    }

    /// Steps per unit of the axis that points up.
    const fn upward_steps(&self) -> f64 {
        self.position[self.up.index()].steps_per_unit
    }

    fn check_gravity(&self) -> Checked {
        let gravity = finite("it", self.world.gravity)?;
        ensure(gravity >= 0.0, "it must be at least 0")?;
        let rate = f64::from(self.ticks_per_second);
        let steps = gravity * self.upward_steps() / (rate * rate);
        ensure(steps <= MAX_STEPS as f64, "it must be at most 1048576 steps per tick²")
    }

    fn check_floor(&self) -> Checked {
        let floor = finite("it", self.world.floor.unwrap_or(0.0))?;
        let is_near = (floor * self.upward_steps()).abs() <= MAX_STEPS as f64;
        ensure(is_near, "it must be from -1048576 to 1048576 steps")
    }

    fn check_max_speed(&self) -> Checked {
        let steps = positive("it", self.world.max_speed)? * self.finest_steps();
        let per_tick = steps / f64::from(self.ticks_per_second);
        ensure(per_tick <= MAX_STEPS as f64, "it must be at most 1048576 steps per tick")
    }
}

impl Range {
    fn check(&self) -> Checked {
        let (min, max) = (finite("min", self.min)?, finite("max", self.max)?);
        positive("the number of steps per unit", self.steps_per_unit)?;
        ensure(min < max, "min must be below max")?;
        let integers = self.integers();
        ensure(!integers.is_empty(), "the range from min to max contains no whole step")?;
        let (first, last) = integers.into_inner();
        let is_near = first >= -MAX_STEPS && last < MAX_STEPS;
        ensure(is_near, "steps must be from -1048576 to 1048575")?;
        let fault = "there must be at most 1048576 steps from min to max";
        ensure(last - first < MAX_STEPS, fault)
    }
}

impl Shape {
    fn check(&self, steps_per_unit: f64) -> Checked {
        let length = |what: &str, length: f32| {
            let is_below = positive(what, length)? * steps_per_unit < MAX_STEPS as f64;
            ensure(is_below, &format!("{what} must be below 1048576 steps"))
        };
        match *self {
            Self::Box(halves) => {
                halves.into_iter().try_for_each(|half| length("half of a side", half))
            }
            Self::Ball(radius) => length("the radius", radius),
            Self::Capsule { half, radius } => {
                length("half of the length", half)?;
                length("the radius", radius)
            }
            Self::Unknown => Ok(()),
        }
    }
}

impl FieldForm {
    fn check(&self) -> Checked {
        match *self {
            Self::Flag | Self::Body => Ok(()),
            Self::Int { min, max } => {
                ensure(min < max, "min must be below max: a field of one value needs no bits")
            }
            Self::Float { min, max, step } => {
                let (min, max) = (finite("min", min)?, finite("max", max)?);
                let step = positive("the step", step)?;
                ensure(min < max, "min must be below max")?;
                let steps = ((max - min) / step).round();
                let is_legal = (1.0..=f64::from(i32::MAX)).contains(&steps);
                ensure(is_legal, "there must be 1 to 2147483647 steps from min to max")
            }
            Self::Angle { bits } => whole("bits", bits, 1..=16),
        }
    }
}

impl Linear {
    fn check(self) -> Checked {
        whole("gravity's numerator", self.gravity.0, -1 << 31..=1 << 31)?;
        whole("gravity's denominator", self.gravity.1, 1..=1 << 31)?;
        whole("drag", self.drag_per_tick, 0..=1 << 16)?;
        whole("the height at rest", self.rest_height, -1 << 21..=1 << 21)?;
        whole("the height of falls", self.fall_height, -1 << 21..=1 << 21)
    }
}

fn ensure(is_legal: bool, fault: &str) -> Checked {
    if is_legal { Ok(()) } else { Err(fault.to_owned()) }
}

fn whole(what: &str, value: impl Into<i64>, bounds: RangeInclusive<i64>) -> Checked {
    let value = value.into();
    let (min, max) = (bounds.start(), bounds.end());
    let fault = format!("{what} must be a whole number from {min} to {max}, not `{value}`");
    ensure(bounds.contains(&value), &fault)
}

fn name(name: &str) -> Checked {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    let is_legal = (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(legal);
    ensure(is_legal, "a name must have 1 to 32 characters from a-z, 0-9, - and _")
}

fn unique_name<'a>(word: &str, mut earlier: impl Iterator<Item = &'a str>) -> Checked {
    name(word)?;
    ensure(earlier.all(|earlier| earlier != word), "it is defined twice")
}

fn finite(what: &str, value: impl Into<f64>) -> Checked<f64> {
    let value = value.into();
    ensure(value.is_finite(), &format!("{what} must be a finite number, not `{value}`"))?;
    // −0 is equal to 0 but has other bytes.
    let is_negative_zero = value == 0.0 && value.is_sign_negative();
    ensure(!is_negative_zero, &format!("{what} must be 0, not -0"))?;
    Ok(value)
}

fn positive(what: &str, value: impl Into<f64>) -> Checked<f64> {
    let value = finite(what, value)?;
    ensure(value > 0.0, &format!("{what} must be above 0"))?;
    Ok(value)
}

/// Name of an item in messages, such as `field health`. Control characters are escaped and long names are cut, because
/// an illegal schema can have any name.
fn named(word: &str, name: &str) -> String {
    let shown = name.chars().take(MAX_NAME).flat_map(char::escape_debug);
    let more = if name.chars().nth(MAX_NAME).is_some() { "…" } else { "" };
    format!("{word} {}{more}", shown.collect::<String>())
}
