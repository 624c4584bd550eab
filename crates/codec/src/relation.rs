//! The reference of a packet, as both ends determine it.

use crate::baseline::Baseline;
use crate::entropy::BaselineView;
use crate::initial::InitialState;
use crate::merge::{Merged, Merges};
use crate::sequence::Sequence;
use crate::snapshot::Spares;
use crate::stages::Stages;

/// The baseline of a packet, with its adaptive state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relation<'a> {
    pub(crate) named: Option<&'a Baseline>,
    /// The named baseline, merged with other packets if the packet names any, or the initial state.
    pub(crate) from: &'a Baseline,
    view: BaselineView<'a>,
}

impl<'a> Relation<'a> {
    /// `held` looks up the packets to merge. `merged` is memory for the merged baseline.
    ///
    /// # Errors
    /// The sequence of the newest packet to merge that is not held.
    pub(crate) fn new<'h>(
        stages: Stages,
        named: Option<&'a Baseline>,
        merges: Merges,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        initial: &'a mut InitialState,
        merged: &'a mut Merged,
        spares: &mut Spares,
    ) -> Result<Self, Sequence> {
        let (from, view) = match named {
            None => {
                let initial = initial.at(stages.precision());
                (initial, initial.held())
            }
            Some(named) if merges.is_empty() => (named, named.held()),
            Some(named) => {
                merged.set(named, merges, held, stages, spares)?;
                (merged.baseline(), merged.held(named))
            }
        };
        Ok(Self { named, from, view })
    }

    /// Ticks since the named baseline, if there is one.
    pub(crate) fn ticks(&self, sequence: Sequence) -> Option<u16> {
        let named = self.named?;
        Some(sequence.ticks_since(named.sequence()))
    }

    pub(crate) const fn view(&self) -> BaselineView<'a> {
        self.view
    }
}
