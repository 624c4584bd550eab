//! What a chain of packets has taught: the part of a baseline that entropy coding goes on from.

use std::fmt;

use super::features::NEVER;
use super::layout::{ADAPTIVE_OF_A_WAY, CLASSES, GUESSES, WEIGHT_SETS_OF_A_WAY};
use super::mixing::Eight;
use super::prior::Prior;
use crate::baseline::Baseline;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Delta;

/// What is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Differences from the baseline.
    Plain = 0,
    /// Differences from what is foreseen.
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

/// How a cube was foreseen in a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Whether it was in the packet.
    pub(crate) seen: bool,
    /// [Magnitudes](super::residual::magnitude) of the largest residuals.
    pub(crate) position: u8,
    pub(crate) orientation: u8,
    /// The guesses that would have been best.
    pub(crate) best_orientation: u8,
    pub(crate) best_position: u8,
}

impl Mark {
    /// As a context: below 17.
    pub(crate) fn orientation(self) -> usize {
        self.context(self.orientation)
    }

    pub(crate) fn position(self) -> usize {
        self.context(self.position)
    }

    fn context(self, magnitude: u8) -> usize {
        if self.seen {
            usize::from(magnitude) + 1
        } else {
            0
        }
    }
}

/// A function of the baseline's own and of the packet that brought the snapshot; of the prior, where
/// the baseline has none of this way.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Learned {
    pub(crate) way: Way,
    pub(crate) weights: Vec<Eight>,
    pub(crate) adaptive: Vec<u16>,
    pub(crate) errors: Vec<u16>,
    /// How well each cube was foreseen; empty if none was.
    pub(crate) marks: Vec<Mark>,
    /// The baseline of the packet, and how much older it was; 0 if there was none.
    pub(crate) before: QuantizedSnapshot,
    pub(crate) before_ticks: u16,
}

/// There is too much of it to read.
impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learned")
            .field("way", &self.way)
            .field("before_ticks", &self.before_ticks)
            .finish_non_exhaustive()
    }
}

impl Learned {
    /// What a chain starts with.
    pub(crate) fn first(prior: &Prior, way: Way) -> Self {
        let part = |size: usize| way as usize * size..(way as usize + 1) * size;
        Self {
            way,
            weights: prior.weights[part(WEIGHT_SETS_OF_A_WAY)].to_vec(),
            adaptive: prior.adaptive[part(ADAPTIVE_OF_A_WAY)].to_vec(),
            errors: match way {
                Way::Plain => Vec::new(),
                Way::Predicted => prior.errors.clone(),
            },
            marks: Vec::new(),
            before: Baseline::default().snapshot,
            before_ticks: 0,
        }
    }

    /// Becomes a copy of `other`, but for what each packet brings anew: the marks and the baseline.
    pub(crate) fn become_next(&mut self, other: &Self) {
        self.way = other.way;
        self.weights.clone_from(&other.weights);
        self.adaptive.clone_from(&other.adaptive);
        self.errors.clone_from(&other.errors);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.weights)
            + size_of_val(&*self.adaptive)
            + size_of_val(&*self.errors)
            + size_of_val(&*self.marks)
            + self.before.memory_bytes()
    }

    /// How well a cube was foreseen.
    pub(crate) fn mark(&self, cube: usize) -> Mark {
        self.marks.get(cube).copied().unwrap_or_default()
    }

    /// The baseline of the packet, if there was one, and how much older it was.
    pub(crate) fn before(&self) -> Option<(&QuantizedSnapshot, i32)> {
        (self.before_ticks > 0).then(|| (&self.before, self.before_ticks.into()))
    }

    /// The two guesses of a class that have missed by least of late.
    pub(crate) fn best(&self, what: usize, class: usize, count: usize) -> [usize; 2] {
        let errors = &self.errors[(what * CLASSES + class) * GUESSES..][..count];
        let mut best = [0, 0];
        for (place, error) in errors.iter().enumerate().skip(1) {
            if *error < errors[best[0]] {
                best = [place, best[0]];
            } else if best[1] == best[0] || *error < errors[best[1]] {
                best[1] = place;
            }
        }
        best
    }

    /// A guess of a class has missed by so much.
    pub(crate) fn missed(&mut self, what: usize, class: usize, guess: usize, by: u32) {
        let error = &mut self.errors[(what * CLASSES + class) * GUESSES + guess];
        if *error == NEVER {
            return;
        }
        let step = ((by.min(MAX_ERROR) * 16) as i32 - i32::from(*error)) >> 5;
        *error = (i32::from(*error) + step) as u16;
    }
}

const MAX_ERROR: u32 = 2000;

/// Orientations, as what guesses are of.
pub(crate) const OF_ORIENTATION: usize = 0;
/// Positions.
pub(crate) const OF_POSITION: usize = 1;
