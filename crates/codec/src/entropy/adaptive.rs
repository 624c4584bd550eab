//! The adaptive state: probabilities and weights that change from packet to packet and are kept with each baseline.

use super::check::SnapshotHash;
use super::layout::{
    ADAPTIVE_FLAGS, CANDIDATES, DISABLED, EVEN, PoseField, VARIANT_WEIGHT_SETS, Variant, Weights,
    error_index,
};
use super::model::TrainedModel;
use super::pages::{Pages, SparePages};
use crate::flags::{count, flagged};
use crate::hash::mix;
use crate::memory::SharedMemory;
use crate::stages::Coverage;

/// How well a body was predicted in the packet that carried the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResidualHistory {
    /// Whether the packet carried the body.
    pub(crate) is_known: bool,
    /// [Magnitudes](super::residual::magnitude) of the largest residuals.
    pub(crate) position: u8,
    pub(crate) orientation: u8,
    /// Indices of the candidates with the smallest errors.
    pub(crate) best_orientation: u8,
    pub(crate) best_position: u8,
}

/// A [`ResidualHistory`] packed into 13 bits:
///
/// ```text
/// known 1 | best position 2 | best orientation 2 | position 4 | orientation 4
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedHistory(u16);

impl PackedHistory {
    pub(crate) fn unpack(self) -> ResidualHistory {
        let Self(word) = self;
        ResidualHistory {
            is_known: word >> 12 == 1,
            best_position: (word >> 10 & 3) as u8,
            best_orientation: (word >> 8 & 3) as u8,
            position: (word >> 4 & 15) as u8,
            orientation: (word & 15) as u8,
        }
    }
}

impl ResidualHistory {
    pub(crate) fn pack(self) -> PackedHistory {
        let word = u16::from(self.is_known) << 12
            | u16::from(self.best_position) << 10
            | u16::from(self.best_orientation) << 8
            | u16::from(self.position) << 4
            | u16::from(self.orientation);
        let packed = PackedHistory(word);
        debug_assert_eq!(packed.unpack(), self);
        packed
    }

    /// The magnitude of a field's largest residual plus 1, below 16. 0 if it is not known.
    pub(crate) fn context(self, field: PoseField) -> usize {
        let magnitude = match field {
            PoseField::Orientation => self.orientation,
            PoseField::Position => self.position,
        };
        if self.is_known { usize::from(magnitude) + 1 } else { 0 }
    }
}

/// The adaptive state while a packet is coded.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdaptiveState {
    pub(crate) variant: Variant,
    /// Weights of the mixer, by [`FlagContexts::weights`](super::layout::FlagContexts::weights) and
    /// [`ResidualContexts::weights`](super::layout::ResidualContexts::weights).
    pub(crate) weights: Vec<Weights>,
    /// Probabilities by [`AdaptiveFlag`](super::layout::AdaptiveFlag), in 1/65536.
    pub(crate) adaptive: [u16; ADAPTIVE_FLAGS],
    /// Mean errors of candidates and blends, in sixteenths, by [`error_index`] and
    /// [`blend_error_index`](super::layout::blend_error_index); empty for
    /// [`Variant::Plain`].
    pub(crate) errors: Vec<u16>,
    /// History of each body: from this packet if it has already coded the body, otherwise from the reference's
    /// packet.
    pub(crate) residual_histories: Vec<PackedHistory>,
    /// See [`StoredState::values`].
    pub(crate) values: Vec<u16>,
    pub(crate) hash: SnapshotHash,
}

/// The adaptive state after a packet, as kept in a baseline. It depends only on the reference's state and the packet,
/// or on the trained model and the packet if the reference has no state of this variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredState {
    pub(crate) variant: Variant,
    weights: Pages<Weights, 32>,
    adaptive: [u16; ADAPTIVE_FLAGS],
    /// Few errors change in a packet, so their pages have fewer bytes.
    errors: Pages<u16, 128>,
    pub(crate) residual_histories: StoredHistories,
    /// Probabilities of the bins of the schema's further fields. After a partial packet, the probabilities that bodies
    /// are carried follow. Empty in an initial state.
    values: Vec<u16>,
    pub(crate) hash: SnapshotHash,
}

/// Residual histories by body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredHistories {
    /// After a complete packet: histories of the bodies that it changed, in ascending order. The other bodies did not
    /// move, so their histories are not needed.
    changed: Vec<(u16, PackedHistory)>,
    /// After a partial packet: histories of all bodies.
    all: Vec<PackedHistory>,
}

impl StoredHistories {
    pub(crate) fn clear(&mut self) {
        self.changed.clear();
        self.all.clear();
    }

    pub(crate) fn of(&self, body: usize) -> PackedHistory {
        self.all.get(body).copied().unwrap_or_else(|| {
            let found = self.changed.binary_search_by_key(&body, |&(body, _)| body.into());
            found.map_or(PackedHistory::default(), |index| self.changed[index].1)
        })
    }

    /// Copies the histories of all bodies to `histories`. Reuses memory.
    fn load(&self, bodies: usize, histories: &mut Vec<PackedHistory>) {
        histories.clone_from(&self.all);
        histories.resize(bodies, PackedHistory::default());
        for &(body, history) in &self.changed {
            histories[usize::from(body)] = history;
        }
    }
}

/// Memory that is reused from packet to packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpareStates {
    state: Option<Box<StoredState>>,
    weights: SparePages<Weights, 32>,
    errors: SparePages<u16, 128>,
    /// Largest number of bodies changed by one packet so far. Every state reserves memory for that many, so it rarely
    /// grows.
    most_changed: usize,
}

