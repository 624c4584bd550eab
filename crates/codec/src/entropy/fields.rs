//! The fields of one cube: the orientation, and then the position, which it says much of.

use std::ops::RangeInclusive;

use super::coder::{Bits, ONE};
use super::cubes::{Asked, Moving, Unwritten, Walk, Witness, largest};
use super::foresee::Foresee;
use super::layout::{
    Component, NEXT_LARGEST, NODES, RESIDUAL_INPUTS, SAME_LARGEST, SAME_ORIENTATION, SAME_POSITION,
};
use super::learned::{OF_ORIENTATION, OF_POSITION};
use super::residual::{self, Decide, magnitude, signed_magnitude};
use super::rotation::{by_size, pack, turn, unpack};
use super::trace::Place;
use crate::ledger::BitKind;
use crate::quantize::bounded::POSITION;
use crate::quantize::smallest_three::SmallestThree;

/// What became of one field of a cube.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coded<T> {
    pub(super) value: T,
    /// Magnitude of the largest residual.
    pub(super) missed: usize,
    /// The guess that would have been best.
    pub(super) best: usize,
}

impl<B: Bits, W: Witness> Walk<'_, B, W> {
    pub(super) fn orientation<F: Foresee>(
        &mut self,
        moving: &Moving,
        foresight: &mut F,
        target: Option<SmallestThree>,
    ) -> Result<Coded<SmallestThree>, Unwritten> {
        let Moving {
            cube,
            trace,
            mark,
            clearance,
            apart,
            long_turn,
            short_turn,
            ..
        } = moving;
        let kind = BitKind::Orientation;
        let guesses = foresight.orientations(trace);
        let guesses = guesses.as_ref();
        let was_best = usize::from(mark.best_orientation);
        let class = (clearance * 2 + was_best) * 16 + apart;
        let [chosen, other] = self.choice::<F>(OF_ORIENTATION, class, guesses.len());
        let same = [long_turn * 16 + short_turn, clearance * 16 + chosen];
        let wants_same = target == Some(trace.words);
        let mut words = trace.words;
        let mut missed = 0;
        if !self.at_site(
            SAME_ORIENTATION,
            kind,
            Some(*cube),
            same,
            *clearance,
            wants_same,
        ) {
            let expected = guesses[chosen];
            let largest = self.largest_component(moving, expected, target);
            let guess = pack(expected, largest);
            let hint = pack(guesses[other], largest);
            let still = pack(trace.orientation, largest);
            words.largest = largest as u8;
            for axis in 0..3 {
                let contexts = [
                    mark.orientation() * 16 + missed,
                    signed_magnitude(still[axis] - guess[axis]) * 8 + clearance,
                    signed_magnitude(hint[axis] - guess[axis]) * 8 + clearance,
                    missed * 16 + moving.short,
                ];
                let wanted =
                    target.map_or(0, |target| i32::from(target.components[axis]) - guess[axis]);
                let component = Component::orientation(axis);
                let difference = self.residual(kind, *cube, component, contexts, missed, wanted);
                let word = within(guess[axis] + difference, COMPONENT, kind, *cube)?;
                words.components[axis] = word as u16;
                missed = missed.max(magnitude(difference));
            }
            if words == trace.words {
                return Err(Unwritten::Redundant);
            }
        }
        let now = unpack(words);
        let best = self.review::<F, _>(OF_ORIENTATION, class, guesses, |guess| {
            let off = turn(now, guess).map(|angle| angle.abs());
            ((off[0] + off[1] + off[2]) * STEPS_PER_RADIAN) as u32
        });
        Ok(Coded {
            value: words,
            missed,
            best,
        })
    }

    /// Codes which component is left out, by its rank among those of the guess.
    fn largest_component(
        &mut self,
        moving: &Moving,
        expected: [f32; 4],
        target: Option<SmallestThree>,
    ) -> usize {
        let kind = BitKind::Orientation;
        let cube = Some(moving.cube);
        let sizes = by_size(expected);
        let gap = expected[sizes[0]].abs() - expected[sizes[1]].abs();
        let gap = ((gap * 40.0) as usize).min(15);
        let wanted = target.map_or(0, |target| {
            let largest = usize::from(target.largest);
            let rank = sizes.iter().position(|&place| place == largest);
            rank.unwrap_or(0)
        });
        let same = [gap * 16 + moving.long_turn];
        if self.at_site(SAME_LARGEST, kind, cube, same, gap, wanted == 0) {
            return sizes[0];
        }
        for rank in [1, 2] {
            let context = (rank - 1) * 16 + gap;
            let found = wanted == rank;
            if self.at_site(NEXT_LARGEST, kind, cube, [context], rank - 1, found) {
                return sizes[rank];
            }
        }
        sizes[3]
    }

    pub(super) fn position<F: Foresee>(
        &mut self,
        moving: &Moving,
        foresight: &mut F,
        orientation: Coded<SmallestThree>,
        target: Option<Place>,
    ) -> Result<Coded<Place>, Unwritten> {
        let Moving {
            cube,
            trace,
            mark,
            clearance,
            apart,
            ..
        } = moving;
        let kind = BitKind::Position;
        let guesses = foresight.places(trace, orientation.value);
        let guesses = guesses.as_ref();
        let was_best = usize::from(mark.best_position);
        let class = (clearance * 4 + was_best) * 16 + apart;
        let [chosen, other] = self.choice::<F>(OF_POSITION, class, guesses.len());
        let turned = usize::from(orientation.value != trace.words);
        let same = [
            (moving.short * 16 + moving.long) * 2 + turned,
            (orientation.missed * 16 + moving.short) * 2 + turned,
        ];
        let wants_same = target == Some(trace.place);
        let mut position = trace.place;
        let mut missed = 0;
        if !self.at_site(
            SAME_POSITION,
            kind,
            Some(*cube),
            same,
            *clearance,
            wants_same,
        ) {
            let (guess, hint) = (guesses[chosen], guesses[other]);
            let jerk: Place = std::array::from_fn(|axis| 6 * trace.short[axis] - trace.long[axis]);
            let jerk = largest(jerk);
            for axis in [2, 0, 1] {
                let contexts = [
                    mark.position() * 16 + missed,
                    signed_magnitude(trace.place[axis] - guess[axis]) * 8 + jerk.min(7),
                    signed_magnitude(hint[axis] - guess[axis]) * 8 + clearance,
                    missed * 16 + orientation.missed,
                ];
                let wanted = target.map_or(0, |target| target[axis] - guess[axis]);
                let component = Component::position(axis);
                let difference = self.residual(kind, *cube, component, contexts, missed, wanted);
                let value = guess[axis] + difference;
                let bounds = POSITION[axis];
                position[axis] = within(value, bounds.min..=bounds.max, kind, *cube)?;
                missed = missed.max(magnitude(difference));
            }
            if position == trace.place {
                return Err(Unwritten::Redundant);
            }
        }
        let best = self.review::<F, _>(OF_POSITION, class, guesses, |guess| {
            (0..3)
                .map(|axis| position[axis].abs_diff(guess[axis]))
                .sum()
        });
        Ok(Coded {
            value: position,
            missed,
            best,
        })
    }

    /// Which guess is coded against, and which other says how sure it is.
    fn choice<F: Foresee>(&self, what: usize, class: usize, guesses: usize) -> [usize; 2] {
        if F::CHOOSES {
            self.next.best(what, class, guesses)
        } else {
            [0, 1]
        }
    }

    /// Learns what each guess missed by; gives the one that missed by least.
    fn review<F: Foresee, T: Copy>(
        &mut self,
        what: usize,
        class: usize,
        guesses: &[T],
        missed_by: impl Fn(T) -> u32,
    ) -> usize {
        if !F::CHOOSES {
            return 0;
        }
        let mut best = (0, u32::MAX);
        for (guess, &value) in guesses.iter().enumerate() {
            let by = missed_by(value);
            self.next.missed(what, class, guess, by);
            if by < best.1 {
                best = (guess, by);
            }
        }
        best.0
    }

    fn residual(
        &mut self,
        what: BitKind,
        cube: usize,
        component: Component,
        contexts: [usize; RESIDUAL_INPUTS],
        adaptive: usize,
        value: i32,
    ) -> i32 {
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

/// Steps of a component to a radian, about.
const STEPS_PER_RADIAN: f32 = 181.0;

/// Of a component of nine bits.
const COMPONENT: RangeInclusive<i32> = 0..=511;

fn within(
    value: i32,
    range: RangeInclusive<i32>,
    what: BitKind,
    cube: usize,
) -> Result<i32, Unwritten> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(Unwritten::OutOfRange {
        what,
        cube,
        value: value.into(),
        min: (*range.start()).into(),
        max: (*range.end()).into(),
    })
}
