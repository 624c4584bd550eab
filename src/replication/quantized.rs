//! The newest snapshot as integers. Quantized once per tick and precision, and shared by all lanes and ladders.

use std::sync::Arc;

use bevy::prelude::*;
use cubewire_codec::{Plan, Precision, QuantizeError, QuantizedSnapshot, Snapshot, SnapshotPool};

/// The newest snapshot in each requested precision.
#[derive(Resource, Default)]
pub(super) struct QuantizedWorld {
    snapshots: Vec<Entry>,
}

struct Entry {
    precision: Precision,
    tick: u64,
    /// `None` after a failure, so that an old snapshot is never returned for this tick.
    newest: Option<Arc<QuantizedSnapshot>>,
    pool: SnapshotPool,
}

/// Ticks after which an unused precision is dropped. A client can request another precision in every tick.
const KEPT_TICKS: u64 = 60;

impl QuantizedWorld {
    /// Returns the `newest` snapshot, which belongs to `tick`, quantized to a precision.
    pub(super) fn get(
        &mut self,
        tick: u64,
        newest: &Snapshot,
        precision: Precision,
    ) -> Result<Arc<QuantizedSnapshot>, QuantizeError> {
        self.snapshots.retain(|entry| tick < entry.tick + KEPT_TICKS);
        let known = self.snapshots.iter().position(|entry| entry.precision == precision);
        let index = known.unwrap_or_else(|| {
            let pool = SnapshotPool::new(Plan::cubes());
            self.snapshots.push(Entry { precision, tick, newest: None, pool });
            self.snapshots.len() - 1
        });
        let entry = &mut self.snapshots[index];
        let of_tick = entry.newest.take().filter(|_| entry.tick == tick);
        let snapshot = of_tick.map_or_else(|| entry.pool.quantize(newest, precision), Ok)?;
        (entry.tick, entry.newest) = (tick, Some(Arc::clone(&snapshot)));
        Ok(snapshot)
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
        let newest = Snapshot { bodies: vec![BodyState::default(); 3] };
        let coarse = ladder::CHANGED_FLAGS.stages.precision();
        let full = ladder::UNCOMPRESSED.stages.precision();
        let first = quantized.get(0, &newest, coarse).unwrap();
        let other = quantized.get(0, &newest, full).unwrap();
        assert_eq!(other.precision(), full);
        assert_eq!(quantized.snapshots.len(), 2);
        assert!(Arc::ptr_eq(&quantized.get(0, &newest, coarse).unwrap(), &first));
        // A later tick is quantized again.
        let later = quantized.get(7, &newest, coarse).unwrap();
        assert!(!Arc::ptr_eq(&later, &first));
        assert_eq!(later, first);
        assert_eq!(quantized.snapshots.len(), 2);
    }

    #[test]
    fn a_precision_that_no_lane_uses_any_more_is_dropped() {
        let mut quantized = QuantizedWorld::default();
        let newest = CubeWorld::default().current().clone();
        // A viewer may request other stages in every tick.
        for (tick, stages) in (0..).zip(Stages::every_legal(&[2, 9, 15])) {
            quantized.get(tick, &newest, stages.precision()).unwrap();
            assert!(quantized.snapshots.len() as u64 <= KEPT_TICKS, "{tick}");
        }
    }
}
