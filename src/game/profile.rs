//! Measures the CPU time of a frame without rendering, including layout and tessellation of the panel.
//!
//! The time of the live ladder is measured separately, because in a window its task runs in the background until the
//! next frame.

use std::time::Duration;

use bevy::input::InputPlugin;
use bevy::prelude::*;
use bevy_egui::{EguiContext, EguiPrimaryContextPass, EguiUserTextures, PrimaryEguiContext, egui};
use serde_json::{Value, json};

use super::headless::HeadlessGame;
use super::{GameError, show_halves};
use crate::clock;
use crate::panel::PanelPlugin;
use crate::recording::Script;
use crate::replication::{LaneSettings, LiveLadder};
use crate::view::{PaneContent, ViewPlugin};

/// Plays at least one tick, one per frame and as fast as possible, with a lane in the right half and the whole panel.
/// Returns the times.
pub fn measure(
    script: Option<Script>,
    lane: LaneSettings,
    ticks: usize,
) -> Result<Value, GameError> {
    let mut game =
        HeadlessGame::with_plugins(script, (InputPlugin, ViewPlugin, PanelPlugin::default()));
    game.app.init_resource::<EguiUserTextures>();
    let world = game.app.world_mut();
    world.spawn((EguiContext::default(), PrimaryEguiContext));
    show_halves(world, PaneContent::Simulation, lane)?;
    let (mut panel, mut shadow) = (Duration::ZERO, Duration::ZERO);
    let mut frames = Vec::new();
    for _ in 0..ticks.max(1) {
        let start = clock::now();
        game.step();
        let simulated = start.elapsed();
        lay_out_panel(game.app.world_mut())?;
        frames.push(start.elapsed());
        panel += start.elapsed() - simulated;
        let world = game.app.world_mut();
        for mut ladder in world.query::<&mut LiveLadder>().iter_mut(world) {
            ladder.finish()?;
            shadow = ladder.mean_time();
        }
    }
    frames.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let at = |percent: usize| ms(frames[(frames.len() - 1) * percent / 100]);
    Ok(json!({
        "frames": frames.len(),
        "mean_ms": ms(frames.iter().sum()) / frames.len() as f64,
        "median_ms": at(50),
        "percentile_99_ms": at(99),
        "worst_ms": at(100),
        // Mean time of the panel's layout, which is part of `mean_ms`.
        "panel_ms": ms(panel) / frames.len() as f64,
        // Mean time per tick of the live ladder's task over the last ticks. Not part of `mean_ms`.
        "shadow_ms": ms(shadow),
    }))
}

fn lay_out_panel(world: &mut World) -> Result<(), BevyError> {
    let mut contexts = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
    let egui = contexts.single_mut(world)?.get_mut().clone();
    let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1280.0, 720.0));
    egui.begin_pass(egui::RawInput { screen_rect: Some(window), ..egui::RawInput::default() });
    world.run_schedule(EguiPrimaryContextPass);
    let mut output = egui.end_pass();
    let shapes = std::mem::take(&mut output.shapes);
    let triangles = egui.tessellate(shapes, output.pixels_per_point);
    debug_assert!(!triangles.is_empty(), "there is a panel to draw");
    output.drop_without_applying_deltas();
    Ok(())
}
