//! *Film this*: a button at the lower right of the view, the card that it opens, and the progress of a film.

use super::lane::Status;
use super::settings::{FILM_LENGTHS, PanelState};
use crate::panel::prelude::*;
use crate::view::Inset;

/// Draws the button, or instead the open card or the progress, over the part of the window that `inset` leaves free.
/// They are hidden while the window is recorded. Returns the action of the pressed button.
pub(super) fn draw(
    ctx: &Context,
    state: &mut PanelState,
    status: &Status<'_>,
    inset: Inset,
    has_button: bool,
) -> Option<Action> {
    let picture = free(ctx, inset);
    let width = 272_f32.min(picture.width() - 2.0 * MARGIN);
    if status.records_video || cfg!(target_family = "wasm") || width < LEAST {
        return None;
    }
    if status.film.is_none() && !state.film_card && !has_button {
        return None;
    }
    // The position of an area follows from its size in the previous frame.
    let area = over_views(("film this", status.film.is_some(), state.film_card));
    let corner = picture.right_bottom() - vec2(MARGIN, ABOVE_CAPTIONS);
    let shown = area.pivot(Align2::RIGHT_BOTTOM).fixed_pos(corner).show(ctx, |ui| {
        let look = Look::of(ui);
        let frame = over_picture(look, look.line).inner_margin(Margin::same(12));
        match status.film {
            Some(fraction) => {
                state.film_card = false;
                frame.show(ui, |ui| progress(ui, width, fraction)).inner
            }
            None if state.film_card => frame.show(ui, |ui| card(ui, width, state, status)).inner,
            None => {
                let shown = button(ui, 116.0, "Film this", key_of(Action::Film), Kind::Usual);
                let shown = shown.on_hover_text("The last seconds of both halves, as an MP4.");
                shown.clicked().then_some(Action::Film)
            }
        }
    });
    shown.inner
}

/// Draws the choice of the length, and the buttons. Returns the action of the pressed one.
fn card(ui: &mut Ui, width: f32, state: &mut PanelState, status: &Status<'_>) -> Option<Action> {
    ui.set_width(width);
    ui.spacing_mut().item_spacing = vec2(GAP, 8.0);
    heading(ui, "Film the last …", "Esc closes");
    let lengths =
        [0, 1, 2].map(|index| Choice::new(index, format!("{} s", FILM_LENGTHS[index]), ""));
    segmented(ui, width, &mut state.film_length, &lengths);
    let seconds = state.film_seconds();
    let about = "Films the last seconds of both halves, with this camera and these colours. The game goes on.";
    paragraph(ui, about, SMALL, Look::of(ui).muted);
    ui.horizontal(|ui| {
        let half = (width - GAP) / 2.0;
        let films = button(ui, half, "Film", key_of(Action::Film), Kind::Primary);
        let refusal = (!status.plays).then_some("Only the server has the keys.");
        let copy = |ui: &mut Ui| button(ui, half, "Copy command", "", Kind::Usual);
        let copies = unless(ui, refusal, ABOUT_COPY, copy);
        let copies = copies.clicked().then_some(Action::CopyFilm(seconds));
        // The key does the same.
        films.clicked().then_some(Action::Film).or(copies)
    })
    .inner
}

/// Draws the bar and the button that ends the film. Returns its action if it was pressed.
fn progress(ui: &mut Ui, width: f32, fraction: f32) -> Option<Action> {
    ui.set_width(width);
    ui.spacing_mut().item_spacing = vec2(GAP, 8.0);
    heading(ui, "Filming", format!("{:.0} %", 100.0 * fraction));
    ui.horizontal(|ui| {
        ui.add(ProgressBar::new(fraction).desired_height(6.0).desired_width(width - STOP - GAP));
        let stop = button(ui, STOP, "Stop", "", Kind::Usual);
        let stop = stop.on_hover_text("Ends the film here, and keeps the rendered part.");
        stop.clicked().then_some(Action::StopFilm)
    })
    .inner
}

const ABOUT_COPY: &str =
    "Saves a replay of the keys, and copies the command that films it in any size and format.";

/// Sizes and distances, logical points.
const LEAST: f32 = 200.0;
const STOP: f32 = 56.0;
const ABOVE_CAPTIONS: f32 = 48.0;
