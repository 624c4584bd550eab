//! The walk over the cubes of a packet, the same for writing and for reading.
//!
//! The player comes first, then the cubes that moved up to the baseline, nearest to the player first,
//! then those that lay still. What was coded before in the same packet is context for what follows: a
//! cube in a ball goes where its neighbours go, and one that lies still is set off by one that comes
//! near.

use super::coder::{Bits, ONE};
use super::expect::{Mark, Place, Snapshots, Trace};
use super::layout::{
    ACTIVE_CHANGES, ANY_UNTOUCHED, RESTING_CHANGES, SLOTS_OF_A_WAY, Site, TOGGLES, USUAL_REFERENCES,
};
use super::learned::Learned;
use super::mixing::{adapt, learn, mix};
use super::nearby::{Nearby, Resting, UNTOUCHED};
use super::prior::Prior;
use super::residual::magnitude;
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

/// What was read is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange {
    pub(crate) what: BitKind,
    pub(crate) cube: usize,
    pub(crate) value: i64,
    pub(crate) min: i64,
    pub(crate) max: i64,
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
    pub(crate) scratch: &'a mut Scratch,
}

/// Memory that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    order: Vec<(i64, usize)>,
    resting: Resting,
    untouched: Vec<usize>,
    nearby: Nearby,
    /// What the reader will have, as far as it is written.
    pub(crate) cubes: Option<QuantizedSnapshot>,
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

    /// Says, or is told, whether the earlier baselines are the two next to the baseline.
    pub(crate) fn usual_references(&mut self, usual: bool) -> bool {
        self.at_site(USUAL_REFERENCES, BitKind::Selection, None, [], 0, usual)
    }

    /// A number below 16 of which nothing is known.
    pub(crate) fn nibble(&mut self, value: u32) -> u32 {
        (0..4).rev().fold(0, |number, place| {
            let bit = self.bits.bit(value >> place & 1 == 1, ONE / 2);
            self.witness
                .decided(BitKind::Selection, None, &[], bit, ONE / 2);
            number << 1 | u32::from(bit)
        })
    }

    /// Codes every cube. To write, `target` is given and `cubes` becomes it; to read, `cubes` is what
    /// was read. It comes in as the baseline's.
    pub(crate) fn cubes(
        &mut self,
        target: Option<&QuantizedSnapshot>,
        cubes: &mut QuantizedSnapshot,
        changed: &mut [bool],
    ) -> Result<(), OutOfRange> {
        let mut scratch = std::mem::take(self.scratch);
        let outcome = self.cubes_with(&mut scratch, target, cubes, changed);
        *self.scratch = scratch;
        outcome
    }

    fn cubes_with(
        &mut self,
        scratch: &mut Scratch,
        target: Option<&QuantizedSnapshot>,
        cubes: &mut QuantizedSnapshot,
        changed: &mut [bool],
    ) -> Result<(), OutOfRange> {
        let Scratch {
            order,
            resting,
            untouched,
            nearby,
            ..
        } = scratch;
        let baseline = self.snapshots.baseline;
        let count = baseline.len();
        let Some(&player) = baseline.positions.first() else {
            return Ok(());
        };
        nearby.clear();
        order.clear();
        resting.clear(count);
        for cube in 1..count {
            let place = baseline.positions[cube];
            if self.snapshots.is_active(cube) {
                order.push((distance_squared(place, player), cube));
            } else {
                resting.add(cube, place);
            }
        }
        order.sort_unstable();
        let active = std::iter::once((0, 0)).chain(order.iter().copied());
        let mut before = false;
        for (apart, cube) in active {
            before = self.cube(cube, Some(apart), before, resting, nearby, target, cubes)?;
            changed[cube] = before;
        }
        untouched.clear();
        let mut place = 0;
        while let Some(cube) = resting.cube(place) {
            place += 1;
            if resting.nearest(cube) == UNTOUCHED {
                untouched.push(cube);
                continue;
            }
            before = self.cube(cube, None, before, resting, nearby, target, cubes)?;
            changed[cube] = before;
        }
        let stirs = |&cube: &usize| target.is_some_and(|target| target.differs(baseline, cube));
        let any = untouched.iter().any(stirs);
        if !self.at_site(ANY_UNTOUCHED, BitKind::Selection, None, [], 0, any) {
            return Ok(());
        }
        for &cube in &*untouched {
            before = self.cube(cube, None, before, resting, nearby, target, cubes)?;
            changed[cube] = before;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one loop")]
    fn cube(
        &mut self,
        cube: usize,
        active: Option<i64>,
        changed_before: bool,
        resting: &mut Resting,
        nearby: &mut Nearby,
        target: Option<&QuantizedSnapshot>,
        cubes: &mut QuantizedSnapshot,
    ) -> Result<bool, OutOfRange> {
        let baseline = self.snapshots.baseline;
        let mark = self.learned.marks[cube];
        let interacting = baseline.interacting[cube];
        let is_set = usize::from(interacting);
        let place = baseline.positions[cube];
        let touched = resting.nearest(cube);
        let wants_change = target.is_some_and(|target| target.differs(baseline, cube));
        if active.is_none() && !self.is_set_off(cube, place, touched, is_set, wants_change) {
            return Ok(false);
        }
        let apart = active.unwrap_or_else(|| distance_squared(place, baseline.positions[0]));
        // In eighths of a metre.
        let apart = (apart.isqrt() / 64).min(15) as usize;
        let trace = self.snapshots.trace(cube);
        let long = largest(trace.long);
        let short = largest(trace.short[0]);
        let [long_turn, short_turn] = [trace.long_turn, trace.short_turn].map(magnitude);
        let clearance = clearance_class(trace.clearance());
        if active.is_some() {
            let missed = usize::from(mark.position) * 16 + usize::from(mark.orientation);
            let contexts = [
                long * 16 + long_turn,
                (short * 16 + short_turn) * 2 + is_set,
                missed * 2 + usize::from(mark.seen),
                usize::from(changed_before) * 16 + long,
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
                return Ok(false);
            }
        }
        let wants_toggle = target.is_some_and(|target| target.interacting[cube] != interacting);
        let toggles = self.at_site(
            TOGGLES,
            BitKind::Interacting,
            Some(cube),
            [
                is_set * 2 + usize::from(active.is_some()),
                (is_set * 16 + touched) * 16 + long,
                is_set * 16 + apart,
                (short * 16 + long) * 2 + is_set,
            ],
            is_set,
            wants_toggle,
        );
        cubes.interacting[cube] = interacting ^ toggles;

        let around = nearby.around(place);
        let moving = Moving {
            cube,
            trace,
            mark,
            is_set,
            long,
            short,
            long_turn,
            short_turn,
            clearance,
        };
        let words = target.map(|target| target.smallest_three(cube));
        let (words, turn, turn_missed, best_turn) = self.orientation(&moving, around.turn, words);
        cubes.set_smallest_three(cube, words);
        let wanted = target.map(|target| target.positions[cube]);
        let (now, missed, best_place) =
            self.position(&moving, words, turn_missed, around.place, wanted)?;
        cubes.positions[cube] = now;
        self.next.marks[cube] = Mark {
            seen: true,
            position: missed as u8,
            orientation: turn_missed as u8,
            best_turn: best_turn as u8,
            best_place: best_place as u8,
        };
        let straight = moving.trace.straight();
        let more: Place = std::array::from_fn(|axis| now[axis] - straight[axis]);
        if nearby.add(place, more, turn) {
            resting.approach(now, cube == 0);
        }
        Ok(true)
    }

    /// Whether a cube that lay still changes.
    fn is_set_off(
        &mut self,
        cube: usize,
        place: Place,
        touched: usize,
        is_set: usize,
        wanted: bool,
    ) -> bool {
        let height = match place[2] {
            ..=102 => 0,
            103..=106 => 1,
            107..=250 => 2,
            251.. => 3,
        };
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
        let near = touched * 2 + is_set;
        let contexts = [near, near * 4 + height];
        self.at_site(RESTING_CHANGES, kind, Some(cube), contexts, touched, wanted)
    }
}

/// A cube that is in the packet, and what is known of it.
pub(super) struct Moving {
    pub(super) cube: usize,
    pub(super) trace: Trace,
    pub(super) mark: Mark,
    pub(super) is_set: usize,
    /// Magnitudes of motion.
    pub(super) long: usize,
    pub(super) short: usize,
    pub(super) long_turn: usize,
    pub(super) short_turn: usize,
    pub(super) clearance: usize,
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
