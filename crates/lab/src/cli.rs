//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cubewire_codec::ladder::{self, Rung};

/// Measures the codec on recordings of the cube scene.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What `walkoff --help` ends with.
const AFTER_WALKOFF: &str = "\
Prints, for each rung, the mean size of a packet in whole bytes, with and without its header, the
thousand bits a second at 60 packets a second, the median times to encode and to decode a packet,
and whether every packet that arrived decoded to the exact frame. If any of --loss, --reorder, --seed
and --rtt-frames is given, also how many packets arrived and how many of them decoded exactly.

The rungs are uncompressed, smallest-three, velocity, at-rest, no-velocity, position, delta, index,
relative-index, relative-position, relative-orientation, changed-flags, predicted-position, and,
beside the ladder, affine, arithmetic and predicted. The last two go by a prior that was trained on
recordings; others than these are to be measured.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Encode and decode every frame, and print sizes and times for each rung
    Walkoff(WalkoffArgs),
    /// Print what changes from a baseline to a frame, and what that costs
    Stats(StatsArgs),
    /// Search for the ranges that encode a field in the fewest bits
    Search(SearchArgs),
    /// Train a prior for arithmetic coding
    Train(TrainArgs),
    /// Print what each context and guess of arithmetic coding is worth: trained and measured without it
    Ablate(AblateArgs),
    /// Write a field of each changed cube as text, one line a cube
    Export(ExportArgs),
}

/// Arguments of `walkoff`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_WALKOFF)]
pub(crate) struct WalkoffArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Rung of the ladder, `affine`, or `all`
    #[arg(long, default_value = "all", value_parser = parse_codecs)]
    pub(crate) codec: Codecs,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Fraction of packets and acks that the link loses [default: 0]
    #[arg(long, value_name = "FRACTION", value_parser = parse_fraction, allow_negative_numbers = true)]
    pub(crate) loss: Option<f64>,
    /// Fraction of packets and acks that arrive one to four frames late [default: 0]
    #[arg(long, value_name = "FRACTION", value_parser = parse_fraction, allow_negative_numbers = true)]
    pub(crate) reorder: Option<f64>,
    /// Seed of the link's accidents [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Frames from sending a packet to having its ack, 1 to 120 [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=120), allow_negative_numbers = true)]
    pub(crate) rtt_frames: Option<u32>,
    /// Prior for arithmetic coding, as `train` writes them [default: the one that the codec comes with]
    #[arg(long, value_name = "FILE")]
    pub(crate) prior: Option<PathBuf>,
    /// Measure even if the prior was trained on this recording
    #[arg(long)]
    pub(crate) allow_trained: bool,
}

/// Arguments of `train`.
#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// Recordings to learn from; what is to be measured must not be among them
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Where to write the prior
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// Arguments of `ablate`.
#[derive(Debug, Args)]
pub(crate) struct AblateArgs {
    /// Recording to measure on
    pub(crate) file: PathBuf,
    /// Recordings to learn from
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) train: Vec<PathBuf>,
    /// Print JSON, a line for each
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// Also draw the distributions as PNG files in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plot: Option<PathBuf>,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Recordings to search on; each counts the same, however long it is
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// What to encode
    #[arg(long)]
    pub(crate) field: SearchField,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..), allow_negative_numbers = true)]
    pub(crate) top: u16,
    /// Measure what was found on another recording too
    #[arg(long, value_name = "FILE")]
    pub(crate) measure: Option<PathBuf>,
}

/// What `search` encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchField {
    /// Components of a changed position
    Position,
    /// Components of a changed orientation
    Orientation,
    /// Distances from one named cube to the next
    Index,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Recording, `.bin` or `.bin.zst`
    pub(crate) file: PathBuf,
    /// What to write
    #[arg(long)]
    pub(crate) field: ExportField,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// What `export` writes.
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

fn parse_codecs(name: &str) -> Result<Codecs, String> {
    if name == "all" {
        return Ok(Codecs(ladder::all().collect()));
    }
    ladder::rung(name)
        .map(|rung| Codecs(vec![rung]))
        .ok_or_else(|| {
            let names: Vec<&str> = ladder::all().map(|rung| rung.name).collect();
            format!("known are all, {}", names.join(", "))
        })
}

fn parse_fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("a fraction lies between 0 and 1".to_owned()),
    }
}
