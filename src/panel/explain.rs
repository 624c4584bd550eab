//! Cards that explain the screen at the first start and on request.

use bevy::prelude::{Local, Res, ResMut};
use bevy_egui::input::EguiWantsInput;
use cubewire_inspector::widgets::keys_width;

use super::lane::{LaneView, Status};
use super::pages::ladder::PRESENT;
use super::settings::{Page, PanelSize, PanelState};
use super::tour::STEPS;
use crate::controls::Inputs;
use crate::panel::prelude::*;
use crate::view::{Inset, ViewMode};

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

/// Draws the numbered cards about the halves and the panel. Returns their number.
fn cards(ui: &mut Ui, state: &PanelState, lane: &LaneView<'_>, picture: Rect) -> usize {
    // A small window has no room for the cards.
    if state.shown_size() != PanelSize::Whole || state.is_narrow {
        return 0;
    }
    let look = Look::of(ui);
    let rung: Option<f32> = ui.data(|data| data.get_temp(Id::new(PRESENT)));
    let mut count = 0;
    let mut card = |rect, color, title, text: &str| {
        count += 1;
        let (_, mut inside) = frame(ui, rect, color, Some(count), title);
        inside.add(Label::new(balanced(&inside, text, BODY, look.ink, inside.available_width())));
    };
    let (left, right) = picture.split_left_right_at_fraction(0.5);
    let is_split = lane.status.view == ViewMode::Split;
    let top = picture.top() + BELOW_HEADLINE;
    let over = |half: Rect| {
        let width = (half.width() - 48.0).min(HALF);
        Rect::from_min_size(pos2(half.center().x - width / 2.0, top), vec2(width, CARD))
    };
    if is_split && lane.status.plays {
        let [title, text] = match lane.shown.len() > 1 {
            true => ["Another replica", "The same snapshots, sent with other settings."],
            false => [
                "The simulation",
                "901 cubes in a physics engine, on this machine. You roll the blue one.",
            ],
        };
        card(over(left), Side::Left.color_in(look), title, text);
    }
    let network = lane.settings.describe_network();
    let text = format!("Rebuilt from network packets alone ({network}). Can you see a difference?");
    let (half, color) = (if is_split { right } else { picture }, Side::Right.color_in(look));
    card(over(half), color, "What another machine sees", &text);
    // The card points to the row of the present rung if the ladder is open.
    let row = rung.filter(|_| state.page == Page::Ladder).unwrap_or(0.66 * picture.height());
    let highest = top + CARD + 14.0;
    let lowest = start_card(picture).top() - CARD - 14.0;
    let y = within(row - CARD / 2.0, highest, lowest.max(highest));
    let size = vec2((right.width() - 32.0).min(354.0), CARD);
    let rect = Rect::from_min_size(pos2(picture.right() - 24.0 - size.x, y), size);
    let text = "Nearly every rung compresses more. Click one, or press PageDown for the next.";
    card(rect, look.ink, "What it costs", text);
    let tip = pos2(picture.right() - 2.0, row.clamp(y + 8.0, y + CARD - 8.0));
    let painter = ui.painter();
    painter.hline(rect.right()..=tip.x - 8.0, tip.y, Stroke::new(1.0, look.ink));
    let (at, size) = (tip - vec2(4.0, 0.0), vec2(8.0, 10.0));
    triangle(painter, at, size, Vec2::RIGHT, look.ink);
    count
}

/// Returns the area of the card with the keys: at the bottom, above the captions. The card is lower in a low window, so
/// that it does not cover the player.
fn start_card(picture: Rect) -> Rect {
    let width = picture.width() - 48.0;
    let height = match width < ONE_ROW {
        true => CARD + 58.0,
        false if picture.height() < LOW => CARD - 14.0,
        false => CARD,
    };
    let bottom = picture.bottom() - ABOVE_CAPTIONS;
    Rect::from_min_size(pos2(picture.left() + 24.0, bottom - height), vec2(width, height))
}

/// Draws all cards over the part of the window that `inset` leaves free. Returns the action of the pressed button.
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
    let start = start_card(picture);
    let area = over_views("explanation").fixed_pos(picture.min).interactable(false);
    area.show(ctx, |ui| {
        let before = cards(ui, state, lane, picture);
        // A single card has no number.
        draw_start(ui, state, &lane.status, start, (before > 0).then_some(before + 1));
    });
    lane.status.tour.and_then(|_| tour_button(ctx, start))
}

