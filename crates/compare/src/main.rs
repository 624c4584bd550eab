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

use self::engine::{COLUMNS, measure};
use self::scene::Scene;
use self::wire::Conditions;

/// Measures replication libraries on recordings.
#[derive(Debug, Parser)]
struct Cli {
    /// Recordings, `.bin` or `.bin.zst`
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Percentages of lost datagrams, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "0,5")]
    loss: Vec<f64>,
    /// Round-trip time in milliseconds
    #[arg(long, default_value_t = 100)]
    round_trip: u64,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    for path in &cli.files {
        match Scene::read(path) {
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
    let mut table = Table::new(COLUMNS);
    let ticks = cli.round_trip * u64::from(scene.schema.ticks_per_second);
    let round_trip = (ticks + 500) / 1000;
    for loss in &cli.loss {
        for variant in engines::ALL.iter().copied().flatten() {
            let loss = loss / 100.0;
            table.row(measure(scene, variant, Conditions { round_trip, loss }));
        }
    }
    let (name, frames) = (&scene.name, scene.frames.len());
    println!("{name}: {frames} ticks, {round_trip} of them to the client and back\n\n{table}\n");
}
