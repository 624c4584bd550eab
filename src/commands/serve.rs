//! `cubewire serve`: plays the game, and serves viewers in other processes.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use super::figures;
use super::security::SecurityArgs;
use super::window::{WindowArgs, opens_window};
use crate::files::FileError;
use crate::game::Failure;
use crate::game::desktop::peers;
use crate::game::desktop::real_time::{self, RealTimePlugin, finish_digest};
use crate::game::headless::HeadlessGame;
use crate::recording::Script;
use crate::replication::{Digest, EncodeBudget, Rebuilds, SocketTraffic};
use crate::transport::UdpServerPlugin;
use crate::transport::udp::{Security, ServerSettings, UdpServer, ViewerBudget};

/// `cubewire serve`
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Address to listen at, such as 192.168.1.5:7000
    #[arg(long, value_name = "ADDR")]
    pub(super) bind: SocketAddr,
    /// Addresses that viewers connect to, separated by commas [default: that of --bind]
    #[arg(long, value_name = "ADDRS", value_delimiter = ',')]
    pub(super) public: Vec<SocketAddr>,
    #[command(flatten)]
    pub(super) security: SecurityArgs,
    /// Maximum number of connected viewers, up to 64; each takes up to 12 MB
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = RangedU64ValueParser::<usize>::new().range(1..=ServerSettings::MAX_VIEWERS as u64), allow_hyphen_values = true)]
    pub(super) viewers: usize,
    /// Run without a window
    #[arg(long)]
    pub(super) headless: bool,
    /// Write a CSV file at the end with a hash of every snapshot that was sent; needs --headless
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub(super) digest: Option<PathBuf>,
    /// Print the figures at the end as JSON; needs --headless
    #[arg(long, requires = "headless")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) window: WindowArgs,
}

/// Figures of a run without a window.
#[derive(Clone, Debug, Serialize)]
struct Served {
    /// Ticks played.
    ticks: u64,
    /// Viewers that were admitted.
    viewers: u64,
    /// How often the scene was rebuilt, so that viewers could be sent its state.
    rebuilds: u64,
    /// The most of them in a minute.
    most_rebuilds_in_a_minute: usize,
    traffic: SocketTraffic,
    /// Of the viewers that are connected at the end.
    budgets: Vec<ViewerBudget>,
}

impl ServeArgs {
    /// Plays and serves, in a window if there is a display.
    ///
    /// # Errors
    /// What went wrong, as one line.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let security = self.security.security()?;
        let server = UdpServer::new(&ServerSettings {
            bind: self.bind,
            public: self.public.clone(),
            security,
            max_viewers: self.viewers,
        })?;
        let address = server.address();
        let settings = self.window.settings()?;
        let opens_window = opens_window(self.headless, out)?;
        let clients = match security {
            Security::Key(_) => "clients with the key",
            Security::Insecure => "clients on this machine",
        };
        writeln!(
            out,
            "Serving up to {} {clients} at {address}. Ctrl-C ends it.",
            self.viewers
        )?;
        out.flush()?;
        if opens_window {
            return peers::serve(settings, server);
        }
        self.serve(settings.script, server, settings.seconds, out)
    }

    /// Without a window.
    fn serve(
        &self,
        script: Option<Script>,
        server: UdpServer,
        seconds: Option<f64>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let mut game = HeadlessGame::with_plugins(script, (UdpServerPlugin, RealTimePlugin));
        game.app
            .insert_resource(server)
            .init_resource::<EncodeBudget>();
        if let Some(path) = &self.digest {
            let digest = Digest::create(path).map_err(FileError::at(path))?;
            game.app.insert_resource(digest);
        }
        real_time::play(&mut game.app, seconds, |_| true);
        if let Some(path) = &self.digest {
            finish_digest(game.app.world_mut()).map_err(FileError::at(path))?;
        }
        let server = game.app.world().resource::<UdpServer>();
        let rebuilds = game.app.world().resource::<Rebuilds>();
        let served = Served {
            ticks: game.cubes().tick(),
            viewers: server.admitted(),
            rebuilds: rebuilds.total(),
            most_rebuilds_in_a_minute: rebuilds.most_in_a_minute(),
            traffic: server.traffic(),
            budgets: server.budgets().collect(),
        };
        Ok(figures::print(&served, self.json, out)?)
    }
}
