//! The world that a receiver simulates, for packets of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).

use std::collections::VecDeque;
use std::fmt;

use cubewire_codec::{Baseline, Inputs, Origin, QuantizedSnapshot, Sequence};
use cubewire_protocol::Engine;

use crate::input::Input;
use crate::pose::PRECISION;
use crate::state::WorldState;
use crate::world::World;

/// Snapshots of the world that are kept for packets that arrive late, at most.
pub const MAX_PAST: usize = 256;

/// An [`Engine`] of this scene. Its world is simulated once, tick by tick.
#[derive(Default)]
pub struct ReceiverWorld {
    current: Option<Simulated>,
    /// The world before, for packets that arrive late.
    replaced: Option<Simulated>,
    restorable: Option<(Sequence, WorldState)>,
    simulated_ticks: u64,
}

/// The tick after which a world starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The scene started after this tick.
    Scene(Sequence),
    /// A state of this tick was restored.
    State(Sequence),
}

impl Start {
    const fn sequence(self) -> Sequence {
        match self {
            Self::Scene(sequence) | Self::State(sequence) => sequence,
        }
    }
}

/// A world and its past.
struct Simulated {
    world: World,
    sequence: Sequence,
    start: Start,
    /// Its snapshots after earlier ticks, and after the newest.
    past: VecDeque<QuantizedSnapshot>,
}

impl ReceiverWorld {
    /// An engine without a world.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Worlds in memory.
    #[must_use]
    pub fn count(&self) -> usize {
        [&self.current, &self.replaced]
            .into_iter()
            .flatten()
            .count()
    }

    /// Replaces the current world by one that starts after the tick `from`. `None` if there is no such world.
    fn start(&mut self, start: Start, from: Sequence) -> Option<()> {
        // A late packet from an older start must not replace a newer world.
        let is_late = |current: &Simulated| {
            (1..=2 * MAX_PAST).contains(&current.start.sequence().ticks_since(from).into())
        };
        if self.current.as_ref().is_some_and(is_late) {
            return None;
        }
        let world = match start {
            Start::Scene(_) => World::new(),
            Start::State(_) => {
                let restorable = self.restorable.as_ref().filter(|(at, _)| *at == from);
                World::restored(&restorable?.1)
            }
        };
        self.replaced = self.current.replace(Simulated {
            world,
            sequence: from,
            start,
            past: VecDeque::new(),
        });
        Some(())
    }
}

impl Simulated {
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

impl Engine for ReceiverWorld {
    fn simulate(&mut self, sequence: Sequence, inputs: &Inputs) -> Option<&QuantizedSnapshot> {
        let bytes = inputs.bytes();
        let from = Sequence(sequence.0.wrapping_sub(bytes.len() as u16));
        let start = match inputs.origin() {
            Origin::Continued(_) => None,
            Origin::FromSceneStart(_) => Some(Start::Scene(from)),
            Origin::Restored(_) => Some(Start::State(from)),
        };
        let is_meant = |world: &Simulated| start.is_none_or(|start| world.start == start);
        let has_it = |world: &Option<Simulated>| {
            let world = world.as_ref().filter(|world| is_meant(world));
            world.is_some_and(|world| world.at(sequence).is_some())
        };
        if has_it(&self.current) {
            return self.current.as_ref()?.at(sequence);
        }
        if has_it(&self.replaced) {
            return self.replaced.as_ref()?.at(sequence);
        }
        let gone = |world: &Simulated| usize::from(world.sequence.ticks_since(from));
        let goes_on = |world: &Simulated| is_meant(world) && gone(world) < bytes.len();
        if !self.current.as_ref().is_some_and(goes_on) {
            self.start(start?, from)?;
        }
        let world = self.current.as_mut()?;
        for &input in &bytes[gone(world)..] {
            world.advance(input)?;
            self.simulated_ticks += 1;
        }
        world.at(sequence)
    }

    fn restore(&mut self, snapshot: &Baseline, state: &[u8]) -> bool {
        let sequence = snapshot.sequence();
        let Ok(state) = WorldState::from_bytes(snapshot.snapshot(), state) else {
            return false;
        };
        self.restorable = Some((sequence, state));
        true
    }

    fn simulated_ticks(&self) -> u64 {
        self.simulated_ticks
    }
}

impl fmt::Debug for ReceiverWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverWorld")
            .field("simulated_ticks", &self.simulated_ticks)
            .field("worlds", &self.count())
            .finish_non_exhaustive()
    }
}
