//! Trains a [`TrainedModel`] on packets.
//!
//! The first pass over the recordings counts the values of every bin in each of its contexts; the counts
//! become the model's static table. Further passes keep the table, and the adaptive state at the end of the
//! last pass becomes the model's initial state.

use std::sync::Arc;

use crate::baseline::Baseline;
pub use crate::entropy::Feature;
use crate::entropy::{
    AdaptiveState, BLEND_SETS, Basis, Blend, Coder, CodingObserver, KeptState, MAX_STRETCHED,
    SLOTS, TABLE_UNIT, TrainedModel, VARIANT_ADAPTIVE, VARIANT_WEIGHT_SETS, Variant, blend_index,
};
use crate::simulation::Simulated;
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::stages::{Delta, Stages};

mod regression;

use regression::Regression;

/// Passes that train the blends. Later passes keep them, so that the other parts are trained with the final ones.
const BLEND_PASSES: usize = 2;

/// Counts bins and keeps the adaptive state from packet to packet.
#[derive(Debug)]
pub struct Trainer {
    coder: Coder,
    /// By slot: how often the bin was clear, and set.
    counts: Vec<[u32; 2]>,
    changed: Vec<bool>,
    bytes: Vec<u8>,
    bins: Vec<(bool, u32)>,
    /// By blend and group of axes.
    regressions: Vec<Regression>,
    /// Passes that are over.
    passes: usize,
    /// The newest adaptive state of each variant.
    states: [Option<Box<KeptState>>; 2],
    disabled: Vec<Feature>,
}

impl Default for Trainer {
    fn default() -> Self {
        Self {
            coder: Coder::new(Arc::new(TrainedModel::untrained())),
            counts: vec![[0; 2]; SLOTS],
            changed: Vec::new(),
            bytes: Vec::new(),
            bins: Vec::new(),
            regressions: vec![Regression::default(); BLEND_SETS],
            passes: 0,
            states: [None, None],
            disabled: Vec::new(),
        }
    }
}

struct Counter<'a> {
    counts: &'a mut [[u32; 2]],
    bins: &'a mut Vec<(bool, u32)>,
    regressions: &'a mut [Regression],
}

impl CodingObserver for Counter<'_> {
    fn coded(&mut self, slots: &[usize], bin: bool, one: u32) {
        for &slot in slots {
            self.counts[slot][usize::from(bin)] += 1;
        }
        self.bins.push((bin, one));
    }

    fn blended(&mut self, blend: &Blend, actual: impl FnOnce() -> [f32; 3]) {
        let first = blend_index(blend.field, blend.class);
        let actual = actual();
        for axis in 0..3 {
            let differences = blend.differences.map(|difference| difference[axis]);
            let residual = actual[axis] - blend.sum[axis];
            self.regressions[first + axis / 2].add(differences, actual[axis], residual);
        }
    }
}

impl Trainer {
    /// Starts from a model instead of an untrained one.
    #[must_use]
    pub fn starting_from(mut self, model: Arc<TrainedModel>) -> Self {
        self.coder = Coder::new(model);
        self
    }

