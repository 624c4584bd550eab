//! Memory reuse for shared snapshots.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{QuantizeError, QuantizedSnapshot};
use crate::memory;
use crate::plan::Plan;
use crate::precision::Precision;
use crate::state::Snapshot;

/// Quantizes snapshots that several senders share. Reuses the memory of a snapshot once it is not held any more.
///
/// The pool allocates at most one snapshot more than are held at the same time.
#[derive(Clone, Debug)]
pub struct SnapshotPool {
    plan: Arc<Plan>,
    /// Oldest first.
    snapshots: VecDeque<Arc<QuantizedSnapshot>>,
}

impl SnapshotPool {
    /// Creates a pool for snapshots of one scene.
    pub const fn new(plan: Arc<Plan>) -> Self {
        Self { plan, snapshots: VecDeque::new() }
    }

    /// Quantizes a snapshot: see [`QuantizedSnapshot::quantize`].
    ///
    /// # Errors
    /// As [`QuantizedSnapshot::quantize`].
    pub fn quantize(
        &mut self,
        snapshot: &Snapshot,
        precision: Precision,
    ) -> Result<Arc<QuantizedSnapshot>, QuantizeError> {
        let mut snapshots = self.snapshots.iter();
        let free = snapshots.position(|held| Arc::strong_count(held) == 1);
        let free = free.and_then(|index| self.snapshots.remove(index));
        let mut shared = free
            .unwrap_or_else(|| Arc::new(QuantizedSnapshot::new(Arc::clone(&self.plan), precision)));
        let outcome = Arc::get_mut(&mut shared)
            .expect("a free snapshot is not shared")
            .quantize(snapshot, precision);
        self.snapshots.push_back(Arc::clone(&shared));
        outcome.map(|()| shared)
    }
}

/// Unused snapshots, kept to reuse their memory.
pub(crate) type Spares = memory::Spares<QuantizedSnapshot>;

impl Spares {
    /// Returns the snapshot in `slot` if it is not shared. Otherwise puts an unshared one with arbitrary content
    /// there.
    pub(crate) fn unshared<'p>(
        &mut self,
        slot: &'p mut Arc<QuantizedSnapshot>,
    ) -> &'p mut QuantizedSnapshot {
        if Arc::get_mut(slot).is_none() {
            *slot = self.take();
        }
        Arc::get_mut(slot).expect("a free snapshot is not shared")
    }

    /// Returns an unshared snapshot with arbitrary content.
    pub(crate) fn take(&mut self) -> Arc<QuantizedSnapshot> {
        self.take_or(1, QuantizedSnapshot::default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder;
    use crate::state::BodyState;

    #[test]
    fn memory_is_reused_once_nobody_holds_it() {
        let snapshot = Snapshot { bodies: vec![BodyState::default(); 3] };
        let precision = ladder::CHANGED_FLAGS.stages.precision();
        let mut pool = SnapshotPool::new(Plan::cubes());
        let mut held = VecDeque::new();
        for tick in 0..20 {
            held.push_back(pool.quantize(&snapshot, precision).unwrap());
            if tick >= 4 {
                held.pop_front();
            }
        }
        assert_eq!(pool.snapshots.len(), 5);
    }
}
