//! Training of a [`TrainedModel`] on packets.
//!
//! The first pass over the recordings counts the values of every bin in each of its contexts. The counts
//! become the model's static table. Contexts share information, which the sum of their log odds counts several times.
//! After each further pass, every entry therefore moves by the error of the mixed probabilities in its context, as in
//! Newton's method. The adaptive state at the end of the last pass becomes the model's initial state.

use std::sync::Arc;

use crate::baseline::Baseline;
pub use crate::entropy::Feature;
use crate::entropy::coder::{BinEncoder, ONE};
use crate::entropy::{
    ADAPTIVE_FLAGS, AdaptiveState, BLEND_SETS, BLEND_UNIT, BLENDED, Bins, Blend, BlendWeights,
    Coder, CodingContext, CodingObserver, MAX_LOG_ODDS, SLOTS, StoredState, TABLE_UNIT,
    TrainedModel, VARIANT_WEIGHT_SETS, Variant, blend_index,
};
use crate::snapshot::QuantizedSnapshot;
use crate::stages::{Delta, Stages};

/// Number of passes that train the blends. Later passes train the other parts with the final blends.
const BLEND_PASSES: usize = 2;

/// Counts bins, and keeps the adaptive state from packet to packet.
#[derive(Debug)]
pub struct Trainer {
    coder: Coder,
    statistics: Vec<Statistics>,
    /// The table before it is rounded.
    table: Vec<f32>,
    changed: Vec<bool>,
    bytes: Vec<u8>,
    /// Regressions by blend and group of axes.
    regressions: Vec<Regression>,
    passes: usize,
    /// The newest adaptive state of each variant.
    states: [Option<Box<StoredState>>; 2],
    disabled: Option<Feature>,
}

impl Default for Trainer {
    fn default() -> Self {
        Self {
            coder: Coder::new(Arc::new(TrainedModel::untrained())),
            statistics: vec![Statistics::default(); SLOTS],
            table: vec![0.0; SLOTS],
            changed: Vec::new(),
            bytes: Vec::new(),
            regressions: vec![Regression::default(); BLEND_SETS],
            passes: 0,
            states: [None, None],
            disabled: None,
        }
    }
}

/// Statistics of the bins of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Statistics {
    /// Number of clear and set bins.
    counts: [u32; 2],
    /// Sum of the differences of the bins from their probabilities.
    error: f32,
    /// Sum of the variances: the rate at which the error falls as the log odds grow.
    variance: f32,
}

struct Counter<'a> {
    statistics: &'a mut [Statistics],
    regressions: &'a mut [Regression],
}

impl CodingObserver for Counter<'_> {
    fn coded(&mut self, slots: &[usize], bin: bool, one: u32) {
        for &slot in slots {
            self.statistics[slot].add(bin, one);
        }
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
    /// Disables a feature, to measure how much it saves. Starts from an untrained model.
    #[must_use]
    pub fn without(self, feature: Feature) -> Self {
        let mut model = TrainedModel::untrained();
        feature.disable(&mut model);
        Self { coder: Coder::new(Arc::new(model)), disabled: Some(feature), ..self }
    }

    /// Learns from the packet that would encode `current`, `ticks` after `baseline`. The other arguments
    /// are as in [`Encoder::encode`](crate::Encoder::encode). Returns the size of the packet in bytes, without
    /// header and check. Returns 0 and does not learn if the stages are not arithmetic.
    pub fn learn(
        &mut self,
        stages: Stages,
        current: &QuantizedSnapshot,
        baseline: &Baseline,
        ticks: u16,
        additional: [Option<&Baseline>; 2],
    ) -> usize {
        let Some(variant) = Variant::of(stages.delta) else { return 0 };
        let state = self.continued_state(variant, baseline);
        let mut reference = baseline.view();
        if let Some(state) = &state {
            reference.state = Some(state);
        }
        let context =
            CodingContext { variant, reference, ticks: Some(ticks), coverage: stages.coverage() };
        current.compare(&baseline.snapshot, &mut self.changed);
        self.bytes.clear();
        let counter =
            Counter { statistics: &mut self.statistics, regressions: &mut self.regressions };
        self.coder.encode(
            context,
            additional.map(|baseline| Some(baseline?.view())),
            current,
            &mut self.changed,
            Bins { coder: BinEncoder::new(&mut self.bytes), observer: counter },
        );
        let slot = &mut self.states[variant as usize];
        self.coder.store(&context, &self.changed, slot);
        self.bytes.len()
    }

    /// The newest adaptive state, with the residual histories of the baseline's packet.
    fn continued_state(&self, variant: Variant, baseline: &Baseline) -> Option<Box<StoredState>> {
        let mut state = self.states[variant as usize].clone()?;
        let own = baseline.state.as_ref();
        if let Some(own) = own.filter(|own| own.variant == variant) {
            state.residual_histories.clone_from(&own.residual_histories);
        } else {
            state.residual_histories.clear();
        }
        Some(state)
    }

    /// Copies the adaptive state after the last packet of these stages to a baseline of the caller.
    pub fn copy_state(&self, delta: Delta, baseline: &mut Baseline) {
        if let Some(variant) = Variant::of(delta) {
            baseline.state.clone_from(&self.states[variant as usize]);
        }
    }

    /// Ends a pass. The counts become the model's table, and the newest adaptive states its initial states.
    pub fn end_pass(&mut self) {
        let mut model = (*self.coder.model).clone();
        for (entry, statistics) in self.table.iter_mut().zip(&mut self.statistics) {
            let statistics = std::mem::take(statistics);
            *entry = match self.passes {
                0 => statistics.log_odds(),
                _ => *entry + statistics.step(),
            };
            *entry = entry.clamp(-MAX_ENTRY, MAX_ENTRY);
        }
        model.table.clear();
        let rounded = self.table.iter().map(|entry| entry.round() as i16 * TABLE_UNIT);
        model.table.extend(rounded);
        if self.passes < BLEND_PASSES {
            for (weights, regression) in model.blends.iter_mut().zip(&mut self.regressions) {
                *weights = std::mem::take(regression).weights();
            }
        }
        self.passes += 1;
        for variant in Variant::ALL {
            let Some(state) = &self.states[variant as usize] else { continue };
            let state = AdaptiveState::new(state);
            model.weights[variant.part(VARIANT_WEIGHT_SETS)].copy_from_slice(&state.weights);
            model.adaptive[variant.part(ADAPTIVE_FLAGS)].copy_from_slice(&state.adaptive);
            if variant == Variant::Predicted {
                model.errors.clone_from(&state.errors);
            }
        }
        if let Some(feature) = self.disabled {
            feature.disable(&mut model);
        }
        self.coder = Coder::new(Arc::new(model));
    }

    /// Returns the trained model. `trained_on` are hashes of the recordings.
    pub fn finish(self, trained_on: Vec<u64>) -> TrainedModel {
        TrainedModel { trained_on, ..Arc::unwrap_or_clone(self.coder.model) }
    }
}

