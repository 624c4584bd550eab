//! Cards that explain the screen at the first start and on request.

use bevy::prelude::{Local, Res, ResMut};
use bevy_egui::input::EguiWantsInput;

use super::pages::ladder::PRESENT;
use super::tour::STEPS;
use crate::controls::Inputs;
use crate::panel::prelude::*;

/// Closes the cards on the first key or on the first click outside the panel.
pub(super) fn end_with_first_input(
    inputs: Inputs<'_>,
    egui: Option<Res<EguiWantsInput>>,
    mut state: ResMut<PanelState>,
    mut was_explaining: Local<bool>,
) {
    let was_explaining = std::mem::replace(&mut *was_explaining, state.explaining);
    let over_panel = egui.is_some_and(|egui| egui.wants_any_pointer_input());
    let is_pressed = inputs.is_key_pressed() || (inputs.is_pointer_pressed() && !over_panel);
    // The key for help may have closed them already.
    if was_explaining && (is_pressed || !state.explaining) {
        state.explaining = false;
        state.explained = true;
    }
}

pub(super) fn draw(
    ctx: &Context,
    state: &PanelState,
    lane: &LaneView<'_>,
    inset: Inset,
) -> Option<Action> {
    let picture = free(ctx, inset);
    if picture.width() < 120.0 || picture.height() < 120.0 {
        return None;
    }
    let has_room = state.shown_size() == PanelSize::Whole && !state.is_narrow;
    // In a small window they would cover the player.
    let has_cards = has_room && picture.height() >= HIGH;
    let before = if has_cards { cards(ctx, state, lane, picture) } else { 0 };
    let width = picture.width() - 48.0;
    let bottom = picture.left_bottom() + vec2(24.0, -ABOVE_CAPTIONS);
    let has_row = width >= ONE_ROW;
    let is_high = has_row && picture.height() >= LOW;
    // A single card has no number.
    let number = (before > 0).then_some(before + 1);
    let place = (Align2::LEFT_BOTTOM, bottom);
    let rect = card(ctx, number, "Start", Look::of(ctx).ink, width, place, |ui| {
        hints(ui, state, &lane.status);
        if !has_row {
            ui.add_space(TOUR + 2.0 * GAP);
        }
    });
    lane.status.tour?;
    let place = match has_row {
        true => (Align2::RIGHT_CENTER, rect.right_center() - vec2(MARGIN, 0.0)),
        false => (Align2::LEFT_BOTTOM, rect.left_bottom() + vec2(MARGIN, -12.0)),
    };
    tour_button(ctx, place, is_high)
}

/// Draws the numbered cards about the halves and the panel. Returns their number.
fn cards(ctx: &Context, state: &PanelState, lane: &LaneView<'_>, picture: Rect) -> usize {
    let look = Look::of(ctx);
    let mut count = 0;
    let mut say = |title, color, width, place, text: &str| {
        count += 1;
        card(ctx, Some(count), title, color, width, place, |ui| {
            paragraph(ui, text, BODY, look.ink);
        })
    };
    let (left, right) = picture.split_left_right_at_fraction(0.5);
    let mut over = |half: Rect, side: Side, title, text: &str| {
        let at = half.center_top() + vec2(0.0, BELOW_HEADLINE);
        let width = (half.width() - 48.0).min(HALF);
        say(title, side.color_in(look), width, (Align2::CENTER_TOP, at), text);
    };
    let is_split = lane.status.view == ViewMode::Split;
    if is_split && lane.status.plays {
        let [title, text] = match lane.shown.len() > 1 {
            true => ["Another replica", "The same snapshots, sent with other settings."],
            false => [
                "The simulation",
                "900 cubes in a physics engine, on this machine. You roll the blue one.",
            ],
        };
        over(left, Side::Left, title, text);
    }
    let network = lane.settings.describe_network();
    let text = format!("Rebuilt from network packets alone ({network}). Can you see a difference?");
    let half = if is_split { right } else { picture };
    over(half, Side::Right, "What another machine sees", &text);
    // Between the player, in the middle of each half, and the card with the keys.
    let at = picture.right_bottom() - vec2(24.0, ABOVE_CAPTIONS + 1.5 * CARD + 14.0);
    let width = (right.width() - 32.0).min(354.0);
    let text = "Nearly every rung compresses more. Click one, or press PageDown for the next.";
    let rect = say("What it costs", look.ink, width, (Align2::RIGHT_CENTER, at), text);
    // The card points to the row of the present rung if the ladder is open.
    let rung: Option<f32> = ctx.data(|data| data.get_temp(Id::new(PRESENT)));
    let row = rung.filter(|_| state.page == Page::Ladder).unwrap_or(at.y);
    let from = pos2(rect.right(), within(row, rect.top() + 8.0, rect.bottom() - 8.0));
    let tip = pos2(picture.right() - 6.0, row);
    let turn = rect.right() + 8.5;
    let painter = ctx.layer_painter(egui::LayerId::background());
    let points = vec![from, pos2(turn, from.y), pos2(turn, row), pos2(tip.x - 4.0, row)];
    painter.line(points, Stroke::new(1.0, look.ink));
    triangle(&painter, tip, vec2(8.0, 10.0), Vec2::RIGHT, look.ink);
    count
}

