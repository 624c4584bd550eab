//! *Film this*: a button at the lower right of the view, the card that it opens, and the progress of a film.

use super::settings::{FILM_LENGTHS, TICKS_PER_FRAME};
use crate::controls::works;
use crate::panel::prelude::*;
use crate::view::FilmProgress;

/// Draws the button, or instead the open card or the progress, over the part of the window that `inset` leaves free. A
/// button in the lower right corner of each stays in its place. Returns the action of the pressed button.
pub(super) fn draw(
    ctx: &Context,
    state: &mut PanelState,
    status: &Status<'_>,
    inset: Inset,
    has_button: bool,
) -> Option<Action> {
    let picture = free(ctx, inset);
    let width = 272_f32.min(picture.width() - 2.0 * MARGIN);
    if cfg!(target_family = "wasm") || width < 200.0 {
        return None;
    }
    state.film_card &= status.film.is_none();
    if status.film.is_none() && !state.film_card && !has_button {
        return None;
    }
    // The position of an area follows from its size in the previous frame.
    let area = over_views(("film this", status.film.is_some(), state.film_card));
    let corner = picture.right_bottom() - vec2(MARGIN, ABOVE_CAPTIONS);
    let shown = area.pivot(Align2::RIGHT_BOTTOM).fixed_pos(corner).show(ctx, |ui| {
        let look = Look::of(ui);
        let margin = Margin::same(12);
        let frame = over_picture(look, look.line).inner_margin(margin);
        match status.film {
            Some(film) => frame.show(ui, |ui| progress(ui, width, film)).inner,
            None if state.film_card => frame.show(ui, |ui| card(ui, width, state, status)).inner,
            None => {
                let key = key_of(Action::Film);
                // As far from the corner as in a card, which has a border.
                let margin = margin + Margin::same(1);
                let closed = |ui: &mut Ui| button(ui, BUTTON_WIDTH, "Film this", key, Kind::Usual);
                let shown = Frame::new().inner_margin(margin).show(ui, closed).inner;
                shown.on_hover_text(ABOUT_FILM).clicked().then_some(Action::Film)
            }
        }
    });
    shown.inner
}

fn card(ui: &mut Ui, width: f32, state: &mut PanelState, status: &Status<'_>) -> Option<Action> {
    ui.set_width(width);
    ui.spacing_mut().item_spacing = vec2(GAP, 8.0);
    heading(ui, "Film the last …", "Esc closes");
    let lengths =
        [0, 1, 2].map(|index| Choice::new(index, format!("{} s", FILM_LENGTHS[index]), ""));
    segmented(ui, width, &mut state.film_length, &lengths);
    let rates = [0, 1].map(|index| {
        let fps = TICKS_PER_SECOND / TICKS_PER_FRAME[index];
        Choice::new(index, format!("{fps} fps"), "")
    });
    segmented(ui, width, &mut state.film_rate, &rates);
    let film = state.past_film();
    let about = match state.colors {
        CubeColors::Bits | CubeColors::Form => {
            "Films the last seconds of the view, with this camera and these colours: as many seconds as there are \
             packets with every bit."
        }
        CubeColors::Wait => {
            "Films the last seconds of the view, with this camera, and without these colours: waits are not recorded."
        }
        _ => {
            "Films the last seconds of the view, with this camera and these colours. The game goes on."
        }
    };
    paragraph(ui, about, SMALL, Look::of(ui).muted);
    ui.horizontal(|ui| {
        let copy = Action::CopyFilm(film);
        let copies = works(copy, status.plays).then(|| {
            let rest = width - GAP - BUTTON_WIDTH;
            button(ui, rest, "Copy command", "", Kind::Usual).on_hover_text(ABOUT_COPY)
        });
        if copies.is_none() {
            // The button to film keeps its place.
            ui.add_space(width - BUTTON_WIDTH);
        }
        let copies = copies.filter(Response::clicked).map(|_| copy);
        let films = button(ui, BUTTON_WIDTH, "Film", key_of(Action::Film), Kind::Primary);
        // The key does the same.
        films.clicked().then_some(Action::Film).or(copies)
    })
    .inner
}

fn progress(ui: &mut Ui, width: f32, film: FilmProgress) -> Option<Action> {
    ui.set_width(width);
    ui.spacing_mut().item_spacing = vec2(GAP, 8.0);
    let left = match film.left_seconds {
        None => String::new(),
        Some(seconds @ ..100) => format!(", about {seconds} s left"),
        Some(seconds) => format!(", about {} min left", seconds.div_ceil(60)),
    };
    heading(ui, "Filming", format!("{:.0} %{left}", 100.0 * film.fraction));
    ui.horizontal(|ui| {
        let rest = width - GAP - BUTTON_WIDTH;
        ui.add(ProgressBar::new(film.fraction).desired_height(6.0).desired_width(rest));
        let stop = button(ui, BUTTON_WIDTH, "Stop", "", Kind::Usual);
        stop.on_hover_text(ABOUT_STOP).clicked().then_some(Action::StopFilm)
    })
    .inner
}

pub(super) const ABOUT_FILM: &str = "The last 10, 30 or 60 seconds of the view, as an MP4.";
pub(super) const ABOUT_STOP: &str = "Ends the film here, and keeps the rendered part.";
const ABOUT_COPY: &str =
    "Saves a replay of the keys, and copies the command that films it in any size and format.";

/// Sizes and distances, logical points.
const BUTTON_WIDTH: f32 = 116.0;
const ABOVE_CAPTIONS: f32 = 48.0;
