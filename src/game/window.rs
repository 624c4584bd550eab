//! The game in a window.

mod autoplay;
#[cfg(not(target_family = "wasm"))]
pub mod film;
mod replay;
mod tour;

use std::path::PathBuf;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::common_conditions::once_after_real_delay;
use bevy::window::WindowResolution;
#[cfg(not(target_family = "wasm"))]
use bevy::window::{Monitor, PrimaryWindow};
use bevy_egui::{EguiPlugin, EguiPostUpdateSet};

use super::{Failure, GamePlugin, exit, show_halves};
use crate::controls::Action;
use crate::display;
use crate::panel::{PanelPlugin, PanelState};
use crate::recording::export::ExportPlugin;
use crate::recording::{InputLogPlugin, KeyboardPlugin, RecorderPlugin, RecordingFolder, Script};
use crate::replication::LaneSettings;
use crate::theme::Theme;
use crate::view::{AppearancePlugin, PaneContent, Quality, ViewPlugin};

pub struct WindowSettings {
    pub left: PaneContent,
    pub right: LaneSettings,
    /// Script to play instead of the keyboard. A replay plays once.
    pub script: Option<Script>,
    /// Whether the game waits for the player instead of playing [the fall](super::fall). With a script there is no fall
    /// either.
    pub calm: bool,
    /// Folder for replays, films, pictures and exports.
    pub recordings: PathBuf,
    pub seconds: Option<f64>,
    pub size: UVec2,
    pub quality: Quality,
    /// Theme. Without it, the theme of the last run.
    pub theme: Option<Theme>,
    pub panel: Option<PathBuf>,
    pub tour: Option<usize>,
}

pub fn run(settings: WindowSettings) -> Result<(), Failure> {
    let mut app = open(&settings);
    add_game(&mut app, settings)?;
    run_app(app)
}

pub fn open(settings: &WindowSettings) -> App {
    let UVec2 { x: width, y: height } = settings.size;
    let mut app = App::new();
    app.add_plugins(display::plugins(Window {
        title: "Cubewire".to_owned(),
        name: Some("cubewire".to_owned()),
        resolution: WindowResolution::new(width, height),
        ..default()
    }));
    #[cfg(not(target_family = "wasm"))]
    app.add_plugins(super::desktop::stop::StopPlugin)
        .add_systems(Update, fit.run_if(any_match_filter::<Added<Monitor>>));
    app
}

/// Shrinks the window to the screen, for systems without a window manager.
#[cfg(not(target_family = "wasm"))]
fn fit(monitors: Query<&Monitor>, mut window: Single<&mut Window, With<PrimaryWindow>>) {
    let screens = monitors.iter().map(Monitor::physical_size);
    let size = window.resolution.physical_size();
    let fitting = screens.reduce(UVec2::max).map_or(size, |it| size.min(it));
    if fitting != size {
        window.resolution.set_physical_resolution(fitting.x, fitting.y);
    }
}

pub(super) fn run_app(mut app: App) -> Result<(), Failure> {
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(code) => Err(format!("the game ended with {code}").into()),
    }
}

/// Adds everything for the window except Bevy's default plugins, which must already be there.
pub fn add_game(app: &mut App, mut settings: WindowSettings) -> Result<(), Failure> {
    add_frame(app, &settings);
    let plays_fall = settings.script.is_none() && !settings.calm;
    if plays_fall {
        autoplay::install(app, &mut settings.right);
    }
    add_play(app, settings)
}

pub(super) fn add_frame(app: &mut App, settings: &WindowSettings) {
    app.add_plugins((
        EguiPlugin::default(),
        ViewPlugin,
        AppearancePlugin,
        PanelPlugin { settings: settings.panel.clone() },
    ));
    app.add_observer(browse)
        .add_plugins((RecorderPlugin, ExportPlugin))
        .insert_resource(RecordingFolder(settings.recordings.clone()))
        .insert_resource(settings.quality);
    #[cfg(not(target_family = "wasm"))]
    app.add_plugins(film::FilmPlugin);
    if let Some(theme) = settings.theme {
        app.world_mut().resource_mut::<PanelState>().theme = theme;
    }
    if let Some(seconds) = settings.seconds {
        let is_over = once_after_real_delay(Duration::from_secs_f64(seconds));
        app.add_systems(PostUpdate, exit.run_if(is_over).before(EguiPostUpdateSet::EndPass));
    }
}

fn browse(action: On<Action>) {
    if let Action::Open(address) = *action {
        display::browse(address);
    }
}

/// Adds the game with a lane in the right half, and the simulation or a lane in the left half.
pub(super) fn add_play(app: &mut App, settings: WindowSettings) -> Result<(), Failure> {
    app.add_plugins((GamePlugin, KeyboardPlugin, InputLogPlugin));
    // A replay is compared with its recording, so do not let the tour change the game.
    if settings.script.as_ref().is_none_or(|script| script.recorded.is_none()) {
        tour::install(app);
    }
    if let Some(script) = settings.script {
        replay::play(app, script);
    }
    if let Some(index) = settings.tour {
        tour::begin(app, index);
    }
    Ok(show_halves(app.world_mut(), settings.left, settings.right)?)
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_no_larger_than_the_screen() {
        for (size, screen, expected) in [
            ([1440, 900], [1280, 720], [1280, 720]),
            ([1440, 900], [1920, 800], [1440, 800]),
            ([1440, 900], [1920, 1080], [1440, 900]),
        ] {
            let mut world = World::new();
            let [width, height] = size;
            let resolution = WindowResolution::new(width, height);
            let window = Window { resolution, ..default() };
            let window = world.spawn((window, PrimaryWindow)).id();
            world.spawn(Monitor {
                name: None,
                physical_width: screen[0],
                physical_height: screen[1],
                physical_position: IVec2::ZERO,
                refresh_rate_millihertz: None,
                scale_factor: 1.0,
                video_modes: Vec::new(),
            });
            world.run_system_cached(fit).unwrap();
            let window = world.get::<Window>(window).unwrap();
            let fitted = window.resolution.physical_size();
            assert_eq!(fitted, expected.into(), "{size:?} on {screen:?}");
        }
    }
}
