//! Arguments of `record`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cubewire_cli::whole_number;

use crate::scenes::Play;

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Scene to record
    #[command(subcommand)]
    pub(crate) scene: RecordScene,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordScene {
    /// 2000 slots for balls, boxes and capsules that are pushed by walkers and thrown by blasts
    Arena {
        /// How long pushed bodies keep moving
        #[arg(long)]
        play: Play,
        #[command(flatten)]
        options: RecordOptions,
    },
    /// 250 asteroids that collide in a sphere without gravity, at 30 frames a second: the scene of the Unity Network
    /// Transform Benchmark, rebuilt from its description
    Asteroids {
        #[command(flatten)]
        options: RecordOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// Random seed; the same seed gives the same recording
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Number of frames, at 60 a second unless the scene has another rate
    #[arg(long, value_name = "N", value_parser = whole_number(7..=100_000_u32))]
    pub(crate) frames: u32,
    /// Record poses, kinds and generations only
    #[arg(long)]
    pub(crate) without_fields: bool,
    /// File to write, compressed if its name ends in `.zst`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
