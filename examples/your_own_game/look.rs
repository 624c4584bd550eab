//! Presentation of the game: a window, or printed statistics without one.

use std::io::{IsTerminal, stderr};
use std::{panic, process, time::Duration};

use bevy::app::ScheduleRunnerPlugin;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::log::{LogPlugin, tracing_subscriber::fmt};
use bevy::time::common_conditions::on_timer;
use bevy_egui::egui::{Color32, LayerId, Rect, Stroke, pos2, vec2};
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass};
use cubewire_inspector::{InspectorPlugin, Selected}; // replication

use super::*;

/// Adds a window with the inspector. Without a display or graphics driver, the program ends with exit code 2.
pub(super) fn window(app: &mut App) {
    // Bevy panics without a display or graphics driver.
    panic::set_hook(Box::new(|why| {
        let why = why.payload_as_str().unwrap_or_default();
        let why = why.split(": ").next().unwrap_or_default();
        eprintln!("error: there is no display, or no graphics driver: {why}");
        eprintln!("`--seconds 10` needs neither");
        process::exit(2);
    }));
    let at = Transform::from_xyz(-25.0, 35.0, 60.0).looking_at(Vec3::X * -15.0, Vec3::Y);
    let log = LogPlugin {
        // No colour codes in a file.
        fmt_layer: |_| {
            let layer = fmt::layer().with_writer(stderr);
            Some(Box::new(layer.with_ansi(stderr().is_terminal())))
        },
        ..default()
    };
    app.add_plugins((DefaultPlugins.set(log), EguiPlugin::default()))
        .add_plugins(InspectorPlugin::default().open()) // replication
        .add_systems(PreStartup, || drop(panic::take_hook()))
        .add_observer(dress)
        .add_observer(|ended: On<Disconnected>| eprintln!("{}", ended.reason))
        .add_systems(EguiPrimaryContextPass, mark);
    let camera = (Camera3d::default(), Tonemapping::None, at);
    app.world_mut().spawn(camera);
    app.world_mut().spawn((DirectionalLight::default(), at));
}

/// Runs without a window for `seconds`, and then prints the bytes sent to each team's client.
pub(super) fn headless(app: &mut App, seconds: u64) {
    let ticks = ScheduleRunnerPlugin::run_loop(Duration::from_millis(16));
    let end = end.run_if(on_timer(Duration::from_secs(seconds)));
    app.add_plugins(MinimalPlugins.set(ticks)).add_systems(Last, end);
}

fn end(sent: Query<(&Name, &MessageBuffer)>, mut exit: MessageWriter<AppExit>) {
    for (team, buffer) in &sent {
        println!("{team}: {} bytes", buffer.traffic.sent.bytes());
    }
    exit.write_default();
}

/// Adds a mesh to each new body. `BodyKind` is inserted after all other replicated components.
fn dress(
    born: On<Add, BodyKind>,
    kinds: Query<&BodyKind>,
    assets: Res<AssetServer>,
    mut commands: Commands,
) -> Result {
    let (mesh, hue) = match kinds.get(born.entity)?.name() {
        "hero" => (Mesh::from(Capsule3d::new(0.4, 1.2)), 120.0),
        "pebble" => (Sphere::new(0.25).into(), 50.0),
        _ => (Sphere::new(1.5).into(), 300.0),
    };
    let paint = StandardMaterial::from(Color::hsl(hue, 0.6, 0.6));
    let look = (Mesh3d(assets.add(mesh)), MeshMaterial3d(assets.add(paint)));
    commands.entity(born.entity).insert(look);
    Ok(())
}

/// Paints a bar above each hero, with its health as length and its team's colour, and a ring around the body that is
/// selected in the inspector.
fn mark(
    mut contexts: EguiContexts,
    view: Single<(&Camera, &GlobalTransform)>,
    heroes: Query<(&Transform, &Health, &Team)>,
    selected: Query<&Transform, With<Selected>>,
) -> Result {
    let painter = contexts.ctx_mut()?.layer_painter(LayerId::background());
    let (camera, eye) = *view;
    let on_screen = |at| camera.world_to_viewport(eye, at).map(|at| pos2(at.x, at.y));
    for (body, health, team) in &heroes {
        if let Ok(at) = on_screen(body.translation + Vec3::Y * 1.5) {
            let size = vec2(3.0 * health.0 as f32, 4.0);
            let bar = Rect::from_min_size(at - vec2(14.0, 4.0), size);
            let color = [Color32::RED, Color32::LIGHT_BLUE][usize::from(team.0 == "blue")];
            painter.rect_filled(bar, 0.0, color);
        }
    }
    for body in &selected {
        if let Ok(at) = on_screen(body.translation) {
            painter.circle_stroke(at, 16.0, Stroke::new(2.0, Color32::WHITE));
        }
    }
    Ok(())
}
