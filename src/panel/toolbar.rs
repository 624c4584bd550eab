//! Buttons for actions that also have keys: three for playing, and the lists *Look* and *Save*.

use super::film::{ABOUT_FILM, ABOUT_STOP};
use crate::controls::works;
use crate::panel::prelude::*;
use crate::view::Exaggeration;

/// The action, name and state of a button or of an entry of a list.
type Entry<'a> = (Action, &'a str, bool);

/// Draws the widget of an action. Returns the action if the widget is pressed.
fn offer(ui: &mut Ui, action: Action, widget: impl Widget) -> Option<Action> {
    unless(ui, refusal(action), about(action), widget).clicked().then_some(action)
}

pub(super) fn draw(
    ui: &mut Ui,
    state: &PanelState,
    status: &Status<'_>,
    link_is_cut: bool,
) -> Option<Action> {
    let mut pressed = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        let room = ui.available_width() - 2.0 * LIST - 5.0 * GAP;
        let pause = either(status.is_paused, "Resume", "Pause");
        let cut = either(link_is_cut, "Restore", "Cut link");
        // The last numbers are shares of the free width.
        for (action, name, is_on, share) in [
            (Action::Pause, pause, status.is_paused, 0.345),
            (Action::Reset, "Reset", false, 0.295),
            (Action::CutLink, cut, link_is_cut, 0.36),
        ] {
            let (key, kind) = (key_of(action), Kind::usual(is_on));
            let widget = |ui: &mut Ui| button(ui, room * share, name, key, kind);
            if works(action, status.plays) {
                pressed = pressed.or(offer(ui, action, widget));
            }
        }
        ui.add_space(GAP);
        let colors = format!("Colours: {}", state.colors.name());
        let looking = looking(state, status, &colors);
        for (name, entries) in [("Look", &looking[..]), ("Save", &saving(status))] {
            pressed = pressed.or(list(ui, name, entries, status));
        }
    });
    pressed
}

/// Draws a button that opens a list. Returns the action of the pressed entry.
fn list(ui: &mut Ui, name: &str, entries: &[Entry<'_>], status: &Status<'_>) -> Option<Action> {
    let button = button(ui, LIST, name, " ", Kind::Usual);
    opens(&button);
    let (caret, size) = (button.rect.right_center() - vec2(12.0, 0.0), vec2(8.0, 5.0));
    let look = Look::of(ui);
    triangle(ui.painter(), caret, size, Vec2::DOWN, look.muted);
    let shown = Popup::menu(&button).align(RectAlign::TOP_END).width(ENTRY).show(|ui| {
        ui.spacing_mut().button_padding.x = 8.0;
        let mut pressed = None;
        for &(action, name, is_on) in entries.iter().filter(|entry| works(entry.0, status.plays)) {
            let [mut name, mut key] = [name, key_of(action)].map(RichText::new);
            if refusal(action).is_some() {
                [name, key] = [name, key].map(|text| text.color(look.impossible[1]));
            }
            let widget = Button::new(name).shortcut_text(key.monospace());
            let widget = widget.selected(is_on).min_size(vec2(ENTRY, BUTTON));
            pressed = pressed.or(offer(ui, action, widget));
        }
        if pressed.is_some() {
            ui.close();
        }
        pressed
    });
    shown?.inner
}

const fn either(is_on: bool, on: &'static str, off: &'static str) -> &'static str {
    if is_on { on } else { off }
}

fn looking<'a>(state: &PanelState, status: &Status<'_>, colors: &'a str) -> [Entry<'a>; 7] {
    let view = match status.view {
        ViewMode::Split => "View: both halves",
        ViewMode::Left => "View: the left half",
        ViewMode::Right => "View: the right half",
        ViewMode::Difference => "View: one over the other",
    };
    let trails = either(status.has_trails, "Trails: shown", "Trails: hidden");
    let errors = match status.exaggeration {
        Exaggeration::None => "Errors: as they are",
        Exaggeration::Ten => "Errors: 10 times",
        Exaggeration::Fifty => "Errors: 50 times",
    };
    let timeline = either(state.timeline, "Timeline: shown", "Timeline: hidden");
    [
        (Action::NextView, view, status.view != ViewMode::Split),
        (Action::CubeColors, colors, state.colors != CubeColors::Interaction),
        (Action::Trails, trails, status.has_trails),
        (Action::Exaggerate, errors, status.exaggeration != Exaggeration::None),
        (Action::Timeline, timeline, state.timeline),
        (Action::ResetCamera, "Camera: turn back", false),
        (Action::Help, "What am I looking at?", state.explaining),
    ]
}

fn saving(status: &Status<'_>) -> [Entry<'static>; 5] {
    let films = status.film.is_some();
    let film = if films { Action::StopFilm } else { Action::Film };
    let replay = either(status.records_replay, "Stop the replay", "Replay");
    let copy = either(cfg!(target_family = "wasm"), "Copy address", "Copy command");
    [
        (Action::Screenshot, "Picture", false),
        (film, either(films, "Stop the film", "Film the last seconds"), films),
        (Action::Replay, replay, status.records_replay),
        (Action::CopyLink, copy, false),
        (Action::SaveCsv, "Last minute, CSV", false),
    ]
}

const fn refusal(action: Action) -> Option<&'static str> {
    match action {
        Action::Film if cfg!(target_family = "wasm") => Some(NO_FILMS),
        _ => None,
    }
}

const fn about(action: Action) -> &'static str {
    match action {
        Action::Pause => "Stops the game, with all packets in transit.",
        Action::Reset => "Moves every cube back to its start.",
        Action::CutLink => "Drops all packets in both directions.",
        Action::NextView => "Both halves, the left, the right, or the replica over the simulation.",
        Action::CubeColors => {
            "Colours the cubes by their bits or by how they are sent and, with the game in this window, by their error or wait."
        }
        Action::Trails => {
            "The paths of a few cubes in the last second, which show the effect of interpolation."
        }
        Action::Exaggerate => {
            "Draws the errors of a replica's positions and orientations 10 or 50 times as large."
        }
        Action::Timeline => "The last minute below the views: go back to any tick.",
        Action::ResetCamera => {
            "Turns the cameras back to where they started, after dragging and zooming."
        }
        Action::Help => "Explains the screen with a card for each part.",
        Action::Screenshot => "Saves a picture of the window as a PNG.",
        Action::Film => ABOUT_FILM,
        Action::StopFilm => ABOUT_STOP,
        Action::Replay => "Records the keys to a small file that plays back bit for bit.",
        Action::CopyLink => {
            "Copies an address or command that opens the window with both halves' settings."
        }
        Action::SaveCsv => "The last minute of this lane: a row for each tick.",
        _ => "",
    }
}

pub(crate) const NO_FILMS: &str = "A browser records no films; use `cubewire record`";

/// Sizes, logical points.
const LIST: f32 = 62.0;
const ENTRY: f32 = 216.0;
