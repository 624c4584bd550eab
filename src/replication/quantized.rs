//! The newest snapshot as integers, quantized once a tick for each precision and shared by all lanes, or by
//! all rungs of a shadow ladder.

use bevy::prelude::*;
use cubewire_codec::{Precision, QuantizeError, QuantizedSnapshot, Snapshot};

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
    /// The `newest` state, that of `tick`, in a precision.
    ///
    /// # Errors
    /// If a value cannot be quantized.
    pub(super) fn get(
        &mut self,
        tick: u64,
        newest: &Snapshot,
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
        if entry.tick != Some(tick) {
            // Stays none if it fails.
            entry.tick = None;
            entry.snapshot.quantize(newest, precision)?;
            entry.tick = Some(tick);
        }
        Ok(&entry.snapshot)
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::{CubeState, ladder};

    use super::*;

    #[test]
    fn a_snapshot_is_quantized_once_a_tick_and_precision() {
        let mut quantized = QuantizedWorld::default();
        let newest = Snapshot {
            cubes: vec![CubeState::default(); 3],
        };
        let coarse = ladder::CHANGED_FLAGS.stages.precision();
        let full = ladder::UNCOMPRESSED.stages.precision();
        let first = quantized.get(0, &newest, coarse).unwrap().clone();
        let other = quantized.get(0, &newest, full).unwrap();
        assert_eq!(other.precision(), full);
        assert_eq!(quantized.snapshots.len(), 2);
        // A later tick is quantized again.
        assert_eq!(quantized.get(7, &newest, coarse).unwrap(), &first);
        assert_eq!(quantized.snapshots.len(), 2);
        assert_eq!(quantized.snapshots[0].tick, Some(7));
        assert_eq!(quantized.snapshots[1].tick, Some(0));
    }
}
