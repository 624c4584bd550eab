//! Makes a [`Prior`] from packets.
//!
//! In a first pass over some recordings, every decision is counted in each of its contexts; these counts
//! become the table. In further passes the table stands, and what chains learn by the end becomes what
//! new ones begin with.

use std::sync::Arc;

use super::cubes::Witness;
pub use super::features::Feature;
use super::layout::{ADAPTIVE_OF_A_WAY, CONTEXT_SLOTS, WEIGHT_SETS_OF_A_WAY};
use super::mixing::MAX_ODDS;
use super::prior::{Prior, STATIC_STEP};
use super::{Against, Coder, Learned, Way};
use crate::baseline::Baseline;
use crate::ledger::BitKind;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::{Delta, Stages};

/// Counts decisions and keeps what was learned.
#[derive(Debug)]
pub struct Trainer {
    coder: Coder,
    /// How often each decision was yes, and no.
    counts: Vec<[u32; 2]>,
    changed: Vec<bool>,
    bytes: Vec<u8>,
    decisions: Vec<(bool, u32)>,
    /// The newest of each way.
    learned: [Option<Box<Learned>>; 2],
    without: Vec<Feature>,
}

impl Default for Trainer {
    fn default() -> Self {
        Self {
            coder: Coder::new(Arc::new(Prior::blank())),
            counts: vec![[0; 2]; CONTEXT_SLOTS],
            changed: Vec::new(),
            bytes: Vec::new(),
            decisions: Vec::new(),
            learned: [None, None],
            without: Vec::new(),
        }
    }
}

struct Counter<'a> {
    counts: &'a mut [[u32; 2]],
    decisions: &'a mut Vec<(bool, u32)>,
}

impl Witness for Counter<'_> {
    fn decided(&mut self, _: BitKind, _: Option<usize>, contexts: &[usize], bit: bool, one: u32) {
        for &context in contexts {
            self.counts[context][usize::from(bit)] += 1;
        }
        self.decisions.push((bit, one));
    }
}

impl Trainer {
    /// Starts from a prior instead of from nothing.
    #[must_use]
    pub fn starting_from(mut self, prior: Arc<Prior>) -> Self {
        self.coder = Coder::new(prior);
        self
    }

    /// Leaves a feature out, to see what it is worth.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.without.push(feature);
        let mut prior = Prior::blank();
        self.silence(&mut prior);
        self.coder = Coder::new(Arc::new(prior));
        self
    }

    fn silence(&self, prior: &mut Prior) {
        for feature in &self.without {
            feature.silence(prior);
        }
    }

    /// Learns from the packet that would be sent of `current`; the arguments are as for
    /// [`Encoder::encode`](crate::Encoder::encode). Gives the bytes that the packet would have, header and
    /// check left aside. Packets of other stages teach nothing.
    pub fn learn(
        &mut self,
        stages: Stages,
        current: &QuantizedSnapshot,
        baseline: &Baseline,
        ticks: u16,
        earlier: [Option<&Baseline>; 2],
    ) -> usize {
        let Some(way) = Way::of(stages.delta) else {
            return 0;
        };
        let Self {
            coder,
            counts,
            changed,
            bytes,
            decisions,
            learned,
            ..
        } = self;
        // A chain that goes on from whatever was learned last.
        let mut baseline = baseline.clone();
        if let Some(newest) = &learned[way as usize] {
            let own = baseline.learned.take();
            let mut newest = newest.clone();
            if let Some(own) = own.filter(|own| own.way == way) {
                newest.marks = own.marks;
                newest.before = own.before;
                newest.before_ticks = own.before_ticks;
            } else {
                newest.marks.clear();
                newest.before_ticks = 0;
            }
            baseline.learned = Some(newest);
        }
        let against = Against {
            baseline: &baseline,
            ticks: Some(ticks),
        };
        bytes.clear();
        decisions.clear();
        current.compare(&baseline.snapshot, changed);
        let witness = Counter { counts, decisions };
        let next = coder.encode(way, against, earlier, current, bytes, changed, witness);
        learned[way as usize] = Some(next);
        bytes.len()
    }

    /// The decisions of the last packet, each with how probable it was to be yes, out of
    /// [`ONE`](super::coder::ONE).
    #[must_use]
    pub fn decisions(&self) -> &[(bool, u32)] {
        &self.decisions
    }

    /// What the last packet of a way has taught, for the caller's own chain of baselines.
    pub fn teach(&self, delta: Delta, baseline: &mut Baseline) {
        if let Some(way) = Way::of(delta) {
            baseline.learned.clone_from(&self.learned[way as usize]);
        }
    }

    /// Ends a pass: the table is made from the counts, and what was learned last becomes what chains
    /// begin with.
    pub fn end_pass(&mut self) {
        let mut prior = Prior::clone(&self.coder.prior);
        for (odds, counts) in prior.table.iter_mut().zip(&self.counts) {
            *odds = log_odds(*counts);
        }
        for way in [Way::Plain, Way::Predicted] {
            let Some(learned) = &self.learned[way as usize] else {
                continue;
            };
            let part = |size: usize| way as usize * size..(way as usize + 1) * size;
            prior.weights[part(WEIGHT_SETS_OF_A_WAY)].copy_from_slice(&learned.weights);
            prior.adaptive[part(ADAPTIVE_OF_A_WAY)].copy_from_slice(&learned.adaptive);
            if way == Way::Predicted {
                prior.errors.clone_from(&learned.errors);
            }
        }
        self.silence(&mut prior);
        self.coder = Coder::new(Arc::new(prior));
        self.counts.fill([0; 2]);
    }

    /// What was made of the passes.
    #[must_use]
    pub fn finish(self, trained_on: Vec<u64>) -> Prior {
        let mut prior = Prior::clone(&self.coder.prior);
        prior.set_trained_on(trained_on);
        prior
    }
}

/// Log odds of what was counted, nearer to even the less there was.
fn log_odds([no, yes]: [u32; 2]) -> i8 {
    let (no, yes) = (f64::from(no), f64::from(yes));
    let odds = ((yes + 0.4) / (no + 0.4)).ln();
    let sure = (no + yes) / (no + yes + 1.5);
    let steps = odds * sure * 256.0 / f64::from(STATIC_STEP);
    let most = f64::from(MAX_ODDS / i32::from(STATIC_STEP));
    steps.round().clamp(-most, most) as i8
}
