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

mod coder;
mod cubes;
mod expect;
mod fields;
mod layout;
mod learned;
mod mixing;
mod nearby;
mod prior;
mod residual;
pub mod training;

use std::borrow::Cow;

use coder::{BitsIn, BitsOut};
pub(crate) use cubes::Scratch;
use cubes::{OutOfRange, Walk, Witness};
use expect::Snapshots;
pub(crate) use learned::Learned;
pub use prior::{Prior, PriorError};

use crate::baseline::Baseline;
use crate::ledger::{BitKind, BitLedger};
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Delta;

/// What is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Differences from the baseline.
    Plain = 0,
    /// Differences from what is expected.
    Predicted = 1,
}

impl Way {
    pub(crate) const fn of(delta: Delta) -> Option<Self> {
        match delta {
            Delta::Arithmetic => Some(Self::Plain),
            Delta::ArithmeticPredicted => Some(Self::Predicted),
            _ => None,
        }
    }
}

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
                let ticks = self.baseline.sequence().ticks_since(earlier.sequence());
                Some((&earlier.snapshot, ticks.into()))
            }),
        }
    }

    /// What the chain has taught so far.
    fn learned(self, prior: &Prior, way: Way) -> Cow<'a, Learned> {
        match &self.baseline.learned {
            Some(learned) if learned.way == way => Cow::Borrowed(learned),
            _ => Cow::Owned(Learned::first(prior, way, &self.baseline.snapshot)),
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
        next.marks.fill(expect::Mark::default());
        next.before.copy_from(&self.baseline.snapshot);
        next.before_ticks = self.ticks.unwrap_or(0).min(LONGEST_TICKS);
        next
    }
}

/// Those of the offered baselines that a packet can name beside its own, newest first.
pub(crate) fn earlier_of<'a>(
    way: Way,
    named: Option<&Baseline>,
    offered: [Option<&'a Baseline>; 2],
) -> [Option<&'a Baseline>; 2] {
    let Some(named) = named.filter(|_| way == Way::Predicted) else {
        return [None, None];
    };
    let age = |earlier: &&Baseline| named.sequence().ticks_since(earlier.sequence());
    let fits = |earlier: &&Baseline| {
        (1..=MAX_EARLIER_TICKS).contains(&age(earlier))
            && earlier.serves(named.snapshot.precision())
            && earlier.snapshot.len() == named.snapshot.len()
    };
    let [first, second] = offered.map(|earlier| earlier.filter(fits));
    match (first, second) {
        (Some(a), Some(b)) if age(&a) < age(&b) => [Some(a), Some(b)],
        (Some(a), _) => [Some(a), None],
        (None, second) => [second, None],
    }
}

/// Writes decisions behind `bytes`, and gives what the packet has taught.
#[expect(clippy::too_many_arguments, reason = "a packet is made of these")]
pub(crate) fn encode<W: Witness>(
    prior: &Prior,
    way: Way,
    against: Against<'_>,
    earlier: [Option<&Baseline>; 2],
    current: &QuantizedSnapshot,
    bytes: &mut Vec<u8>,
    changed: &mut Vec<bool>,
    scratch: &mut Scratch,
    memory: Option<Box<Learned>>,
    witness: W,
) -> Box<Learned> {
    let learned = against.learned(prior, way);
    let mut next = against.next(&learned, memory);
    let mut walk = Walk {
        bits: BitsOut::new(bytes),
        witness,
        prior,
        snapshots: against.snapshots(&learned, earlier),
        learned: &learned,
        next: &mut next,
        scratch,
    };
    if way == Way::Predicted && against.ticks.is_some() {
        let age = |earlier: Option<&Baseline>| {
            let earlier = earlier?;
            Some(against.baseline.sequence().ticks_since(earlier.sequence()))
        };
        let ages = earlier.map(age);
        let usual = ages == USUAL_AGES;
        if !walk.usual_references(usual) {
            for age in ages {
                walk.nibble(age.unwrap_or(0).into());
            }
        }
    }
    changed.clear();
    changed.resize(current.len(), false);
    let mut cubes = std::mem::take(&mut walk.scratch.cubes);
    let cubes_now = cubes.get_or_insert_with(|| current.clone());
    cubes_now.copy_from(&against.baseline.snapshot);
    walk.cubes(Some(current), cubes_now, changed)
        .expect("what is written is in range");
    debug_assert_eq!(cubes_now, current);
    walk.scratch.cubes = cubes;
    walk.bits.finish();
    next
}

