//! The snapshots that a packet is coded relative to.

use std::sync::Arc;

use super::adaptive::KeptState;
use super::history::SnapshotHistory;
use super::layout::Variant;
use crate::baseline::Baseline;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::{Delta, Stages};

/// How many ticks older than the reference an additional reference can be.
const MAX_ADDITIONAL_AGE: u16 = 15;

/// Longer times since the reference count as this many ticks.
const MAX_TICKS: u16 = 64;

/// A packet of a simulated scene has the check in more bits where its sequence number is a multiple of this: once a
/// second.
const LONG_CHECK_TICKS: u16 = 60;

/// Ticks since the initial state, for the coder.
const INITIAL_TICKS: u16 = 6;

/// A snapshot that both sides hold, with the parts of its packet that the coder uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldSnapshot<'a> {
    pub(crate) sequence: Sequence,
    pub(crate) snapshot: &'a Arc<QuantizedSnapshot>,
    /// By cube: whether it differs from the packet's own reference.
    pub(crate) moved: &'a [bool],
    /// If its packet was coded arithmetically.
    pub(crate) state: Option<&'a KeptState>,
}

impl HeldSnapshot<'_> {
    /// Ticks by which `other` is older.
    pub(super) fn age(&self, other: &Self) -> u16 {
        self.sequence.ticks_since(other.sequence)
    }

    /// Whether a packet with this reference can name `other` as an additional one.
    pub(super) fn accepts(&self, other: &Self) -> bool {
        (1..=MAX_ADDITIONAL_AGE).contains(&self.age(other))
            && other.snapshot.precision() == self.snapshot.precision()
            && other.snapshot.len() == self.snapshot.len()
    }
}

/// The snapshots that a packet is coded relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    pub(crate) variant: Variant,
    /// The named baseline, or the initial state.
    pub(crate) reference: HeldSnapshot<'a>,
    /// Ticks since the named baseline, if there is one.
    pub(crate) ticks: Option<u16>,
    /// Whether the packet says what was simulated.
    pub(crate) is_simulated: bool,
    /// Whether it has the check in more bits if something was simulated.
    pub(crate) has_long_check: bool,
    /// The input of the reference's tick.
    pub(crate) input: u8,
}

impl<'a> Basis<'a> {
    /// `reference` is the named baseline, or the initial state.
    pub(crate) fn new(
        (stages, variant): (Stages, Variant),
        sequence: Sequence,
        named: Option<&Baseline>,
        reference: &'a Baseline,
    ) -> Self {
        Self {
            variant,
            reference: reference.held(),
            ticks: named.map(|named| sequence.ticks_since(named.sequence())),
            is_simulated: stages.delta == Delta::ArithmeticSimulated,
            has_long_check: sequence.0.is_multiple_of(LONG_CHECK_TICKS),
            input: reference.simulated.map_or(0, |(_, input)| input),
        }
    }

    /// Whether the packet says which additional references it uses.
    pub(super) const fn has_additional(&self) -> bool {
        matches!(self.variant, Variant::Predicted) && self.ticks.is_some()
    }

    /// The usable ones of the offered additional references, newest first.
    pub(super) fn usable<'b>(
        &self,
        offered: [Option<HeldSnapshot<'b>>; 2],
    ) -> [Option<HeldSnapshot<'b>>; 2] {
        if !self.has_additional() {
            return [None, None];
        }
        let usable = offered.map(|held| held.filter(|held| self.reference.accepts(held)));
        let age = |held: &HeldSnapshot<'_>| self.reference.age(held);
        match usable {
            [Some(a), Some(b)] if age(&a) < age(&b) => [Some(a), Some(b)],
            [Some(a), _] => [Some(a), None],
            [None, second] => [second, None],
        }
    }

    /// The reference's adaptive state, or the initial one if it has none of this variant.
    pub(super) fn state(&self, initial: &'a [KeptState; 2]) -> &'a KeptState {
        self.reference
            .state
            .filter(|state| state.variant == self.variant)
            .unwrap_or(&initial[self.variant as usize])
    }

    /// The named baseline's snapshot and its age in ticks, to be kept with the adaptive state of this packet.
    pub(super) fn kept_reference(&self) -> Option<(Arc<QuantizedSnapshot>, u16)> {
        let ticks = self.ticks.filter(|&ticks| ticks > 0)?.min(MAX_TICKS);
        Some((Arc::clone(self.reference.snapshot), ticks))
    }

    pub(super) fn snapshots(&self, state: &'a KeptState) -> SnapshotHistory<'a> {
        let ticks = self.ticks.unwrap_or(INITIAL_TICKS).clamp(1, MAX_TICKS);
        SnapshotHistory {
            reference: self.reference.snapshot,
            moved: self.reference.moved,
            ticks: ticks.into(),
            previous: state.reference(),
            additional: [None, None],
            simulated: None,
        }
    }
}
