//! Measures how long a frame takes without rendering: what the window computes, up to the triangles of its panel.
//!
//! In a window, the shadow ladder has the time until the next frame, and that in which the frame is drawn.
//! Here a frame follows the other at once, and what the shadow's task takes is not part of any frame's time.

use std::time::Duration;

use bevy::input::InputPlugin;
use bevy::prelude::*;
use bevy_egui::{EguiContext, EguiPrimaryContextPass, EguiUserTextures, PrimaryEguiContext, egui};
use serde::Serialize;

use super::headless::HeadlessGame;
use super::{GameError, show_halves};
use crate::clock;
use crate::panel::PanelPlugin;
use crate::recording::Script;
use crate::replication::{LaneSettings, ShadowLadder};
use crate::view::{PaneContent, ViewPlugin};

/// How long the frames of a play take, milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FrameTimes {
    /// Frames that were measured, at least one.
    pub frames: usize,
    /// Mean of a frame.
    pub mean_ms: f64,
    /// Half of the frames take less.
    pub median_ms: f64,
    /// 99 of 100 frames take less.
    pub percentile_99_ms: f64,
    /// The slowest frame.
    pub worst_ms: f64,
    /// The part of the mean that lays out the panel.
    pub panel_ms: f64,
    /// What the shadow ladder's task takes in addition, mean of the last ticks.
    pub shadow_ms: f64,
}

/// Plays this many ticks, at least one, with a lane in the right half and the whole panel, one tick a frame, as fast as
/// it can.
///
/// # Errors
/// If the game cannot be set up.
pub fn measure(
    script: Option<Script>,
    lane: LaneSettings,
    ticks: usize,
) -> Result<FrameTimes, GameError> {
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
        for mut ladder in world.query::<&mut ShadowLadder>().iter_mut(world) {
            ladder.finish(None)?;
            shadow = ladder.mean_time_per_tick();
        }
    }
    frames.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let at = |percent: usize| ms(frames[(frames.len() - 1) * percent / 100]);
    Ok(FrameTimes {
        frames: frames.len(),
        mean_ms: ms(frames.iter().sum()) / frames.len() as f64,
        median_ms: at(50),
        percentile_99_ms: at(99),
        worst_ms: at(100),
        panel_ms: ms(panel) / frames.len() as f64,
        shadow_ms: ms(shadow),
    })
}

/// The work of egui in a frame.
fn lay_out_panel(world: &mut World) -> Result<(), BevyError> {
    let mut contexts = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
    let egui = contexts.single_mut(world)?.get_mut().clone();
    let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1280.0, 720.0));
    egui.begin_pass(egui::RawInput {
        screen_rect: Some(window),
        ..egui::RawInput::default()
    });
    world.run_schedule(EguiPrimaryContextPass);
    let mut output = egui.end_pass();
    let shapes = std::mem::take(&mut output.shapes);
    let triangles = egui.tessellate(shapes, output.pixels_per_point);
    debug_assert!(!triangles.is_empty(), "there is a panel to draw");
    output.drop_without_applying_deltas();
    Ok(())
}
