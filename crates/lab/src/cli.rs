//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use cubewire_cli::whole_number;
use cubewire_codec::ladder::{self, Rung};

use crate::path::Path;
use crate::scenes::Play;

/// Measures the codec on recordings of the cube scene and others.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Encode and decode every frame, and print sizes for each rung
    Walkoff(WalkoffArgs),
    /// Simulate a scene from a seed and record it
    #[command(subcommand)]
    Record(RecordScene),
    /// Train a model for arithmetic coding
    Train(TrainArgs),
    /// Measure arithmetic coding without each of its contexts and candidate predictions
    Ablate(AblateArgs),
    /// Generate the figures in the documents
    Figures(FiguresArgs),
}

#[derive(Debug, Args)]
#[command(after_help = WALKOFF_NOTES)]
pub(crate) struct WalkoffArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Rungs, separated by commas [default: all that the scene supports]
    #[arg(long, value_name = "RUNGS", value_delimiter = ',', value_parser = rung())]
    pub(crate) codec: Vec<Rung>,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) link: Path,
    /// Model for arithmetic coding, as written by `train` [default: the codec's built-in model]
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Measure with an untrained model
    #[arg(long, conflicts_with = "model")]
    pub(crate) untrained: bool,
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

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// Recordings to train on, which must not include those that will be measured
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// File to write the model to
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AblateArgs {
    /// Recording to measure
    pub(crate) file: PathBuf,
    /// Recordings to train on
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) train: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = FIGURES_NOTES)]
pub(crate) struct FiguresArgs {
    /// Sections to generate, each named by a part of its heading [default: all that are neither slow nor timed]
    pub(crate) sections: Vec<String>,
    /// Write nothing, and fail if a figure differs
    #[arg(long)]
    pub(crate) check: bool,
}

const FIGURES_NOTES: &str = "\
Runs the commands in crates/lab/FIGURES.md from the root of the repository, writes their output below them and into
the documents that quote it. Uses `cubewire` and `cubewire-lab` from the folder of this program, which
`cargo build --workspace` builds.";

const WALKOFF_NOTES: &str = "\
Prints for each rung the mean size of a packet in whole bytes, with and without its header, the
bandwidth in kbit/s at 60 packets per second, how many packets arrived, and how many of these decoded
to the exact frame.

`arithmetic` and `predicted` use a trained model, and are not measured on recordings that the model was
trained on. `simulated` cannot be measured, because a recording does not contain the inputs and forces
that moved its cubes.";

/// Returns all rungs except `simulated`, which needs inputs and forces that a recording does not contain.
pub(crate) fn measurable() -> impl Iterator<Item = Rung> {
    ladder::all().filter(|rung| *rung != ladder::SIMULATED)
}

/// Returns a parser of the names of rungs that can be measured.
fn rung() -> impl TypedValueParser<Value = Rung> {
    let names = measurable().map(|rung| PossibleValue::new(rung.name).help(rung.summary));
    PossibleValuesParser::new(names).map(|name| {
        let mut rungs = measurable();
        let found = rungs.find(|rung| rung.name == name);
        found.expect("the parser accepts these names only")
    })
}
