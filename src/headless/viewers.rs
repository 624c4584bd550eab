//! What each viewer costs the server.

use std::io::Write;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use cubewire_link::Conditions;
use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::view::HeadlessViewer;
use super::{progress, serve};
use crate::cli::{self, CommandError, ViewersArgs};
use crate::recording::Script;
use crate::replication::{
    LaneSettings, ReplicationSystems, Security, ServerSettings, ServingSystems, UdpServer,
    UdpViewer, ViewerSettings, ViewerStatus,
};

/// The server's work for so many viewers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// How many.
    pub viewers: usize,
    /// Taking in acks, quantizing, encoding, encrypting and handing to the socket: microseconds,
    /// median over the ticks.
    pub us_per_tick: f64,
    /// What goes to the socket, with IP and UDP headers, kilobits a second.
    pub kbps: f64,
}

/// Plays `ticks` ticks for each number of viewers up to `most`, over real sockets on this machine.
///
/// # Errors
/// If the game cannot be set up, or a viewer cannot connect.
pub fn measure(
    script: Option<&Script>,
    lane: &LaneSettings,
    ticks: usize,
    most: usize,
) -> Result<Vec<Cost>, CommandError> {
    let progress = progress((most + 1) * ticks, "ticks");
    let costs = (0..=most).map(|viewers| {
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
    let mut game = serve::game(script.cloned(), server)?;
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
        if viewer.status() != ViewerStatus::Connected {
            return Err(CommandError::Game("a viewer is not connected".to_owned()));
        }
    }
    each.sort_unstable();
    let world = game.app.world();
    let sent = UdpServer::traffic(world.resource()).sent_bytes - before.sent_bytes;
    Ok(Cost {
        viewers,
        us_per_tick: each[ticks / 2].as_secs_f64() * 1e6,
        kbps: crate::replication::kbps(sent as usize, ticks),
    })
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
                    start.before(ServingSystems::Receive),
                    stop.after(ServingSystems::Receive),
                ),
            )
            .add_systems(
                FixedUpdate,
                (
                    start
                        .after(crate::simulation::SimulationSystems::Capture)
                        .before(ReplicationSystems::Acks),
                    stop.after(ReplicationSystems::Send)
                        .before(ReplicationSystems::Receive),
                ),
            )
            .add_systems(
                Update,
                (
                    start.before(ServingSystems::Flush),
                    stop.after(ServingSystems::Flush),
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

/// `cubewire viewers`
///
/// # Errors
/// See [`CommandError`].
pub(crate) fn run(args: &ViewersArgs, out: &mut impl Write) -> Result<(), CommandError> {
    let script = args.play.script()?;
    let (ticks, _) = args.play.ticks(script.as_ref())?;
    if !(1..=MOST_VIEWERS).contains(&args.most) {
        return Err(CommandError::Number {
            option: "most",
            value: args.most as f64,
            wanted: "from 1 to 64",
        });
    }
    let lane = LaneSettings {
        stages: cli::rung(&args.rung)?.stages,
        link: Conditions::PERFECT,
        ..LaneSettings::default()
    };
    let costs = measure(script.as_ref(), &lane, ticks, args.most)?;
    let mut builder = Builder::default();
    builder.push_record(["viewers", "µs a tick", "more than one fewer", "kbps"]);
    for (place, cost) in costs.iter().enumerate() {
        let more = place.checked_sub(1).map_or_else(String::new, |before| {
            format!("{:.1}", cost.us_per_tick - costs[before].us_per_tick)
        });
        builder.push_record([
            cost.viewers.to_string(),
            format!("{:.1}", cost.us_per_tick),
            more,
            format!("{:.1}", cost.kbps),
        ]);
    }
    let mut table = builder.build();
    table
        .with(Style::markdown())
        .modify(Columns::new(..), Alignment::right());
    writeln!(out, "{table}")?;
    Ok(())
}

/// Each is a whole app in this process.
const MOST_VIEWERS: usize = 64;
