//! Buttons for actions that also have keys: three for playing, and the lists *Look* and *Save*.

use std::borrow::Cow;

use super::film::{ABOUT_FILM, ABOUT_STOP};
use crate::controls::works;
use crate::panel::prelude::*;
use crate::view::Exaggeration;

/// A button, or an entry of a list.
struct Entry {
    action: Action,
    name: Cow<'static, str>,
    is_on: bool,
}

impl Entry {
    fn new(action: Action, name: impl Into<Cow<'static, str>>, is_on: bool) -> Self {
        Self { action, name: name.into(), is_on }
    }

    fn show(&self, ui: &mut Ui, widget: impl Widget) -> Option<Action> {
        unless(ui, refusal(self.action), about(self.action), widget)
            .clicked()
            .then_some(self.action)
    }
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
        let buttons = playing(status, link_is_cut);
        let buttons = buttons.iter().zip(SHARES);
        for (entry, share) in buttons.filter(|(entry, _)| works(entry.action, status.plays)) {
            let kind = Kind::usual(entry.is_on);
            let key = key_of(entry.action);
            let widget = |ui: &mut Ui| button(ui, room * share, &entry.name, key, kind);
            pressed = pressed.or(entry.show(ui, widget));
        }
        ui.add_space(GAP);
        for (name, entries) in [("Look", &looking(state, status)[..]), ("Save", &saving(status))] {
            pressed = pressed.or(list(ui, name, entries, status));
        }
    });
    pressed
}

/// Draws a button that opens a list. Returns the action of the pressed entry.
fn list(ui: &mut Ui, name: &str, entries: &[Entry], status: &Status<'_>) -> Option<Action> {
    let button = button(ui, LIST, name, " ", Kind::Usual);
    opens(&button);
    let (caret, size) = (button.rect.right_center() - vec2(12.0, 0.0), vec2(8.0, 5.0));
    let look = Look::of(ui);
    triangle(ui.painter(), caret, size, Vec2::DOWN, look.muted);
    let shown = Popup::menu(&button).align(RectAlign::TOP_END).width(ENTRY).show(|ui| {
        ui.spacing_mut().button_padding.x = 8.0;
        let entries = entries.iter().filter(|entry| works(entry.action, status.plays));
        let pressed = entries.fold(None, |pressed, entry| {
            let [mut name, mut key] = [&*entry.name, key_of(entry.action)].map(RichText::new);
            if refusal(entry.action).is_some() {
                [name, key] = [name, key].map(|text| text.color(look.impossible[1]));
            }
            let widget = Button::new(name).shortcut_text(key.monospace());
            let widget = widget.selected(entry.is_on).min_size(vec2(ENTRY, BUTTON));
            pressed.or(entry.show(ui, widget))
        });
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

fn playing(status: &Status<'_>, link_is_cut: bool) -> [Entry; 3] {
    let pause = either(status.is_paused, "Resume", "Pause");
    [
        Entry::new(Action::Pause, pause, status.is_paused),
        Entry::new(Action::Reset, "Reset", false),
        Entry::new(Action::CutLink, either(link_is_cut, "Restore", "Cut link"), link_is_cut),
    ]
}

fn looking(state: &PanelState, status: &Status<'_>) -> [Entry; 7] {
    let view = match status.view {
        ViewMode::Split => "View: both halves",
        ViewMode::Left => "View: the left half",
        ViewMode::Right => "View: the right half",
        ViewMode::Difference => "View: one over the other",
    };
    let colors = format!("Colours: {}", state.colors.name());
    let trails = either(status.has_trails, "Trails: shown", "Trails: hidden");
    let errors = match status.exaggeration {
        Exaggeration::None => "Errors: as they are",
        Exaggeration::Ten => "Errors: 10 times",
        Exaggeration::Fifty => "Errors: 50 times",
    };
    let timeline = either(state.timeline, "Timeline: shown", "Timeline: hidden");
    [
        Entry::new(Action::NextView, view, status.view != ViewMode::Split),
        Entry::new(Action::CubeColors, colors, state.colors != CubeColors::Interaction),
        Entry::new(Action::Trails, trails, status.has_trails),
        Entry::new(Action::Exaggerate, errors, status.exaggeration != Exaggeration::None),
        Entry::new(Action::Timeline, timeline, state.timeline),
        Entry::new(Action::ResetCamera, "Camera: turn back", false),
        Entry::new(Action::Help, "What am I looking at?", state.explaining),
    ]
}

fn saving(status: &Status<'_>) -> [Entry; 5] {
    let films = status.film.is_some();
    let film = if films { Action::StopFilm } else { Action::Film };
    let replay = either(status.records_replay, "Stop the replay", "Replay");
    let copy = either(cfg!(target_family = "wasm"), "Copy address", "Copy command");
    [
        Entry::new(Action::Screenshot, "Picture", false),
        Entry::new(film, either(films, "Stop the film", "Film the last seconds"), films),
        Entry::new(Action::Replay, replay, status.records_replay),
        Entry::new(Action::CopyLink, copy, false),
        Entry::new(Action::SaveCsv, "Last minute, CSV", false),
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

/// Fractions of the free width for the three buttons.
const SHARES: [f32; 3] = [0.345, 0.295, 0.36];

/// Sizes, logical points.
const LIST: f32 = 62.0;
const ENTRY: f32 = 216.0;
