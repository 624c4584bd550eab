//! Merged baselines: the receiver's snapshot after several packets that each carried some of the bodies.
//!
//! If the baseline of a packet is partial, the packet also names further packets in a mask: those between the
//! baseline and the baseline's own baseline. Both ends merge the bodies of these packets into the baseline, so that
//! bodies that have arrived are not sent again.

use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::entropy::{BaselineView, CodingContext, PackedHistory, SnapshotHash, Variant};
use crate::initial::InitialState;
use crate::ledger::BitKind;
pub use crate::limits::MAX_MERGED;
use crate::sequence::Sequence;
use crate::snapshot::Spares;
use crate::stages::Stages;

/// A baseline with merged bodies of other packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    baseline: Baseline,
    /// Residual histories of the merged bodies.
    histories: Vec<(u16, PackedHistory)>,
    /// Hash of the snapshot, if the named baseline has one.
    hash: Option<SnapshotHash>,
}

/// Packets to merge with the named one, as a mask. Bit `n` is the packet `n` + 1 ticks older than the named one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Merges(u32);

impl Merges {
    /// Merges all packets in reach that are held.
    pub(crate) fn of<'b>(
        named: Option<&Baseline>,
        held: impl Fn(Sequence) -> Option<&'b Baseline>,
    ) -> Self {
        let Some(named) = named else { return Self::default() };
        let indices = 0..named.merge_reach();
        let is_held = |&index: &usize| find(named, index, &held).is_ok();
        Self(indices.filter(is_held).fold(0, |mask, index| mask | 1 << index))
    }

    pub(crate) fn code<D: Direction>(
        self,
        stream: &mut BitStream<'_, D>,
        named: Option<&Baseline>,
    ) -> Result<Self, D::Error> {
        let mut merges = Self::default();
        let mut field = stream.field(BitKind::Header);
        for index in 0..named.map_or(0, Baseline::merge_reach) {
            merges.0 |= u32::from(field.flag(self.has(index))?) << index;
        }
        Ok(merges)
    }

    const fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }
}

impl Merged {
    /// Sets this to the named baseline, merged with the packets of the mask: bodies that the baseline's packet did
    /// not carry are replaced by the newest version in the other packets. Past positions are kept only if `stages`
    /// use them. Does not copy the adaptive state.
    ///
    /// # Errors
    /// The sequence of the newest packet of the mask that is not held.
    pub(crate) fn set<'b>(
        &mut self,
        named: &Baseline,
        merges: Merges,
        held: impl Fn(Sequence) -> Option<&'b Baseline>,
        stages: Stages,
        spares: &mut Spares,
    ) -> Result<(), Sequence> {
        let mut others = [None; MAX_MERGED];
        for (index, other) in others.iter_mut().enumerate() {
            if merges.has(index) {
                *other = Some(find(named, index, &held)?);
            }
        }
        self.baseline.copy_bodies(named, stages, spares);
        self.histories.clear();
        self.hash = named.view().hash;
        // Oldest first, so that the newest version of a body remains.
        for (index, other) in others.iter().enumerate().rev() {
            let (Some(other), age) = (*other, index as u16 + 1) else { continue };
            // The named packet is the newest, so the bodies that it carried stay.
            let taken = other.carried_bodies().filter(|&body| !named.motion.carried(body));
            let first = self.histories.len();
            self.histories.extend(taken.map(|body| {
                let state = other.state.as_ref();
                let history = state.map(|state| state.residual_histories.of(body));
                (body as u16, history.unwrap_or_default())
            }));
            let taken = || self.histories[first..].iter().map(|&(body, _)| usize::from(body));
            // Before the bodies are overwritten, because the hash needs their old values.
            if let Some(hash) = &mut self.hash {
                let own = &self.baseline.snapshot;
                taken().for_each(|body| hash.replace(body, own, &other.snapshot));
            }
            self.baseline.merge_bodies(taken, other, age);
        }
        Ok(())
    }

    /// Like [`Baseline::view`], with the adaptive state of the named baseline.
    pub(crate) fn view<'a>(&'a self, named: &'a Baseline) -> BaselineView<'a> {
        BaselineView {
            state: named.state.as_deref(),
            merged: &self.histories,
            hash: self.hash,
            ..self.baseline.view()
        }
    }
}

/// Looks up the packet that is `index` + 1 ticks older than the named one.
fn find<'b>(
    named: &Baseline,
    index: usize,
    held: impl Fn(Sequence) -> Option<&'b Baseline>,
) -> Result<&'b Baseline, Sequence> {
    let sequence = Sequence(named.sequence().0.wrapping_sub(index as u16 + 1));
    let fits = |other: &&Baseline| {
        other.sequence() == sequence && other.snapshot.has_form_of(&named.snapshot)
    };
    held(sequence).filter(fits).ok_or(sequence)
}

/// The reference of a packet, with the adaptive state of the named baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relation<'a> {
    pub(crate) named: Option<&'a Baseline>,
    /// The named baseline, merged with other packets if the packet names any, or the initial state.
    pub(crate) reference: &'a Baseline,
    /// View of `reference` for the entropy coder. A merged baseline has the adaptive state of the named one.
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
        let (reference, view) = match named {
            None => {
                let initial = initial.at(stages.precision());
                (initial, initial.view())
            }
            Some(named) if merges.0 == 0 => (named, named.view()),
            Some(named) => {
                merged.set(named, merges, held, stages, spares)?;
                (&merged.baseline, merged.view(named))
            }
        };
        Ok(Self { named, reference, view })
    }

    /// Ticks since the named baseline, if there is one.
    pub(crate) fn ticks(&self, sequence: Sequence) -> Option<u16> {
        let named = self.named?;
        Some(sequence.ticks_since(named.sequence()))
    }

    /// Context of packet `sequence`, if its stages are arithmetic.
    pub(crate) fn context(&self, stages: Stages, sequence: Sequence) -> Option<CodingContext<'a>> {
        Some(CodingContext {
            variant: Variant::of(stages.delta)?,
            reference: self.view,
            ticks: self.ticks(sequence),
            coverage: stages.coverage(),
        })
    }
}
