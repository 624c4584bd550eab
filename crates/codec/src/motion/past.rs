//! Poses of bodies before they were last carried.

use std::iter::once;

use crate::flags::{Bits, flagged};
use crate::snapshot::QuantizedSnapshot;

/// Poses of bodies before they were last carried. An unchanged body, which is the usual case, takes one bit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// Whether the past pose of each body differs from its current pose. Only these bodies have a record.
    differs: Bits,
    /// Number of records before each 64-bit word of `differs`.
    ranks: Vec<u16>,
    /// Poses of the bodies in `differs`, in ascending order of bodies.
    records: QuantizedSnapshot,
}

impl Past {
    /// Sets the flags and the records. `was` returns the past pose of a body as a slot of a snapshot with the form of
    /// `like`. Reuses memory.
    pub(super) fn set<'r>(
        &mut self,
        differs: &[bool],
        like: &QuantizedSnapshot,
        was: impl Fn(usize) -> (&'r QuantizedSnapshot, usize),
    ) {
        self.differs.clear(differs.len());
        flagged(differs).for_each(|body| self.differs.set_if(body, true));
        let mut count = 0;
        self.ranks.clear();
        self.ranks.extend(self.differs.words().map(|word| {
            let rank = count as u16;
            count += word.count_ones() as usize;
            rank
        }));
        let was = &was;
        self.records.gather(like, count, || flagged(differs).map(was));
    }

    pub(super) fn replace(&mut self, body: usize, was: &QuantizedSnapshot) {
        if let Some(record) = self.record(body) {
            self.records.put_slots(|| once((was, body)), || once(record));
        }
    }

    /// Returns the past pose of a body as a slot of a snapshot. `None` if it equals the current pose.
    pub(super) fn of(&self, body: usize) -> Option<(&QuantizedSnapshot, usize)> {
        Some((&self.records, self.record(body)?))
    }

    fn record(&self, body: usize) -> Option<usize> {
        let rank = usize::from(*self.ranks.get(body / 64)?);
        let record = rank + self.differs.before_in_word(body);
        self.differs.get(body).then_some(record)
    }

    /// Flags the bodies that have a record.
    pub(super) fn flag(&self, differs: &mut [bool]) {
        self.differs.iter().for_each(|body| differs[body] = true);
    }

    /// Copies all records to their bodies in a snapshot.
    pub(super) fn copy_to(&self, snapshot: &mut QuantizedSnapshot) {
        let records = || (0..).map(|record| (&self.records, record));
        snapshot.put_slots(records, || self.differs.iter());
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.differs.memory_bytes() + size_of_val(&*self.ranks) + self.records.memory_bytes()
    }
}