impl StoredState {
    /// The state of a reference that has no adaptive state of this variant.
    pub(crate) fn initial(model: &TrainedModel, variant: Variant) -> Self {
        Self {
            variant,
            weights: Pages::new(&model.weights[variant.part(VARIANT_WEIGHT_SETS)]),
            adaptive: *model.adaptive[variant.part(ADAPTIVE_FLAGS)]
                .first_chunk()
                .expect("the model has the flags of every variant"),
            errors: match variant {
                Variant::Plain => Pages::new(&[]),
                Variant::Predicted => Pages::new(&model.errors),
            },
            residual_histories: StoredHistories::default(),
            values: Vec::new(),
            hash: SnapshotHash::default(),
        }
    }

    /// Hash of the probabilities. Weights and errors are left out because they are large.
    pub(crate) fn digest(&self) -> u64 {
        let probabilities = self.adaptive.iter().chain(&self.values);
        probabilities.fold(0, |hash, &probability| mix(hash, probability.into()))
    }

    /// Returns the bytes of memory in use, except shared pages, which are added to `shared`.
    pub(crate) fn count_memory(&self, shared: &mut SharedMemory) -> usize {
        self.weights.count_memory(shared)
            + self.errors.count_memory(shared)
            + self.residual_histories.changed.capacity() * size_of::<(u16, PackedHistory)>()
            + size_of_val(&*self.residual_histories.all)
            + size_of_val(&*self.values)
            + size_of::<Self>()
    }
}

impl SpareStates {
    /// Stores `next` in the slot of a baseline. `next` follows from `previous` by a packet that carried the `changed`
    /// bodies. Reuses the memory of the state that was in the slot.
    pub(crate) fn store(
        &mut self,
        next: &AdaptiveState,
        changed: &[bool],
        coverage: Coverage,
        previous: &StoredState,
        slot: &mut Option<Box<StoredState>>,
    ) {
        let memory = slot.take().or_else(|| self.state.take());
        let mut stored = memory.unwrap_or_else(|| Box::new(previous.clone()));
        stored.variant = next.variant;
        stored.hash = next.hash;
        stored.adaptive = next.adaptive;
        stored.values.clone_from(&next.values);
        let Self { weights, errors, .. } = self;
        stored.weights.store(&next.weights, &previous.weights, weights);
        stored.errors.store(&next.errors, &previous.errors, errors);
        stored.residual_histories.clear();
        match coverage {
            Coverage::Complete => {
                self.most_changed = self.most_changed.max(count(changed));
                let histories = &mut stored.residual_histories.changed;
                histories.reserve_exact(self.most_changed);
                histories.extend(
                    flagged(changed).map(|body| (body as u16, next.residual_histories[body])),
                );
            }
            Coverage::Partial => stored.residual_histories.all.clone_from(&next.residual_histories),
        }
        *slot = Some(stored);
    }

    /// Keeps a state to reuse its memory.
    pub(crate) fn release(&mut self, state: Option<Box<StoredState>>) {
        if state.is_some() {
            self.state = state;
        }
    }
}

impl AdaptiveState {
    /// Copies a stored state, without residual histories.
    pub(crate) fn new(stored: &StoredState) -> Self {
        let mut state = Self::default();
        state.load(stored);
        state
    }

    /// Sets this to the state before the first bin of a packet whose reference has the state `previous`. `values` is
    /// the length of [`values`](Self::values) in this packet; new probabilities start at even odds. Reuses memory.
    pub(crate) fn follow(&mut self, previous: &StoredState, bodies: usize, values: usize) {
        self.load(previous);
        self.values.clone_from(&previous.values);
        self.values.resize(values, EVEN);
        previous.residual_histories.load(bodies, &mut self.residual_histories);
    }

    /// Replaces the histories of bodies that were merged from other packets.
    pub(crate) fn merge(&mut self, merged: &[(u16, PackedHistory)]) {
        for &(body, history) in merged {
            self.residual_histories[usize::from(body)] = history;
        }
    }

    /// Copies the weights, the probabilities of flags and the mean errors.
    fn load(&mut self, stored: &StoredState) {
        self.variant = stored.variant;
        stored.weights.load(&mut self.weights);
        self.adaptive = stored.adaptive;
        stored.errors.load(&mut self.errors);
    }

    /// Returns the two candidates with the smallest mean errors in a class, best first.
    pub(crate) fn best_candidates(&self, field: PoseField, class: usize) -> [usize; 2] {
        let errors = &self.errors[error_index(field, class)..][..CANDIDATES[field as usize]];
        // The candidate is in the lowest two bits of the key. No branches, because they would often be mispredicted.
        let keys =
            || errors.iter().zip(0..).map(|(&error, candidate)| u32::from(error) << 2 | candidate);
        let best = keys().fold(u32::MAX, u32::min);
        let others = keys().map(|key| if key == best { u32::MAX } else { key });
        let next = others.fold(u32::MAX, u32::min);
        [best, next].map(|key| (key & 3) as usize)
    }
}

/// Moves a mean error towards the error of one body, in steps.
pub(crate) fn update_mean(mean: &mut u16, error: u32) {
    if *mean == DISABLED {
        return;
    }
    // An exponential moving average with weight 1/32, in sixteenths of a step. `MAX_ERROR` keeps it below `DISABLED`.
    let step = ((error.min(MAX_ERROR) * 16) as i32 - i32::from(*mean)) >> 5;
    *mean = (i32::from(*mean) + step) as u16;
}

/// Larger errors count as this, in steps.
const MAX_ERROR: u32 = 2000;
