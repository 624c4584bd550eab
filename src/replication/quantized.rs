//! The newest snapshot as integers, quantized once a tick for each precision and shared by all lanes, or by
//! all rungs of a shadow ladder.

use std::sync::Arc;

use bevy::prelude::*;
use cubewire_codec::{Plan, Precision, QuantizeError, QuantizedSnapshot, Snapshot, SnapshotPool};

/// The newest snapshot, in each precision that was requested.
#[derive(Resource, Debug, Default)]
pub(super) struct QuantizedWorld {
    snapshots: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    precision: Precision,
    /// The newest quantized snapshot and its tick; none before the first.
    newest: Option<(u64, Arc<QuantizedSnapshot>)>,
    pool: SnapshotPool,
}

impl Entry {
    /// Its snapshot, if it is of this tick.
    fn of(&self, tick: u64) -> Option<&Arc<QuantizedSnapshot>> {
        let (newest, snapshot) = self.newest.as_ref()?;
        (*newest == tick).then_some(snapshot)
    }

    /// Whether it has a snapshot of the last [`KEPT_TICKS`].
    fn is_recent(&self, tick: u64) -> bool {
        let newest = self.newest.as_ref().map(|(newest, _)| newest + KEPT_TICKS);
        newest.is_some_and(|end| tick < end)
    }
}

/// Ticks after which a precision that no lane uses any more is dropped: a peer can ask for another one in every tick.
const KEPT_TICKS: u64 = 60;

impl QuantizedWorld {
    /// The `newest` state, that of `tick`, in a precision.
    ///
    /// # Errors
    /// If a value cannot be quantized.
    pub(super) fn get(
        &mut self,
        tick: u64,
        newest: &Snapshot,
        precision: Precision,
    ) -> Result<&Arc<QuantizedSnapshot>, QuantizeError> {
        self.snapshots.retain(|entry| entry.is_recent(tick));
        let mut snapshots = self.snapshots.iter();
        let index = snapshots.position(|entry| entry.precision == precision);
        let index = index.unwrap_or_else(|| {
            self.snapshots.push(Entry {
                precision,
                newest: None,
                pool: SnapshotPool::new(Plan::cubes()),
            });
            self.snapshots.len() - 1
        });
        let entry = &mut self.snapshots[index];
        if entry.of(tick).is_none() {
            // Stays none if it fails.
            entry.newest = None;
            let snapshot = entry.pool.quantize(newest, precision)?;
            entry.newest = Some((tick, snapshot));
        }
        Ok(entry.of(tick).expect("it was just quantized"))
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::{BodyState, Stages, ladder};

    use super::*;
    use crate::simulation::CubeWorld;

    #[test]
    fn a_snapshot_is_quantized_once_a_tick_and_precision() {
        let mut quantized = QuantizedWorld::default();
        let newest = Snapshot {
            bodies: vec![BodyState::default(); 3],
        };
        let coarse = ladder::CHANGED_FLAGS.stages.precision();
        let full = ladder::UNCOMPRESSED.stages.precision();
        let first = Arc::clone(quantized.get(0, &newest, coarse).unwrap());
        let other = quantized.get(0, &newest, full).unwrap();
        assert_eq!(other.precision(), full);
        assert_eq!(quantized.snapshots.len(), 2);
        // A later tick is quantized again.
        assert_eq!(quantized.get(7, &newest, coarse).unwrap(), &first);
        assert_eq!(quantized.snapshots.len(), 2);
        assert!(quantized.snapshots[0].of(7).is_some());
        assert!(quantized.snapshots[1].of(0).is_some());
    }

    #[test]
    fn a_precision_that_no_lane_uses_any_more_is_dropped() {
        let mut quantized = QuantizedWorld::default();
        let newest = CubeWorld::default().current().clone();
        // As a viewer that asks for other stages in every tick.
        for (tick, stages) in (0..).zip(Stages::every_legal(&[2, 9, 15])) {
            quantized.get(tick, &newest, stages.precision()).unwrap();
            assert!(quantized.snapshots.len() as u64 <= KEPT_TICKS, "{tick}");
        }
    }
}
