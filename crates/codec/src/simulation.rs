//! Packets between two ends that simulate the same scene: [`Delta::ArithmeticSimulated`].
//!
//! A packet carries the [inputs](Simulated::inputs) of the ticks since a world that the receiver has, and says which
//! world that is: the [`Origin`]. While the receiver's own world has never had to be corrected, that is all: the
//! snapshot is what it simulates, and a check says whether it is. Otherwise the snapshot is coded relative to the
//! simulated one, by residuals of the cubes for which that is wrong.
//!
//! This crate knows no physics engine. The sender gives [`References::simulated`](crate::References::simulated); the
//! receiver's engine is behind the trait [`Simulation`].
//!
//! [`Delta::ArithmeticSimulated`]: crate::stages::Delta::ArithmeticSimulated

use std::fmt;

use crate::baseline::Baseline;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;

/// Ticks that a packet has inputs for, at most. With it, the work that a packet can cause is bounded.
pub const MAX_SIMULATED_TICKS: usize = 255;

/// Bytes of an [attachment](Simulated::attachment), at most.
pub const MAX_ATTACHMENT_BYTES: usize = 1023;

/// Where a simulation starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// In the receiver's own world, at that many ticks before the packet's snapshot. It has never been corrected
    /// since it started, or was restored.
    Continued(u8),
    /// In the world before its first tick.
    Started(u8),
    /// In a world that was restored from a state that the receiver has been sent.
    Restored(u8),
    /// In the world of the baseline, corrected by what its packet said.
    Corrected,
    /// In a world that is made of the baseline's snapshot.
    Cold,
}

impl Origin {
    /// Ticks from there to the snapshot; none if these are the ticks since the baseline.
    #[must_use]
    pub const fn age(self) -> Option<u8> {
        match self {
            Self::Continued(age) | Self::Started(age) | Self::Restored(age) => Some(age),
            Self::Corrected | Self::Cold => None,
        }
    }

    /// Whether the simulated snapshot is the sender's.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.age().is_some()
    }
}

/// What a packet says besides what a packet of [`PREDICTED`](crate::ladder::PREDICTED) does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulated<'a> {
    /// None if the packet is coded without a simulation.
    pub origin: Option<Origin>,
    /// What moved the scene, a byte a tick, from the tick after the origin to the packet's:
    /// [`MAX_SIMULATED_TICKS`] at most.
    pub inputs: &'a [u8],
    /// What was simulated. Unused if the origin [is exact](Origin::is_exact).
    pub prediction: Option<&'a QuantizedSnapshot>,
    /// Bytes for the receiver that have nothing to do with the snapshot, [`MAX_ATTACHMENT_BYTES`] at most: parts of a
    /// state that it can restore a world from.
    pub attachment: &'a [u8],
}

/// An engine that simulates the scene at one end. What it does follows from its calls alone, so that both ends have the
/// same worlds: the receiver calls it with every packet that it decodes, the sender with every packet that it sends from
/// an origin that is not exact.
pub trait Simulation: fmt::Debug + Send + Sync {
    /// Simulates the snapshot of `sequence`, with an input for each tick since the origin, and gives it in the precision
    /// of [`SIMULATED`](crate::ladder::SIMULATED). None if there is no such world. `baseline` is the packet's, if it has
    /// one, and it has one where the origin is [`Origin::Corrected`] or [`Origin::Cold`].
    fn predict(
        &mut self,
        sequence: Sequence,
        origin: Origin,
        baseline: Option<&Baseline>,
        inputs: &[u8],
    ) -> Option<&QuantizedSnapshot>;

    /// What became of the last prediction: the baseline that both ends have of its packet now.
    fn correct(&mut self, actual: &Baseline);

    /// Takes the state of the sender's world after the tick of `snapshot`, for [`Origin::Restored`]: what it needs
    /// besides that snapshot. False if the bytes are no state.
    fn restore(&mut self, snapshot: &Baseline, state: &[u8]) -> bool;

    /// The newest prediction, if there is one.
    fn prediction(&self) -> Option<&QuantizedSnapshot> {
        None
    }

    /// What it has done so far.
    fn counts(&self) -> SimulationCounts {
        SimulationCounts::default()
    }
}

/// What a [`Simulation`] has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationCounts {
    /// Ticks that were simulated.
    pub steps: u64,
    /// Cubes of which the prediction was wrong.
    pub corrected_cubes: u64,
}

/// An end that simulates nothing.
impl Simulation for () {
    fn predict(
        &mut self,
        _: Sequence,
        _: Origin,
        _: Option<&Baseline>,
        _: &[u8],
    ) -> Option<&QuantizedSnapshot> {
        None
    }

    fn correct(&mut self, _: &Baseline) {}

    fn restore(&mut self, _: &Baseline, _: &[u8]) -> bool {
        false
    }
}
