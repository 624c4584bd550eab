//! Measures other replication libraries next to `cubewire-bevy`, on the same recordings and over the same link.
//!
//! Each library runs its own server and client. They exchange their real packets over an in-memory link with latency
//! and loss. The client's bodies are compared with the recording.

mod acked;
mod apps;
mod engine;
mod engines;
mod scene;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use cubewire_cli::Table;

use self::engine::{Outcome, measure};
use self::scene::Scene;
use self::wire::Conditions;

/// Measures replication libraries on recordings.
#[derive(Debug, Parser)]
struct Cli {
    /// Recordings, `.bin` or `.bin.zst`
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Libraries to measure, each by a part of its name, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', default_value = "", hide_default_value = true)]
    libraries: Vec<String>,
    /// Percentages of lost datagrams, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "0,5")]
    loss: Vec<f64>,
    /// Round-trip time in milliseconds
    #[arg(long, default_value_t = 100)]
    round_trip: u64,
    /// Maximum number of frames of each recording
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    frames: usize,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    for path in &cli.files {
        match Scene::read(path, cli.frames) {
            Ok(scene) => compare(&cli, &scene),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

fn compare(cli: &Cli, scene: &Scene) {
    let mut table = Table::new([
        "library",
        "variant",
        "loss %",
        "bytes a tick",
        "datagrams",
        "wire kB/s",
        "acks",
        "server µs",
        "worst mm",
        "worst °",
        "wrong bodies",
    ]);
    let ticks = cli.round_trip * u64::from(scene.schema.ticks_per_second);
    let round_trip = (ticks + 500) / 1000;
    for loss in &cli.loss {
        let is_chosen = |library: &str| cli.libraries.iter().any(|part| library.contains(part));
        let variants = engines::ALL.iter().copied().flatten();
        for variant in variants.filter(|variant| is_chosen(variant.library)) {
            let loss = loss / 100.0;
            let outcome = measure(scene, variant, Conditions { round_trip, loss });
            if cli.json {
                println!("{}", serde_json::to_string(&outcome).expect("numbers and names"));
            }
            table.row(cells(&outcome));
        }
    }
    if !cli.json {
        let frames = scene.frames.len();
        println!(
            "{}: {frames} ticks, {round_trip} of them to the client and back\n\n{table}\n",
            scene.name
        );
    }
}

fn cells(outcome: &Outcome) -> [String; 11] {
    [
        outcome.library.to_owned(),
        outcome.variant.to_owned(),
        format!("{}", outcome.loss * 100.0),
        format!("{:.1}", outcome.bytes_a_tick),
        format!("{:.1}", outcome.datagrams_a_tick),
        format!("{:.1}", outcome.wire_kilobytes_a_second),
        format!("{:.1}", outcome.ack_bytes_a_tick),
        format!("{:.0}", outcome.server_us),
        format!("{:.1}", outcome.worst_error_mm),
        format!("{:.2}", outcome.worst_error_degrees),
        outcome.wrong_bodies.to_string(),
    ]
}