impl Statistics {
    fn add(&mut self, bin: bool, one: u32) {
        self.counts[usize::from(bin)] += 1;
        let probability = one as f32 / ONE as f32;
        self.error += f32::from(u8::from(bin)) - probability;
        self.variance += probability * (1.0 - probability);
    }

    /// Log odds of the counts, in the table's unit. Small counts give smaller log odds.
    fn log_odds(&self) -> f32 {
        let [clear, set] = self.counts.map(f64::from);
        let odds = ((set + 0.4) / (clear + 0.4)).ln();
        let confidence = (clear + set) / (clear + set + 1.5);
        (odds * confidence) as f32 * PER_TABLE_UNIT
    }

    /// Change of an entry. About three inputs share the error and have a third of the weight each, which cancels out.
    fn step(&self) -> f32 {
        self.error / (self.variance + RIDGE) * PER_TABLE_UNIT
    }
}

/// Table entries per unit of log odds.
const PER_TABLE_UNIT: f32 = 256.0 / TABLE_UNIT as f32;

const MAX_ENTRY: f32 = (MAX_LOG_ODDS / TABLE_UNIT as i32) as f32;

/// Variance at which an entry moves by half of the step. It damps entries with few samples, which are specific to one
/// recording.
const RIDGE: f32 = 40.0;

/// Normal equations of a weighted least-squares fit. Large residuals have smaller weights, because the cost of a
/// residual grows with its logarithm. Otherwise collisions would dominate the fit.
#[derive(Clone, Debug, Default)]
struct Regression {
    matrix: [[f64; BLENDED]; BLENDED],
    vector: [f64; BLENDED],
    samples: f64,
}

impl Regression {
    /// Adds a sample: the differences of a body along one axis, the sum that would have been exact, and the error of
    /// the current blend.
    fn add(&mut self, differences: [f32; BLENDED], actual: f32, residual: f32) {
        if actual.abs() > MAX_ACTUAL {
            return;
        }
        let differences = differences.map(f64::from);
        let spread = 4.0 + f64::from(residual).abs();
        let weight = 10.0 / (spread * spread.sqrt());
        for (row, a) in differences.into_iter().enumerate() {
            for (column, b) in differences.into_iter().enumerate() {
                self.matrix[row][column] += weight * a * b;
            }
            self.vector[row] += weight * a * f64::from(actual);
        }
        self.samples += 1.0;
    }

    /// Weights of the blend; zero if there are few samples.
    fn weights(mut self) -> BlendWeights {
        if self.samples < MIN_SAMPLES {
            return [0; BLENDED];
        }
        // Ridge regression, because the differences are nearly linearly dependent.
        let ridge = 3.0 + self.samples * 1e-3;
        for (index, row) in self.matrix.iter_mut().enumerate() {
            row[index] += ridge;
        }
        let scale = 1.0 / f64::from(BLEND_UNIT);
        let limit = f64::from(i16::MAX);
        self.solve().map(|weight| (weight * scale).round().clamp(-limit, limit) as i16)
    }

    /// Gaussian elimination. The matrix is positive definite, so no pivot is zero.
    fn solve(mut self) -> [f64; BLENDED] {
        for pivot in 0..BLENDED {
            for row in pivot + 1..BLENDED {
                let factor = self.matrix[row][pivot] / self.matrix[pivot][pivot];
                for column in pivot..BLENDED {
                    self.matrix[row][column] -= factor * self.matrix[pivot][column];
                }
                self.vector[row] -= factor * self.vector[pivot];
            }
        }
        let mut solution = [0.0; BLENDED];
        for row in (0..BLENDED).rev() {
            let known: f64 =
                (row + 1..BLENDED).map(|column| self.matrix[row][column] * solution[column]).sum();
            solution[row] = (self.vector[row] - known) / self.matrix[row][row];
        }
        solution
    }
}

/// Larger sums are teleports, which are ignored.
const MAX_ACTUAL: f32 = 2000.0;
const MIN_SAMPLES: f64 = 200.0;
