//! The game in a window.

mod replay;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::window::WindowResolution;
use bevy_egui::EguiPlugin;
use bevy_egui::input::EguiWantsInput;

use crate::GamePlugins;
use crate::cli::CommandError;
use crate::controls::ControlsPlugin;
use crate::display::LOG_FILTER;
use crate::panel::PanelPlugin;
use crate::recording::{InputLogPlugin, LivePlugin, RecordingFolder, Script};
use crate::replication::{
    Half, LaneSettings, ReceptionPlugin, Selected, ServingPlugin, ShadowLadder, Side, UdpServer,
    UdpViewer, spawn_reception,
};
use crate::simulation::World as CubeWorld;
use crate::view::{self, AppearancePlugin, ViewMode, ViewPlugin};

/// What the window shows.
#[derive(Debug)]
pub enum Role {
    /// The game, and its replica.
    Play,
    /// The same, and others watch.
    Serve(Box<UdpServer>),
    /// What a server plays.
    View(Box<UdpViewer>),
}

/// How to open the window.
#[derive(Debug)]
pub struct WindowSettings {
    /// What it shows.
    pub role: Role,
    /// What the left half shows at first.
    pub left: Half,
    /// The lane in the right half at first.
    pub right: LaneSettings,
    /// Played instead of the keyboard; a replay is played once.
    pub script: Option<Script>,
    /// Where F9 and F10 put what they record.
    pub recordings: PathBuf,
    /// When to close it again.
    pub seconds: Option<f64>,
    /// Logical pixels.
    pub size: (u32, u32),
    /// Where to write what was seen.
    pub report: Option<PathBuf>,
    /// Where the panel keeps its state.
    pub panel: Option<PathBuf>,
}

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
        ViewPlugin,
        AppearancePlugin,
        PanelPlugin {
            settings: settings.panel,
        },
    ));
    app.add_plugins(LivePlugin)
        .insert_resource(RecordingFolder(settings.recordings));
    match settings.role {
        Role::Play => play(&mut app, settings.script, settings.left, settings.right)?,
        Role::Serve(server) => {
            play(&mut app, settings.script, settings.left, settings.right)?;
            app.add_plugins(ServingPlugin).insert_resource(*server);
        }
        Role::View(viewer) => view(&mut app, *viewer, settings.right),
    }
    if let Some(path) = settings.report {
        report::install(&mut app, path)?;
    }
    if let Some(seconds) = settings.seconds {
        app.insert_resource(CloseAfter(Duration::from_secs_f64(seconds)))
            .add_systems(PostUpdate, close);
    }
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(code) if code.get() == CTRL_C => Ok(()),
        AppExit::Error(code) => Err(CommandError::Game(format!("the game ended with {code}"))),
    }
}

/// The simulation or a lane, and a lane beside it.
fn play(
    app: &mut App,
    script: Option<Script>,
    left: Half,
    right: LaneSettings,
) -> Result<(), CommandError> {
    app.add_plugins((GamePlugins, ControlsPlugin, InputLogPlugin));
    if let Some(script) = script {
        replay::play(app, script);
    }
    let world = app.world_mut();
    let failed = |error: BevyError| CommandError::Game(error.to_string());
    view::show(world, Side::Right, Half::Lane(right)).map_err(failed)?;
    view::show(world, Side::Left, left).map_err(failed)?;
    let shadow = ShadowLadder::new(world.resource::<CubeWorld>().current())
        .map_err(|error| CommandError::Game(error.to_string()))?;
    let mut selected = world.query_filtered::<Entity, With<Selected>>();
    if let Ok(lane) = selected.single(world) {
        world.entity_mut(lane).insert(shadow);
    }
    Ok(())
}

/// What a server sends, and nothing else.
fn view(app: &mut App, viewer: UdpViewer, lane: LaneSettings) {
    app.add_plugins(ReceptionPlugin)
        .insert_resource(viewer)
        .insert_resource(ViewMode::Right)
        .add_systems(Update, reconnect);
    let lane = spawn_reception(app.world_mut(), lane);
    app.world_mut()
        .entity_mut(lane)
        .insert((Side::Right, Selected));
}

/// Enter connects again.
fn reconnect(
    keys: Res<ButtonInput<KeyCode>>,
    egui: Res<EguiWantsInput>,
    mut viewer: ResMut<UdpViewer>,
) {
    if keys.just_pressed(KeyCode::Enter) && !egui.wants_any_keyboard_input() {
        viewer.reconnect();
    }
}

/// How Bevy ends when Ctrl-C is pressed in the terminal.
const CTRL_C: u8 = 130;

#[derive(Resource, Debug)]
struct CloseAfter(Duration);

fn close(time: Res<Time<Real>>, after: Res<CloseAfter>, mut exit: MessageWriter<AppExit>) {
    if time.elapsed() >= after.0 {
        exit.write(AppExit::Success);
    }
}
