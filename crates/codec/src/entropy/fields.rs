//! The fields of one cube: the orientation, and then the position, which it says much of.

use super::Way;
use super::coder::{Bits, ONE};
use super::cubes::{Asked, Moving, OutOfRange, Walk, Witness, largest};
use super::expect::{Place, Turn, by_size, matrix, pack, turn_between, unpack};
use super::layout::{CLASSES, Component, NEXT_LARGEST, NODES, RESIDUAL_INPUTS, SAME_LARGEST};
use super::learned::{OF_ORIENTATION, OF_POSITION};
use super::residual::{self, Decide, magnitude, signed_magnitude};
use crate::ledger::BitKind;
use crate::quantize::bounded::POSITION;
use crate::quantize::smallest_three::SmallestThree;

impl<B: Bits, W: Witness> Walk<'_, B, W> {
    /// Codes an orientation: gives it, by how much it turned more than the mixed guess, the magnitude
    /// of the largest residual, and the best guess.
    pub(super) fn orientation(
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
    pub(super) fn position(
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

/// The guess whose errors tell of the neighbours'.
const MIXED_TURN: usize = 2;

/// Steps of a component to a radian, about.
const TURN_STEPS: f32 = 181.0;

fn mark_context(seen: bool, magnitude: u8) -> usize {
    if seen { usize::from(magnitude) + 1 } else { 0 }
}

fn largest_angle(turn: Turn) -> f32 {
    turn.iter()
        .fold(0.0, |largest, angle| angle.abs().max(largest))
}
