//! The clock of a connection.

use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_time::{Fixed, Real, Time, Virtual};

/// The clock that times a connection: its limits and rate at a server, playout at a client. On the entity of the connection.
///
/// Insert it together with the connection, because times of two clocks must not mix.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub enum ConnectionClock {
    /// Real time, which goes on while the game is paused or in slow motion. For every network.
    #[default]
    Real,
    /// The game's time, which pauses and slows down with it. At a client, playout then does so, too.
    Virtual,
    /// The time of the fixed timestep. For a simulated network in one process, where each tick must be the same in each run.
    Fixed,
}

/// The clocks of an app.
#[derive(SystemParam, Debug)]
pub struct Clocks<'w> {
    real: Res<'w, Time<Real>>,
    game: Res<'w, Time<Virtual>>,
    ticks: Res<'w, Time<Fixed>>,
}

impl Clocks<'_> {
    /// Returns the time of a connection.
    pub fn now(&self, clock: &ConnectionClock) -> Duration {
        match clock {
            ConnectionClock::Real => self.real.elapsed(),
            ConnectionClock::Virtual => self.game.elapsed(),
            ConnectionClock::Fixed => self.ticks.elapsed(),
        }
    }
}

/// Returns the time of a connection: zero if the entity has no clock.
pub(crate) fn now(world: &World, connection: Entity) -> Duration {
    match world.get::<ConnectionClock>(connection) {
        Some(ConnectionClock::Real) => world.resource::<Time<Real>>().elapsed(),
        Some(ConnectionClock::Virtual) => world.resource::<Time<Virtual>>().elapsed(),
        Some(ConnectionClock::Fixed) => world.resource::<Time<Fixed>>().elapsed(),
        None => Duration::ZERO,
    }
}
