//! The walk over the cubes of a packet, the same for writing and for reading.
//!
//! The player comes first, then the cubes that moved up to the baseline, nearest to the player first,
//! then those that lay still. What was coded before in the same packet is context for what follows: a
//! cube in a ball goes where its neighbours go, and one that lies still is set off by one that comes
//! near.

use super::Way;
use super::coder::{Bits, ONE};
use super::expect::{
    Mark, Place, Snapshots, Trace, Turn, by_size, matrix, pack, turn_between, unpack,
};
use super::layout::{
    ACTIVE_CHANGES, ANY_UNTOUCHED, CLASSES, Component, NEXT_LARGEST, NODES, RESIDUAL_INPUTS,
    RESTING_CHANGES, SAME_LARGEST, SLOTS_OF_A_WAY, Site, TOGGLES, USUAL_REFERENCES,
};
use super::learned::{Learned, OF_ORIENTATION, OF_POSITION};
use super::mixing::{adapt, learn, mix};
use super::nearby::{Nearby, Resting, UNTOUCHED};
use super::prior::Prior;
use super::residual::{self, Decide, magnitude, signed_magnitude};
use crate::ledger::BitKind;
use crate::quantize::bounded::POSITION;
use crate::quantize::smallest_three::SmallestThree;
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
struct Asked {
    what: BitKind,
    cube: Option<usize>,
    weights: usize,
    adaptive: usize,
}

