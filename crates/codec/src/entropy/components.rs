//! Three components of a field, coded as residuals.

use std::ops::RangeInclusive;

use super::bins::{CodingObserver, Element, check_range};
use super::coder::BinCoder;
use super::layout::{
    Field, Inputs, RESIDUAL_BINS, RESIDUAL_INPUTS, RESIDUAL_WEIGHT_SETS, ResidualContexts,
    residual_weights,
};
use super::mixing;
use super::packet_coder::{PacketCoder, code_mixed};
use super::residual::{self, ResidualBins, TREE, TREE_BINS, TREE_DEPTH, magnitude};
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;
use crate::plan::Plan;

/// Three integers that are coded as residuals relative to a prediction.
pub(super) struct Components {
    pub(super) field: Field,
    /// Coding order of the axes.
    pub(super) order: [usize; 3],
    pub(super) prediction: [i32; 3],
    pub(super) target: Option<[i32; 3]>,
    /// Classes that select the weights.
    pub(super) zone: usize,
    pub(super) history: usize,
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes the residuals of a body's field. `contexts` returns the contexts of an axis, given the magnitude of the
    /// largest residual so far. Returns the values and the magnitude of the largest residual.
    pub(super) fn components(
        &mut self,
        body: usize,
        components: &Components,
        contexts: impl Fn(usize, usize) -> [usize; RESIDUAL_INPUTS],
    ) -> Result<([i32; 3], usize), DecodeError> {
        let Components { field, order, prediction, target, zone, history } = *components;
        let element = Element { kind: kind(field), body: Some(body) };
        let mut values = [0; 3];
        let mut so_far = 0;
        let first = self.first_slot();
        self.observer.begins(element);
        self.observer.part_ends(None);
        for axis in order {
            let group = ResidualContexts::of(field, axis);
            let contexts = contexts(axis, so_far);
            let slots = std::array::from_fn(|input| first + group.slot(input, contexts[input]));
            let (by_zone, by_history) =
                self.next.weights[group.weights()].split_at_mut(RESIDUAL_WEIGHT_SETS);
            let mut bins = ComponentBins {
                bins: &mut self.bins,
                observer: &mut self.observer,
                slots,
                inputs: slots.map(|slot| row(&self.model.table[slot..])),
                weights: [(whole(by_zone), zone), (whole(by_history), history / 2)],
            };
            let residual = target.map_or(0, |target| target[axis] - prediction[axis]);
            let residual = residual::code(&mut bins, residual);
            let value = prediction[axis] + residual;
            let range = range(self.snapshots.plan, field, axis);
            check_range(&self.bins, element, value, &range)?;
            values[axis] = value;
            so_far = so_far.max(magnitude(residual));
            self.observer.part_ends(Some(axis));
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

struct ComponentBins<'s, B, O> {
    bins: &'s mut B,
    observer: &'s mut O,
    slots: [usize; RESIDUAL_INPUTS],
    inputs: [&'s [i16; RESIDUAL_BINS]; RESIDUAL_INPUTS],
    /// Weight sets by zone and by history, each with the selected class.
    weights: [(&'s mut [Inputs; RESIDUAL_WEIGHT_SETS], usize); 2],
}

impl<B: BinCoder, O: CodingObserver> ResidualBins for ComponentBins<'_, B, O> {
    #[inline(always)]
    fn bin(&mut self, index: usize, value: bool) -> bool {
        let [by_zone, by_history] = &mut self.weights;
        let inputs = self.inputs.map(|row| row[index]);
        let weights =
            [by_zone, by_history].map(|(sets, class)| &mut sets[residual_weights(index, *class)]);
        let (value, one) = code_mixed(self.bins, inputs, weights, value);
        let slots = self.slots.map(|slot| slot + index);
        self.observer.coded(&slots, value, one);
        value
    }

    #[inline(always)]
    fn tree(&mut self, leaf: u32) -> u32 {
        match B::DECODES {
            true => self.decode_tree(),
            false => residual::code_tree(self, leaf),
        }
    }

    #[inline(always)]
    fn fixed(&mut self, one: u32, value: bool) -> bool {
        let value = self.bins.bin(value, one);
        self.observer.coded(&[], value, one);
        value
    }

    #[inline(always)]
    fn bypass(&mut self, digits: u32, count: u32) -> u32 {
        let digits = self.bins.bypass(digits, count);
        self.observer.bypassed(digits, count);
        digits
    }
}

impl<B: BinCoder, O: CodingObserver> ComponentBins<'_, B, O> {
    /// Decodes the tree. It mixes the probabilities of all bins first, because a processor can compute them in
    /// parallel. Mixing only the bins on the path would make each wait for the one before.
    #[inline(always)]
    fn decode_tree(&mut self) -> u32 {
        let rows = self.inputs.map(|row| row[TREE..].first_chunk());
        let rows = rows.map(|row| row.expect("a row is longer than the tree"));
        let inputs = mixing::inputs_of_bins(rows);
        let [(by_zone, zone), (by_history, history)] = &mut self.weights;
        let indices = |bin| [*zone, *history].map(|class| residual_weights(TREE + bin, class));
        // Longer by one than needed, so that the compiler can remove the bounds checks.
        let mut probabilities = [0; TREE_BINS + 1];
        for bin in 0..TREE_BINS {
            let [zone, history] = indices(bin);
            let weights = [&by_zone[zone], &by_history[history]];
            probabilities[bin] = mixing::mix(inputs[bin], weights);
        }
        let mut path = 1;
        for _ in 0..TREE_DEPTH {
            let bin = (path - 1) & TREE_BINS;
            let one = probabilities[bin];
            let value = self.bins.bin(false, one);
            let [zone, history] = indices(bin);
            let weights = [&mut by_zone[zone], &mut by_history[history]];
            mixing::update(weights, inputs[bin], one, value);
            let slots = self.slots.map(|slot| slot + TREE + bin);
            self.observer.coded(&slots, value, one);
            path = path << 1 | usize::from(value);
        }
        (path - (TREE_BINS + 1)) as u32
    }
}

pub(super) const fn kind(field: Field) -> BitKind {
    match field {
        Field::Orientation => BitKind::Orientation,
        Field::Position => BitKind::Position,
    }
}

fn range(plan: &Plan, field: Field, axis: usize) -> RangeInclusive<i32> {
    match field {
        Field::Orientation => 0..=plan.components.max,
        Field::Position => plan.bounds()[axis].range(),
    }
}
