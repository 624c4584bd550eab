//! The game in a window.

mod display;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::window::WindowResolution;
use bevy_egui::EguiPlugin;

use crate::GamePlugins;
use crate::cli::CommandError;
use crate::controls::ControlsPlugin;
use crate::panel::PanelPlugin;
use crate::recording::{Playing, Script};
use crate::replication::{LaneCheck, LaneSettings, PictureError, ShadowLadder, spawn_lane};
use crate::simulation::World as CubeWorld;
use crate::view::{AppearancePlugin, ViewPlugin};

pub use display::missing;

/// How to open the window.
#[derive(Clone, Debug)]
pub struct WindowSettings {
    /// How the lane sends at first.
    pub lane: LaneSettings,
    /// Played instead of the keyboard.
    pub script: Option<Script>,
    /// When to close it again.
    pub seconds: Option<f64>,
    /// Logical pixels.
    pub size: (u32, u32),
    /// Where to write what was seen.
    pub report: Option<PathBuf>,
    /// Where the panel keeps its state.
    pub panel: Option<PathBuf>,
}

/// What the log leaves out: renet warns of every snapshot in more than 20 fragments, and graphics
/// drivers chat.
const LOG_FILTER: &str = "wgpu=error,naga=warn,renet=error";

/// Opens the window and plays until it is closed.
///
/// # Errors
/// If the lane cannot be set up, the report's file cannot be created, or the game fails.
pub fn run(settings: WindowSettings) -> Result<(), CommandError> {
    let (width, height) = settings.size;
    let mut app = App::new();
    app.add_plugins((
        DefaultPlugins
            .set(WindowPlugin {
                primary_window: Some(Window {
                    title: "Cubewire".to_owned(),
                    name: Some("cubewire".to_owned()),
                    resolution: WindowResolution::new(width, height),
                    ..default()
                }),
                ..default()
            })
            .set(LogPlugin {
                filter: LOG_FILTER.to_owned(),
                ..default()
            }),
        EguiPlugin::default(),
        GamePlugins,
        ViewPlugin,
        AppearancePlugin,
        PanelPlugin {
            settings: settings.panel,
        },
        ControlsPlugin,
    ));
    if let Some(script) = settings.script {
        app.insert_resource(Playing::new(script));
    }
    let shadow = ShadowLadder::new(app.world().resource::<CubeWorld>().current())
        .map_err(|error| CommandError::Game(error.to_string()))?;
    let lane = spawn_lane(app.world_mut(), settings.lane)
        .map_err(|error| CommandError::Game(error.to_string()))?;
    app.world_mut().entity_mut(lane).insert((
        shadow,
        LaneCheck::default(),
        PictureError::default(),
    ));
    if let Some(path) = settings.report {
        report::install(&mut app, path)?;
    }
    if let Some(seconds) = settings.seconds {
        app.insert_resource(CloseAfter(Duration::from_secs_f64(seconds)))
            .add_systems(Last, close);
    }
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(code) => Err(CommandError::Game(format!("the game ended with {code}"))),
    }
}

#[derive(Resource, Debug)]
struct CloseAfter(Duration);

fn close(time: Res<Time<Real>>, after: Res<CloseAfter>, mut exit: MessageWriter<AppExit>) {
    if time.elapsed() >= after.0 {
        exit.write(AppExit::Success);
    }
}
