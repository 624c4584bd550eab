//! A viewer without a window: it receives, plays back and counts.

use std::io::Write;
use std::path::Path;

use bevy::app::Plugins;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use serde::Serialize;

use super::real_time::{self, RealTimePlugin};
use super::serve::write_digest;
use crate::cli::CommandError;
use crate::replication::{
    Accounting, Digest, LaneMeter, LaneSettings, ReceptionPlugin, UdpViewer, ViewerStatus,
    spawn_reception,
};

/// A viewer that steps one tick with each `update`.
#[derive(Debug)]
pub struct HeadlessViewer {
    /// The app, for tests to reach into.
    pub app: App,
    /// Its lane.
    pub lane: Entity,
}

/// What was received.
#[derive(Clone, Debug, Serialize)]
struct Viewed {
    /// The server's number of this viewer; none if the connection was lost.
    viewer: Option<u64>,
    /// Snapshots decoded.
    snapshots: u64,
    /// Snapshots that came again.
    duplicates: u64,
    /// Packets that the decoder refused.
    refused: u64,
    /// Times that the picture stopped.
    hitches: u64,
    /// Mean over the newest second, kilobits a second.
    article_kbps: f64,
    /// Likewise.
    wire_kbps: f64,
}

impl HeadlessViewer {
    /// Sets the viewer up; it connects as it steps.
    #[must_use]
    pub fn new(viewer: UdpViewer, settings: LaneSettings) -> Self {
        Self::with_plugins(viewer, settings, ())
    }

    fn with_plugins<M>(
        viewer: UdpViewer,
        settings: LaneSettings,
        plugins: impl Plugins<M>,
    ) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, ReceptionPlugin))
            .add_plugins(plugins)
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .insert_resource(viewer);
        app.finish();
        app.cleanup();
        let lane = spawn_reception(app.world_mut(), settings);
        // The first update only starts the clock.
        app.update();
        Self { app, lane }
    }

    /// How the connection fares.
    #[must_use]
    pub fn status(&self) -> ViewerStatus {
        self.app.world().resource::<UdpViewer>().status()
    }

    /// What was measured since the welcome.
    ///
    /// # Panics
    /// If the lane was despawned.
    #[must_use]
    pub fn meter(&self) -> &LaneMeter {
        let meter = self.app.world().get::<LaneMeter>(self.lane);
        meter.expect("the lane has a meter")
    }

    fn viewed(&self) -> Viewed {
        let meter = self.meter();
        Viewed {
            viewer: self.app.world().resource::<UdpViewer>().client(),
            snapshots: meter.received,
            duplicates: meter.duplicates,
            refused: meter.refused,
            hitches: meter.hitches,
            article_kbps: meter.kbps(Accounting::Article),
            wire_kbps: meter.kbps(Accounting::Wire),
        }
    }
}

/// Watches until `seconds` are over, Ctrl-C is pressed or the connection is lost.
///
/// # Errors
/// See [`CommandError`]; also if the connection is lost.
pub(crate) fn run(
    viewer: UdpViewer,
    settings: LaneSettings,
    seconds: Option<f64>,
    digest: Option<&Path>,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let mut viewer = HeadlessViewer::with_plugins(viewer, settings, RealTimePlugin);
    if digest.is_some() {
        viewer.app.init_resource::<Digest>();
    }
    let is_there = |app: &App| {
        let status = app.world().resource::<UdpViewer>().status();
        !matches!(status, ViewerStatus::Lost(_))
    };
    real_time::play(&mut viewer.app, seconds, is_there);
    if let Some(path) = digest {
        write_digest(viewer.app.world(), path)?;
    }
    let json = serde_json::to_string_pretty(&viewer.viewed()).expect("figures are plain data");
    writeln!(out, "{json}")?;
    match viewer.status() {
        ViewerStatus::Lost(why) => Err(CommandError::Game(why)),
        ViewerStatus::Connecting | ViewerStatus::Connected => Ok(()),
    }
}
