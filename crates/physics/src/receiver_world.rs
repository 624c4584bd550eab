//! The world that a receiver simulates for packets of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).

use std::collections::VecDeque;
use std::fmt;

use cubewire_codec::{Inputs, Origin, Plan, QuantizedSnapshot};
use cubewire_protocol::Engine;

use crate::input::Input;
use crate::pose::PRECISION;
use crate::state::WorldState;
use crate::world::World;

/// Maximum number of past snapshots kept for late packets.
const MAX_PAST: usize = 256;

/// [`Engine`] for this scene. It simulates each tick of its world once.
#[derive(Default)]
pub struct ReceiverWorld {
    current: Option<Simulated>,
    /// The previous world, for late packets.
    replaced: Option<Simulated>,
    restorable: Option<(u64, WorldState)>,
    simulated_ticks: u64,
}

/// The tick after which a world started, and whether a state of that tick was restored. Otherwise the scene started.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SimulationStart {
    tick: u64,
    is_restored: bool,
}

struct Simulated {
    world: World,
    tick: u64,
    start: SimulationStart,
    /// Snapshots of consecutive ticks, up to the newest.
    past: VecDeque<QuantizedSnapshot>,
    /// Inputs of the same ticks.
    inputs: VecDeque<Input>,
}

impl ReceiverWorld {
    /// The newest simulated world, and its tick.
    pub(crate) fn newest(&self) -> Option<(u64, &World)> {
        self.current.as_ref().map(|newest| (newest.tick, &newest.world))
    }

    /// The tick of the newest simulated world.
    pub fn tick(&self) -> Option<u64> {
        self.newest().map(|(tick, _)| tick)
    }

    /// The input of a tick of that world, if it is kept.
    pub(crate) fn input(&self, tick: u64) -> Option<Input> {
        let newest = self.current.as_ref()?;
        let ago = usize::try_from(newest.tick.checked_sub(tick)?).ok()?;
        newest.inputs.iter().rev().nth(ago).copied()
    }

    /// Replaces the current world. `None` if the world cannot be built.
    fn start(&mut self, start: SimulationStart, players: usize) -> Option<()> {
        // A late packet from an older start must not replace a newer world.
        let from = start.tick;
        let is_late = |current: &Simulated| {
            let late = current.start.tick.saturating_sub(from);
            (1..=2 * MAX_PAST as u64).contains(&late)
        };
        if self.current.as_ref().is_some_and(is_late) {
            return None;
        }
        let world = if start.is_restored {
            let restorable = self.restorable.as_ref().filter(|(at, _)| *at == from);
            World::restored(&restorable?.1)
        } else {
            World::with_players(players)
        };
        self.replaced = self.current.replace(Simulated {
            world,
            tick: from,
            start,
            past: VecDeque::new(),
            inputs: VecDeque::new(),
        });
        Some(())
    }
}

impl Simulated {
    fn at(&self, tick: u64) -> Option<&QuantizedSnapshot> {
        let late = usize::try_from(self.tick.checked_sub(tick)?).ok()?;
        let index = self.past.len().checked_sub(late)?.checked_sub(1)?;
        self.past.get(index)
    }

    fn advance(&mut self, input: &[u8]) -> Option<()> {
        let input = Input::from_bytes(input)?;
        self.world.advance(input);
        self.tick += 1;
        if self.inputs.len() == MAX_PAST {
            self.inputs.pop_front();
        }
        self.inputs.push_back(input);
        let mut snapshot = match self.past.len() {
            MAX_PAST => self.past.pop_front(),
            _ => None,
        }
        .unwrap_or_else(|| QuantizedSnapshot::new(Plan::cubes(), PRECISION));
        self.world.quantize_into(&mut snapshot).ok()?;
        self.past.push_back(snapshot);
        Some(())
    }
}

impl Engine for ReceiverWorld {
    fn simulate(&mut self, tick: u64, inputs: &Inputs) -> Option<&QuantizedSnapshot> {
        let from = tick.checked_sub(inputs.origin().age().into())?;
        let start = match inputs.origin() {
            Origin::Continued(_) => None,
            Origin::FromSceneStart(_) => Some(SimulationStart { tick: from, is_restored: false }),
            Origin::Restored(_) => Some(SimulationStart { tick: from, is_restored: true }),
        };
        let is_meant = |world: &Simulated| start.is_none_or(|start| world.start == start);
        let has_it = |world: &Option<Simulated>| {
            let world = world.as_ref().filter(|world| is_meant(world));
            world.is_some_and(|world| world.at(tick).is_some())
        };
        if has_it(&self.current) {
            return self.current.as_ref()?.at(tick);
        }
        if has_it(&self.replaced) {
            return self.replaced.as_ref()?.at(tick);
        }
        let goes_on = |world: &Simulated| is_meant(world) && (from..tick).contains(&world.tick);
        if !self.current.as_ref().is_some_and(goes_on) {
            self.start(start?, inputs.seats())?;
        }
        let world = self.current.as_mut()?;
        for input in inputs.bytes().chunks(inputs.seats()).skip((world.tick - from) as usize) {
            world.advance(input)?;
            self.simulated_ticks += 1;
        }
        world.at(tick)
    }

    fn restore(&mut self, tick: u64, snapshot: &QuantizedSnapshot, state: &[u8]) -> bool {
        let Ok(state) = WorldState::from_bytes(snapshot, state) else {
            return false;
        };
        self.restorable = Some((tick, state));
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
            .finish_non_exhaustive()
    }
}
