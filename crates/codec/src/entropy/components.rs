//! Three components of a field, coded as residuals.

use std::ops::RangeInclusive;

use super::coder::{BinCoder, ONE};
use super::layout::{Field, RESIDUAL_BINS, RESIDUAL_INPUTS, ResidualContexts};
use super::residual::{self, ResidualBins, magnitude};
use super::session::{Bin, CodingObserver, Element, NonCanonical, Session};
use crate::ledger::BitKind;
use crate::quantize::bounded::POSITION;

/// Three integers that are coded as residuals relative to a prediction.
pub(super) struct Components {
    pub(super) field: Field,
    /// The order in which they are coded.
    pub(super) order: [usize; 3],
    pub(super) prediction: [i32; 3],
    pub(super) target: Option<[i32; 3]>,
}

impl<B: BinCoder, O: CodingObserver> Session<'_, B, O> {
    /// Codes the residuals of a cube's field. `contexts` is given the axis and the magnitude of the largest
    /// residual so far. Returns the values and the magnitude of the largest residual.
    pub(super) fn components(
        &mut self,
        cube: usize,
        components: &Components,
        contexts: impl Fn(usize, usize) -> [usize; RESIDUAL_INPUTS],
    ) -> Result<([i32; 3], usize), NonCanonical> {
        let Components {
            field,
            order,
            prediction,
            target,
        } = *components;
        let element = Element {
            kind: kind(field),
            cube: Some(cube),
        };
        let mut values = [0; 3];
        let mut so_far = 0;
        self.observer.part_ends(None);
        for axis in order {
            let group = ResidualContexts::of(field, axis);
            let contexts = contexts(axis, so_far);
            let mut bins = ComponentBins {
                group,
                element,
                slots: std::array::from_fn(|input| group.slot(input, contexts[input])),
                adaptive: group.adaptive(so_far),
                session: self,
            };
            let residual = target.map_or(0, |target| target[axis] - prediction[axis]);
            let residual = residual::code(&mut bins, residual);
            let value = prediction[axis] + residual;
            values[axis] = within(value, range(field, axis), element.kind, cube)?;
            so_far = so_far.max(magnitude(residual));
            self.observer.part_ends(Some(axis));
        }
        Ok((values, so_far))
    }
}

/// The bins of one residual.
struct ComponentBins<'s, 'a, B, O> {
    session: &'s mut Session<'a, B, O>,
    group: ResidualContexts,
    element: Element,
    /// Of the first bin.
    slots: [usize; RESIDUAL_INPUTS],
    adaptive: usize,
}

impl<B: BinCoder, O: CodingObserver> ResidualBins for ComponentBins<'_, '_, B, O> {
    fn bin(&mut self, index: usize, value: bool) -> bool {
        debug_assert!(index < RESIDUAL_BINS);
        let bin = Bin {
            element: self.element,
            slots: self.slots.map(|slot| slot + index),
            weights: self.group.weights(index),
            adaptive: self.adaptive + index,
        };
        self.session.bin(bin, value)
    }

    fn bypass(&mut self, value: bool) -> bool {
        self.session.fixed(self.element, ONE / 2, value)
    }
}

/// Range of a packed component of nine bits.
const COMPONENT: RangeInclusive<i32> = 0..=511;

pub(super) const fn kind(field: Field) -> BitKind {
    match field {
        Field::Orientation => BitKind::Orientation,
        Field::Position => BitKind::Position,
    }
}

fn range(field: Field, axis: usize) -> RangeInclusive<i32> {
    match field {
        Field::Orientation => COMPONENT,
        Field::Position => POSITION[axis].min..=POSITION[axis].max,
    }
}

fn within(
    value: i32,
    range: RangeInclusive<i32>,
    field: BitKind,
    cube: usize,
) -> Result<i32, NonCanonical> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(NonCanonical::OutOfRange {
        field,
        cube,
        value: value.into(),
        min: (*range.start()).into(),
        max: (*range.end()).into(),
    })
}
