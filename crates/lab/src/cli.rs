//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cubewire_codec::ladder::{self, Rung};

use crate::path::Path;
use crate::recording::BASELINE_FRAMES;

/// Measures the codec on recordings of the cube scene.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Encode and decode every frame, and print sizes and times for each rung
    Walkoff(WalkoffArgs),
    /// Damage packets at random, decode them, and count what becomes of them on each rung
    Mutate(MutateArgs),
    /// Print how frames differ from their baselines, and the cost of the differences
    Stats(StatsArgs),
    /// Search for the ranges that encode a field in the fewest bits
    Search(SearchArgs),
    /// Train a model for arithmetic coding
    Train(TrainArgs),
    /// Train and measure arithmetic coding without each of its contexts and candidate predictions
    Ablate(AblateArgs),
    /// Write a field of each changed cube as text, one line per cube
    Export(ExportArgs),
}

/// Arguments of `walkoff`.
#[derive(Debug, Args)]
#[command(after_help = walkoff_notes())]
pub(crate) struct WalkoffArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Name of a rung, or `all` but `simulated`
    #[arg(long, default_value = ALL)]
    pub(crate) codec: Codecs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    /// Model for arithmetic coding, as written by `train` [default: the codec's built-in model]
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Measure even if the model was trained on this recording
    #[arg(long)]
    pub(crate) allow_trained: bool,
}

/// Conditions of the simulated link.
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Fraction of packets and acks that the link loses [default: 0]
    #[arg(long, value_name = "FRACTION", value_parser = fraction, allow_negative_numbers = true)]
    loss: Option<f64>,
    /// Fraction of packets and acks that arrive one to four frames late [default: 0]
    #[arg(long, value_name = "FRACTION", value_parser = fraction, allow_negative_numbers = true)]
    reorder: Option<f64>,
    /// Random seed of the simulated link [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Frames from sending a packet to receiving its ack, 1 to 120 [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=120), allow_negative_numbers = true)]
    rtt_frames: Option<u32>,
}

impl LinkArgs {
    /// The link, with defaults for conditions that were not given.
    pub(crate) fn path(&self) -> Path {
        Path {
            loss: self.loss.unwrap_or(0.0),
            reorder: self.reorder.unwrap_or(0.0),
            rtt_frames: self
                .rtt_frames
                .map_or(BASELINE_FRAMES, |frames| frames as usize),
            seed: self.seed.unwrap_or(0),
        }
    }

    /// Whether any condition was given.
    pub(crate) const fn is_given(&self) -> bool {
        self.loss.is_some()
            || self.reorder.is_some()
            || self.rtt_frames.is_some()
            || self.seed.is_some()
    }
}

/// Arguments of `mutate`.
#[derive(Debug, Args)]
#[command(after_help = MUTATE_NOTES)]
pub(crate) struct MutateArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Number of damaged packets, divided among the rungs
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) count: u64,
    /// Name of a rung, or `all` but `simulated`
    #[arg(long, default_value = ALL)]
    pub(crate) codec: Codecs,
    /// Random seed, from which the same counts follow
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(crate) seed: u64,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

const MUTATE_NOTES: &str = "\
Packets of the recording are damaged: bits flipped; bytes overwritten, removed, repeated or inserted; the end
cut off or bytes added to it; two packets joined; the header's numbers or the whole header replaced; all of it
random. The receiver holds the ten snapshots before. Prints for each rung how many packets

  exact      decode to their frame all the same
  wrong      decode to another one
  end        end too early or too late
  header     have stages that do not exist
  reference  name a snapshot that is not held, or one that cannot be their baseline
  value      contain a number that is out of range
  bins       are not in the form that arithmetic coding writes
  check      do not match the 14-bit check of arithmetic coding

and the longest time to decode a damaged packet, next to the longest of an undamaged one.
A decoder that panics ends the command with an error.";

/// Arguments of `train`.
#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// Recordings to train on, which must not include those that will be measured
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// File to write the model to
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// Arguments of `ablate`.
#[derive(Debug, Args)]
pub(crate) struct AblateArgs {
    /// Recording to measure
    pub(crate) file: PathBuf,
    /// Recordings to train on
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) train: Vec<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Recordings to search, with equal weights whatever their lengths
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Field to encode
    #[arg(long)]
    pub(crate) field: SearchField,
    /// Number of rows in each table
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..), allow_negative_numbers = true)]
    pub(crate) top: u16,
    /// Also measure the ranges on another recording
    #[arg(long, value_name = "FILE")]
    pub(crate) measure: Option<PathBuf>,
}

/// The fields that `search` can encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchField {
    /// Components of a changed position
    Position,
    /// Components of a changed orientation
    Orientation,
    /// Distances between the indices of changed cubes
    Index,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Field to write
    #[arg(long)]
    pub(crate) field: ExportField,
    /// File to write to [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// The fields that `export` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportField {
    /// `x,y,z,base_x,base_y,base_z` in 1/512 m
    Position,
    /// `largest,a,b,c,base_largest,base_a,base_b,base_c`
    Orientation,
}

/// One rung or all of them.
#[derive(Clone, Debug)]
pub(crate) struct Codecs(pub(crate) Vec<Rung>);

/// The name of all rungs that do not simulate the scene.
const ALL: &str = "all";

impl FromStr for Codecs {
    type Err = String;

    /// Parses the name of a rung, or `all`.
    fn from_str(name: &str) -> Result<Self, String> {
        if name == ALL {
            // A recording does not say what moved its cubes, and to simulate it takes minutes.
            let rungs = ladder::all().filter(|rung| *rung != ladder::SIMULATED);
            return Ok(Self(rungs.collect()));
        }
        ladder::rung(name)
            .map(|rung| Self(vec![rung]))
            .ok_or_else(|| format!("must be {ALL}, {}", names(ladder::all())))
    }
}

/// The text at the end of `walkoff --help`.
fn walkoff_notes() -> String {
    let rungs: String = ladder::all()
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
bandwidth in kbit/s at 60 packets per second, the median times to encode and to decode a packet, and
whether every packet that arrived decoded to the exact frame. If any of --loss, --reorder, --seed and
--rtt-frames is given, it also prints how many packets arrived and how many of them decoded exactly.

Rungs:{rungs}

* uses a trained model, and is not measured on recordings that the model was trained on. A recording has no keys:
`simulated` assumes those that bring the player where it is, and corrects a world with every packet, in Rapier"
    )
}

fn names(rungs: impl Iterator<Item = Rung>) -> String {
    rungs.map(|rung| rung.name).collect::<Vec<_>>().join(", ")
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("must be a number in 0..=1".to_owned()),
    }
}
