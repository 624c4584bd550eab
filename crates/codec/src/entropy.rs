//! Entropy coding: every decision of a packet, from which cubes changed to the last digit of a
//! residual, at the price of its improbability.
//!
//! Probabilities come from several predictions of each decision, mixed. Most are in a [`Prior`] that
//! was trained on recordings and never changes; how they are mixed, and a few probabilities, are
//! learned along the chain of packets and kept with each baseline, so that a packet needs no more than
//! the baselines that it names. There are two ways: differences from the baseline, with its own motion
//! as context; and differences from where cubes are expected to be.
//!
//! ```text
//! header | check 14 | zeros to a whole byte | decisions
//! ```

pub mod coder;
mod cubes;
mod features;
mod fields;
mod foresee;
mod layout;
mod learned;
mod mixing;
mod prior;
mod residual;
mod resting;
mod rotation;
mod trace;
pub mod training;
mod tumble;

use std::sync::Arc;

use coder::{BitsIn, BitsOut};
pub(crate) use cubes::Unwritten;
use cubes::{Cubes, Scratch, Walk, Witness};
use foresee::{Motion, Move, Stay};
use learned::Mark;
pub(crate) use learned::{Learned, Way};
pub use prior::{Prior, PriorError};
use trace::Snapshots;

use crate::baseline::Baseline;
use crate::ledger::{BitKind, BitLedger};
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;

/// Bits of the check. With a header that names a baseline, whole bytes.
pub(crate) const CHECK_BITS: u32 = 14;

/// A packet's neighbours in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Against<'a> {
    /// What cubes are compared with: the named baseline, or the initial state.
    pub(crate) baseline: &'a Baseline,
    /// Ticks from the named baseline; none if there is none.
    pub(crate) ticks: Option<u16>,
}

/// Longer silences count as this long.
const LONGEST_TICKS: u16 = 64;

/// Without a baseline in time, cubes are taken to have moved for so long.
const USUAL_TICKS: u16 = 6;

/// How much older than the baseline an earlier one can be.
pub(crate) const MAX_EARLIER_TICKS: u16 = 15;

impl<'a> Against<'a> {
    fn snapshots(self, learned: &'a Learned, earlier: [Option<&'a Baseline>; 2]) -> Snapshots<'a> {
        let ticks = self.ticks.unwrap_or(USUAL_TICKS).clamp(1, LONGEST_TICKS);
        Snapshots {
            baseline: &self.baseline.snapshot,
            moved: self.baseline.moved(),
            ticks: ticks.into(),
            before: learned.before(),
            earlier: earlier.map(|earlier| {
                let earlier = earlier?;
                Some((&earlier.snapshot, age(self.baseline, earlier).into()))
            }),
        }
    }

    /// What the chain has taught so far; what all begin with, if nothing.
    fn learned(self, way: Way, first: &'a [Learned; 2]) -> &'a Learned {
        match &self.baseline.learned {
            Some(learned) if learned.way == way => learned,
            _ => &first[way as usize],
        }
    }

    /// What the next packet of the chain goes on from, before this one has taught anything. Reuses
    /// memory.
    fn next(self, learned: &Learned, memory: Option<Box<Learned>>) -> Box<Learned> {
        let mut next = match memory {
            Some(mut memory) => {
                memory.become_next(learned);
                memory
            }
            None => Box::new(learned.clone()),
        };
        next.marks.clear();
        next.marks
            .resize(self.baseline.snapshot.len(), Mark::default());
        next.before.copy_from(&self.baseline.snapshot);
        next.before_ticks = self.ticks.unwrap_or(0).min(LONGEST_TICKS);
        next
    }

    /// Whether the packet names earlier baselines.
    const fn names_earlier(self, way: Way) -> bool {
        matches!(way, Way::Predicted) && self.ticks.is_some()
    }
}

/// Ticks by which `earlier` is older.
fn age(baseline: &Baseline, earlier: &Baseline) -> u16 {
    baseline.sequence().ticks_since(earlier.sequence())
}

/// Whether a packet can name `earlier` beside its baseline.
fn fits(baseline: &Baseline, earlier: &Baseline) -> bool {
    (1..=MAX_EARLIER_TICKS).contains(&age(baseline, earlier))
        && earlier.serves(baseline.snapshot.precision())
        && earlier.snapshot.len() == baseline.snapshot.len()
}

