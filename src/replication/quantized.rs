//! The newest snapshot as integers. Quantized once per tick and precision, and shared by all lanes and shadow ladders.

use std::sync::Arc;

use bevy::prelude::*;
use cubewire_codec::{Plan, Precision, QuantizeError, QuantizedSnapshot, Snapshot, SnapshotPool};

/// The newest snapshot in each requested precision.
#[derive(Resource, Debug, Default)]
pub(super) struct QuantizedWorld {
    snapshots: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    precision: Precision,
    /// Tick and quantized snapshot. `None` before the first, and after a failure.
    newest: Option<(u64, Arc<QuantizedSnapshot>)>,
    pool: SnapshotPool,
}

impl Entry {
    /// The snapshot, if it belongs to this tick.
    fn of(&self, tick: u64) -> Option<&Arc<QuantizedSnapshot>> {
        let (newest, snapshot) = self.newest.as_ref()?;
        (*newest == tick).then_some(snapshot)
    }

    /// Whether it was used in the last [`KEPT_TICKS`].
    fn is_recent(&self, tick: u64) -> bool {
        let newest = self.newest.as_ref().map(|(newest, _)| newest + KEPT_TICKS);
        newest.is_some_and(|end| tick < end)
    }
}

/// Ticks after which an unused precision is dropped. A client can request another precision in every tick.
const KEPT_TICKS: u64 = 60;

impl QuantizedWorld {
    /// Returns the `newest` snapshot, which belongs to `tick`, quantized to a precision.
    ///
    /// # Errors
    /// [`QuantizeError`] if a value cannot be quantized.
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
            // A failure leaves no snapshot, so that an old one is never returned for this tick.
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
        let newest = Snapshot { bodies: vec![BodyState::default(); 3] };
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
        // A viewer may request other stages in every tick.
        for (tick, stages) in (0..).zip(Stages::every_legal(&[2, 9, 15])) {
            quantized.get(tick, &newest, stages.precision()).unwrap();
            assert!(quantized.snapshots.len() as u64 <= KEPT_TICKS, "{tick}");
        }
    }
}