impl<B: Bits, W: Witness> Walk<'_, B, W> {
    fn decide<const N: usize>(&mut self, asked: Asked, contexts: [usize; N], bit: bool) -> bool {
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

    fn at_site<const N: usize>(
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
        nearby.add(place, more, turn);
        resting.approach(now, cube == 0);
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

    /// Codes an orientation: gives it, by how much it turned more than the mixed guess, the magnitude
    /// of the largest residual, and the best guess.
    fn orientation(
        &mut self,
        moving: &Moving,
        nearby: Turn,
        target: Option<SmallestThree>,
    ) -> (SmallestThree, Turn, usize, usize) {
        let Moving {
            cube,
            trace,
            mark,
            clearance,
            long_turn,
            short_turn,
            ..
        } = moving;
        let predicts = self.next.way == Way::Predicted;
        let class = ((clearance * 5 + usize::from(mark.best_turn)) * 2 + moving.is_set) % CLASSES;
        let turns = trace.turns(nearby);
        let count = if predicts { turns.len() } else { 1 };
        let [best, second] = self.next.best(OF_ORIENTATION, class, count);
        let expected = trace.turned(turns[best]);
        let sizes = by_size(expected);
        let gap = expected[sizes[0]].abs() - expected[sizes[1]].abs();
        let gap = ((gap * 40.0) as usize).min(15);
        let place_of = |largest: u8| {
            sizes
                .iter()
                .position(|&place| place == usize::from(largest))
        };
        let wanted = target
            .and_then(|target| place_of(target.largest))
            .unwrap_or(0);
        let kind = BitKind::Orientation;
        let mut rank = 0;
        let same = [gap * 16 + long_turn, gap * 16 + short_turn];
        if !self.at_site(SAME_LARGEST, kind, Some(*cube), same, gap, wanted == 0) {
            rank = 1;
            for step in [0, 1] {
                let context = step * 16 + gap;
                let found = wanted == rank;
                if self.at_site(NEXT_LARGEST, kind, Some(*cube), [context], step, found) {
                    break;
                }
                rank += 1;
            }
        }
        let left_out = sizes[rank.min(3)];
        let guess = pack(expected, left_out);
        let other = pack(trace.turned(turns[second]), left_out);
        let before = mark_context(mark.seen, mark.orientation);
        let speed = magnitude((largest_angle(turns[best]) * TURN_STEPS) as i32);
        let mut words = SmallestThree {
            largest: left_out as u8,
            components: [0; 3],
        };
        let mut missed = 0;
        for axis in 0..3 {
            let hint = if predicts {
                other[axis] - guess[axis]
            } else {
                0
            };
            let contexts = [
                before * 16 + missed,
                clearance * 16 + speed,
                signed_magnitude(hint) * 8 + clearance,
                missed * 16 + moving.short,
            ];
            let wanted =
                target.map_or(0, |target| i32::from(target.components[axis]) - guess[axis]);
            let component = Component::orientation(axis);
            let difference = self.residual(kind, *cube, component, contexts, missed, wanted);
            // Whatever was read, a word is a word.
            let difference = difference.unwrap_or(0);
            let word = (guess[axis] + difference).clamp(0, 511);
            words.components[axis] = word as u16;
            missed = missed.max(magnitude(difference));
        }
        if !predicts {
            return (words, [0.0; 3], missed, 0);
        }
        let now = unpack(words);
        let mut best = (0, u32::MAX);
        for (guess, &turn) in turns.iter().enumerate() {
            let off = turn_between(now, trace.turned(turn));
            let off = (off.iter().map(|angle| angle.abs()).sum::<f32>() * TURN_STEPS) as u32;
            self.next.missed(OF_ORIENTATION, class, guess, off);
            if off < best.1 {
                best = (guess, off);
            }
        }
        let more = turn_between(now, trace.turned(turns[MIXED_TURN]));
        (words, more, missed, best.0)
    }

    /// Codes a position: gives it, the magnitude of the largest residual, and the best guess.
    fn position(
        &mut self,
        moving: &Moving,
        words: SmallestThree,
        turn_missed: usize,
        nearby: Place,
        target: Option<Place>,
    ) -> Result<(Place, usize, usize), OutOfRange> {
        let Moving {
            cube,
            trace,
            mark,
            clearance,
            ..
        } = moving;
        let predicts = self.next.way == Way::Predicted;
        let gained = 2 * trace.short[0][2] - trace.short[1][2];
        let falls = match gained {
            ..=-6 => 0,
            -5..=-1 => 1,
            0.. => 2,
        };
        let guessed = usize::from(mark.best_place);
        let class = (((clearance * 6 + guessed) * 3 + falls) * 2 + moving.is_set) % CLASSES;
        let places = trace.places(&matrix(unpack(words)), nearby);
        let count = if predicts { places.len() } else { 1 };
        let [best, second] = self.next.best(OF_POSITION, class, count);
        let (guess, other) = (places[best], places[second]);
        let before = mark_context(mark.seen, mark.position);
        let jerk: Place = std::array::from_fn(|axis| 6 * trace.short[0][axis] - trace.long[axis]);
        let jerk = largest(jerk);
        let mut position = [0; 3];
        let mut missed = 0;
        for axis in [2, 0, 1] {
            let hint = if predicts {
                other[axis] - guess[axis]
            } else {
                trace.long[axis]
            };
            let contexts = [
                before * 16 + missed,
                moving.long * 16 + jerk,
                signed_magnitude(hint) * 8 + clearance,
                missed * 16 + turn_missed,
            ];
            let wanted = target.map_or(0, |target| target[axis] - guess[axis]);
            let component = Component::position(axis);
            let kind = BitKind::Position;
            let difference = self.residual(kind, *cube, component, contexts, missed, wanted);
            let bounds = POSITION[axis];
            let value = difference.map(|difference| i64::from(guess[axis]) + i64::from(difference));
            let (min, max) = (i64::from(bounds.min), i64::from(bounds.max));
            position[axis] = match value {
                Some(value) if (min..=max).contains(&value) => value as i32,
                value => {
                    return Err(OutOfRange {
                        what: kind,
                        cube: *cube,
                        value: value.unwrap_or(i64::MAX),
                        min,
                        max,
                    });
                }
            };
            missed = missed.max(magnitude(difference.unwrap_or(0)));
        }
        if !predicts {
            return Ok((position, missed, 0));
        }
        let mut best = (0, u32::MAX);
        for (guess, place) in places.iter().enumerate() {
            let off = (0..3)
                .map(|axis| position[axis].abs_diff(place[axis]))
                .sum();
            self.next.missed(OF_POSITION, class, guess, off);
            if off < best.1 {
                best = (guess, off);
            }
        }
        Ok((position, missed, best.0))
    }

    fn residual(
        &mut self,
        what: BitKind,
        cube: usize,
        component: Component,
        contexts: [usize; RESIDUAL_INPUTS],
        adaptive: usize,
        value: i32,
    ) -> Option<i32> {
        let slots = std::array::from_fn(|input| component.slot(input, contexts[input]));
        let mut deciding = Deciding {
            walk: self,
            what,
            cube,
            component,
            slots,
            adaptive: component.adaptive(adaptive),
        };
        residual::code(&mut deciding, value)
    }
}

/// A residual's decisions.
struct Deciding<'w, 'a, B, W> {
    walk: &'w mut Walk<'a, B, W>,
    what: BitKind,
    cube: usize,
    component: Component,
    slots: [usize; RESIDUAL_INPUTS],
    adaptive: usize,
}

impl<B: Bits, W: Witness> Decide for Deciding<'_, '_, B, W> {
    fn node(&mut self, node: usize, bit: bool) -> bool {
        debug_assert!(node < NODES);
        let slots = self.slots.map(|slot| slot + node);
        let asked = Asked {
            what: self.what,
            cube: Some(self.cube),
            weights: self.component.weights(node),
            adaptive: self.adaptive + node,
        };
        self.walk.decide(asked, slots, bit)
    }

    fn even(&mut self, bit: bool) -> bool {
        let bit = self.walk.bits.bit(bit, ONE / 2);
        let cube = Some(self.cube);
        self.walk
            .witness
            .decided(self.what, cube, &[], bit, ONE / 2);
        bit
    }
}

/// A cube that is in the packet, and what is known of it.
struct Moving {
    cube: usize,
    trace: Trace,
    mark: Mark,
    is_set: usize,
    /// Magnitudes of motion.
    long: usize,
    short: usize,
    long_turn: usize,
    short_turn: usize,
    clearance: usize,
}

/// The guess whose errors tell of the neighbours'.
const MIXED_TURN: usize = 2;

/// Steps of a component to a radian, about.
const TURN_STEPS: f32 = 181.0;

fn mark_context(seen: bool, magnitude: u8) -> usize {
    if seen { usize::from(magnitude) + 1 } else { 0 }
}

fn largest(place: Place) -> usize {
    let largest = place.into_iter().map(i32::unsigned_abs).max();
    magnitude(largest.map_or(0, |largest| largest.min(1 << 20) as i32))
}

fn largest_angle(turn: Turn) -> f32 {
    turn.iter()
        .fold(0.0, |largest, angle| angle.abs().max(largest))
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
