//! The walk over the cubes of a packet, the same for writing and for reading.
//!
//! The player comes first, then the cubes that moved up to the baseline, nearest to the player first,
//! then those that lay still. What was coded before in the same packet is context for what follows: a
//! cube in a ball goes where its neighbours go, and one that lies still is set off by one that comes
//! near.

use super::coder::{Bits, ONE};
use super::foresee::Foresee;
use super::layout::{
    ACTIVE_CHANGES, ANY_UNTOUCHED, RESTING_CHANGES, SLOTS_OF_A_WAY, Site, TOGGLES,
};
use super::learned::{Learned, Mark};
use super::mixing::{adapt, learn, mix};
use super::prior::Prior;
use super::residual::magnitude;
use super::resting::{Resting, UNTOUCHED};
use super::trace::{Place, Snapshots, Trace};
use crate::ledger::BitKind;
use crate::snapshot::QuantizedSnapshot;

/// Is told of every decision: to account for it, or to learn from it.
pub(crate) trait Witness {
    fn decided(
        &mut self,
        what: BitKind,
        cube: Option<usize>,
        contexts: &[usize],
        bit: bool,
        one: u32,
    );
}

/// Nobody.
impl Witness for () {
    fn decided(&mut self, _: BitKind, _: Option<usize>, _: &[usize], _: bool, _: u32) {}
}

/// Why what was read is none of the encoder's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// A number is out of range.
    OutOfRange {
        what: BitKind,
        cube: usize,
        value: i64,
        min: i64,
        max: i64,
    },
    /// The same could have been said in fewer decisions, and would have been.
    Redundant,
}

/// Everything that a packet is coded with.
pub(crate) struct Walk<'a, B, W> {
    pub(crate) bits: B,
    pub(crate) witness: W,
    pub(crate) prior: &'a Prior,
    pub(crate) snapshots: Snapshots<'a>,
    /// What the baseline has taught; what this packet adds goes to `next`.
    pub(crate) learned: &'a Learned,
    pub(crate) next: &'a mut Learned,
}

/// Memory that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    active: Vec<bool>,
    order: Vec<(i64, usize)>,
    resting: Resting,
    untouched: Vec<usize>,
}

/// The cubes of a packet, and where they are thought to be going.
pub(crate) struct Cubes<'c, F> {
    pub(crate) foresight: &'c mut F,
    /// What is to be written.
    pub(crate) target: Option<&'c QuantizedSnapshot>,
    /// What is read, or what the reader will have; the baseline's to begin with.
    pub(crate) now: &'c mut QuantizedSnapshot,
    /// By cube: whether it differs from the baseline's.
    pub(crate) changed: &'c mut [bool],
}

/// One decision's surroundings, beside its contexts.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) what: BitKind,
    pub(super) cube: Option<usize>,
    pub(super) weights: usize,
    pub(super) adaptive: usize,
}

