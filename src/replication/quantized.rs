//! The newest snapshot as integers, quantized once a tick for each precision and shared by all lanes and
//! rungs.

use bevy::prelude::*;
use cubewire_codec::{Precision, QuantizeError, QuantizedSnapshot};

use crate::simulation::CubeWorld;

/// The newest snapshot, in each precision that was requested.
#[derive(Resource, Debug, Default)]
pub(super) struct QuantizedWorld {
    snapshots: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Tick of the quantized snapshot; none before the first.
    tick: Option<u64>,
    snapshot: QuantizedSnapshot,
}

impl QuantizedWorld {
    /// The state of the newest tick in a precision.
    ///
    /// # Errors
    /// If a value cannot be quantized.
    pub(super) fn get(
        &mut self,
        world: &CubeWorld,
        precision: Precision,
    ) -> Result<&QuantizedSnapshot, QuantizeError> {
        let mut snapshots = self.snapshots.iter();
        let place = snapshots.position(|entry| entry.snapshot.precision() == precision);
        let place = place.unwrap_or_else(|| {
            self.snapshots.push(Entry {
                tick: None,
                snapshot: QuantizedSnapshot::new(precision),
            });
            self.snapshots.len() - 1
        });
        let entry = &mut self.snapshots[place];
        if entry.tick != Some(world.tick()) {
            // Stays none if it fails.
            entry.tick = None;
            entry.snapshot.quantize(world.current(), precision)?;
            entry.tick = Some(world.tick());
        }
        Ok(&entry.snapshot)
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;

    #[test]
    fn a_snapshot_is_quantized_once_a_tick_and_precision() {
        let mut quantized = QuantizedWorld::default();
        let mut world = CubeWorld::default();
        let coarse = ladder::CHANGED_FLAGS.stages.precision();
        let full = ladder::UNCOMPRESSED.stages.precision();
        let first = quantized.get(&world, coarse).unwrap().clone();
        assert_eq!(quantized.get(&world, full).unwrap().precision(), full);
        assert_eq!(quantized.snapshots.len(), 2);
        // A later tick is quantized again.
        world.count_from(7);
        assert_eq!(quantized.get(&world, coarse).unwrap(), &first);
        assert_eq!(quantized.snapshots.len(), 2);
        assert_eq!(quantized.snapshots[0].tick, Some(7));
        assert_eq!(quantized.snapshots[1].tick, Some(0));
    }
}
