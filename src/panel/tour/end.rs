//! The card at the end of the tour: bandwidth from the first rung to the last.

use super::steps::STEPS;
use crate::panel::prelude::*;

/// Draws the card over the view, between the headline and the captions of the halves. A narrow window has a lower
/// headline. Returns the action of the pressed button.
pub(crate) fn draw_end(
    ctx: &Context,
    lane: &LaneView<'_>,
    inset: Inset,
    is_narrow: bool,
) -> Option<Action> {
    let mut picture = free(ctx, inset);
    picture.max.y -= 40.0;
    picture.min.y += if is_narrow { 68.0 } else { 96.0 };
    let width = 708_f32.min(picture.width() - 32.0);
    let costs = lane.rung_costs();
    let kbps = LADDER.map(|rung| costs.kbps(&rung));
    let area = over_views("end of the tour").pivot(Align2::CENTER_CENTER);
    let shown = area.fixed_pos(picture.center()).show(ctx, |ui| {
        let frame = over_picture(Look::of(ui), Side::Right.color_in(Look::of(ui)));
        let card = frame.inner_margin(Margin::symmetric(24, 20)).show(ui, |ui| {
            ui.set_width(width - 52.0);
            ui.spacing_mut().item_spacing = Vec2::splat(8.0);
            said(ui, lane, &kbps, picture.height() >= 356.0);
            // A narrow card has more rows of text.
            bars(ui, &kbps, if width < NARROW { 80.0 } else { 116.0 });
            buttons(ui)
        });
        card.inner
    });
    shown.inner
}

fn said(ui: &mut Ui, lane: &LaneView<'_>, kbps: &[Option<f64>], has_caption: bool) {
    let look = Look::of(ui);
    if has_caption {
        note(ui, format!("The end of the tour: {} steps", STEPS.len()));
    }
    let (Some(Some(first)), Some(Some(last))) = (kbps.first(), kbps.last()) else { return };
    ui.horizontal(|ui| {
        ui.label(RichText::new(grouped(*first)).size(HEADLINE));
        ui.label(RichText::new("to").size(LARGE).color(look.muted));
        let last = format!("{} kbps", grouped(*last));
        ui.label(RichText::new(last).size(HEADLINE).color(Side::Right.color_in(look)));
    });
    let less = match lane.why_no_ratio() {
        None => format!(", {} less", factor(first / last)),
        Some(why) => format!("; {why}"),
    };
    let words = format!(
        "The same 901 cubes, 60 times a second{less}. Rungs 1 to 12 are the article's: the last keeps to its target \
         of {TARGET_KBPS:.0}\u{a0}kbps, the dashed line, unless the ball is large. Rungs 13 to 16 go further."
    );
    paragraph(ui, &words, BODY, look.ink);
}

/// Draws a bar for each rung with its cost above and its number below, and the target at the left.
fn bars(ui: &mut Ui, kbps: &[Option<f64>], height: f32) {
    let look = Look::of(ui);
    line(ui, "kbps on each rung, on a logarithmic scale", look.muted);
    ui.add_space(LINE - ui.spacing().item_spacing.y);
    let (plot, _) = plot_area(ui, height - 3.0 * LINE);
    let right = kbps.len() as f64;
    let chart = Chart::new(ui, plot, 0.0..=right, 10.0..=20_000.0, Scale::Logarithmic);
    for (index, kbps) in kbps.iter().enumerate() {
        let left = index as f64;
        let middle = (Align::Center, left + 0.5);
        if let Some(kbps) = *kbps {
            let color = match kbps <= TARGET_KBPS {
                true => Side::Right.color_in(look),
                false => look.above_target,
            };
            chart.bar(left + 0.05..=left + 0.95, kbps, color);
            if plot.width() / right as f32 > 34.0 {
                let cost = match kbps {
                    1_000.0..9_950.0 => format!("{:.1}k", kbps / 1_000.0),
                    _ => short(kbps),
                };
                chart.label(ui, true, middle, &cost, look.ink);
            }
        }
        chart.label(ui, false, middle, &(index + 1).to_string(), look.muted);
    }
    for (name, y, color) in [
        (format!("{TARGET_KBPS:.0}"), chart.y_of(TARGET_KBPS), look.ink),
        ("rung".to_owned(), plot.bottom() + LINE / 2.0, look.muted),
    ] {
        let row = Rect::from_center_size(pos2(plot.left() - AXIS / 2.0, y), vec2(AXIS, LINE));
        text(ui.painter(), row, At::Left(0.0), name, SMALL, color);
    }
    chart.level(0.0..=right, TARGET_KBPS, Stroke::new(1.0, look.ink), Some(5.0));
}

fn buttons(ui: &mut Ui) -> Option<Action> {
    let mut offers = vec![
        ("Play on", Action::Tour, "roll the cubes yourself", Kind::Primary),
        ("Film it", Action::Film, "the last minute at most", Kind::Usual),
        ("Read the article", Action::Open(STEPS[0].address), "by Glenn Fiedler, 2015", Kind::Usual),
    ];
    offers.retain(|(_, action, ..)| cfg!(not(target_family = "wasm")) || *action != Action::Film);
    let mut pressed = None;
    let has_captions = ui.available_width() >= NARROW;
    ui.spacing_mut().interact_size.y = 44.0;
    ui.columns(offers.len(), |columns| {
        for (ui, (name, action, about, kind)) in columns.iter_mut().zip(offers) {
            if button(ui, ui.available_width(), name, "", kind).clicked() {
                pressed = Some(action);
            }
            if !has_captions {
                continue;
            }
            let key = match action {
                Action::Tour => key_of(Action::LeaveTour),
                action => key_of(action),
            };
            let between = if key.is_empty() { "" } else { ": " };
            let about = RichText::new(format!("{key}{between}{about}")).size(SMALL);
            let about = about.color(Look::of(ui).muted);
            ui.vertical_centered(|ui| ui.add(Label::new(about).truncate()));
        }
    });
    pressed
}

/// Sizes and distances, logical points.
const NARROW: f32 = 500.0;
const HEADLINE: f32 = 40.0;
