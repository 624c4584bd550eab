//! What the compression saves: from rung to rung, over time, and each part of it alone.

mod ablation;
mod steps;
mod time;

use bevy_egui::egui::{
    self, Align2, Color32, Rect, Response, Sense, TextStyle, WidgetInfo, WidgetType, vec2,
};
use cubewire_codec::Stages;

use super::axis::Axis;
use crate::panel::settings::{Page, PanelState};
use crate::panel::style;
use crate::replication::{Ablation, ShadowLadder};
use crate::view::Side;

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub(in crate::panel) struct Measures<'a> {
    pub(in crate::panel) side: Side,
    /// The stages of the lane.
    pub(in crate::panel) stages: Stages,
    pub(in crate::panel) shadow: Option<&'a ShadowLadder>,
    pub(in crate::panel) ablation: Option<&'a Ablation>,
    pub(in crate::panel) tick: Option<u64>,
}

pub(in crate::panel) fn draw(ui: &mut egui::Ui, state: &mut PanelState, measures: Measures<'_>) {
    let Some(shadow) = measures.shadow else {
        ui.weak("This is measured where the simulation runs.");
        return;
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    let look = Look {
        half: style::half(state.theme.colors(), measures.side),
        warning: ui.visuals().warn_fg_color,
    };
    match state.page {
        Page::Savings => steps::draw(ui, look, measures.stages, shadow),
        Page::OverTime => time::draw(ui, state, look, measures.stages, shadow),
        _ => ablation::draw(ui, look, measures, shadow),
    }
}

/// The colours of a view.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// Colour of the lane's half.
    half: Color32,
    warning: Color32,
}

/// A row of that height with a name for those who cannot see it.
fn row(ui: &mut egui::Ui, height: f32, name: &str, is_present: bool) -> (Rect, Response) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
    let visuals = ui.visuals();
    if is_present {
        ui.painter()
            .rect_filled(rect, 3.0, visuals.selection.bg_fill);
    } else if response.hovered() {
        let fill = visuals.widgets.hovered.weak_bg_fill;
        ui.painter().rect_filled(rect, 3.0, fill);
    }
    (rect, response)
}

/// Paints text next to a point.
fn text(
    ui: &egui::Ui,
    at: egui::Pos2,
    align: Align2,
    text: &str,
    style: &TextStyle,
    color: Color32,
) -> Rect {
    let font = style.resolve(ui.style());
    ui.painter().text(at, align, text, font, color)
}

/// A difference with its sign.
fn signed(kbps: f64) -> String {
    // What is shown as zero has none.
    if kbps.abs() < 0.05 {
        return "0.0".to_owned();
    }
    let sign = if kbps < 0.0 { '−' } else { '+' };
    format!("{sign}{:.1}", kbps.abs())
}

/// How many ticks, in words.
fn ticks(count: u64) -> String {
    match count {
        1 => "1 tick".to_owned(),
        _ => format!("{count} ticks"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_a_sign_unless_it_is_zero() {
        assert_eq!(signed(12.34), "+12.3");
        assert_eq!(signed(-0.26), "−0.3");
        assert_eq!(signed(-0.04), "0.0");
    }
}
