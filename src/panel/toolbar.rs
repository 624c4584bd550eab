//! Buttons for what keys do, each with its key: three to play, and two lists, of what to look at and of what to save.

use bevy_egui::egui::{Popup, RectAlign, Response, Ui, Vec2, vec2};

use super::export::Export;
use super::lane::Status;
use super::style::{BUTTON, GAP, Look};
use super::widgets::{Kind, Pointing, button, triangle};
use crate::controls::{Action, key_of};
use crate::view::{CubeColors, ViewMode};

/// What a button or an entry of a list asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pressed {
    Action(Action),
    Export(Export),
}

/// A button, or an entry of a list.
struct Entry {
    name: &'static str,
    asks: Pressed,
    is_enabled: bool,
    is_on: bool,
    about: &'static str,
}

impl Entry {
    const fn new(name: &'static str, action: Action, about: &'static str) -> Self {
        Self {
            name,
            asks: Pressed::Action(action),
            is_enabled: true,
            is_on: false,
            about,
        }
    }

    const fn on(self, is_on: bool) -> Self {
        Self { is_on, ..self }
    }

    const fn enabled(self, is_enabled: bool) -> Self {
        Self { is_enabled, ..self }
    }

    fn draw(&self, ui: &mut Ui, width: f32) -> bool {
        let key = match self.asks {
            Pressed::Action(action) => key_of(action),
            Pressed::Export(_) => "",
        };
        let kind = Kind::Usual { is_on: self.is_on };
        let shown = ui.add_enabled_ui(self.is_enabled, |ui| {
            button(ui, width, self.name, key, kind)
        });
        let refusal = match self.asks {
            Pressed::Action(Action::Video) => "A browser records no videos.",
            _ => "The server has this.",
        };
        let shown = shown
            .inner
            .on_hover_text(self.about)
            .on_disabled_hover_text(refusal);
        shown.clicked()
    }
}

/// Draws the buttons in one row. Returns what the one that was pressed asks for.
pub(super) fn draw(ui: &mut Ui, status: &Status<'_>, link_is_cut: bool) -> Option<Pressed> {
    let mut pressed = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        let room = ui.available_width() - 2.0 * LIST - 5.0 * GAP;
        for (entry, share) in playing(status, link_is_cut).iter().zip(SHARES) {
            if entry.draw(ui, room * share) {
                pressed = Some(entry.asks);
            }
        }
        ui.add_space(GAP);
        pressed =
            pressed
                .or(list(ui, "Look", &looking(status)))
                .or(list(ui, "Save", &saving(status)));
    });
    pressed
}

/// A button that opens a list.
fn list(ui: &mut Ui, name: &str, entries: &[Entry]) -> Option<Pressed> {
    let opens = button(ui, LIST, name, " ", Kind::Usual { is_on: false });
    caret(ui, &opens);
    let mut pressed = None;
    let popup = Popup::menu(&opens).align(RectAlign::TOP_END).width(ENTRY);
    popup.show(|ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, 2.0);
        for entry in entries {
            if entry.draw(ui, ENTRY) {
                pressed = Some(entry.asks);
                ui.close();
            }
        }
    });
    pressed
}

fn caret(ui: &Ui, button: &Response) {
    let at = button.rect.right_center() - vec2(12.0, 0.0);
    let color = Look::of(ui).muted;
    triangle(ui.painter(), at, vec2(8.0, 5.0), Pointing::Down, color);
}

const fn either(is_on: bool, on: &'static str, off: &'static str) -> &'static str {
    if is_on { on } else { off }
}

const fn playing(status: &Status<'_>, link_is_cut: bool) -> [Entry; 3] {
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

fn looking(status: &Status<'_>) -> [Entry; 6] {
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
            match status.colors {
                CubeColors::Interaction => "Colours: as they are",
                CubeColors::Bits => "Colours: by bits",
                CubeColors::Form => "Colours: by form",
                CubeColors::Distance => "Colours: by distance",
                CubeColors::Angle => "Colours: by angle",
                CubeColors::Wait => "Colours: by waiting",
            },
            Action::CubeColors,
            "Colours the cubes by the bits that they take, by how they are sent, by their error, or by how long they wait.",
        )
        .on(status.colors != CubeColors::Interaction),
        Entry::new(
            either(status.has_trails, "Trails: shown", "Trails: hidden"),
            Action::Trails,
            "Where a few cubes were in the last second: shows what interpolation does to a path.",
        )
        .on(status.has_trails),
        Entry::new(
            either(status.has_timeline, "Timeline: shown", "Timeline: hidden"),
            Action::Timeline,
            "The last minute below the views: pause, and go back to any tick.",
        )
        .on(status.has_timeline),
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
        .on(status.explains),
    ]
}

fn saving(status: &Status<'_>) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new(
            "Picture",
            Action::Screenshot,
            "Saves a picture of the window as a PNG.",
        ),
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
        Entry::new(
            either(cfg!(target_family = "wasm"), "Copy address", "Copy command"),
            Action::CopyLink,
            either(
                cfg!(target_family = "wasm"),
                "Copies the address of this page with what both halves show.",
                "Copies the command that opens the window with what both halves show.",
            ),
        )
        .enabled(status.plays),
    ];
    entries.extend(Export::ALL.map(|export| Entry {
        name: export.name(),
        asks: Pressed::Export(export),
        is_enabled: true,
        is_on: false,
        about: export.about(),
    }));
    entries
}

/// Shares of the room that the buttons to play take.
const SHARES: [f32; 3] = [0.345, 0.295, 0.36];

/// Logical points.
const LIST: f32 = 62.0;
const ENTRY: f32 = 216.0;

/// Height of the row, with the line above it.
pub(super) const HEIGHT: f32 = BUTTON + 8.0;