impl<B: Bits, W: Witness> Walk<'_, B, W> {
    pub(super) fn decide<const N: usize>(
        &mut self,
        asked: Asked,
        contexts: [usize; N],
        bit: bool,
    ) -> bool {
        let way = self.next.way as usize * SLOTS_OF_A_WAY;
        let slots = contexts.map(|context| way + context);
        let weights = &mut self.next.weights[asked.weights];
        let adaptive = &mut self.next.adaptive[asked.adaptive];
        let (one, odds) = mix(self.prior, weights, *adaptive, slots);
        let bit = self.bits.bit(bit, one);
        learn(weights, adaptive, &odds, one, bit);
        self.witness
            .decided(asked.what, asked.cube, &slots, bit, one);
        bit
    }

    pub(super) fn at_site<const N: usize>(
        &mut self,
        site: Site,
        what: BitKind,
        cube: Option<usize>,
        contexts: [usize; N],
        adaptive: usize,
        bit: bool,
    ) -> bool {
        let slots: [usize; N] = std::array::from_fn(|input| site.slot(input, contexts[input]));
        let asked = Asked {
            what,
            cube,
            weights: site.weights,
            adaptive: site.adaptive(adaptive),
        };
        self.decide(asked, slots, bit)
    }

    /// By how many ticks each of two earlier baselines is older than the baseline; below sixteen.
    pub(crate) fn earlier_ages(
        &mut self,
        ages: [Option<u16>; 2],
    ) -> Result<[Option<u16>; 2], Unwritten> {
        const USUAL: [Option<u16>; 2] = [Some(1), Some(2)];
        const NONE: [Option<u16>; 2] = [None, None];
        if self.fixed(ages == USUAL, ONE / 16 * 15) {
            return Ok(USUAL);
        }
        if self.fixed(ages == NONE, ONE / 2) {
            return Ok(NONE);
        }
        let ages = ages.map(|age| {
            let age = age.unwrap_or(0);
            let read = (0..4).rev().fold(0, |read, place| {
                read << 1 | u16::from(self.fixed(age >> place & 1 == 1, ONE / 2))
            });
            Some(read).filter(|&age| age > 0)
        });
        if ages == USUAL || ages == NONE {
            return Err(Unwritten::Redundant);
        }
        Ok(ages)
    }

    /// A decision of no cube's, from which nothing is learned: how often it is yes depends on the network.
    fn fixed(&mut self, bit: bool, one: u32) -> bool {
        let bit = self.bits.bit(bit, one);
        self.witness
            .decided(BitKind::Selection, None, &[], bit, one);
        bit
    }

    /// Codes every cube. To write, `cubes` has its target, and `changed` says which cubes differ from the
    /// baseline's; to read, it has none and `changed` becomes that.
    pub(crate) fn cubes<F: Foresee>(
        &mut self,
        scratch: &mut Scratch,
        mut cubes: Cubes<'_, F>,
    ) -> Result<(), Unwritten> {
        let Scratch {
            active,
            order,
            resting,
            untouched,
        } = scratch;
        let baseline = self.snapshots.baseline;
        let Some(&player) = baseline.positions.first() else {
            return Ok(());
        };
        self.snapshots.mark_active(active);
        order.clear();
        resting.clear(baseline.len());
        for (cube, &place) in baseline.positions.iter().enumerate().skip(1) {
            if active[cube] {
                order.push((distance_squared(place, player), cube));
            } else {
                resting.add(cube, place);
            }
        }
        order.sort_unstable();
        self.cube(0, Some(0), resting, &mut cubes)?;
        for &(apart, cube) in &*order {
            self.cube(cube, Some(apart), resting, &mut cubes)?;
        }
        untouched.clear();
        let mut place = 0;
        while let Some(cube) = resting.cube(place) {
            place += 1;
            if resting.nearest(cube) == UNTOUCHED {
                untouched.push(cube);
            } else {
                self.cube(cube, None, resting, &mut cubes)?;
            }
        }
        let any = untouched.iter().any(|&cube| cubes.changed[cube]);
        if self.at_site(ANY_UNTOUCHED, BitKind::Selection, None, [], 0, any) {
            for &cube in &*untouched {
                self.cube(cube, None, resting, &mut cubes)?;
            }
            if !untouched.iter().any(|&cube| cubes.changed[cube]) {
                return Err(Unwritten::Redundant);
            }
        }
        Ok(())
    }

    fn cube<F: Foresee>(
        &mut self,
        cube: usize,
        active: Option<i64>,
        resting: &mut Resting,
        cubes: &mut Cubes<'_, F>,
    ) -> Result<(), Unwritten> {
        let baseline = self.snapshots.baseline;
        let target = cubes.target;
        let mark = self.learned.mark(cube);
        let interacting = baseline.interacting[cube];
        let is_set = usize::from(interacting);
        let place = baseline.positions[cube];
        let touched = resting.nearest(cube);
        let wants_change = std::mem::take(&mut cubes.changed[cube]);
        if active.is_none() && !self.is_set_off(cube, touched, is_set, wants_change) {
            return Ok(());
        }
        let apart = active.unwrap_or_else(|| distance_squared(place, baseline.positions[0]));
        let apart = ((apart as f32).sqrt() / 64.0).min(15.0) as usize;
        let trace = self.snapshots.trace(cube);
        let long = largest(trace.long);
        let short = largest(trace.short);
        let [long_turn, short_turn] = [trace.long_turn, trace.short_turn].map(magnitude);
        let clearance = clearance_class(trace.clearance());
        if active.is_some() {
            let contexts = [
                long * 16 + long_turn,
                (short * 16 + short_turn) * 2 + is_set,
            ];
            let kind = BitKind::Selection;
            if !self.at_site(
                ACTIVE_CHANGES,
                kind,
                Some(cube),
                contexts,
                long,
                wants_change,
            ) {
                return Ok(());
            }
        }
        let wants_toggle = target.is_some_and(|target| target.interacting[cube] != interacting);
        let toggles = self.at_site(
            TOGGLES,
            BitKind::Interacting,
            Some(cube),
            [(is_set * 16 + touched) * 16 + long, is_set * 16 + apart],
            is_set,
            wants_toggle,
        );
        let now = &mut *cubes.now;
        now.interacting[cube] = interacting ^ toggles;

        let moving = Moving {
            cube,
            trace,
            mark,
            long,
            short,
            long_turn,
            short_turn,
            clearance,
            apart,
        };
        let words = target.map(|target| target.smallest_three(cube));
        let orientation = self.orientation(&moving, cubes.foresight, words)?;
        now.set_smallest_three(cube, orientation.value);
        let wanted = target.map(|target| target.positions[cube]);
        let position = self.position(&moving, cubes.foresight, orientation, wanted)?;
        now.positions[cube] = position.value;
        if !toggles && orientation.value == moving.trace.words && position.value == place {
            return Err(Unwritten::Redundant);
        }
        self.next.marks[cube] = Mark {
            seen: true,
            position: position.missed as u8,
            orientation: orientation.missed as u8,
            best_orientation: orientation.best as u8,
            best_position: position.best as u8,
        };
        cubes
            .foresight
            .became(&moving.trace, orientation.value, position.value);
        resting.approach(position.value, cube == 0);
        cubes.changed[cube] = true;
        Ok(())
    }

    /// Whether a cube that lay still changes.
    fn is_set_off(&mut self, cube: usize, touched: usize, is_set: usize, wanted: bool) -> bool {
        let kind = BitKind::Selection;
        if touched == UNTOUCHED {
            // Hundreds of these at once, and hardly any is set.
            let adaptive = &mut self.next.adaptive[RESTING_CHANGES.adaptive(UNTOUCHED)];
            let one = u32::from(*adaptive);
            let bit = self.bits.bit(wanted, one);
            adapt(adaptive, bit);
            self.witness.decided(kind, Some(cube), &[], bit, one);
            return bit;
        }
        let contexts = [touched * 2 + is_set];
        self.at_site(RESTING_CHANGES, kind, Some(cube), contexts, touched, wanted)
    }
}

/// A cube that is in the packet, and what is known of it.
pub(super) struct Moving {
    pub(super) cube: usize,
    pub(super) trace: Trace,
    pub(super) mark: Mark,
    /// Magnitudes of motion.
    pub(super) long: usize,
    pub(super) short: usize,
    pub(super) long_turn: usize,
    pub(super) short_turn: usize,
    pub(super) clearance: usize,
    /// From the player, in eighths of a metre.
    pub(super) apart: usize,
}

pub(super) fn largest(place: Place) -> usize {
    let largest = place.into_iter().map(i32::unsigned_abs).max();
    magnitude(largest.map_or(0, |largest| largest.min(1 << 20) as i32))
}

fn clearance_class(clearance: i32) -> usize {
    match clearance {
        ..=-12 => 0,
        -11..=5 => 1,
        6..=19 => 2,
        20..=59 => 3,
        60..=150 => 4,
        151.. => 5,
    }
}

fn distance_squared(a: Place, b: Place) -> i64 {
    (0..3)
        .map(|axis| i64::from(a[axis] - b[axis]))
        .map(|difference| difference * difference)
        .sum()
}
