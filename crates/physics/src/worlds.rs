//! The worlds that one end of a lane simulates, for packets of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).

use std::collections::VecDeque;
use std::fmt;

use cubewire_codec::{Baseline, Origin, QuantizedSnapshot, Sequence, Simulation, SimulationCounts};

use crate::pose::{PRECISION, is_of_scene};
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
    /// The exact world before, for packets that arrive late.
    replaced: Option<Exact>,
    restorable: Option<(Sequence, WorldState)>,
    /// After the packets of these numbers, oldest first.
    corrected: VecDeque<(Sequence, World)>,
    /// The world of the last prediction, if it is to be corrected, and the ticks that were simulated.
    predicted: Option<(World, u16)>,
    prediction: QuantizedSnapshot,
    counts: SimulationCounts,
}

/// The tick after which an exact world starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// As the scene does.
    Scene(Sequence),
    /// From a state.
    State(Sequence),
}

impl Start {
    const fn sequence(self) -> Sequence {
        match self {
            Self::Scene(sequence) | Self::State(sequence) => sequence,
        }
    }
}

/// A world that is the sender's.
struct Exact {
    world: World,
    sequence: Sequence,
    start: Start,
    /// Its snapshots after earlier ticks, and after the newest.
    past: VecDeque<QuantizedSnapshot>,
}

impl SimulatedWorlds {
    /// Without any world.
    #[must_use]
    pub fn new() -> Self {
        Self {
            exact: None,
            replaced: None,
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
            + usize::from(self.replaced.is_some())
            + usize::from(self.predicted.is_some())
            + self.corrected.len()
    }

    /// Simulates the exact world up to a packet, unless it has been there.
    fn exact(&mut self, sequence: Sequence, origin: Origin, inputs: &[u8]) -> Option<()> {
        let from = Sequence(sequence.0.wrapping_sub(inputs.len() as u16));
        let start = match origin {
            Origin::Started(_) => Some(Start::Scene(from)),
            Origin::Restored(_) => Some(Start::State(from)),
            _ => None,
        };
        let is_meant = |exact: &&Exact| start.is_none_or(|start| exact.start == start);
        let simulated = [&self.exact, &self.replaced]
            .into_iter()
            .flatten()
            .filter(is_meant)
            .find_map(|exact| exact.at(sequence));
        if let Some(simulated) = simulated {
            self.prediction.copy_from(simulated);
            return Some(());
        }
        let gone = |exact: &Exact| usize::from(exact.sequence.ticks_since(from));
        let goes_on = |exact: &&Exact| is_meant(exact) && gone(exact) < inputs.len();
        if self.exact.as_ref().filter(goes_on).is_none() {
            // A late packet from an older start must not replace a newer world.
            let is_late = |exact: &Exact| {
                (1..=2 * MAX_PAST).contains(&exact.start.sequence().ticks_since(from).into())
            };
            if self.exact.as_ref().is_some_and(is_late) {
                return None;
            }
            let world = match start? {
                Start::Scene(_) => World::new(),
                Start::State(_) => {
                    let restorable = self.restorable.as_ref().filter(|(at, _)| *at == from);
                    World::restored(&restorable?.1)
                }
            };
            self.replaced = self.exact.replace(Exact {
                world,
                sequence: from,
                start: start?,
                past: VecDeque::new(),
            });
        }
        let exact = self.exact.as_mut()?;
        for &input in &inputs[gone(exact)..] {
            exact.advance(input)?;
            self.counts.steps += 1;
        }
        self.prediction.copy_from(exact.at(sequence)?);
        Some(())
    }

    /// Simulates a copy of a corrected world, or one that is made of the baseline.
    fn corrected(&mut self, origin: Origin, baseline: &Baseline, inputs: &[u8]) -> Option<()> {
        // Cubes that overlap in great numbers would take seconds.
        if !is_of_scene(baseline.snapshot()) || is_crowded(baseline.snapshot()) {
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
    /// The snapshot after a tick, if it is kept.
    fn at(&self, sequence: Sequence) -> Option<&QuantizedSnapshot> {
        let late = usize::from(self.sequence.ticks_since(sequence));
        self.past.get(self.past.len().checked_sub(late + 1)?)
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
        if !is_of_scene(actual.snapshot()) {
            return;
        }
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

    fn restore(&mut self, snapshot: &Baseline, state: &[u8]) -> bool {
        let sequence = snapshot.sequence();
        let state = WorldState::from_bytes(snapshot.snapshot(), state).ok();
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
