//! Validation of schemas.

use std::ops::RangeInclusive;

use super::error::{Fault, SchemaError, named};
use super::{Axis, FieldForm, Linear, MAX_TICKS_PER_SECOND, Range, Schema, Shape, Slots};
use crate::limits::MAX_BODIES;
use crate::quantize::smallest_three::{MAX_BITS, MIN_BITS};

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
        self.check_slots()?;
        count("the number of kinds", self.kinds.len(), 1..=Self::MAX_KINDS).map_err(at("kind"))?;
        count("the number of fields", self.fields.len(), 0..=Self::MAX_FIELDS)
            .map_err(at("field"))?;
        let finest = self.finest_steps();
        for (index, kind) in self.kinds.iter().enumerate() {
            let earlier = self.kinds[..index].iter().map(|kind| &*kind.name);
            unique_name(&kind.name, earlier)
                .and_then(|()| kind.shape.check(finest))
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
        match &self.world.linear {
            Some(linear) => linear.check().map_err(at("linear")),
            None => Ok(()),
        }
    }

    /// Steps per unit of the finest axis.
    fn finest_steps(&self) -> f64 {
        let steps = self.position.iter().map(|range| range.steps_per_unit);
        steps.fold(0.0, f64::max)
    }

    fn check_slots(&self) -> Result<(), SchemaError> {
        if let Slots::Living { max } = self.slots {
            whole("the number of bodies", max, 1..=MAX_BODIES as i64)
                .map_err(|fault| SchemaError::new("slots", fault))?;
            if self.anchor.is_some_and(|body| u32::from(body) >= max) {
                return Err(SchemaError::new("anchor", Fault::AnchorNotBelowMax { max }));
            }
        }
        Ok(())
    }

    fn check_gravity(&self) -> Result<(), Fault> {
        let what = "it";
        let gravity = finite(what, self.world.gravity)?;
        if gravity < 0.0 {
            return Err(Fault::Negative { what });
        }
        let rate = f64::from(self.ticks_per_second);
        match gravity * self.upward_steps() / (rate * rate) > MAX_STEPS as f64 {
            true => Err(Fault::TooStrong),
            false => Ok(()),
        }
    }

    /// Steps per unit of the axis that points up.
    const fn upward_steps(&self) -> f64 {
        self.position[self.up.index()].steps_per_unit
    }

    fn check_floor(&self) -> Result<(), Fault> {
        if let Some(floor) = self.world.floor
            && (finite("it", floor)? * self.upward_steps()).abs() > MAX_STEPS as f64
        {
            return Err(Fault::FloorTooFar);
        }
        Ok(())
    }

    fn check_max_speed(&self) -> Result<(), Fault> {
        let steps = positive("it", self.world.max_speed)? * self.finest_steps();
        if steps / f64::from(self.ticks_per_second) > MAX_STEPS as f64 {
            return Err(Fault::TooFast);
        }
        Ok(())
    }
}

impl Range {
    fn check(&self) -> Result<(), Fault> {
        let (min, max) = (finite("min", self.min)?, finite("max", self.max)?);
        positive("the number of steps per unit", self.steps_per_unit)?;
        if min >= max {
            return Err(Fault::MinNotBelowMax);
        }
        let integers = self.integers();
        if integers.is_empty() {
            return Err(Fault::NoStep);
        }
        let (first, last) = integers.into_inner();
        if first < -MAX_STEPS || last >= MAX_STEPS {
            return Err(Fault::StepsTooFar);
        }
        if last - first >= MAX_STEPS {
            return Err(Fault::TooManySteps);
        }
        Ok(())
    }
}

impl Shape {
    fn check(&self, steps_per_unit: f64) -> Result<(), Fault> {
        let length = |what, length: f32| {
            if positive(what, length)? * steps_per_unit >= MAX_STEPS as f64 {
                return Err(Fault::TooLarge { what });
            }
            Ok(())
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
    fn check(&self) -> Result<(), Fault> {
        match *self {
            Self::Flag | Self::Body => Ok(()),
            Self::Int { min, max } if min >= max => Err(Fault::OneValue),
            Self::Int { .. } => Ok(()),
            Self::Float { min, max, step } => {
                let (min, max) = (finite("min", min)?, finite("max", max)?);
                let step = positive("the step", step)?;
                if min >= max {
                    return Err(Fault::MinNotBelowMax);
                }
                let steps = ((max - min) / step).round();
                if !(1.0..=f64::from(i32::MAX)).contains(&steps) {
                    return Err(Fault::FloatSteps);
                }
                Ok(())
            }
            Self::Angle { bits } => whole("bits", bits, 1..=16),
        }
    }
}

impl Linear {
    fn check(&self) -> Result<(), Fault> {
        whole("gravity's numerator", self.gravity.0, -1 << 31..=1 << 31)?;
        whole("gravity's denominator", self.gravity.1, 1..=1 << 31)?;
        whole("drag", self.drag_per_tick, 0..=1 << 16)?;
        whole("the height at rest", self.rest_height, -1 << 21..=1 << 21)?;
        whole("the height of falls", self.fall_height, -1 << 21..=1 << 21)
    }
}

fn whole(
    what: &'static str,
    value: impl Into<i64>,
    bounds: RangeInclusive<i64>,
) -> Result<(), Fault> {
    let (value, (min, max)) = (value.into(), bounds.into_inner());
    match (min..=max).contains(&value) {
        true => Ok(()),
        false => Err(Fault::Whole { what, min, max, value }),
    }
}

fn count(what: &'static str, number: usize, bounds: RangeInclusive<usize>) -> Result<(), Fault> {
    let (min, max) = bounds.into_inner();
    whole(what, number as i64, min as i64..=max as i64)
}

fn name(name: &str) -> Result<(), Fault> {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(legal) {
        return Ok(());
    }
    Err(Fault::Name)
}

fn unique_name<'a>(word: &str, mut earlier: impl Iterator<Item = &'a str>) -> Result<(), Fault> {
    name(word)?;
    if earlier.any(|earlier| earlier == word) {
        return Err(Fault::Duplicate);
    }
    Ok(())
}

fn finite(what: &'static str, value: impl Into<f64>) -> Result<f64, Fault> {
    let value = value.into();
    if !value.is_finite() {
        let value = value.to_string();
        return Err(Fault::NotFinite { what, value });
    }
    if value == 0.0 && value.is_sign_negative() {
        return Err(Fault::NegativeZero { what });
    }
    Ok(value)
}

fn positive(what: &'static str, value: impl Into<f64>) -> Result<f64, Fault> {
    let value = finite(what, value)?;
    if value <= 0.0 {
        return Err(Fault::NotPositive { what });
    }
    Ok(value)
}
