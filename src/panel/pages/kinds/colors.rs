//! What the cubes' colours show. What they mean is said over the picture.

use bevy_egui::egui::{Align, Layout, Ui, vec2};

use crate::panel::style::{BODY, Look, ROW};
use crate::panel::terms;
use crate::panel::widgets::{At, Choice, chip, note, segmented, text};
use crate::view::CubeColors;

pub(super) fn draw(ui: &mut Ui, colors: &mut CubeColors, is_fixed: &mut bool, is_remote: bool) {
    let size = vec2(ui.available_width(), ROW);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        let ink = Look::of(ui).ink;
        let row = ui.max_rect();
        text(ui.painter(), row, At::Left(0.0), "Colour cubes", BODY, ink);
        let is_amount = !matches!(colors, CubeColors::Interaction | CubeColors::Form);
        if is_amount
            && chip(ui, ROW, 4, "fixed", *is_fixed)
                .on_hover_text(FIXED)
                .clicked()
        {
            *is_fixed = !*is_fixed;
        }
    });
    let choices = CubeColors::ALL.map(|colors| {
        let mut choice = Choice::new(colors, colors.name(), terms::cube_colors(colors));
        let is_known = !(is_remote && colors.is_of_sender());
        choice.refusal = (!is_known).then(|| "Only the sender knows.".to_owned());
        choice
    });
    let across = ui.available_width();
    segmented(ui, across, colors, &choices);
    if is_remote {
        note(ui, "Error, angle and wait: only the sender knows.");
    }
}

const FIXED: &str = "A fixed scale ends at the same amount always. Otherwise it ends at a power of two that reaches the \
    largest amount.";