/// Those of the offered baselines that a packet can name beside its own, newest first.
fn earlier_of<'a>(
    way: Way,
    against: Against<'_>,
    offered: [Option<&'a Baseline>; 2],
) -> [Option<&'a Baseline>; 2] {
    if !against.names_earlier(way) {
        return [None, None];
    }
    let age = |earlier: &Baseline| age(against.baseline, earlier);
    let fits = |earlier: &&Baseline| fits(against.baseline, earlier);
    let [first, second] = offered.map(|earlier| earlier.filter(fits));
    match (first, second) {
        (Some(a), Some(b)) if age(a) < age(b) => [Some(a), Some(b)],
        (Some(a), _) => [Some(a), None],
        (None, second) => [second, None],
    }
}

/// Why decisions are no packet.
pub(crate) enum Undecodable {
    /// An earlier baseline is not held.
    Unknown(Sequence),
    /// The bytes up to there, or the last few after, are not as the encoder writes them.
    Unwritten { byte: usize, why: Unwritten },
}

/// A prior, and memory that is used again.
#[derive(Clone, Debug)]
pub(crate) struct Coder {
    pub(crate) prior: Arc<Prior>,
    /// What chains of either way begin with.
    first: [Learned; 2],
    scratch: Scratch,
    moved: Vec<Motion>,
    /// What the reader will have, as far as it is written.
    cubes: Option<QuantizedSnapshot>,
    spare: Option<Box<Learned>>,
}

impl Default for Coder {
    fn default() -> Self {
        Self::new(Prior::shipped())
    }
}

impl Coder {
    pub(crate) fn new(prior: Arc<Prior>) -> Self {
        Self {
            first: [Way::Plain, Way::Predicted].map(|way| Learned::first(&prior, way)),
            prior,
            scratch: Scratch::default(),
            moved: Vec::new(),
            cubes: None,
            spare: None,
        }
    }

    /// Takes memory to use again.
    pub(crate) fn recycle(&mut self, spare: Option<Box<Learned>>) {
        if spare.is_some() {
            self.spare = spare;
        }
    }

    /// Writes decisions behind `bytes`, and gives what the packet has taught. `changed` says which cubes differ
    /// from the baseline's.
    #[expect(clippy::too_many_arguments, reason = "a packet is made of these")]
    pub(crate) fn encode<W: Witness>(
        &mut self,
        way: Way,
        against: Against<'_>,
        earlier: [Option<&Baseline>; 2],
        current: &QuantizedSnapshot,
        bytes: &mut Vec<u8>,
        changed: &mut [bool],
        witness: W,
    ) -> Box<Learned> {
        let earlier = earlier_of(way, against, earlier);
        let learned = against.learned(way, &self.first);
        let mut next = against.next(learned, self.spare.take());
        let mut walk = Walk {
            bits: BitsOut::new(bytes),
            witness,
            prior: &self.prior,
            snapshots: against.snapshots(learned, earlier),
            learned,
            next: &mut next,
        };
        if against.names_earlier(way) {
            let ages = earlier.map(|earlier| age(against.baseline, earlier?).into());
            walk.earlier_ages(ages)
                .expect("what is written is the shortest");
        }
        let cubes = self.cubes.get_or_insert_with(|| current.clone());
        cubes.copy_from(&against.baseline.snapshot);
        let outcome = match way {
            Way::Plain => walk.cubes(
                &mut self.scratch,
                Cubes {
                    foresight: &mut Stay,
                    target: Some(current),
                    now: cubes,
                    changed,
                },
            ),
            Way::Predicted => walk.cubes(
                &mut self.scratch,
                Cubes {
                    foresight: &mut Move::new(&mut self.moved, &against.baseline.snapshot),
                    target: Some(current),
                    now: cubes,
                    changed,
                },
            ),
        };
        outcome.expect("what is written is in range, and the shortest");
        walk.bits.finish();
        debug_assert_eq!(cubes, current);
        next
    }

