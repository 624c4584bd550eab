//! The worlds that one end of a lane simulates, for packets of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).

use std::collections::VecDeque;
use std::fmt;

use cubewire_codec::{
    Baseline, Origin, Precision, QuantizedSnapshot, Sequence, Simulation, SimulationCounts, ladder,
};
use cubewire_scene::CUBES;

use crate::{Input, World, WorldState, is_crowded};

/// Snapshots of the exact world that are kept for packets that arrive late, at most.
pub const MAX_PAST: usize = 256;

/// Corrected worlds that are kept, at most. Each takes a few megabytes. A sender starts from those of the last sixteen
/// ticks; the others are for packets that arrive late.
pub const MAX_CORRECTED: usize = 20;

/// A [`Simulation`] of this scene.
///
/// An exact world is simulated once, tick by tick, and never corrected. Corrected worlds are each a copy of an earlier one,
/// which has gone on for as many ticks as the packet's baseline is old.
pub struct SimulatedWorlds {
    exact: Option<Exact>,
    restorable: Option<(Sequence, WorldState)>,
    /// After the packets of these numbers, oldest first.
    corrected: VecDeque<(Sequence, World)>,
    /// The world of the last prediction, if it is to be corrected, and the ticks that were simulated.
    predicted: Option<(World, u16)>,
    prediction: QuantizedSnapshot,
    counts: SimulationCounts,
}

const PRECISION: Precision = ladder::SIMULATED.stages.precision();

/// A world that is the sender's.
struct Exact {
    world: World,
    sequence: Sequence,
    /// Where it started or was restored.
    origin: (bool, Sequence),
    /// Its snapshots after earlier ticks, and after the newest.
    past: VecDeque<QuantizedSnapshot>,
}

impl SimulatedWorlds {
    /// Without any world.
    #[must_use]
    pub fn new() -> Self {
        Self {
            exact: None,
            restorable: None,
            corrected: VecDeque::new(),
            predicted: None,
            prediction: QuantizedSnapshot::new(PRECISION),
            counts: SimulationCounts::default(),
        }
    }

    /// Worlds in memory.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::from(self.exact.is_some())
            + usize::from(self.predicted.is_some())
            + self.corrected.len()
    }

    /// Simulates the exact world up to a packet, unless it is already there.
    fn exact(&mut self, sequence: Sequence, origin: Origin, inputs: &[u8]) -> Option<()> {
        let from = Sequence(sequence.0.wrapping_sub(inputs.len() as u16));
        let is_start = matches!(origin, Origin::Started(_));
        let is_there = match (&self.exact, origin) {
            (None, _) => false,
            (Some(exact), Origin::Continued(_)) => exact.is_after(from),
            (Some(exact), _) => exact.origin == (is_start, from) && exact.is_after(from),
        };
        if !is_there {
            let world = match origin {
                Origin::Started(_) => World::new(),
                Origin::Restored(_) => {
                    let restorable = self.restorable.as_ref().filter(|(at, _)| *at == from);
                    World::restored(&restorable?.1)
                }
                _ => return None,
            };
            self.exact = Some(Exact {
                world,
                sequence: from,
                origin: (is_start, from),
                past: VecDeque::new(),
            });
        }
        let exact = self.exact.as_mut()?;
        let gone = usize::from(exact.sequence.ticks_since(from));
        for &input in inputs.get(gone..).unwrap_or_default() {
            exact.advance(input)?;
            self.counts.steps += 1;
        }
        let late = usize::from(exact.sequence.ticks_since(sequence));
        let place = exact.past.len().checked_sub(late + 1)?;
        self.prediction.copy_from(&exact.past[place]);
        Some(())
    }

    /// Simulates a copy of a corrected world, or one that is made of the baseline.
    fn corrected(&mut self, origin: Origin, baseline: &Baseline, inputs: &[u8]) -> Option<()> {
        if baseline.snapshot().len() != CUBES || baseline.snapshot().precision() != PRECISION {
            return None;
        }
        // Cubes that overlap in great numbers would take seconds.
        if is_crowded(baseline.snapshot()) {
            return None;
        }
        let at = baseline.sequence();
        let mut world = match origin {
            Origin::Corrected => {
                let kept = self.corrected.iter().rev();
                let (_, world) = kept.into_iter().find(|(kept, _)| *kept == at)?;
                world.clone()
            }
            // The number of ticks decides only how the player bobs while it hovers.
            _ => World::cold(baseline.snapshot(), baseline.reference(), at.0.into()),
        };
        for &input in inputs {
            world.advance(Input::from_byte(input));
        }
        self.counts.steps += inputs.len() as u64;
        world.quantize_into(&mut self.prediction).ok()?;
        self.predicted = Some((world, inputs.len() as u16));
        Some(())
    }
}

impl Exact {
    /// Whether this world has been at a tick, and its snapshots since then are kept.
    fn is_after(&self, sequence: Sequence) -> bool {
        usize::from(self.sequence.ticks_since(sequence)) <= self.past.len()
    }

    fn advance(&mut self, input: u8) -> Option<()> {
        self.world.advance(Input::from_byte(input));
        self.sequence = self.sequence.next();
        let mut snapshot = match self.past.len() {
            MAX_PAST => self.past.pop_front(),
            _ => None,
        }
        .unwrap_or_else(|| QuantizedSnapshot::new(PRECISION));
        self.world.quantize_into(&mut snapshot).ok()?;
        self.past.push_back(snapshot);
        Some(())
    }
}

impl Simulation for SimulatedWorlds {
    fn predict(
        &mut self,
        sequence: Sequence,
        origin: Origin,
        baseline: Option<&Baseline>,
        inputs: &[u8],
    ) -> Option<&QuantizedSnapshot> {
        self.predicted = None;
        if origin.is_exact() {
            self.exact(sequence, origin, inputs)?;
        } else {
            self.corrected(origin, baseline?, inputs)?;
        }
        Some(&self.prediction)
    }

    fn correct(&mut self, actual: &Baseline) {
        let Some((mut world, ticks)) = self.predicted.take() else {
            return;
        };
        world.correct(actual.snapshot(), ticks);
        let mut differs = Vec::new();
        actual.snapshot().compare(&self.prediction, &mut differs);
        let count = differs.into_iter().filter(|&differs| differs).count();
        self.counts.corrected_cubes += count as u64;
        if self.corrected.len() == MAX_CORRECTED {
            self.corrected.pop_front();
        }
        self.corrected.push_back((actual.sequence(), world));
    }

    fn restore(&mut self, sequence: Sequence, state: &[u8]) -> bool {
        let state = WorldState::from_bytes(state).ok();
        let is_state = state.is_some();
        self.restorable = state
            .map(|state| (sequence, state))
            .or(self.restorable.take());
        is_state
    }

    fn prediction(&self) -> Option<&QuantizedSnapshot> {
        Some(&self.prediction).filter(|prediction| !prediction.is_empty())
    }

    fn counts(&self) -> SimulationCounts {
        self.counts
    }
}

impl Default for SimulatedWorlds {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SimulatedWorlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedWorlds")
            .field("counts", &self.counts)
            .field("worlds", &self.count())
            .finish_non_exhaustive()
    }
}