/// Draws a card with its pivot at a point. Returns its rectangle. A click on the card counts as a click on the view.
fn card(
    ctx: &Context,
    number: Option<usize>,
    title: &str,
    color: Color32,
    width: f32,
    (pivot, at): (Align2, Pos2),
    below: impl FnOnce(&mut Ui),
) -> Rect {
    let look = Look::of(ctx);
    let area = over_views(("explanation", title)).pivot(pivot).fixed_pos(at).interactable(false);
    let frame = over_picture(look, color).inner_margin(Margin::symmetric(15, 11));
    let shown = area.show(ctx, |ui| {
        frame.show(ui, |ui| {
            ui.set_width(width - 2.0 * MARGIN);
            ui.spacing_mut().item_spacing = vec2(8.0, GAP);
            ui.horizontal(|ui| {
                if let Some(number) = number {
                    let (row, _) = ui.allocate_exact_size(Vec2::splat(ROW), Sense::hover());
                    ui.painter().circle_filled(row.center(), 10.0, color);
                    text(ui.painter(), row, At::Center(10.0), number, SMALL, look.ground);
                }
                ui.label(RichText::new(title).size(BODY).color(color));
            });
            below(ui);
        });
    });
    shown.response.rect
}

fn hints(ui: &mut Ui, state: &PanelState, status: &Status<'_>) {
    let again = key_of(Action::Help);
    let hides = match state.has_touch {
        true => "Any touch hides these cards.".to_owned(),
        false => format!("Any key hides these cards. {again} shows them again."),
    };
    let hints: &[(&[&str], &str)] = match (status.plays, state.has_touch) {
        (true, true) => &[(&[], "drag to roll, two fingers turn and zoom")],
        (true, false) => &[
            (&["←", "↑", "↓", "→"], "roll"),
            (&["Z"], "gather cubes"),
            (&["Space"], "blow them away"),
            (&["L"], "cut the link"),
        ],
        (false, true) => &[(&[], "drag to roll, two fingers turn and zoom")],
        (false, false) => &[
            (&["←", "↑", "↓", "→"], "roll"),
            (&["Z"], "gather cubes"),
            (&["Space"], "blow them away"),
            (&["PageDown"], "compress more"),
        ],
    };
    let width = ui.available_width();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(MARGIN, GAP);
        for (names, about) in hints {
            keys(ui, width, 0.0, names, about);
        }
    });
    note(ui, hides);
}

/// Draws the button of the card with the keys, in a separate area that catches clicks.
fn tour_button(ctx: &Context, (pivot, at): (Align2, Pos2), has_caption: bool) -> Option<Action> {
    let shown = over_views("explanation of the tour").pivot(pivot).fixed_pos(at).show(ctx, |ui| {
        ui.spacing_mut().interact_size.y = TOUR;
        let width = if has_caption { 184.0 } else { 152.0 };
        let tour = button(ui, width, "Take the tour", key_of(Action::Tour), Kind::Primary);
        if has_caption {
            ui.set_max_width(width);
            ui.vertical_centered(|ui| {
                note(ui, format!("{} steps through the article", STEPS.len()))
            });
        }
        tour.clicked()
    });
    shown.inner.then_some(Action::Tour)
}

/// Sizes and distances, logical points. `CARD` is the usual height of a card.
const CARD: f32 = 90.0;
const HALF: f32 = 386.0;
const BELOW_HEADLINE: f32 = 136.0;
const ABOVE_CAPTIONS: f32 = 48.0;
const TOUR: f32 = 44.0;

/// Smallest height of the picture at which the cards about the halves and the panel do not cover a ball of cubes, logical
/// points.
const HIGH: f32 = 620.0;

/// Width at which the card with the keys has room for its button right of the keys, logical points.
const ONE_ROW: f32 = 740.0;

/// Height of the picture below which the button has no caption, logical points.
const LOW: f32 = 480.0;
