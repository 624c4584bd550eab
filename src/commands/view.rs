//! `cubewire view`: shows the replica of a server's game.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use clap::Args;
use cubewire_bevy::udp::UdpConnection;
use cubewire_cli::whole_number;
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;
use serde_json::{Value, json};

use super::args::{LaneArgs, WindowlessArgs};
use super::figures;
use super::security::SecurityArgs;
use super::warning::warn;
use super::window::{FrameArgs, opens_window};
use crate::controls;
use crate::game::Failure;
use crate::game::desktop::peers;
use crate::game::desktop::real_time::{self, RealTimePlugin};
use crate::game::desktop::viewer::HeadlessViewer;
use crate::game::window::WindowSettings;
use crate::replication::{
    self, Accounting, ConnectionStatus, LaneMeter, LaneSettings, LinkSettings, PlayAt, ServerLink,
};
use crate::transport::udp::{UdpViewer, ViewerSettings};
use crate::view::PaneContent;

#[derive(Clone, Debug, Args)]
#[command(
    after_help = format!("Keys in the window:\n{}", controls::help(false)),
    mut_arg("network", |arg| arg.help(format!(
        "Simulated network to start with, in addition to the real one: {} [default: perfect]",
        replication::network_names()
    ))),
    mut_arg("budget", |arg| arg.help(
        "Maximum bandwidth on the wire to start with, 16 to 1024 kbps [default: limited only by the connection]"
    )),
)]
pub struct ViewArgs {
    /// Server address, such as 192.168.1.5:7000 or localhost:7000. All addresses of a name are tried in order
    #[arg(long, value_name = "ADDR")]
    pub(super) connect: String,
    #[command(flatten)]
    pub(super) security: SecurityArgs,
    /// Close the connection after this many seconds without traffic
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = whole_number(1..=ViewerSettings::MAX_TIMEOUT.as_secs()))]
    pub(super) timeout: u64,
    /// Watch only, and leave the seats of players to others
    #[arg(long, conflicts_with = "play_at")]
    pub(super) watch: bool,
    #[command(flatten)]
    pub(super) windowless: WindowlessArgs,
    #[command(flatten)]
    pub(super) lane: LaneArgs,
    #[command(flatten)]
    pub(super) frame: FrameArgs,
}

/// Figures since the start of the connection. `asked` has the stages that were requested.
fn figures_of(viewer: Option<u64>, meter: &LaneMeter, asked: Stages) -> Value {
    let totals = meter.totals();
    json!({
        // As text, because JSON numbers are exact only up to 53 bits. Null if the connection was lost.
        "viewer": viewer.map(|id| id.to_string()),
        "snapshots": meter.received,
        "duplicates": meter.duplicates,
        "refused": meter.refused,
        // Reason for requesting other stages than --rung has, if it did.
        "fallback": replication::fallback(asked, meter.fallback),
        "stalls": totals.stalls,
        "stalled_seconds": totals.starved_ticks as f64 / f64::from(TICKS_PER_SECOND),
        "article_kbps": totals.kbps(Accounting::PayloadAndUdp),
        "wire_kbps": totals.kbps(Accounting::OnTheWire),
    })
}

impl ViewArgs {
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let mut lane = LaneSettings { link: LinkSettings::PERFECT, ..LaneSettings::default() };
        self.lane.apply(&mut lane)?;
        warn(&PaneContent::Simulation, &lane, None, &[]);
        let settings = self.frame.settings()?;
        let viewer = UdpViewer::new(ViewerSettings {
            server: resolve(&self.connect)?,
            key: self.security.key()?,
            timeout: Duration::from_secs(self.timeout),
        })?;
        if !opens_window(self.windowless.is_windowless(), out)? {
            // There are no keys.
            lane.playout.play_at = PlayAt::Simulation;
            return self.view(viewer, lane, out);
        }
        if !self.watch && self.lane.play_at.is_none() {
            lane.playout.play_at = PlayAt::Client;
        }
        let settings = WindowSettings { right: lane, ..settings };
        peers::view(&settings, viewer)
    }

    /// Receives without a window until the time is up, a signal arrives or the connection is lost. Prints no figures to
    /// `out` if there never was a connection.
    fn view(
        &self,
        viewer: UdpViewer,
        lane: LaneSettings,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let stages = lane.sender.stages;
        let mut viewer = HeadlessViewer::with_plugins(viewer, lane, RealTimePlugin);
        self.windowless.start_digest(&mut viewer.app)?;
        let mut was_connected = false;
        let goes_on = |app: &App| {
            let Some(connection) = app.world().get_resource::<ServerLink>() else { return true };
            if connection.status == ConnectionStatus::Connected && !was_connected {
                was_connected = true;
                let number = connection.id.unwrap_or_default();
                // On standard error, because standard output has the figures. Ignore a closed standard error.
                let _ =
                    writeln!(io::stderr(), "connected to {} as viewer {number}", connection.server);
            }
            !matches!(connection.status, ConnectionStatus::Lost(_))
        };
        real_time::play(&mut viewer.app, self.frame.seconds, goes_on);
        if !was_connected {
            let connection = viewer.connection();
            let why = match connection.status {
                ConnectionStatus::Lost(why) => why,
                ConnectionStatus::Connecting | ConnectionStatus::Connected => {
                    let world = viewer.app.world_mut();
                    let mut connections = world.query::<&UdpConnection>();
                    connections.single(world)?.no_answer()
                }
            };
            return Err(format!("never connected: {why}").into());
        }
        self.windowless.finish_digest(&mut viewer.app)?;
        let connection = viewer.connection();
        let viewed = figures_of(connection.id, viewer.meter(), stages);
        figures::print(&viewed, self.windowless.json, out)?;
        match connection.status {
            ConnectionStatus::Lost(why) => Err(why.into()),
            ConnectionStatus::Connecting | ConnectionStatus::Connected => Ok(()),
        }
    }
}

/// Resolves a host name and port to at least one address.
fn resolve(given: &str) -> Result<Vec<SocketAddr>, Failure> {
    let found = match cubewire_bevy::udp::resolve(given) {
        Ok(addresses) if addresses.is_empty() => Err("the name has no address".to_owned()),
        Ok(addresses) => Ok(addresses),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err("not a host and port, for example 192.168.1.5:7000".to_owned())
        }
        Err(error) => Err(error.to_string()),
    };
    Ok(found.map_err(|reason| format!("--connect: {given}: {reason}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{Sample, sample};

    #[test]
    fn the_figures_are_means_of_the_whole_connection() {
        // Half a minute with a packet of 250 bytes per tick, and a silent second.
        let samples = (1..=1800).map(|tick| sample(tick, 222));
        let silent = (1801..=1860).map(|tick| Sample { tick, ..Sample::default() });
        let meter = LaneMeter::from_samples(samples.chain(silent));
        assert_eq!(meter.kbps(Accounting::PayloadAndUdp), 0.0);
        let stages = LaneSettings::default().sender.stages;
        let viewed = figures_of(None, &meter, stages);
        let (kbps, wanted) = (viewed["article_kbps"].as_f64().unwrap(), 120.0 * 30.0 / 31.0);
        assert!((kbps - wanted).abs() < 1e-9, "{kbps}");
    }
}
