//! `cubewire serve` and `cubewire view`.

use std::env;
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use cubewire_link::Conditions;

use super::{CommandError, LaneArgs, WindowArgs, check_folder, check_seconds, size};
use crate::display;
use crate::headless;
use crate::panel::PanelPlugin;
use crate::replication::{
    Half, Key, KeyError, LaneSettings, Security, ServerSettings, UdpServer, UdpViewer,
    ViewerSettings,
};
use crate::window::{self, Role, WindowSettings};

/// Who may connect.
#[derive(Clone, Debug, Args)]
pub struct SecurityArgs {
    /// File with the key, as `cubewire key` prints it [default: the environment's `CUBEWIRE_KEY`]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// No key: everybody on this machine may connect, and nobody else
    #[arg(long, conflicts_with = "key_file")]
    pub insecure: bool,
}

/// `cubewire serve`
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Address to listen at, such as 192.168.1.5:7000
    #[arg(long, value_name = "ADDR")]
    pub bind: SocketAddr,
    /// Addresses that viewers dial, with commas between them [default: that of --bind]
    #[arg(long, value_name = "ADDRS", value_delimiter = ',')]
    pub public: Vec<SocketAddr>,
    /// Who may connect.
    #[command(flatten)]
    pub security: SecurityArgs,
    /// Viewers at the same time, at most
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub viewers: usize,
    /// Open no window
    #[arg(long)]
    pub headless: bool,
    /// At the end, write a hash of every snapshot that was sent to this file (CSV); without a window
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub digest: Option<PathBuf>,
    /// The game.
    #[command(flatten)]
    pub window: WindowArgs,
}

/// `cubewire view`
#[derive(Clone, Debug, Args)]
pub struct ViewArgs {
    /// The server, such as 192.168.1.5:7000
    #[arg(long, value_name = "ADDR")]
    pub connect: String,
    /// Who may connect.
    #[command(flatten)]
    pub security: SecurityArgs,
    /// Seconds of silence after which the server is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub timeout: u64,
    /// Open no window
    #[arg(long)]
    pub headless: bool,
    /// At the end, write a hash of every snapshot that was decoded to this file (CSV); without a
    /// window
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub digest: Option<PathBuf>,
    /// What to ask for, and what to add to the real network.
    #[command(flatten)]
    pub lane: LaneArgs,
    /// Stop after so many seconds
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Folder for what F10 records
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub recordings: PathBuf,
    /// Size of the window
    #[arg(long, value_name = "WxH", default_value = "1440x900")]
    pub size: String,
}

/// There is no key to connect with.
#[derive(Debug, thiserror::Error)]
pub enum NoKey {
    /// None was given.
    #[error(
        "a key is needed: name its file with --key-file or put it into {KEY_VARIABLE} (`cubewire \
         key` makes one); or ask for --insecure, which is for this machine alone"
    )]
    Missing,
    /// The file cannot be read.
    #[error("--key-file: {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What was given is none.
    #[error("{place}: {source}")]
    NotAKey {
        /// Where it was.
        place: String,
        /// Why.
        source: KeyError,
    },
}

/// Holds the key where no file does.
const KEY_VARIABLE: &str = "CUBEWIRE_KEY";

impl SecurityArgs {
    fn security(&self) -> Result<Security, NoKey> {
        if self.insecure {
            return Ok(Security::Insecure);
        }
        let (place, text) = match &self.key_file {
            Some(path) => (path.display().to_string(), read_key(path)?),
            None => {
                let text = env::var(KEY_VARIABLE).map_err(|_| NoKey::Missing)?;
                (KEY_VARIABLE.to_owned(), text)
            }
        };
        let key: Key = text
            .parse()
            .map_err(|source| NoKey::NotAKey { place, source })?;
        Ok(Security::Key(key))
    }
}

fn read_key(path: &Path) -> Result<String, NoKey> {
    fs::read_to_string(path).map_err(|source| NoKey::Unreadable {
        path: path.to_owned(),
        source,
    })
}

impl ServeArgs {
    /// Plays and serves, in a window if there is anything to open one on.
    pub(super) fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        if !(1..=ServerSettings::MAX_VIEWERS).contains(&self.viewers) {
            return Err(CommandError::Number {
                option: "viewers",
                value: self.viewers as f64,
                wanted: "from 1 to 1024",
            });
        }
        let security = self.security.security()?;
        let server = UdpServer::new(&ServerSettings {
            bind: self.bind,
            public: self.public,
            security,
            max_viewers: self.viewers,
        })?;
        let address = server.address();
        let settings = self.window.settings(Role::Serve(Box::new(server)))?;
        let opens_window = opens_window(self.headless, out)?;
        let who = match security {
            Security::Key(_) => "whoever has the key",
            Security::Insecure => "whoever is on this machine",
        };
        writeln!(
            out,
            "Serving at {address}: to {who}, up to {}. Ctrl-C ends it.",
            self.viewers
        )?;
        out.flush()?;
        if opens_window {
            return window::run(settings);
        }
        let Role::Serve(server) = settings.role else {
            unreachable!("it was made so");
        };
        let digest = self.digest.as_deref();
        headless::serve::run(settings.script, *server, settings.seconds, digest, out)
    }
}

impl ViewArgs {
    /// Shows the replica, in a window if there is anything to open one on.
    pub(super) fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        let longest = ViewerSettings::LONGEST_TIMEOUT.as_secs();
        if !(1..=longest).contains(&self.timeout) {
            return Err(CommandError::Number {
                option: "timeout",
                value: self.timeout as f64,
                wanted: "from 1 to 30",
            });
        }
        let seconds = check_seconds(self.seconds)?;
        let size = size(&self.size)?;
        let mut lane = LaneSettings {
            link: Conditions::PERFECT,
            ..LaneSettings::default()
        };
        self.lane.apply(&mut lane)?;
        check_folder(&self.recordings)?;
        let viewer = UdpViewer::new(ViewerSettings {
            server: resolve(&self.connect)?,
            security: self.security.security()?,
            timeout: Duration::from_secs(self.timeout),
        })?;
        if !opens_window(self.headless, out)? {
            return headless::view::run(viewer, lane, seconds, self.digest.as_deref(), out);
        }
        window::run(WindowSettings {
            role: Role::View(Box::new(viewer)),
            left: Half::Simulation,
            right: lane,
            script: None,
            recordings: self.recordings,
            seconds,
            size,
            report: None,
            panel: PanelPlugin::default_settings_path(),
        })
    }
}

/// Whether there is a window to be; says so if there can be none.
pub(super) fn opens_window(headless: bool, out: &mut impl Write) -> Result<bool, CommandError> {
    if headless {
        return Ok(false);
    }
    let missing = display::missing();
    if let Some(missing) = missing {
        writeln!(out, "Cubewire opens no window, because {missing}.")?;
    }
    Ok(missing.is_none())
}

/// The first address that a name and a port stand for.
fn resolve(given: &str) -> Result<SocketAddr, CommandError> {
    let unknown = |reason: String| CommandError::Address {
        option: "connect",
        given: given.to_owned(),
        reason,
    };
    let mut addresses = given
        .to_socket_addrs()
        .map_err(|error| unknown(error.to_string()))?;
    addresses
        .next()
        .ok_or_else(|| unknown("no address is known by that name".to_owned()))
}
