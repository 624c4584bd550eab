//! The schedules of every app that ships: where two systems access the same data and one of ours is
//! among them, their order is fixed.

use std::time::Duration;

use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::WgpuSettings;
use bevy::time::TimeUpdateStrategy;
use bevy::winit::WinitPlugin;
use bevy_egui::EguiPlugin;
use cubewire::game::GamePlugins;
use cubewire::game::headless::LaneGame;
use cubewire::game::viewer::HeadlessViewer;
use cubewire::game::window::{Role, WindowSettings, add_game};
use cubewire::panel::SmallGraphPlugin;
use cubewire::recording::{InputLogPlugin, Script};
use cubewire::replication::{Digest, LaneMeter, LaneSettings};
use cubewire::simulation::CubeWorld;
use cubewire::transport::UdpServerPlugin;
use cubewire::transport::udp::{Security, ServerSettings, UdpServer, UdpViewer, ViewerSettings};
use cubewire::view::{AppearancePlugin, Half, Overlay, ViewPlugin};

use crate::common::{lane, script};

/// Pairs of systems that run in any order, though it matters: at least one of them is ours.
fn ambiguities(app: &mut App) -> Vec<String> {
    let mut found = Vec::new();
    app.world_mut()
        .resource_scope(|world, mut schedules: Mut<Schedules>| {
            for (label, schedule) in schedules.iter_mut() {
                schedule.set_build_settings(ScheduleBuildSettings {
                    ambiguity_detection: LogLevel::Ignore,
                    use_shortnames: false,
                    report_sets: false,
                    ..ScheduleBuildSettings::default()
                });
                schedule.initialize(world).unwrap();
                let conflicts = schedule.graph().conflicting_systems();
                let named = conflicts.to_string(schedule.graph(), world.components());
                for (a, b, what) in named {
                    if [&a, &b].iter().any(|system| system.contains("cubewire::")) {
                        found.push(format!("{label:?}: {a} and {b} over {what:?}"));
                    }
                }
            }
        });
    found.sort();
    found
}

fn assert_no_ambiguities(name: &str, app: &mut App) {
    let found = ambiguities(app);
    assert!(
        found.is_empty(),
        "{name}: these systems run in any order:\n{}",
        found.join("\n")
    );
}

/// Everything that the window is made of, but neither a window nor anything that draws.
fn bevy() -> App {
    let mut app = App::new();
    let plugins = DefaultPlugins
        .set(RenderPlugin {
            render_creation: WgpuSettings {
                backends: None,
                ..WgpuSettings::default()
            }
            .into(),
            ..RenderPlugin::default()
        })
        .disable::<WinitPlugin>()
        .disable::<LogPlugin>();
    app.add_plugins(plugins)
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app
}

fn window(role: Role, script: Option<Script>) -> App {
    let folder = tempfile::tempdir().unwrap();
    let mut app = bevy();
    let settings = WindowSettings {
        role,
        left: Half::Lane(lane("delta")),
        right: LaneSettings::default(),
        script,
        recordings: folder.path().to_owned(),
        seconds: Some(1_000.0),
        size: UVec2::new(640, 360),
        report: Some(folder.path().join("report.json")),
        panel: Some(folder.path().join("panel.ron")),
    };
    add_game(&mut app, settings).unwrap();
    app.init_resource::<Digest>();
    app
}

fn server() -> UdpServer {
    UdpServer::new(&ServerSettings {
        bind: ([127, 0, 0, 1], 0).into(),
        public: Vec::new(),
        security: Security::Insecure,
        max_viewers: 1,
    })
    .unwrap()
}

fn viewer() -> UdpViewer {
    UdpViewer::new(ViewerSettings {
        server: server().address(),
        security: Security::Insecure,
        timeout: Duration::from_secs(1),
    })
    .unwrap()
}

#[test]
fn no_two_systems_of_the_window_run_in_an_order_that_is_left_open() {
    let replay = Script {
        lead_in: 10,
        ..script("blow")
    };
    let mut app = window(Role::Serve(Box::new(server())), Some(replay));
    assert_no_ambiguities("the window that serves and plays a replay", &mut app);
    let mut app = window(Role::View(Box::new(viewer())), None);
    assert_no_ambiguities("the window of a viewer", &mut app);
}

#[test]
fn no_two_systems_of_a_film_run_in_an_order_that_is_left_open() {
    let mut app = bevy();
    let plugins = (
        EguiPlugin::default(),
        GamePlugins,
        InputLogPlugin,
        ViewPlugin,
        AppearancePlugin,
        SmallGraphPlugin,
    );
    app.add_plugins(plugins).init_resource::<Overlay>();
    assert_no_ambiguities("the film", &mut app);
}

#[test]
fn no_two_systems_without_a_window_run_in_an_order_that_is_left_open() {
    let script = Some(script("mix"));
    let mut game = LaneGame::with_plugins(script, LaneSettings::default(), UdpServerPlugin);
    let app = &mut game.as_mut().unwrap().app;
    app.insert_resource(server()).init_resource::<Digest>();
    assert_no_ambiguities("the headless server", app);
    app.update();
    assert!(app.world().resource::<CubeWorld>().tick() > 0);

    let mut viewer = HeadlessViewer::new(viewer(), LaneSettings::default());
    viewer.app.init_resource::<Digest>();
    assert_no_ambiguities("the headless viewer", &mut viewer.app);
    viewer.app.update();
    let meter = viewer.app.world().get::<LaneMeter>(viewer.lane).unwrap();
    assert!(!meter.samples().is_empty());
}

#[test]
fn an_order_that_is_left_open_is_found() {
    fn write(mut mode: ResMut<cubewire::view::ViewMode>) {
        *mode = mode.next();
    }
    let mut app = window(Role::Play, None);
    app.add_systems(PostUpdate, write);
    assert_ne!(ambiguities(&mut app), Vec::<String>::new());
}
