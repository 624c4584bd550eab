//! What the cubes' colours show, and what they mean.

use bevy_egui::egui::{Color32, Rect, Sense, Ui, WidgetInfo, WidgetType, vec2};
use cubewire_codec::Form;
use cubewire_palette::{AMOUNTS, CUBE, INTERACTING_CUBE, NOT_SENT, PLAYER_CUBE, form};

use super::super::packet::span::short_form;
use crate::panel::style::{BODY, CONTROL, LINE, Look, ROW, SMALL};
use crate::panel::terms;
use crate::panel::widgets::{
    At, Choice, chip, focus_ring, note, ramp, segmented, swatch, text, width,
};
use crate::theme::egui_color;
use crate::view::CubeColors;

pub(super) fn draw(ui: &mut Ui, colors: &mut CubeColors, is_fixed: &mut bool, is_remote: bool) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(NAME, CONTROL), Sense::hover());
        let ink = Look::of(ui).ink;
        text(ui.painter(), rect, At::Left(0.0), "Colour cubes", BODY, ink);
        let choices = CubeColors::ALL.map(|colors| {
            let mut choice = Choice::new(colors, name(colors), terms::cube_colors(colors));
            let is_known = !(is_remote && colors.is_of_sender());
            choice.refusal = (!is_known).then(|| ONLY_SENDER.to_owned());
            choice
        });
        let across = ui.available_width();
        segmented(ui, across, colors, &choices);
    });
    if is_remote {
        note(ui, "Error, angle and wait: only the sender knows.");
    }
    match colors {
        CubeColors::Interaction => swatches(
            ui,
            &[
                ("touched", INTERACTING_CUBE),
                ("others", CUBE),
                ("yours", PLAYER_CUBE),
            ]
            .map(|(name, color)| (name, egui_color(color))),
        ),
        CubeColors::Form => {
            let forms = Form::ALL.map(|each| (short_form(each), egui_color(form(Some(each)))));
            let none = ("not sent", egui_color(form(None)));
            let all: Vec<_> = [none].into_iter().chain(forms).collect();
            swatches(ui, &all);
        }
        amount => scale(ui, ends(*amount), is_fixed),
    }
}

const ONLY_SENDER: &str = "Only the sender knows.";
const FIXED: &str = "fixed";

const fn name(colors: CubeColors) -> &'static str {
    match colors {
        CubeColors::Interaction => "as they are",
        CubeColors::Bits => "bits",
        CubeColors::Form => "form",
        CubeColors::Distance => "error",
        CubeColors::Angle => "angle",
        CubeColors::Wait => "wait",
    }
}

/// Words at the ends and in the middle of the fixed scale.
const fn ends(colors: CubeColors) -> [&'static str; 3] {
    match colors {
        CubeColors::Bits => ["1 bit", "64", "128 or more"],
        CubeColors::Distance => ["0 mm", "32", "64 or more"],
        CubeColors::Angle => ["0°", "8", "16 or more"],
        CubeColors::Interaction | CubeColors::Form | CubeColors::Wait => {
            ["0 ticks", "32", "64 or more"]
        }
    }
}

/// Colours with their names, four a row.
fn swatches(ui: &mut Ui, all: &[(&str, Color32)]) {
    let size = vec2(ui.available_width(), LEGEND);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let look = Look::of(ui);
    for (index, (name, color)) in all.iter().enumerate() {
        let across = rect.width() / all.len().min(COLUMNS) as f32;
        let (row, column) = ((index / COLUMNS) as f32, (index % COLUMNS) as f32);
        let at = rect.min + vec2(column * across, row * LINE);
        let cell = Rect::from_min_size(at, vec2(across, LINE));
        swatch(ui.painter(), cell, 0.0, *color);
        text(ui.painter(), cell, At::Left(15.0), name, SMALL, look.muted);
    }
}

/// The ramp of amounts, which a click, on it or on the chip, fixes.
fn scale(ui: &mut Ui, ends: [&str; 3], is_fixed: &mut bool) {
    let look = Look::of(ui);
    let about = "A fixed scale ends at the same amount always. Otherwise it ends at a power of two that reaches the largest amount.";
    ui.horizontal_top(|ui| {
        let chip_width = width(ui, FIXED, SMALL) + 14.0;
        let size = vec2(ui.available_width() - chip_width - 8.0, LEGEND);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        response.widget_info(|| {
            WidgetInfo::selected(
                WidgetType::Checkbox,
                true,
                *is_fixed,
                "fixed scale of the colours",
            )
        });
        let painter = ui.painter();
        let bar = Rect::from_min_size(rect.min + vec2(0.0, 4.0), vec2(NONE, 12.0));
        painter.rect_filled(bar, 0.0, egui_color(NOT_SENT));
        let colors = AMOUNTS.map(egui_color);
        let amounts = bar.with_max_x(rect.right()).with_min_x(bar.right() + 8.0);
        ramp(painter, amounts, &colors);
        let below = |bar: Rect| bar.with_min_y(bar.bottom()).with_max_y(bar.bottom() + LINE);
        text(
            painter,
            below(bar),
            At::Left(0.0),
            "none",
            SMALL,
            look.muted,
        );
        let [from, middle, to] = match *is_fixed {
            true => ends,
            false => [ends[0], "", "the largest"],
        };
        let center = At::Center(amounts.width() / 2.0);
        for (words, at) in [
            (from, At::Left(0.0)),
            (middle, center),
            (to, At::Right(0.0)),
        ] {
            text(painter, below(amounts), at, words, SMALL, look.muted);
        }
        if response.has_focus() {
            focus_ring(painter, look, rect);
        }
        ui.add_space(8.0 - ui.spacing().item_spacing.x);
        let chip = chip(ui, ROW, 4, FIXED, *is_fixed).on_hover_text(about);
        if response.on_hover_text(about).clicked() || chip.clicked() {
            *is_fixed = !*is_fixed;
        }
    });
}

/// Logical points.
const NAME: f32 = 96.0;
pub(super) const LEGEND: f32 = 32.0;
const NONE: f32 = 40.0;

/// Swatches in a row.
const COLUMNS: usize = 4;