fn draw_start(
    ui: &mut Ui,
    state: &PanelState,
    status: &Status<'_>,
    rect: Rect,
    number: Option<usize>,
) {
    let look = Look::of(ui);
    let again = key_of(Action::Help);
    let how = match state.has_touch {
        true => "Any touch hides these cards.".to_owned(),
        false => format!("Any key hides these cards. {again} shows them again."),
    };
    let (mut head, mut ui) = frame(ui, rect, look.ink, number, "Start");
    // A card of another height has no row for this sentence below the keys, so it goes next to the title.
    let is_beside = rect.height() != CARD;
    let how = RichText::new(how).size(SMALL).color(look.muted);
    if is_beside {
        head.add_space(8.0);
        head.label(how.clone());
    }
    ui.spacing_mut().item_spacing.y = GAP;
    ui.add_space(GAP);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, GAP);
        let hints: &[(&[&str], &str)] = match (status.plays, state.has_touch) {
            (true, true) => &[(&[], "drag to roll, two fingers turn and zoom")],
            (true, false) => &[
                (&["←", "↑", "↓", "→"], "roll"),
                (&["Z"], "gather cubes"),
                (&["Space"], "blow them away"),
                (&["L"], "cut the link"),
            ],
            (false, _) => {
                &[(&["PageDown"], "compress more"), (&["T"], "trails"), (&[], "drag to turn")]
            }
        };
        for (names, about) in hints {
            keys(ui, keys_width(ui, names, about), 0.0, names, about);
            ui.add_space(16.0 - GAP);
        }
    });
    if !is_beside {
        ui.label(how);
    }
}

/// Draws the button of the card with the keys. A separate area catches its clicks, because a click on a card counts as a
/// click on the view.
fn tour_button(ctx: &Context, card: Rect) -> Option<Action> {
    let has_caption = card.height() == CARD;
    let size = vec2(if has_caption { 184.0 } else { 152.0 }, 44.0);
    let at = match card.width() < ONE_ROW {
        true => pos2(card.left() + 16.0, card.bottom() - size.y - 12.0),
        false => {
            let height = size.y + if has_caption { ROW } else { 0.0 };
            let top = card.center().y - height / 2.0;
            pos2(card.right() - size.x - 16.0, top)
        }
    };
    let shown = over_views("explanation of the tour").fixed_pos(at).show(ctx, |ui| {
        let look = Look::of(ui);
        ui.spacing_mut().interact_size.y = size.y;
        let tour = button(ui, size.x, "Take the tour", key_of(Action::Tour), Kind::Primary);
        if has_caption {
            ui.vertical_centered(|ui| {
                let steps = format!("{} steps through the article", STEPS.len());
                ui.label(RichText::new(steps).size(SMALL).color(look.muted));
            });
        }
        tour.clicked()
    });
    shown.inner.then_some(Action::Tour)
}

/// Draws the frame, number and title of a card. Returns the area right of the title, and the area below it.
fn frame(ui: &mut Ui, rect: Rect, color: Color32, number: Option<usize>, title: &str) -> (Ui, Ui) {
    let look = Look::of(ui);
    ui.painter().add(over_picture(look, color).paint(rect));
    let inside = rect.shrink2(vec2(16.0, 12.0));
    let (row, rest) = inside.split_top_bottom_at_y(inside.top() + 20.0);
    let mut title_left = row.left();
    if let Some(number) = number {
        ui.painter().circle_filled(pos2(row.left() + 10.0, row.center().y), 10.0, color);
        text(ui.painter(), row, At::Center(10.0), number, SMALL, look.ground);
        title_left += 28.0;
    }
    let mut head = row_in(ui, row.with_min_x(title_left));
    head.label(RichText::new(title).size(BODY).color(color));
    ui.allocate_rect(rect, Sense::empty());
    (head, ui.new_child(UiBuilder::new().max_rect(rest.translate(vec2(0.0, 4.0)))))
}

/// Sizes and distances, logical points.
const CARD: f32 = 90.0;
const HALF: f32 = 386.0;
const BELOW_HEADLINE: f32 = 136.0;
const ABOVE_CAPTIONS: f32 = 48.0;

/// Width at which the card with the keys has room for its button right of the keys, logical points.
const ONE_ROW: f32 = 740.0;

/// Height of the picture below which the card with the keys is lower, logical points.
const LOW: f32 = 480.0;
