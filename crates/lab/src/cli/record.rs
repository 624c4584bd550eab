//! What `record` is told.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cubewire_cli::whole_number;

use crate::scenes::Play;

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The scene
    #[command(subcommand)]
    pub(crate) scene: RecordScene,
}

/// The scenes that can be recorded.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordScene {
    /// 2000 slots of balls, boxes and capsules, which walkers push and blasts throw about
    Arena {
        /// How long what was pushed moves on
        #[arg(long)]
        play: Play,
        #[command(flatten)]
        options: RecordOptions,
    },
    /// 250 asteroids that collide in a sphere without gravity, 30 frames a second: the scene of the Unity Network
    /// Transform Benchmark, rebuilt from its description
    Asteroids {
        /// Seconds of the scene before the first frame
        #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = whole_number(0..=u16::MAX))]
        after: u16,
        #[command(flatten)]
        options: RecordOptions,
    },
    /// 40 slots of ships and drones in space
    Ships {
        #[command(flatten)]
        options: RecordOptions,
    },
}

/// What is recorded of a scene.
#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// Random seed, from which the same recording follows
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Number of frames, at 60 a second if the scene says no other
    #[arg(long, value_name = "N", value_parser = whole_number(7..=100_000_u32))]
    pub(crate) frames: u32,
    /// Record poses and lives only
    #[arg(long)]
    pub(crate) without_fields: bool,
    /// File to write, compressed if its name ends in `.zst`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
