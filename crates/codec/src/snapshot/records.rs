//! Copies of slots from several snapshots.

use super::QuantizedSnapshot;

/// Calls a macro for each non-empty column.
macro_rules! for_each_column {
    ($like:expr, $do:ident) => {
        for_each_column!(@ $like, $do, packed_positions, narrow, wide, fields, lives);
    };
    (@ $like:expr, $do:ident, $($column:ident),*) => {$(
        if !$like.$column.is_empty() {
            $do!($column);
        }
    )*};
}

impl QuantizedSnapshot {
    /// Makes this a snapshot of `count` slots, copied from other snapshots of the scene and precision of `like`.
    /// Reuses memory.
    pub(crate) fn gather<'r, I: Iterator<Item = (&'r Self, usize)>>(
        &mut self,
        like: &Self,
        count: usize,
        slots: impl Fn() -> I,
    ) {
        self.plan.clone_from(&like.plan);
        self.clear(like.precision);
        macro_rules! gather {
            ($column:ident) => {
                self.$column.reserve_exact(count);
                self.$column.extend(slots().map(|(of, slot)| of.$column[slot]));
            };
        }
        for_each_column!(like, gather);
        if self.plan.words > 0 {
            self.words.reserve_exact(count * self.plan.words);
            slots().for_each(|(of, slot)| self.words.extend(of.words_of(slot)));
        }
    }

    /// Copies slots of other snapshots of the same scene and precision to `slots`. `from` and `slots` are called once
    /// for each column.
    pub(crate) fn put_slots<'r, F, S>(&mut self, from: impl Fn() -> F, slots: impl Fn() -> S)
    where
        F: Iterator<Item = (&'r Self, usize)>,
        S: Iterator<Item = usize>,
    {
        macro_rules! put {
            ($column:ident) => {
                for ((of, at), slot) in from().zip(slots()) {
                    self.$column[slot] = of.$column[at];
                }
            };
        }
        for_each_column!(self, put);
        if self.plan.words > 0 {
            for ((of, at), slot) in from().zip(slots()) {
                self.set_words(slot, of.words_of(at));
            }
        }
    }
}