const USUAL_AGES: [Option<u16>; 2] = [Some(1), Some(2)];

/// Why decisions are no packet.
pub(crate) enum Undecodable {
    /// An earlier baseline is not held.
    Unknown(Sequence),
    /// A number is out of range.
    OutOfRange { byte: usize, what: OutOfRange },
    /// The bytes are not as the encoder writes them.
    Inexact { byte: usize },
}

/// Reads decisions into `cubes`, and gives what the packet has taught.
#[expect(clippy::too_many_arguments, reason = "a packet is made of these")]
pub(crate) fn decode<'h>(
    prior: &Prior,
    way: Way,
    against: Against<'_>,
    held: impl Fn(Sequence) -> Option<&'h Baseline>,
    bytes: &[u8],
    cubes: &mut QuantizedSnapshot,
    changed: &mut Vec<bool>,
    scratch: &mut Scratch,
    memory: Option<Box<Learned>>,
) -> Result<Box<Learned>, Undecodable> {
    let learned = against.learned(prior, way);
    let mut next = against.next(&learned, memory);
    let mut walk = Walk {
        bits: BitsIn::new(bytes),
        witness: (),
        prior,
        snapshots: against.snapshots(&learned, [None, None]),
        learned: &learned,
        next: &mut next,
        scratch,
    };
    if way == Way::Predicted && against.ticks.is_some() {
        let mut ages = USUAL_AGES;
        if !walk.usual_references(false) {
            ages = [0; 2].map(|_| Some(walk.nibble(0) as u16).filter(|&age| age > 0));
        }
        let mut earlier = [None, None];
        for (earlier, age) in earlier.iter_mut().zip(ages) {
            if let Some(age) = age {
                let own = against.baseline.sequence();
                let sequence = Sequence(own.0.wrapping_sub(age));
                let fits = |found: &&Baseline| {
                    found.sequence() == sequence
                        && found.serves(against.baseline.snapshot.precision())
                        && found.snapshot.len() == against.baseline.snapshot.len()
                };
                let found = held(sequence).filter(fits);
                *earlier = Some(found.ok_or(Undecodable::Unknown(sequence))?);
            }
        }
        walk.snapshots = against.snapshots(&learned, earlier);
    }
    changed.clear();
    changed.resize(cubes.len(), false);
    let outcome = walk.cubes(None, cubes, changed);
    let byte = walk.bits.settled();
    outcome.map_err(|what| Undecodable::OutOfRange { byte, what })?;
    if !walk.bits.is_exact() {
        return Err(Undecodable::Inexact { byte });
    }
    Ok(next)
}

/// Tells whether a snapshot is the one that was sent: also where the two sides started from different
/// states, or have learned different things.
pub(crate) fn check(snapshot: &QuantizedSnapshot, sequence: Sequence) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = u64::from(sequence.0) + 1;
    for cube in 0..snapshot.len() {
        let [x, y, z] = snapshot.positions[cube].map(|axis| u64::from(axis.cast_unsigned()));
        let place = x ^ y << 21 ^ z << 42 ^ u64::from(snapshot.interacting[cube]) << 63;
        let words = snapshot.smallest_three(cube).to_word();
        hash = (hash ^ place).wrapping_mul(FACTOR);
        hash = (hash.rotate_left(29) ^ words).wrapping_mul(FACTOR);
    }
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