    /// Disables a feature, to measure its worth. Starts from an untrained model.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.disabled.push(feature);
        let mut model = TrainedModel::untrained();
        self.disable_features(&mut model);
        self.coder = Coder::new(Arc::new(model));
        self
    }

    fn disable_features(&self, model: &mut TrainedModel) {
        for feature in &self.disabled {
            feature.disable(model);
        }
    }

    /// Learns from the packet that would be sent of `current`, `ticks` after `baseline`; the other arguments
    /// are as for [`Encoder::encode`](crate::Encoder::encode). Returns the bytes that the packet would have
    /// without header and check. Stages without arithmetic coding are ignored, and give 0.
    pub fn learn(
        &mut self,
        stages: Stages,
        current: &QuantizedSnapshot,
        baseline: &Baseline,
        ticks: u16,
        additional: [Option<&Baseline>; 2],
    ) -> usize {
        let Some(variant) = Variant::of(stages.delta) else {
            return 0;
        };
        let state = self.continued_state(variant, baseline);
        let mut reference = baseline.held();
        if let Some(state) = &state {
            reference.state = Some(state);
        }
        let basis = Basis {
            variant,
            reference,
            ticks: Some(ticks),
            is_simulated: false,
            has_long_check: false,
            input: 0,
        };
        current.compare(&baseline.snapshot, &mut self.changed);
        self.bytes.clear();
        self.bins.clear();
        let counter = Counter {
            counts: &mut self.counts,
            bins: &mut self.bins,
            regressions: &mut self.regressions,
        };
        self.coder.encode(
            basis,
            additional.map(|baseline| Some(baseline?.held())),
            Simulated::default(),
            (current, &self.changed),
            &mut self.bytes,
            counter,
        );
        let place = &mut self.states[variant as usize];
        self.coder.keep(&basis, &mut Spares::default(), place);
        self.bytes.len()
    }

    /// The newest adaptive state as if it were the baseline's, with the data about the baseline's own packet.
    fn continued_state(&self, variant: Variant, baseline: &Baseline) -> Option<Box<KeptState>> {
        let mut state = self.states[variant as usize].clone()?;
        let own = baseline.state.as_ref();
        if let Some(own) = own.filter(|own| own.variant == variant) {
            state.predictions.clone_from(&own.predictions);
            state.reference.clone_from(&own.reference);
        } else {
            state.predictions.clear();
            state.reference = None;
        }
        Some(state)
    }

    /// The bins of the last packet, each with the probability that it is set, out of
    /// [`ONE`](crate::entropy::coder::ONE).
    #[must_use]
    pub fn bins(&self) -> &[(bool, u32)] {
        &self.bins
    }

    /// Copies the adaptive state after the last packet of these stages to a baseline of the caller's chain.
    pub fn copy_state(&self, delta: Delta, baseline: &mut Baseline) {
        if let Some(variant) = Variant::of(delta) {
            baseline.state.clone_from(&self.states[variant as usize]);
        }
    }

    /// Ends a pass: the counts become the model's table, and the newest adaptive states the initial ones.
    pub fn end_pass(&mut self) {
        let mut model = self.coder.model().clone();
        for (entry, counts) in model.table.iter_mut().zip(&self.counts) {
            *entry = log_odds(*counts);
        }
        if self.passes < BLEND_PASSES {
            for (weights, regression) in model.blends.iter_mut().zip(&mut self.regressions) {
                *weights = std::mem::take(regression).weights();
            }
        }
        self.passes += 1;
        for variant in Variant::ALL {
            let Some(state) = &self.states[variant as usize] else {
                continue;
            };
            let state = AdaptiveState::new(state);
            model.weights[variant.part(VARIANT_WEIGHT_SETS)].copy_from_slice(&state.weights);
            model.adaptive[variant.part(VARIANT_ADAPTIVE)].copy_from_slice(&state.adaptive);
            if variant == Variant::Predicted {
                model.errors.clone_from(&state.errors);
            }
        }
        self.disable_features(&mut model);
        self.coder = Coder::new(Arc::new(model));
        self.counts.fill([0; 2]);
    }

    /// The model after all passes, with the hashes of the recordings it was trained on.
    #[must_use]
    pub fn finish(self, trained_on: Vec<u64>) -> TrainedModel {
        let mut model = self.coder.model().clone();
        model.set_trained_on(trained_on);
        model
    }
}

/// Log odds of the counts, closer to even odds if the counts are small.
fn log_odds([clear, set]: [u32; 2]) -> i8 {
    let (clear, set) = (f64::from(clear), f64::from(set));
    let odds = ((set + 0.4) / (clear + 0.4)).ln();
    let confidence = (clear + set) / (clear + set + 1.5);
    let units = odds * confidence * 256.0 / f64::from(TABLE_UNIT);
    let max = f64::from(MAX_STRETCHED / i32::from(TABLE_UNIT));
    units.round().clamp(-max, max) as i8
}
