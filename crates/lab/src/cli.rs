//! The command line.

mod record;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use cubewire_cli::whole_number;
use cubewire_codec::ladder::{self, Rung};
use cubewire_protocol::Urgency;

pub(crate) use self::record::{RecordArgs, RecordOptions, RecordScene};
use crate::path::Path;

/// Measures the codec on recordings of the cube scene and others.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Encode and decode every frame, and print sizes and times for each rung
    Walkoff(WalkoffArgs),
    /// Play a recording within byte budgets, and print the error of the displayed positions
    Budget(BudgetArgs),
    /// Print statistics of the differences between frames and baselines, and their size
    Stats {
        /// Recording, `.bin` or `.bin.zst`
        file: PathBuf,
    },
    /// Simulate a scene from a seed and record it
    Record(RecordArgs),
    /// Train a model for arithmetic coding
    Train(TrainArgs),
    /// Measure arithmetic coding without each of its contexts and candidate predictions
    Ablate(AblateArgs),
    /// Generate the figures in the documents
    Figures(FiguresArgs),
}

#[derive(Debug, Args)]
#[command(after_help = walkoff_notes())]
pub(crate) struct WalkoffArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Names of rungs, separated by commas, or `all`
    #[arg(long, default_value = ALL)]
    pub(crate) codec: Codecs,
    /// Also print the mean number of bytes for each kind of content
    #[arg(long)]
    pub(crate) kinds: bool,
    /// Also print the median times to encode and to decode a packet
    #[arg(long)]
    pub(crate) times: bool,
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
    /// Measure even if the model was trained on this recording
    #[arg(long)]
    pub(crate) allow_trained: bool,
}

#[derive(Debug, Args)]
#[command(after_help = BUDGET_NOTES)]
pub(crate) struct BudgetArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Names of rungs, separated by commas
    #[arg(long, default_value = "predicted,changed-flags")]
    pub(crate) codec: Codecs,
    /// Budgets in kilobits a second, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "256,128,64,32,20", value_parser = whole_number(16..=100_000_u32))]
    pub(crate) kbps: Vec<u32>,
    /// Also send a complete packet every FRAMES frames, without a budget
    #[arg(long, value_name = "FRAMES", value_parser = whole_number(1..=60_u16))]
    pub(crate) every: Option<u16>,
    /// Number of frames at the start that are played but not measured
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = whole_number(0..=usize::MAX))]
    pub(crate) skip: usize,
    /// Priority of a body in partial packets: `waiting` uses the time since it was sent, `error` also the error at
    /// the receiver, `error-per-bit` also the size in bits
    #[arg(long, default_value = "error-per-bit", value_parser = urgency)]
    pub(crate) urgency: Urgency,
    #[command(flatten)]
    pub(crate) link: Path,
}

fn urgency(name: &str) -> Result<Urgency, String> {
    match name {
        "waiting" => Ok(Urgency::Waiting),
        "error" => Ok(Urgency::Error),
        "error-per-bit" => Ok(Urgency::ErrorPerBit),
        _ => Err(format!("{name} is not waiting, error or error-per-bit")),
    }
}

const BUDGET_NOTES: &str = "\
Prints one row for each rung and budget with partial packets, and one with complete packets. A partial packet
contains the most urgent bodies if not all bodies fit. Complete packets are sent as often as the budget allows. The
size of a packet includes 28 bytes of IPv4 and UDP headers. The error is the distance between the displayed position
and the recorded position at the displayed tick. Its mean is over the bodies that moved in the second before. WaitHistory
are in frames. The playout delay adapts.";

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

/// Rungs to measure.
#[derive(Clone, Debug)]
pub(crate) struct Codecs {
    pub(crate) rungs: Vec<Rung>,
    /// Whether the argument was `all`.
    pub(crate) are_all: bool,
}

const ALL: &str = "all";

/// Returns all rungs except `simulated`, which needs inputs and forces that a recording does not contain.
fn measurable() -> impl Iterator<Item = Rung> {
    ladder::all().filter(|rung| *rung != ladder::SIMULATED)
}

impl FromStr for Codecs {
    type Err = String;

    /// Parses names of rungs, separated by commas, or `all`.
    fn from_str(names: &str) -> Result<Self, String> {
        if names == ALL {
            return Ok(Self {
                rungs: measurable().collect(),
                are_all: true,
            });
        }
        let rung = |name: &str| {
            let found = measurable().find(|rung| rung.name == name);
            found.ok_or_else(|| {
                let all: Vec<_> = measurable().map(|rung| rung.name).collect();
                let all = all.join(",");
                format!(
                    "{name} is not a rung that can be measured; use `{ALL}`, or names from {all}"
                )
            })
        };
        Ok(Self {
            rungs: names.split(',').map(rung).collect::<Result<_, _>>()?,
            are_all: false,
        })
    }
}

/// Returns the text at the end of `walkoff --help`.
fn walkoff_notes() -> String {
    let rungs: String = measurable()
        .map(|rung| {
            let mark = if rung.stages.delta.is_arithmetic() {
                " *"
            } else {
                ""
            };
            format!("\n  {:<22}{}{mark}", rung.name, rung.summary)
        })
        .collect();
    format!(
        "\
Prints for each rung the mean size of a packet in whole bytes, with and without its header, the
bandwidth in kbit/s at 60 packets per second, how many packets arrived, and how many of these decoded
to the exact frame. Some scenes do not support all rungs; `all` selects the supported ones.

Rungs:{rungs}

* uses a trained model, and is not measured on recordings that the model was trained on. `simulated` cannot be
measured, because a recording does not contain the inputs and forces that moved its cubes"
    )
}
