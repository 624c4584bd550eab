//! `cubewire serve`: plays the game and serves viewers in other processes.

use std::io::Write;
use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use cubewire_bevy::EncodeLimit;
use cubewire_bevy::udp::{Key, UdpHost, UdpServer};
use cubewire_cli::whole_number;
use cubewire_scene::MAX_PLAYERS;
use serde_json::json;

use super::args::{WindowlessArgs, address};
use super::figures;
use super::security::SecurityArgs;
use super::window::{WindowArgs, opens_window};
use crate::game::Failure;
use crate::game::desktop::peers;
use crate::game::desktop::real_time::{self, RealTimePlugin};
use crate::game::headless::HeadlessGame;
use crate::recording::Script;
use crate::replication::{Admitted, Rebuilds, Seats};
use crate::transport::udp::{MAX_VIEWERS, UdpServerPlugin, ViewerBudgets};

#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Address to listen at, such as 192.168.1.5:7000
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(super) bind: SocketAddr,
    /// Addresses that viewers connect to, separated by commas [default: the address of --bind]
    #[arg(long, value_name = "ADDRS", value_delimiter = ',', value_parser = address)]
    pub(super) public: Vec<SocketAddr>,
    #[command(flatten)]
    pub(super) security: SecurityArgs,
    /// Maximum number of connected viewers, up to 64. Each takes up to 20 MB
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = whole_number(1..=MAX_VIEWERS))]
    pub(super) viewers: usize,
    /// Number of players, up to 4. The first one plays in the window or is the script's, the others are viewers. Without either,
    /// all are viewers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_number(1..=MAX_PLAYERS))]
    pub(super) players: usize,
    /// Whether to rebuild the scene for viewers on the rung `simulated`, which shifts cubes a little. With `never`, viewers
    /// that join late get `predicted` until the next reset
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    rebuild: Rebuild,
    #[command(flatten)]
    pub(super) windowless: WindowlessArgs,
    #[command(flatten)]
    pub(super) window: WindowArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Rebuild {
    #[default]
    WhenAsked,
    Never,
}

impl ServeArgs {
    /// Plays and serves, in a window if there is a display.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let key = self.security.key()?;
        let server = self.listen(key)?;
        let mut address = self.bind;
        address.set_port(server.address().port());
        let settings = self.window.settings()?;
        let players = self.players;
        if let Some(script) = &settings.script {
            let (given, is_replay) = (script.players(), script.recorded.is_some());
            if given > players || is_replay && given != players {
                return Err(format!("--players: the script has {given}, not {players}").into());
            }
        }
        let opens_window = opens_window(self.windowless.is_windowless(), out)?;
        let viewers = match key {
            Key::LOOPBACK => "viewers on this machine",
            _ => "viewers with the key",
        };
        let never_rebuilds = self.rebuild == Rebuild::Never;
        writeln!(
            out,
            "Serving up to {} {viewers}{}{} at {address}. Press Ctrl-C to stop.",
            self.viewers,
            match players {
                1 => String::new(),
                players => format!(", {players} players,"),
            },
            if never_rebuilds { ", without rebuilding the scene," } else { "" },
        )?;
        out.flush()?;
        if opens_window {
            return peers::serve(settings, server, players, never_rebuilds);
        }
        self.serve(settings.script, server, settings.seconds, out)
    }

    fn listen(&self, key: Key) -> Result<UdpServer, Failure> {
        let bind = self.bind;
        if self.public.is_empty() && bind.ip().is_unspecified() && key != Key::LOOPBACK {
            // Connect tokens contain the address that they are valid for.
            let advice = "pass the address for viewers with --public";
            return Err(format!("{bind} stands for every address of this machine: {advice}").into());
        }
        let server = UdpServer::listen(bind, key);
        let server = server.map_err(|error| error.to_string())?;
        let public = self.public.iter().copied();
        Ok(public.fold(server.max_clients(self.viewers), UdpServer::public))
    }

    fn serve(
        &self,
        script: Option<Script>,
        server: UdpServer,
        seconds: Option<f64>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let plugins = (UdpServerPlugin(server), RealTimePlugin);
        let seats = Seats::new(self.players, script.as_ref().map_or(0, Script::players));
        let mut game = HeadlessGame::with_players(self.players, script, plugins);
        game.app.insert_resource(seats);
        game.app.init_resource::<EncodeLimit>();
        game.app.world_mut().resource_mut::<Rebuilds>().never = self.rebuild == Rebuild::Never;
        self.windowless.start_digest(&mut game.app)?;
        real_time::play(&mut game.app, seconds, |_| true);
        self.windowless.finish_digest(&mut game.app)?;
        let world = game.app.world();
        let rebuilds = world.resource::<Rebuilds>();
        let served = json!({
            "ticks": game.cubes().tick(),
            "viewers": world.resource::<Admitted>().0,
            // Whether and how often the scene was rebuilt to send its state to viewers.
            "rebuilds_never": rebuilds.never,
            "rebuilds": rebuilds.total,
            "most_rebuilds_in_a_minute": rebuilds.most_in_a_minute,
            "traffic": world.resource::<UdpHost>().traffic(),
            // Budgets of the viewers that are connected at the end.
            "budgets": world.resource::<ViewerBudgets>().0,
        });
        Ok(figures::print(&served, self.windowless.json, out)?)
    }
}
