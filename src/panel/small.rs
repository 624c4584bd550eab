//! The small bandwidth graph that is drawn over the scene.

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};

use super::lane::Measured;
use super::{graph, style};
use crate::replication::{Lane, LaneMeter};
use crate::theme::{Theme, egui_color};
use crate::view::{Overlay, Part, Side, ViewSystems};

/// Time span of the graph, seconds.
const SECONDS: u32 = 5;

/// Size of the graph in logical points, limited by [`MAX_FRACTION`].
const SIZE: egui::Vec2 = egui::vec2(340.0, 110.0);

/// Fraction of the width and the height of the view that the graph may cover.
const MAX_FRACTION: egui::Vec2 = egui::vec2(0.29, 0.24);

/// Opacity of the background.
const VEIL: f32 = 0.85;

/// Logical points below which the captions need the room of the graph.
const MIN_VIEW_WIDTH: f32 = 700.0;

/// Distance from the bottom edge, logical points.
const MARGIN: f32 = 8.0;

/// Shows one graph of every lane in a half of the screen, unless the [`Overlay`] hides it.
#[derive(Debug)]
pub struct SmallGraphPlugin;

impl Plugin for SmallGraphPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(EguiPrimaryContextPass, draw.after(ViewSystems::Overlay));
    }
}

fn draw(
    mut contexts: EguiContexts,
    overlay: Res<Overlay>,
    theme: Res<Theme>,
    lanes: Query<(&Side, &LaneMeter), With<Lane>>,
) -> Result {
    if !overlay.shows(Part::Graph) {
        return Ok(());
    }
    let ctx = contexts.ctx_mut()?;
    if ctx.viewport_rect().width() < MIN_VIEW_WIDTH {
        return Ok(());
    }
    style::apply(ctx, *theme, None);
    let mut lanes: Vec<_> = lanes
        .iter()
        .map(|(&side, meter)| Measured {
            side,
            meter,
            settings: None,
        })
        .collect();
    lanes.sort_by_key(|lane| lane.side);
    egui::Area::new(egui::Id::new("small graph"))
        .anchor(egui::Align2::CENTER_BOTTOM, [0.0, -MARGIN])
        .interactable(false)
        // Visible from the first frame.
        .fade_in(false)
        .show(ctx, |ui| {
            let veil = egui_color(theme.colors().ground).gamma_multiply(VEIL);
            egui::Frame::new()
                .fill(veil)
                .inner_margin(4)
                .show(ui, |ui| {
                    let size = SIZE.min(ctx.viewport_rect().size() * MAX_FRACTION);
                    graph::draw_small(ui, SECONDS, size, &lanes);
                });
        });
    Ok(())
}
