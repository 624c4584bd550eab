//! `cubewire viewers`: measures the server's time for each number of viewers.

use std::io::Write;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use clap::Args;
use cubewire_protocol::BaselineChoice;
use serde::Serialize;

use super::CommandError;
use super::args::{PlayArgs, RungArg, number_within};
use super::table::markdown;
use crate::game::desktop::progress;
use crate::game::desktop::viewer::HeadlessViewer;
use crate::game::headless::HeadlessGame;
use crate::recording::Script;
use crate::replication::transport::{End, TransportSystems};
use crate::replication::{
    self, ConnectionStatus, EncodeBudget, LaneChange, LaneCost, LaneSettings, LinkSettings,
    ReplicationSystems, setting,
};
use crate::simulation::SimulationSystems;
use crate::transport::UdpServerPlugin;
use crate::transport::udp::{Security, ServerSettings, UdpServer, UdpViewer, ViewerSettings};

/// `cubewire viewers`
#[derive(Clone, Debug, Args)]
pub struct ViewersArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Maximum number of viewers
    #[arg(long = "max", value_name = "N", default_value_t = 4, value_parser = max_viewers, allow_hyphen_values = true)]
    pub max: usize,
    /// What to send with.
    #[command(flatten)]
    pub rung: RungArg,
    /// Baselines: newest, or the one of several that makes the smallest packet, smallest
    #[arg(long, value_name = "NAME", default_value = "newest", value_parser = setting("baseline"))]
    pub baseline: LaneChange,
}

fn max_viewers(text: &str) -> Result<usize, String> {
    number_within(text, 1..=MAX_VIEWERS)
}

/// The server's work for a number of viewers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// How many.
    pub viewers: usize,
    /// Processing acks, quantizing, encoding, encrypting and handing to the socket: microseconds,
    /// median over the ticks.
    pub us_per_tick: f64,
    /// Encoding a snapshot: microseconds, mean over the viewers and the last ticks.
    pub encode_us: f64,
    /// What goes to the socket, with IP and UDP headers, kilobits a second.
    pub kbps: f64,
}

/// Plays `ticks` ticks for each number of viewers up to `max`, over real sockets on this machine.
///
/// # Errors
/// If the game cannot be set up, or a viewer cannot connect.
pub fn measure(
    script: Option<&Script>,
    lane: &LaneSettings,
    ticks: usize,
    max: usize,
) -> Result<Vec<Cost>, CommandError> {
    let progress = progress(((max + 1) * ticks) as u64, "ticks");
    let costs = (0..=max).map(|viewers| {
        let cost = measure_one(script, lane, ticks, viewers);
        progress.inc(ticks as u64);
        cost
    });
    costs.collect()
}

fn measure_one(
    script: Option<&Script>,
    lane: &LaneSettings,
    ticks: usize,
    viewers: usize,
) -> Result<Cost, CommandError> {
    let server = UdpServer::new(&ServerSettings {
        bind: ([127, 0, 0, 1], 0).into(),
        public: Vec::new(),
        security: Security::Insecure,
        max_viewers: viewers.max(1),
    })?;
    let settings = ViewerSettings {
        server: server.address(),
        security: Security::Insecure,
        timeout: Duration::from_secs(10),
    };
    let mut game = HeadlessGame::with_plugins(script.cloned(), UdpServerPlugin);
    // No limit; but encoding is timed.
    game.app
        .insert_resource(server)
        .insert_resource(EncodeBudget::new(Duration::MAX / 4));
    Stopwatch::install(&mut game.app);
    let mut watching = Vec::new();
    for _ in 0..viewers {
        let viewer = UdpViewer::new(settings.clone())?;
        watching.push(HeadlessViewer::new(viewer, lane.clone()));
    }
    let mut each = Vec::with_capacity(ticks);
    let mut before = UdpServer::traffic(game.app.world().resource());
    for tick in 0..WARM_UP_TICKS + ticks {
        if tick == WARM_UP_TICKS {
            before = UdpServer::traffic(game.app.world().resource());
        }
        game.step();
        let spent = std::mem::take(&mut game.app.world_mut().resource_mut::<Stopwatch>().spent);
        if tick >= WARM_UP_TICKS {
            each.push(spent);
        }
        for viewer in &mut watching {
            viewer.app.update();
        }
    }
    for viewer in &watching {
        let status = viewer.connection().status;
        if status != ConnectionStatus::Connected {
            let why = format!("a viewer is not connected: {status:?}");
            return Err(CommandError::ConnectionLost(why));
        }
    }
    each.sort_unstable();
    let encode = encode_time(game.app.world_mut(), lane.sender.baseline);
    let world = game.app.world();
    let sent = UdpServer::traffic(world.resource()).sent_bytes - before.sent_bytes;
    Ok(Cost {
        viewers,
        us_per_tick: each[ticks / 2].as_secs_f64() * 1e6,
        encode_us: encode.as_secs_f64() * 1e6,
        kbps: replication::kbps(sent as usize, ticks),
    })
}

