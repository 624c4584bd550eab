//! Presets for the amount of movement in the arena.

use clap::ValueEnum;

/// Amount of movement in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Play {
    /// Bodies keep rolling: about a third is awake
    Rolling,
    /// Bodies soon come to rest: about a tenth is awake
    Damped,
}

/// Parameters of a preset.
#[derive(Clone, Copy)]
pub(super) struct Tuning {
    /// Damping of the linear and angular velocity, per second.
    pub(super) linear_damping: f32,
    pub(super) angular_damping: f32,
    pub(super) friction: f32,
    /// Time without movement after which a body falls asleep, seconds.
    pub(super) rest_seconds: f32,
    /// Number of awake bodies below which blasts occur.
    pub(super) calm: usize,
    /// Mean number of ticks between two blasts.
    pub(super) blast_ticks: u32,
    /// Speed of walkers, metres per second.
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
