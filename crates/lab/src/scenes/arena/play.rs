//! How much moves.

use clap::ValueEnum;

/// How much moves in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Play {
    /// Bodies roll on: about a third of them is awake
    Rolling,
    /// Bodies soon come to rest: about a tenth is awake
    Damped,
}

/// What the plays differ in.
#[derive(Clone, Copy)]
pub(super) struct Tuning {
    /// Deceleration of a body by its velocity, and the same of its rotation, per second.
    pub(super) linear_damping: f32,
    pub(super) angular_damping: f32,
    pub(super) friction: f32,
    /// How long a body is still before it is at rest, seconds.
    pub(super) rest_seconds: f32,
    /// While fewer bodies are awake, there are blasts.
    pub(super) calm: usize,
    /// Ticks from blast to blast then, on average.
    pub(super) blast_ticks: u32,
    /// Metres per second.
    pub(super) walker_speed: f32,
}

impl Play {
    pub(super) const fn tuning(self) -> Tuning {
        match self {
            Self::Rolling => Tuning {
                linear_damping: 0.1,
                angular_damping: 0.3,
                friction: 0.5,
                rest_seconds: 0.3,
                calm: 640,
                blast_ticks: 10,
                walker_speed: 4.0,
            },
            Self::Damped => Tuning {
                linear_damping: 1.0,
                angular_damping: 4.0,
                friction: 0.8,
                rest_seconds: 0.45,
                calm: 212,
                blast_ticks: 20,
                walker_speed: 1.5,
            },
        }
    }
}