/// Mean over the viewers; zero without any.
fn encode_time(world: &mut World, choice: BaselineChoice) -> Duration {
    let mut lanes = world.query::<&LaneCost>();
    let costs: Vec<_> = lanes
        .iter(world)
        .filter_map(|cost| cost.of(choice))
        .collect();
    costs.iter().sum::<Duration>() / costs.len().max(1) as u32
}

/// Ticks in which viewers connect, which are not measured.
const WARM_UP_TICKS: usize = 60;

/// Runs while viewers are served.
#[derive(Resource, Debug, Default)]
struct Stopwatch {
    started: Option<Instant>,
    spent: Duration,
}

impl Stopwatch {
    /// Systems run one after the other: time spent waiting for threads is not a viewer's.
    fn install(app: &mut App) {
        let one_thread = |schedule: &mut Schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        };
        app.edit_schedule(PreUpdate, one_thread)
            .edit_schedule(FixedUpdate, one_thread)
            .edit_schedule(Update, one_thread);
        app.init_resource::<Self>()
            .add_systems(
                PreUpdate,
                (
                    start.before(TransportSystems::Receive(End::Sender)),
                    stop.after(TransportSystems::Receive(End::Sender)),
                ),
            )
            .add_systems(
                FixedUpdate,
                (
                    start
                        .after(SimulationSystems::Step)
                        .before(TransportSystems::Receive(End::Sender)),
                    stop.after(ReplicationSystems::Send)
                        .before(TransportSystems::Flush(End::Sender)),
                ),
            )
            .add_systems(
                Update,
                (
                    start.before(TransportSystems::Flush(End::Sender)),
                    stop.after(TransportSystems::Flush(End::Sender)),
                ),
            );
    }
}

fn start(mut watch: ResMut<Stopwatch>) {
    watch.started = Some(Instant::now());
}

fn stop(mut watch: ResMut<Stopwatch>) {
    if let Some(started) = watch.started.take() {
        watch.spent += started.elapsed();
    }
}

impl ViewersArgs {
    /// Plays, measures and prints.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn run(&self, out: &mut impl Write) -> Result<(), CommandError> {
        let script = self.play.script()?;
        let (ticks, _) = self.play.ticks(script.as_ref())?;
        let mut lane = LaneSettings {
            link: LinkSettings::PERFECT,
            ..LaneSettings::with_stages(self.rung.rung.stages)
        };
        self.baseline.apply(&mut lane)?;
        let costs = measure(script.as_ref(), &lane, ticks, self.max)?;
        let titles = ["viewers", "µs per tick", "added", "of it encoding", "kbps"];
        let rows = costs.iter().enumerate().map(|(place, cost)| {
            let more = place.checked_sub(1).map_or_else(String::new, |before| {
                format!("{:.1}", cost.us_per_tick - costs[before].us_per_tick)
            });
            [
                cost.viewers.to_string(),
                format!("{:.1}", cost.us_per_tick),
                more,
                format!("{:.1}", cost.encode_us),
                format!("{:.1}", cost.kbps),
            ]
        });
        let rows = [titles.map(str::to_owned)].into_iter().chain(rows);
        writeln!(out, "{}", markdown(rows, 0))?;
        let encode_us = costs.last().map_or(0.0, |cost| cost.encode_us);
        if encode_us > 0.0 {
            let budget_us = EncodeBudget::default().per_tick().as_secs_f64() * 1e6;
            let carried = (budget_us / encode_us) as usize;
            let enough = match carried {
                ServerSettings::MAX_VIEWERS.. => format!(
                    "the {} such viewers that a server admits",
                    ServerSettings::MAX_VIEWERS
                ),
                _ => format!("{carried} such viewers; of more, each gets less"),
            };
            writeln!(
                out,
                "\nEncoding may take {budget_us:.0} µs of processor time a tick on this machine: enough for {enough}."
            )?;
        }
        Ok(())
    }
}

/// Each is a whole app in this process.
const MAX_VIEWERS: usize = 64;
