//! Trains a [`TrainedModel`] on packets.
//!
//! The first pass over the recordings counts the values of every bin in each of its contexts; the counts
//! become the model's static table. Further passes keep the table, and the adaptive state at the end of the
//! last pass becomes the model's initial state.

use std::sync::Arc;

use crate::baseline::Baseline;
pub use crate::entropy::Feature;
use crate::entropy::{
    AdaptiveState, Basis, Coder, CodingObserver, Element, MAX_STRETCHED, SLOTS, TABLE_UNIT,
    TrainedModel, VARIANT_ADAPTIVE, VARIANT_WEIGHT_SETS, Variant,
};
use crate::snapshot::QuantizedSnapshot;
use crate::stages::{Delta, Stages};

/// Counts bins and keeps the adaptive state from packet to packet.
#[derive(Debug)]
pub struct Trainer {
    coder: Coder,
    /// By slot: how often the bin was clear, and set.
    counts: Vec<[u32; 2]>,
    changed: Vec<bool>,
    bytes: Vec<u8>,
    bins: Vec<(bool, u32)>,
    /// The newest adaptive state of each variant.
    states: [Option<Box<AdaptiveState>>; 2],
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
            states: [None, None],
            disabled: Vec::new(),
        }
    }
}

struct Counter<'a> {
    counts: &'a mut [[u32; 2]],
    bins: &'a mut Vec<(bool, u32)>,
}

impl CodingObserver for Counter<'_> {
    fn coded(&mut self, _: Element, slots: &[usize], bin: bool, one: u32) {
        for &slot in slots {
            self.counts[slot][usize::from(bin)] += 1;
        }
        self.bins.push((bin, one));
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
        };
        current.compare(&baseline.snapshot, &mut self.changed);
        self.bytes.clear();
        self.bins.clear();
        let counter = Counter {
            counts: &mut self.counts,
            bins: &mut self.bins,
        };
        let next = self.coder.encode(
            basis,
            additional.map(|baseline| Some(baseline?.held())),
            current,
            &mut self.changed,
            &mut self.bytes,
            counter,
        );
        self.states[variant as usize] = Some(next);
        self.bytes.len()
    }

    /// The newest adaptive state as if it were the baseline's, with the data about the baseline's own packet.
    fn continued_state(&self, variant: Variant, baseline: &Baseline) -> Option<Box<AdaptiveState>> {
        let mut state = self.states[variant as usize].clone()?;
        let own = baseline.state.as_ref();
        if let Some(own) = own.filter(|own| own.variant == variant) {
            state.predictions.clone_from(&own.predictions);
            state.reference.copy_from(&own.reference);
            state.reference_ticks = own.reference_ticks;
        } else {
            state.predictions.clear();
            state.reference_ticks = 0;
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
        for variant in Variant::ALL {
            let Some(state) = &self.states[variant as usize] else {
                continue;
            };
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
