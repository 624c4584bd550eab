//! Merged baselines: what a receiver has of several packets that carry some of the bodies each.
//!
//! A packet relative to a partial one names further packets since the named one's own baseline, in a mask. Both ends merge
//! what these carried, so that nothing that has arrived is sent again.
//!
//! ```text
//! after a header that names a partial packet
//! mask       a bit for each tick between that packet and its own baseline, at most 31, the newest first
//! ```

use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::entropy::{BaselineView, PackedHistory};
use crate::ledger::BitKind;
pub use crate::limits::MAX_MERGED;
use crate::sequence::Sequence;
use crate::snapshot::Spares;

/// A baseline with what others carried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    baseline: Baseline,
    /// How well the bodies that come from others were predicted.
    histories: Vec<(u16, Option<PackedHistory>)>,
}

/// Packets to merge with the named one, by their age before it, less one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Merges<'a>([Option<&'a Baseline>; MAX_MERGED]);

impl<'a> Merges<'a> {
    /// Those of the `offered` baselines that can be merged with the named one.
    pub(crate) fn of(named: Option<&Baseline>, offered: &[&'a Baseline]) -> Self {
        let mut merges = Self::default();
        let Some(named) = named else {
            return merges;
        };
        for &other in offered {
            let age = usize::from(named.sequence().ticks_since(other.sequence()));
            if (1..=named.merge_reach()).contains(&age) && fits(named, other) {
                merges.0[age - 1] = Some(other);
            }
        }
        merges
    }

    /// Codes the mask. `held` looks up the packets of a mask that is read.
    pub(crate) fn code<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        named: Option<&Baseline>,
        held: impl Fn(Sequence) -> Option<&'a Baseline>,
    ) -> Result<Result<Self, Sequence>, D::Error> {
        let Some(named) = named.filter(|named| named.merge_reach() > 0) else {
            return Ok(Ok(Self::default()));
        };
        let mut merges = Self::default();
        let mut field = stream.field(BitKind::Header);
        let mut missing = None;
        for (index, merge) in merges.0[..named.merge_reach()].iter_mut().enumerate() {
            if field.flag(self.0[index].is_some())? {
                let sequence = Sequence(named.sequence().0.wrapping_sub(index as u16 + 1));
                let found = self.0[index].or_else(|| held(sequence));
                *merge = found.filter(|other| other.sequence() == sequence && fits(named, other));
                if merge.is_none() {
                    missing = missing.or(Some(sequence));
                }
            }
        }
        Ok(missing.map_or(Ok(merges), Err))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl Merged {
    /// Sets this to the named baseline with what the others carried and it did not: the newest of each body. The adaptive
    /// state is left out.
    pub(crate) fn set(&mut self, named: &Baseline, merges: &Merges<'_>, spares: &mut Spares) {
        self.baseline.copy_bodies(named, spares);
        self.histories.clear();
        // From the oldest on, so that the newest is what stays.
        for (index, other) in merges.0.iter().enumerate().rev() {
            let (Some(other), age) = (*other, index as u16 + 1) else {
                continue;
            };
            for body in 0..named.snapshot.len() {
                if other.motion.carried(body) && !named.motion.carried(body) {
                    self.baseline.take_body(body, other, age, spares);
                    let state = other.state.as_ref();
                    let history = state.and_then(|state| state.history(body));
                    self.histories.push((body as u16, history));
                }
            }
        }
    }

    pub(crate) const fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// As [`Baseline::held`], with the adaptive state of the named baseline.
    pub(crate) fn held<'a>(&'a self, named: &'a Baseline) -> BaselineView<'a> {
        BaselineView {
            state: named.state.as_deref(),
            merged: &self.histories,
            ..self.baseline.held()
        }
    }
}

fn fits(named: &Baseline, other: &Baseline) -> bool {
    other.snapshot.has_form_of(&named.snapshot)
}
