//! The schedules of every shipped app. If two systems access the same data and one of them is ours, their order must
//! be fixed.

use std::collections::HashMap;

use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::WgpuSettings;
use bevy::time::TimeUpdateStrategy;
use bevy::winit::WinitPlugin;
use cubewire::game::Failure;
use cubewire::game::desktop::offscreen::{self, Interface};
use cubewire::game::desktop::peers::{add_server, add_viewer};
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::LaneGame;
use cubewire::game::window::{WindowSettings, add_game};
use cubewire::recording::Script;
use cubewire::replication::{Digest, LaneMeter, LaneSettings};
use cubewire::simulation::CubeWorld;
use cubewire::transport::udp::{UdpServerPlugin, UdpViewer};
use cubewire::view::{Overlay, PaneContent, Quality};

use crate::common::{lane, script};
use crate::udp::{dial, listen};

/// Returns the pairs of systems with an ambiguous order that include at least one of ours.
fn ambiguities(app: &mut App) -> Vec<String> {
    let world = app.world_mut();
    let schedules = world.resource::<Schedules>().iter();
    let labels: Vec<_> = schedules.map(|(_, schedule)| schedule.label()).collect();
    let mut found = Vec::new();
    for label in labels {
        world.schedule_scope(label, |world, schedule| {
            schedule.initialize(world).unwrap();
            let systems = schedule.systems().unwrap();
            let names = systems.map(|(key, system)| (key, system.name().to_string()));
            let names: HashMap<_, _> = names.collect();
            for (a, b, data) in schedule.graph().conflicting_systems().iter() {
                let systems = [&names[a], &names[b]];
                let is_ours = |name: &&String| name.contains("cubewire::");
                // Commands are applied in the order of the systems that queue them, wherever the sync point is.
                let is_sync_point = |name: &&String| name.ends_with("::apply_deferred");
                if systems.iter().any(is_ours) && !systems.iter().any(is_sync_point) {
                    let data = data.iter().map(|&id| world.components().get_name(id));
                    let data: Vec<_> = data.flatten().collect();
                    found.push(format!("{label:?}: {systems:?} over {data:?}"));
                }
            }
        });
    }
    found.sort();
    found
}

fn assert_no_ambiguities(app: &mut App) {
    let found = ambiguities(app).join("\n");
    assert!(found.is_empty(), "these systems run in any order:\n{found}");
}

/// Creates an app with all plugins of the window but without a window and a renderer.
fn bevy() -> App {
    let mut app = App::new();
    let plugins = DefaultPlugins
        .set(RenderPlugin {
            render_creation: WgpuSettings { backends: None, ..WgpuSettings::default() }.into(),
            ..RenderPlugin::default()
        })
        .disable::<WinitPlugin>()
        .disable::<LogPlugin>();
    app.add_plugins(plugins).insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app
}

fn window(
    script: Option<Script>,
    add: impl FnOnce(&mut App, WindowSettings) -> Result<(), Failure>,
) -> App {
    let folder = tempfile::tempdir().unwrap();
    let mut app = bevy();
    let settings = WindowSettings {
        left: PaneContent::Lane(lane("delta")),
        right: LaneSettings::default(),
        script,
        calm: false,
        recordings: folder.path().to_owned(),
        seconds: Some(1_000.0),
        size: UVec2::new(640, 360),
        quality: Quality::default(),
        panel: Some(folder.path().join("panel.ron")),
        theme: None,
        tour: None,
    };
    add(&mut app, settings).unwrap();
    app.init_resource::<Digest>();
    app
}

fn viewer() -> UdpViewer {
    dial(listen(1).address())
}

#[test]
fn no_two_systems_of_the_window_run_in_an_order_that_is_left_open() {
    let replay = Script { lead_in: 10, ..script("blow") };
    let mut app = window(Some(replay), |app, settings| add_server(app, settings, listen(1), 2));
    assert_no_ambiguities(&mut app);
    // Without a script, the game may play by itself.
    assert_no_ambiguities(&mut window(None, add_game));
    let mut app = window(None, |app, settings| {
        add_viewer(app, &settings, viewer());
        Ok(())
    });
    assert_no_ambiguities(&mut app);
}

#[test]
fn no_two_systems_of_a_film_run_in_an_order_that_is_left_open() {
    let whole = UVec2::new(1280, 720);
    for interface in [Interface::Film { whole }, Interface::Past, Interface::Panel] {
        let mut app = bevy();
        offscreen::add_game(&mut app, interface);
        app.init_resource::<Overlay>();
        assert_no_ambiguities(&mut app);
    }
}

#[test]
fn no_two_systems_without_a_window_run_in_an_order_that_is_left_open() {
    let script = Some(script("mix"));
    let mut game =
        LaneGame::with_plugins(script, LaneSettings::default(), UdpServerPlugin(listen(1)));
    let app = &mut game.as_mut().unwrap().app;
    app.init_resource::<Digest>();
    assert_no_ambiguities(app);
    app.update();
    assert!(app.world().resource::<CubeWorld>().tick() > 0);

    let mut viewer = HeadlessViewer::with_plugins(viewer(), LaneSettings::default(), ());
    viewer.app.init_resource::<Digest>();
    assert_no_ambiguities(&mut viewer.app);
    viewer.app.update();
    let meter = viewer.app.world().get::<LaneMeter>(viewer.lane).unwrap();
    assert!(!meter.samples().is_empty());
}

#[test]
fn an_order_that_is_left_open_is_found() {
    fn write(mut mode: ResMut<cubewire::view::ViewMode>) {
        *mode = mode.next();
    }
    let mut app = window(None, add_game);
    app.add_systems(PostUpdate, write);
    assert_ne!(ambiguities(&mut app), Vec::<String>::new());
}
