//! `cubewire serve`: plays the game and serves viewers in other processes.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use cubewire_bevy::SocketTraffic;
use cubewire_bevy::udp::{Key, UdpHost, UdpServer};
use cubewire_cli::whole_number;
use serde::Serialize;

use super::args::address;
use super::figures;
use super::security::SecurityArgs;
use super::warning::of_replaced;
use super::window::{WindowArgs, opens_window};
use crate::files::FileError;
use crate::game::Failure;
use crate::game::desktop::peers;
use crate::game::desktop::real_time::{self, RealTimePlugin, finish_digest};
use crate::game::headless::HeadlessGame;
use crate::recording::Script;
use crate::replication::{Digest, EncodeBudget, Rebuilds};
use crate::transport::udp::{MAX_VIEWERS, UdpServerPlugin, ViewerBudget, Viewers};

/// Arguments of `cubewire serve`.
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
    /// Run without a window
    #[arg(long)]
    pub(super) headless: bool,
    /// Write a CSV file at the end with a hash of every sent snapshot. Replaces an existing file. Needs --headless
    #[arg(long, value_name = "FILE", requires = "headless", hide = true)]
    pub(super) digest: Option<PathBuf>,
    /// Print the figures at the end as JSON, without a window
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) window: WindowArgs,
}

/// Figures of a run without a window.
#[derive(Clone, Debug, Serialize)]
struct Served {
    /// Number of ticks played.
    ticks: u64,
    /// Number of admitted viewers.
    viewers: u64,
    /// How often the scene was rebuilt to send its state to viewers.
    rebuilds: u64,
    /// Highest number of rebuilds in a minute.
    most_rebuilds_in_a_minute: usize,
    traffic: SocketTraffic,
    /// Budgets of the viewers that are connected at the end.
    budgets: Vec<ViewerBudget>,
}

impl ServeArgs {
    /// Plays and serves, in a window if there is a display.
    ///
    /// # Errors
    /// The failure, as one line.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let key = self.security.key()?;
        let server = self.listen(key)?;
        let address = SocketAddr::new(self.bind.ip(), server.address().port());
        let settings = self.window.settings()?;
        let opens_window = opens_window(self.headless || self.json, out)?;
        let viewers = match key {
            Key::LOOPBACK => "viewers on this machine",
            _ => "viewers with the key",
        };
        writeln!(
            out,
            "Serving up to {} {viewers} at {address}. Press Ctrl-C to stop.",
            self.viewers
        )?;
        out.flush()?;
        if opens_window {
            return peers::serve(settings, server);
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

    /// Serves without a window.
    fn serve(
        &self,
        script: Option<Script>,
        server: UdpServer,
        seconds: Option<f64>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let plugins = (UdpServerPlugin(server), RealTimePlugin);
        let mut game = HeadlessGame::with_plugins(script, plugins);
        game.app.init_resource::<EncodeBudget>();
        if let Some(path) = &self.digest {
            of_replaced(path);
            let digest = Digest::create(path).map_err(FileError::at(path))?;
            game.app.insert_resource(digest);
        }
        real_time::play(&mut game.app, seconds, |_| true);
        if let Some(path) = &self.digest {
            finish_digest(game.app.world_mut()).map_err(FileError::at(path))?;
        }
        let world = game.app.world();
        let (viewers, rebuilds) = (world.resource::<Viewers>(), world.resource::<Rebuilds>());
        let served = Served {
            ticks: game.cubes().tick(),
            viewers: viewers.admitted,
            rebuilds: rebuilds.total(),
            most_rebuilds_in_a_minute: rebuilds.most_in_a_minute(),
            traffic: world.resource::<UdpHost>().traffic(),
            budgets: viewers.budgets.clone(),
        };
        Ok(figures::print(&served, self.json, out)?)
    }
}
