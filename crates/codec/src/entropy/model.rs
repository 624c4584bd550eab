//! The trained model: static tables, and the initial adaptive state. Both sides must have the same model. It never
//! changes.

use std::sync::{Arc, OnceLock};

use super::blend::{BLENDED, BlendWeights};
use super::layout::{
    ADAPTIVE, BLEND_SETS, ERRORS, MAX_INPUTS, PoseField, SLOTS, TABLE_UNIT, WEIGHT_ONE,
    WEIGHT_SETS, Weights, blend_index,
};

/// A trained model, as written by `cubewire-lab train`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainedModel {
    /// Hashes of the recordings that it was trained on.
    pub(crate) trained_on: Vec<u64>,
    /// Log odds of bins by context slot, in multiples of [`TABLE_UNIT`]. The file stores the factors.
    pub(crate) table: Vec<i16>,
    /// By [`blend_index`].
    pub(crate) blends: Vec<BlendWeights>,
    /// Initial values of the adaptive state.
    pub(crate) weights: Vec<Weights>,
    pub(crate) adaptive: Vec<u16>,
    pub(crate) errors: Vec<u16>,
}

/// Error of reading a trained model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum ModelError {
    #[error("not a trained model: the first bytes are not {:?}", str::from_utf8(MAGIC).unwrap_or_default())]
    Magic,
    /// The bytes come from another version of this crate, or are damaged.
    #[error("a model that was trained on {trained_on} recordings has {expected} bytes, not {got}")]
    Length { trained_on: usize, expected: usize, got: usize },
}

const MAGIC: &[u8; 8] = b"CWPRIOR4";

/// Mean error of every candidate before training, in sixteenths.
const INITIAL_ERROR: u16 = 1600;

impl TrainedModel {
    /// The model before training. Every bin has even odds. With a weight of a third, three inputs of equal log odds mix to
    /// these log odds.
    pub fn untrained() -> Self {
        Self {
            trained_on: Vec::new(),
            table: vec![0; SLOTS],
            blends: vec![[0; BLENDED]; BLEND_SETS],
            weights: vec![[WEIGHT_ONE / 3; MAX_INPUTS]; WEIGHT_SETS],
            adaptive: vec![1 << 15; ADAPTIVE],
            errors: vec![INITIAL_ERROR; ERRORS],
        }
    }

    /// The model that ships with this crate.
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: OnceLock<Arc<TrainedModel>> = OnceLock::new();
        let shipped = SHIPPED.get_or_init(|| {
            let bytes = include_bytes!("../../model.bin");
            Arc::new(Self::from_bytes(bytes).expect("tests decode with the shipped model"))
        });
        Arc::clone(shipped)
    }

    /// Hashes of the recordings that it was trained on, as passed to the trainer.
    pub fn trained_on(&self) -> &[u64] {
        &self.trained_on
    }

    /// Weights of a blend: for x and y, then for z.
    pub(crate) fn blend(&self, field: PoseField, class: usize) -> [&BlendWeights; 2] {
        let index = blend_index(field, class);
        [&self.blends[index], &self.blends[index + 1]]
    }

    /// Reads a model written by [`Self::to_bytes`].
    ///
    /// # Errors
    /// [`ModelError`] if the magic number or the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ModelError::Magic)?;
        let count = rest.first().copied().unwrap_or(0) as usize;
        let sizes = [
            1,
            8 * count,
            2 * WEIGHT_SETS * MAX_INPUTS,
            2 * ADAPTIVE,
            2 * ERRORS,
            2 * BLEND_SETS * BLENDED,
            SLOTS,
        ];
        let expected = MAGIC.len() + sizes.iter().sum::<usize>();
        if bytes.len() != expected {
            return Err(ModelError::Length { trained_on: count, expected, got: bytes.len() });
        }
        let mut rest = rest;
        let [_, hashes, weights, adaptive, errors, blends, table] = sizes.map(|size| {
            let (part, after) = rest.split_at(size);
            rest = after;
            part
        });
        let hashes = hashes.as_chunks().0.iter();
        Ok(Self {
            trained_on: hashes.map(|hash| u64::from_le_bytes(*hash)).collect(),
            weights: sets(weights),
            blends: sets(blends),
            adaptive: words(adaptive),
            errors: words(errors),
            table: table.iter().map(|entry| i16::from(entry.cast_signed()) * TABLE_UNIT).collect(),
        })
    }

    /// Writes the model in the layout of section 15 of `WIRE.md`. At most 255 hashes are written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let count = self.trained_on.len().min(u8::MAX.into());
        bytes.push(count as u8);
        let hashes = self.trained_on[..count].iter();
        bytes.extend(hashes.flat_map(|hash| hash.to_le_bytes()));
        let weights = self.weights.iter().flatten();
        bytes.extend(weights.flat_map(|weight| weight.to_le_bytes()));
        bytes.extend(self.adaptive.iter().flat_map(|one| one.to_le_bytes()));
        bytes.extend(self.errors.iter().flat_map(|error| error.to_le_bytes()));
        let blends = self.blends.iter().flatten();
        bytes.extend(blends.flat_map(|weight| weight.to_le_bytes()));
        bytes.extend(self.table.iter().map(|entry| (entry / TABLE_UNIT) as u8));
        bytes
    }
}

fn sets(bytes: &[u8]) -> Vec<[i16; 8]> {
    let words = words(bytes);
    words.as_chunks().0.iter().map(|set| set.map(u16::cast_signed)).collect()
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_survives_its_bytes_and_other_bytes_are_refused() {
        let mut model = TrainedModel::untrained();
        model.trained_on = vec![7, u64::MAX];
        model.table[5] = -9 * TABLE_UNIT;
        model.weights[3][1] = -7_000;
        model.adaptive[1] = 9;
        model.errors[2] = 77;
        model.blends[1][7] = -3;
        let bytes = model.to_bytes();
        assert_eq!(TrainedModel::from_bytes(&bytes), Ok(model));
        assert_eq!(TrainedModel::from_bytes(b"zstd"), Err(ModelError::Magic));
        assert_eq!(TrainedModel::from_bytes(&[]), Err(ModelError::Magic));
        for length in [8, 9, bytes.len() - 1] {
            let error = TrainedModel::from_bytes(&bytes[..length]).unwrap_err();
            assert!(matches!(error, ModelError::Length { .. }));
        }
    }
}
