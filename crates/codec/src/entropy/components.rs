//! Three components of a field, coded as residuals.

use std::ops::RangeInclusive;

use super::bins::{CodingObserver, Element};
use super::body_context::BodyContext;
use super::coder::BinCoder;
use super::layout::{
    PoseField, RESIDUAL_BINS, RESIDUAL_INPUTS, RESIDUAL_WEIGHT_SETS, ResidualContexts,
};
use super::packet_coder::PacketCoder;
use super::residual::{ResidualBins, magnitude};
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;
use crate::plan::Plan;

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes the components of a body's field as residuals relative to a prediction. `target` has the values to encode;
    /// `None` when decoding. `contexts` returns the contexts of an axis, given the magnitude of the largest residual so
    /// far. Returns the values and the magnitude of the largest residual.
    pub(super) fn components(
        &mut self,
        context: &BodyContext<'_>,
        field: PoseField,
        prediction: [i32; 3],
        target: Option<[i32; 3]>,
        contexts: impl Fn(usize, usize) -> [usize; RESIDUAL_INPUTS],
    ) -> Result<([i32; 3], usize), DecodeError> {
        // The magnitude of a residual is a context of the next. The height is first, so that x and y, which share their
        // contexts, both get its magnitude.
        let order = match field {
            PoseField::Orientation => [0, 1, 2],
            PoseField::Position => [2, 0, 1],
        };
        let history = context.residual_history.context(field);
        let element = Element { kind: kind(field), body: Some(context.body) };
        let mut values = [0; 3];
        let mut so_far = 0;
        let first = self.first_slot();
        self.bins.observer.begins(element);
        self.bins.observer.part_ends(None);
        for axis in order {
            let group = ResidualContexts::of(field, axis);
            let contexts = contexts(axis, so_far);
            let slots = std::array::from_fn(|input| first + group.slot(input, contexts[input]));
            // Two sets, each selected by few classes, are updated more often than one set for each pair of classes.
            let (by_zone, by_history) =
                self.next.weights[group.weights()].split_at_mut(RESIDUAL_WEIGHT_SETS);
            let mut bins = ResidualBins {
                bins: &mut self.bins,
                slots,
                inputs: slots.map(|slot| row(&self.model.table[slot..])),
                weights: [(whole(by_zone), context.zone), (whole(by_history), history / 2)],
            };
            let residual = target.map_or(0, |target| target[axis] - prediction[axis]);
            let residual = bins.code(residual);
            let value = prediction[axis] + residual;
            let range = range(self.snapshots.plan, field, axis);
            self.bins.check_range(element, value, &range)?;
            values[axis] = value;
            so_far = so_far.max(magnitude(residual));
            self.bins.observer.part_ends(Some(axis));
        }
        Ok((values, so_far))
    }
}

fn row(table: &[i16]) -> &[i16; RESIDUAL_BINS] {
    table.first_chunk().expect("the table has all rows")
}

fn whole<T, const N: usize>(numbers: &mut [T]) -> &mut [T; N] {
    numbers.try_into().expect("the state has all numbers")
}

pub(super) const fn kind(field: PoseField) -> BitKind {
    match field {
        PoseField::Orientation => BitKind::Orientation,
        PoseField::Position => BitKind::Position,
    }
}

fn range(plan: &Plan, field: PoseField, axis: usize) -> RangeInclusive<i32> {
    match field {
        PoseField::Orientation => 0..=plan.components.max,
        PoseField::Position => plan.bounds()[axis].range(),
    }
}
