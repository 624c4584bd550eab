//! A game that viewers in other processes watch, without a window of its own.

use std::io::Write;
use std::path::Path;

use bevy::app::Plugins;
use bevy::prelude::*;
use serde::Serialize;

use super::HeadlessGame;
use super::real_time::{self, RealTimePlugin};
use crate::cli::CommandError;
use crate::files::write_whole;
use crate::recording::Script;
use crate::replication::{Digest, LaneSettings, ServingPlugin, Traffic, UdpServer};

/// What came of it.
#[derive(Clone, Debug, Serialize)]
struct Served {
    /// Ticks played.
    ticks: u64,
    /// Viewers that came.
    viewers: u64,
    traffic: Traffic,
}

/// A game without a lane of its own, to which viewers come.
///
/// # Errors
/// If the game cannot be set up.
pub fn game(script: Option<Script>, server: UdpServer) -> Result<HeadlessGame, CommandError> {
    game_with_plugins(script, server, ())
}

fn game_with_plugins<M>(
    script: Option<Script>,
    server: UdpServer,
    plugins: impl Plugins<M>,
) -> Result<HeadlessGame, CommandError> {
    let lane = LaneSettings::default();
    let mut game = HeadlessGame::with_plugins(script, lane, (ServingPlugin, plugins))?;
    let world = game.app.world_mut();
    world.despawn(game.lane);
    world.insert_resource(server);
    Ok(game)
}

/// Plays and serves until `seconds` are over or Ctrl-C is pressed.
///
/// # Errors
/// See [`CommandError`].
pub(crate) fn run(
    script: Option<Script>,
    server: UdpServer,
    seconds: Option<f64>,
    digest: Option<&Path>,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let mut game = game_with_plugins(script, server, RealTimePlugin)?;
    if digest.is_some() {
        game.app.init_resource::<Digest>();
    }
    real_time::play(&mut game.app, seconds, |_| true);
    if let Some(path) = digest {
        write_digest(game.app.world(), path)?;
    }
    let server = game.app.world().resource::<UdpServer>();
    let served = Served {
        ticks: game.cubes().tick(),
        viewers: server.admitted(),
        traffic: server.traffic(),
    };
    let json = serde_json::to_string_pretty(&served).expect("figures are plain data");
    writeln!(out, "{json}")?;
    Ok(())
}

pub(super) fn write_digest(world: &World, path: &Path) -> Result<(), CommandError> {
    let csv = world.resource::<Digest>().csv();
    write_whole(path, csv.as_bytes()).map_err(|source| CommandError::Unwritable {
        path: path.to_owned(),
        source,
    })
}
