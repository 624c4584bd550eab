//! The snapshots that a packet is coded relative to.

use std::sync::Arc;

use super::adaptive::{PackedHistory, StoredState};
use super::check::SnapshotHash;
use super::history::BaselineHistory;
use super::layout::Variant;
use crate::motion::Motion;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Coverage;

/// Maximum age of an additional reference relative to the reference, in ticks. It fits four bits.
const MAX_ADDITIONAL_AGE: u16 = 15;

/// Maximum ticks since the reference. Longer times count as this.
const MAX_TICKS: u16 = 64;

/// Ticks that the coder assumes since the initial state: the age of baselines in the recordings that it is tuned on.
const INITIAL_TICKS: u16 = 6;

/// A snapshot held by both sides, with the parts of its packet that the coder uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaselineView<'a> {
    pub(crate) sequence: Sequence,
    pub(crate) snapshot: &'a Arc<QuantizedSnapshot>,
    pub(crate) motion: &'a Motion,
    /// The adaptive state, if its packet was coded arithmetically.
    pub(crate) state: Option<&'a StoredState>,
    /// Bodies that were [merged](crate::merge) from other packets, and their residual histories.
    pub(crate) merged: &'a [(u16, PackedHistory)],
    /// Hash of the snapshot, if its packet was coded arithmetically.
    pub(crate) hash: Option<SnapshotHash>,
}

impl BaselineView<'_> {
    /// Age of `other` relative to this, in ticks.
    pub(super) fn age(&self, other: &Self) -> u16 {
        self.sequence.ticks_since(other.sequence)
    }

    /// Whether a packet with this reference can name `other` as an additional one.
    pub(super) fn accepts(&self, other: &Self) -> bool {
        (1..=MAX_ADDITIONAL_AGE).contains(&self.age(other))
            && other.snapshot.has_form_of(self.snapshot)
    }
}

/// The snapshots that a packet is coded relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodingContext<'a> {
    pub(crate) variant: Variant,
    /// The named baseline, or the initial state.
    pub(crate) reference: BaselineView<'a>,
    /// Ticks since the named baseline, if there is one.
    pub(crate) ticks: Option<u16>,
    pub(crate) coverage: Coverage,
}

impl<'a> CodingContext<'a> {
    /// Whether the packet says which additional references it uses.
    pub(super) const fn has_additional(&self) -> bool {
        matches!(self.variant, Variant::Predicted)
            && self.ticks.is_some()
            && self.reference.motion.tracks.is_empty()
    }

    /// The usable ones of the offered additional references, newest first.
    pub(super) fn usable<'b>(
        &self,
        offered: [Option<BaselineView<'b>>; 2],
    ) -> [Option<BaselineView<'b>>; 2] {
        if !self.has_additional() {
            return [None, None];
        }
        let usable = offered.map(|held| held.filter(|held| self.reference.accepts(held)));
        let age = |held: &BaselineView<'_>| self.reference.age(held);
        match usable {
            [Some(a), Some(b)] if age(&a) < age(&b) => [Some(a), Some(b)],
            [Some(a), _] => [Some(a), None],
            [None, second] => [second, None],
        }
    }

    /// Returns the reference's adaptive state, or the initial state if the reference has no state of this variant.
    pub(super) fn state(&self, initial: &'a [StoredState; 2]) -> &'a StoredState {
        self.reference
            .state
            .filter(|state| state.variant == self.variant)
            .unwrap_or(&initial[self.variant as usize])
    }

    pub(super) fn snapshots(&self) -> BaselineHistory<'a> {
        let ticks = self.ticks.unwrap_or(INITIAL_TICKS).clamp(1, MAX_TICKS);
        BaselineHistory {
            plan: self.reference.snapshot.plan(),
            reference: self.reference.snapshot,
            ticks: ticks.into(),
            motion: self.reference.motion,
            additional: [None, None],
        }
    }
}
