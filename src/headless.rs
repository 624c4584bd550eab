//! The game without its window: the same plugins on a manual clock, as fast as they go.

mod capture;
pub mod ladder;
pub mod network;
mod profile;
mod real_time;
pub mod replay;
pub mod serve;
pub mod soak;
mod summary;
pub mod view;
pub mod viewers;

use std::io::Write;

use bevy::app::Plugins;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use indicatif::{ProgressBar, ProgressStyle};

use crate::GamePlugins;
use crate::cli::{self, CommandError, HeadlessArgs};
use crate::recording::{Playing, Script};
use crate::replication::{
    LaneCheck, LaneMeter, LaneSettings, Selected, ShadowLadder, Side, spawn_lane,
};
use crate::simulation::World as CubeWorld;
use crate::view::ViewPlugin;

use capture::Capture;
use profile::Profile;
use summary::Totals;

pub use summary::Summary;

/// A game that steps one tick with each `update`, with one lane.
#[derive(Debug)]
pub struct HeadlessGame {
    /// The app, for tests to reach into.
    pub app: App,
    /// Its lane.
    pub lane: Entity,
}

impl HeadlessGame {
    /// Sets the game up; nothing has moved yet. Every lane checks what it decodes.
    ///
    /// # Errors
    /// If the lane cannot be set up.
    pub fn new(script: Option<Script>, settings: LaneSettings) -> Result<Self, CommandError> {
        Self::with_plugins(script, settings, ())
    }

    /// The same with more of the app's plugins.
    ///
    /// # Errors
    /// If the lane cannot be set up.
    pub fn with_plugins<M>(
        script: Option<Script>,
        settings: LaneSettings,
        plugins: impl Plugins<M>,
    ) -> Result<Self, CommandError> {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, GamePlugins))
            .add_plugins(plugins)
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
        if let Some(script) = script {
            app.insert_resource(Playing::new(script));
        }
        app.finish();
        app.cleanup();
        let lane = spawn_lane(app.world_mut(), settings)
            .map_err(|error| CommandError::Game(error.to_string()))?;
        app.world_mut()
            .entity_mut(lane)
            .insert((LaneCheck::default(), Side::Right, Selected));
        // The first update only starts the clock.
        app.update();
        Ok(Self { app, lane })
    }

    /// Measures every rung of the ladder beside the lane, as the window does.
    ///
    /// # Errors
    /// If the codec refuses the initial state.
    pub fn add_shadow(&mut self) -> Result<(), CommandError> {
        let shadow = ShadowLadder::new(CubeWorld::default().current())
            .map_err(|error| CommandError::Game(error.to_string()))?;
        self.app.world_mut().entity_mut(self.lane).insert(shadow);
        Ok(())
    }

    /// Plays one tick.
    pub fn step(&mut self) {
        self.app.update();
    }

    /// The cubes.
    #[must_use]
    pub fn cubes(&self) -> &CubeWorld {
        self.app.world().resource::<CubeWorld>()
    }

    /// What the lane measured.
    ///
    /// # Panics
    /// If the lane was despawned.
    #[must_use]
    pub fn meter(&self) -> &LaneMeter {
        let meter = self.app.world().get::<LaneMeter>(self.lane);
        meter.expect("the lane has a meter")
    }

    /// What the lane's check found.
    ///
    /// # Panics
    /// If the lane was despawned.
    #[must_use]
    pub fn check(&self) -> LaneCheck {
        let check = self.app.world().get::<LaneCheck>(self.lane);
        *check.expect("the lane has a check")
    }
}

/// `cubewire headless`
///
/// # Errors
/// See [`CommandError`].
pub fn run(args: &HeadlessArgs, out: &mut impl Write) -> Result<(), CommandError> {
    let rung = cli::rung(&args.rung)?;
    let script = args.play.script()?;
    let (ticks, skip) = args.play.ticks(script.as_ref())?;
    let settings = LaneSettings {
        stages: rung.stages,
        ..LaneSettings::default()
    };
    let mut capture = args.capture.as_deref().map(Capture::create).transpose()?;
    let mut game = if args.profile {
        let mut game = HeadlessGame::with_plugins(script, settings, ViewPlugin)?;
        game.add_shadow()?;
        Profile::install(&mut game.app);
        game
    } else {
        HeadlessGame::new(script, settings)?
    };

    let mut totals = Totals::default();
    let progress = progress(ticks, "ticks");
    for tick in 0..ticks {
        game.step();
        if let Some(capture) = &mut capture {
            capture.add(game.cubes().current())?;
        }
        totals.hash(game.cubes().current());
        if tick >= skip
            && let Some(sample) = game.meter().newest(1).next()
        {
            totals.add(sample);
        }
        progress.inc(1);
    }
    progress.finish_and_clear();

    if let Some(capture) = capture {
        capture.finish()?;
    }
    let summary = totals.summary(args, rung.name, game.meter(), game.check());
    if args.json {
        let json = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
        writeln!(out, "{json}")?;
    } else {
        summary.print(out)?;
    }
    if let Some(profile) = game.app.world().get_resource::<Profile>() {
        // Standard output stays JSON for programs that read it.
        if args.json {
            profile.print(&mut std::io::stderr())?;
        } else {
            profile.print(out)?;
        }
    }
    Ok(())
}

/// Fails if snapshots were decoded wrongly or refused: nobody is hostile here.
fn faultless(wrong: u64, refused: u64) -> Result<(), CommandError> {
    if wrong + refused == 0 {
        return Ok(());
    }
    Err(CommandError::Game(format!(
        "{wrong} snapshots were decoded to something else than what was sent, and {refused} refused"
    )))
}

/// A bar on standard error, hidden where that is no terminal.
fn progress(steps: usize, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")
        .expect("the template is well formed");
    ProgressBar::new(steps as u64)
        .with_style(style)
        .with_message(what)
}
