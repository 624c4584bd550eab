//! The recent past of a world.

use std::collections::VecDeque;
use std::fmt;

use crate::{Input, World};

/// A world from which worlds of earlier ticks can be computed again.
///
/// It keeps a clone of the world every [`CHECKPOINT_TICKS`] ticks, and the inputs since the oldest of them. A clone
/// takes about as long as a tick and a few megabytes, so that a timeline costs little more than its world while
/// nobody looks back.
///
/// ```
/// use cubewire_physics::{Input, Timeline, World};
///
/// let mut timeline = Timeline::new(1000, World::new());
/// for _ in 0..100 {
///     timeline.advance(Input::default());
/// }
/// let earlier = timeline.at(1090).expect("it is kept");
/// assert_eq!(earlier.ticks(), 90);
///
/// timeline.forget_before(1090);
/// assert!(timeline.at(1040).is_none());
/// ```
pub struct Timeline {
    tick: u64,
    newest: World,
    /// Worlds with their ticks, ascending; never empty.
    checkpoints: VecDeque<(u64, World)>,
    /// Those of the ticks after the oldest checkpoint.
    inputs: VecDeque<Input>,
}

/// Ticks between the worlds that a [`Timeline`] keeps: so many at most are simulated again to look back.
pub const CHECKPOINT_TICKS: u64 = 16;

impl Timeline {
    /// Starts with a world. `tick` is the number by which the world's present is called here: the world's own ticks
    /// start again with a reset, a timeline's do not.
    #[must_use]
    pub fn new(tick: u64, world: World) -> Self {
        Self {
            tick,
            checkpoints: VecDeque::from([(tick, world.clone())]),
            newest: world,
            inputs: VecDeque::new(),
        }
    }

    /// The newest tick.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// The world after the newest tick.
    #[must_use]
    pub const fn newest(&self) -> &World {
        &self.newest
    }

    /// The oldest tick that [`at`](Self::at) gives.
    #[must_use]
    pub fn oldest(&self) -> u64 {
        self.checkpoints[0].0
    }

    /// Worlds in memory.
    #[must_use]
    pub fn worlds(&self) -> usize {
        self.checkpoints.len() + 1
    }

    /// Simulates the next tick.
    pub fn advance(&mut self, input: Input) {
        self.newest.advance(input);
        self.tick += 1;
        self.inputs.push_back(input);
        let (newest, _) = self.checkpoints[self.checkpoints.len() - 1];
        if self.tick - newest == CHECKPOINT_TICKS {
            let world = self.newest.clone();
            self.checkpoints.push_back((self.tick, world));
        }
    }

    /// The input of a tick, if the timeline goes back so far.
    #[must_use]
    pub fn input(&self, tick: u64) -> Option<Input> {
        let place = tick.checked_sub(self.oldest() + 1)?;
        self.inputs.get(usize::try_from(place).ok()?).copied()
    }

    /// The world after a tick: none if it is before the [oldest](Self::oldest) or after the newest.
    #[must_use]
    pub fn at(&self, tick: u64) -> Option<World> {
        if tick == self.tick {
            return Some(self.newest.clone());
        }
        if tick > self.tick {
            return None;
        }
        let checkpoints = self.checkpoints.iter().rev();
        let (from, world) = checkpoints.into_iter().find(|&&(from, _)| from <= tick)?;
        let mut world = world.clone();
        for tick in from + 1..=tick {
            world.advance(self.input(tick)?);
        }
        Some(world)
    }

    /// Forgets what is only needed for ticks before this one.
    pub fn forget_before(&mut self, tick: u64) {
        while let Some(&(next, _)) = self.checkpoints.get(1)
            && next <= tick
        {
            let forgotten = next - self.oldest();
            self.checkpoints.pop_front();
            self.inputs.drain(..forgotten as usize);
        }
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline")
            .field("tick", &self.tick)
            .field("oldest", &self.oldest())
            .finish_non_exhaustive()
    }
}
