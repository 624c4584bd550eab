//! Buttons for actions that also have keys: three for playing, and the lists *Look* and *Save*.

use std::borrow::Cow;

use bevy_egui::egui::{self, Popup, RectAlign, RichText, Ui, Vec2, vec2};

use super::lane::Status;
use super::settings::PanelState;
use super::style::{BUTTON, GAP, Look};
use super::widgets::{Kind, Pointing, button, opens, triangle, unless};
use crate::controls::{Action, key_of};
use crate::view::{CubeColors, Exaggeration, ViewMode};

/// A button, or an entry of a list.
struct Entry {
    name: Cow<'static, str>,
    action: Action,
    is_enabled: bool,
    is_on: bool,
    about: &'static str,
}

impl Entry {
    fn new(name: impl Into<Cow<'static, str>>, action: Action, about: &'static str) -> Self {
        Self { name: name.into(), action, is_enabled: true, is_on: false, about }
    }

    fn on(self, is_on: bool) -> Self {
        Self { is_on, ..self }
    }

    fn enabled(self, is_enabled: bool) -> Self {
        Self { is_enabled, ..self }
    }

    /// Draws the entry as `widget`. Returns its action if it was pressed.
    fn show(&self, ui: &mut Ui, widget: impl egui::Widget) -> Option<Action> {
        let refusal = match self.action {
            Action::Video => "A browser records no videos.",
            _ => "The server has this.",
        };
        let refusal = (!self.is_enabled).then_some(refusal);
        let shown = unless(ui, refusal, self.about, widget);
        shown.clicked().then_some(self.action)
    }
}

/// Draws the buttons in one row. Returns the action of the pressed button or entry.
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
        for (entry, share) in playing(status, link_is_cut).iter().zip(SHARES) {
            let kind = Kind::Usual { is_on: entry.is_on };
            let key = key_of(entry.action);
            let widget = |ui: &mut Ui| button(ui, room * share, &entry.name, key, kind);
            pressed = pressed.or(entry.show(ui, widget));
        }
        ui.add_space(GAP);
        pressed = pressed.or(list(ui, "Look", &looking(state, status))).or(list(
            ui,
            "Save",
            &saving(status),
        ));
    });
    pressed
}

/// Draws a button that opens a list. Returns the action of the pressed entry.
fn list(ui: &mut Ui, name: &str, entries: &[Entry]) -> Option<Action> {
    let button = button(ui, LIST, name, " ", Kind::Usual { is_on: false });
    opens(&button);
    let (caret, size) = (button.rect.right_center() - vec2(12.0, 0.0), vec2(8.0, 5.0));
    let look = Look::of(ui);
    triangle(ui.painter(), caret, size, Pointing::Down, look.muted);
    let popup = Popup::menu(&button).align(RectAlign::TOP_END).width(ENTRY);
    let shown = popup.show(|ui| {
        ui.spacing_mut().button_padding.x = 8.0;
        let pressed = entries.iter().fold(None, |pressed, entry| {
            let [mut name, mut key] = [&*entry.name, key_of(entry.action)].map(RichText::new);
            if !entry.is_enabled {
                [name, key] = [name, key].map(|text| text.color(look.impossible[1]));
            }
            let widget = egui::Button::new(name).shortcut_text(key.monospace());
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
    [
        Entry::new(
            either(status.is_paused, "Resume", "Pause"),
            Action::Pause,
            "Stops the game and everything on its way.",
        )
        .on(status.is_paused)
        .enabled(status.plays),
        Entry::new("Reset", Action::Reset, "Puts every cube back to its start.")
            .enabled(status.plays),
        Entry::new(
            either(link_is_cut, "Restore", "Cut link"),
            Action::CutLink,
            "Drops all packets in both directions.",
        )
        .on(link_is_cut),
    ]
}

fn looking(state: &PanelState, status: &Status<'_>) -> [Entry; 7] {
    [
        Entry::new(
            match status.view {
                ViewMode::Split => "View: both halves",
                ViewMode::Left => "View: the left half",
                ViewMode::Right => "View: the right half",
                ViewMode::Difference => "View: one over the other",
            },
            Action::NextView,
            "Both halves, the left, the right, or the replica over the simulation.",
        )
        .on(status.view != ViewMode::Split)
        .enabled(status.plays),
        Entry::new(
            format!("Colours: {}", state.colors.name()),
            Action::CubeColors,
            "Colours the cubes by the bits that they take, by how they are sent, by their error, or by how long they wait.",
        )
        .on(state.colors != CubeColors::Interaction),
        Entry::new(
            either(status.has_trails, "Trails: shown", "Trails: hidden"),
            Action::Trails,
            "Where a few cubes were in the last second: shows what interpolation does to a path.",
        )
        .on(status.has_trails),
        Entry::new(
            match status.exaggeration {
                Exaggeration::None => "Errors: as they are",
                Exaggeration::Ten => "Errors: 10 times",
                Exaggeration::Fifty => "Errors: 50 times",
            },
            Action::Exaggerate,
            "Draws how far and by what angle a replica's cubes are off 10 or 50 times as large.",
        )
        .on(status.exaggeration != Exaggeration::None)
        .enabled(status.plays),
        Entry::new(
            either(state.timeline, "Timeline: shown", "Timeline: hidden"),
            Action::Timeline,
            "The last minute below the views: pause, and go back to any tick.",
        )
        .on(state.timeline),
        Entry::new(
            "Camera: turn back",
            Action::ResetCamera,
            "Turns the cameras back to where they started, after dragging and zooming.",
        ),
        Entry::new(
            "What am I looking at?",
            Action::Help,
            "Explains the screen with a card for each part.",
        )
        .on(state.explaining),
    ]
}

fn saving(status: &Status<'_>) -> [Entry; 5] {
    [
        Entry::new("Picture", Action::Screenshot, "Saves a picture of the window as a PNG."),
        Entry::new(
            either(status.records_video, "Stop the video", "Video"),
            Action::Video,
            "Records the screen to an MP4.",
        )
        .on(status.records_video)
        .enabled(cfg!(not(target_family = "wasm"))),
        Entry::new(
            either(status.records_replay, "Stop the replay", "Replay"),
            Action::Replay,
            "Records the keys to a small file that plays back bit for bit.",
        )
        .on(status.records_replay)
        .enabled(status.plays),
        Entry::new(COPY, Action::CopyLink, ABOUT_COPY).enabled(status.plays),
        Entry::new(
            "Last minute, CSV",
            Action::SaveCsv,
            "The last minute of this lane: a row for each tick.",
        ),
    ]
}

const COPY: &str = match cfg!(target_family = "wasm") {
    true => "Copy address",
    false => "Copy command",
};

const ABOUT_COPY: &str = "Copies what opens the window with what both halves show.";

/// Fractions of the free width for the three buttons.
const SHARES: [f32; 3] = [0.345, 0.295, 0.36];

/// Sizes, logical points.
const LIST: f32 = 62.0;
const ENTRY: f32 = 216.0;

/// Height of the row with the line above it, logical points.
pub(super) const HEIGHT: f32 = BUTTON + 8.0;