    /// Reads decisions into `cubes`, and gives what the packet has taught.
    pub(crate) fn decode<'h>(
        &mut self,
        way: Way,
        against: Against<'_>,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        bytes: &[u8],
        cubes: &mut QuantizedSnapshot,
        changed: &mut Vec<bool>,
    ) -> Result<Box<Learned>, Undecodable> {
        let learned = against.learned(way, &self.first);
        let mut next = against.next(learned, self.spare.take());
        let mut walk = Walk {
            bits: BitsIn::new(bytes),
            witness: (),
            prior: &self.prior,
            snapshots: against.snapshots(learned, [None, None]),
            learned,
            next: &mut next,
        };
        if against.names_earlier(way) {
            let own = against.baseline.sequence();
            let mut earlier = [None, None];
            let ages = walk.earlier_ages([None, None]);
            let ages = ages.map_err(|why| Undecodable::Unwritten { byte: 0, why })?;
            for (earlier, age) in earlier.iter_mut().zip(ages) {
                let Some(age) = age else {
                    continue;
                };
                let sequence = Sequence(own.0.wrapping_sub(age));
                let found = held(sequence)
                    .filter(|found| found.sequence() == sequence && fits(against.baseline, found));
                *earlier = Some(found.ok_or(Undecodable::Unknown(sequence))?);
            }
            walk.snapshots = against.snapshots(learned, earlier);
        }
        cubes.copy_from(&against.baseline.snapshot);
        changed.clear();
        changed.resize(cubes.len(), false);
        let outcome = match way {
            Way::Plain => walk.cubes(
                &mut self.scratch,
                Cubes {
                    foresight: &mut Stay,
                    target: None,
                    now: cubes,
                    changed,
                },
            ),
            Way::Predicted => walk.cubes(
                &mut self.scratch,
                Cubes {
                    foresight: &mut Move::new(&mut self.moved, &against.baseline.snapshot),
                    target: None,
                    now: cubes,
                    changed,
                },
            ),
        };
        let byte = walk.bits.settled();
        outcome
            .and_then(|()| match walk.bits.is_exact() {
                true => Ok(()),
                false => Err(Unwritten::Redundant),
            })
            .map_err(|why| Undecodable::Unwritten { byte, why })?;
        Ok(next)
    }
}

/// Tells whether a snapshot is the one that was sent: also where the two sides started from different
/// states, or have learned different things.
///
/// Four sums at once, of a quarter of the cubes each, as a processor can multiply several numbers
/// at a time.
pub(crate) fn check(snapshot: &QuantizedSnapshot, sequence: Sequence) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, value: u64| (hash.rotate_left(29) ^ value).wrapping_mul(FACTOR);
    let mut sums = [1, 2, 3, 4].map(|lane| u64::from(sequence.0) << 3 | lane);
    for cube in 0..snapshot.len() {
        let [x, y, z] = snapshot.positions[cube].map(|axis| u64::from(axis.cast_unsigned()));
        let place = x ^ y << 21 ^ z << 42 ^ u64::from(snapshot.interacting[cube]) << 63;
        let words = snapshot.smallest_three(cube).to_word();
        let sum = &mut sums[cube % 4];
        *sum = mix(mix(*sum, place), words);
    }
    let hash = sums.into_iter().fold(0, mix);
    (hash >> (64 - CHECK_BITS)) as u32
}

/// Writes decisions down in a ledger.
pub(crate) struct Accounts<'a> {
    ledger: &'a mut BitLedger,
    /// Those that belong together, and how probable all of them were.
    what: BitKind,
    cube: Option<usize>,
    probability: f64,
}

impl<'a> Accounts<'a> {
    pub(crate) const fn new(ledger: &'a mut BitLedger) -> Self {
        Self {
            ledger,
            what: BitKind::Selection,
            cube: None,
            probability: 1.0,
        }
    }

    fn settle(&mut self) {
        let bits = -self.probability.log2();
        self.ledger.record(self.what, self.cube, bits);
        self.probability = 1.0;
    }
}

impl Drop for Accounts<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}

impl Witness for Accounts<'_> {
    fn decided(&mut self, what: BitKind, cube: Option<usize>, _: &[usize], bit: bool, one: u32) {
        let cube = cube.filter(|_| self.ledger.cubes().is_some());
        // A logarithm takes longer than a decision.
        if what != self.what || cube != self.cube || self.probability < SMALLEST {
            self.settle();
            (self.what, self.cube) = (what, cube);
        }
        let likely = if bit { one } else { coder::ONE - one };
        self.probability *= f64::from(likely) / f64::from(coder::ONE);
    }
}

/// Far from where f64 loses its precision.
const SMALLEST: f64 = 1e-250;
