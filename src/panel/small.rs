//! The bandwidth graph in small, over the picture.

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};

use super::{Measured, graph};
use crate::replication::{LaneMeter, Side};
use crate::view::{Overlay, Part};

/// Seconds that it goes back.
const SECONDS: u32 = 5;

/// Logical points, unless that is too much of the picture.
const SIZE: egui::Vec2 = egui::vec2(340.0, 110.0);

/// Part of the picture that it may cover, each way.
const MOST: egui::Vec2 = egui::vec2(0.27, 0.2);

/// Logical points from the bottom.
const MARGIN: f32 = 8.0;

/// Shows the graph of every lane that is shown, unless the [`Overlay`] leaves it out.
#[derive(Debug)]
pub struct SmallGraphPlugin;

impl Plugin for SmallGraphPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(EguiPrimaryContextPass, draw);
    }
}

fn draw(
    mut contexts: EguiContexts,
    overlay: Res<Overlay>,
    lanes: Query<(&Side, &LaneMeter)>,
) -> Result {
    if !overlay.shows(Part::Graph) {
        return Ok(());
    }
    let mut lanes: Vec<_> = lanes
        .iter()
        .map(|(&side, meter)| Measured {
            side,
            meter,
            text: None,
        })
        .collect();
    lanes.sort_by_key(|lane| lane.side);
    let ctx = contexts.ctx_mut()?;
    ctx.set_theme(egui::Theme::Light);
    egui::Area::new(egui::Id::new("small graph"))
        .anchor(egui::Align2::CENTER_BOTTOM, [0.0, -MARGIN])
        .interactable(false)
        // It is there from the first frame on.
        .fade_in(false)
        .show(ctx, |ui| {
            let veil = egui::Color32::from_rgba_unmultiplied(248, 250, 252, 215);
            egui::Frame::new()
                .fill(veil)
                .inner_margin(4)
                .show(ui, |ui| {
                    let size = SIZE.min(ctx.viewport_rect().size() * MOST);
                    ui.set_width(size.x);
                    ui.visuals_mut().override_text_color = Some(egui::Color32::BLACK);
                    graph::draw_small(ui, SECONDS, size.y, &lanes);
                });
        });
    Ok(())
}
