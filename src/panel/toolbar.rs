//! Buttons for what keys do, each with its key.

use bevy_egui::egui::{self, Button, RichText, Ui};

use super::lane::Status;
use crate::controls::{Action, key_of};
use crate::view::{CubeColors, ViewMode};

/// Height of the toolbar with the space above it, logical points.
pub(super) fn height(ui: &Ui) -> f32 {
    let gap = ui.spacing().item_spacing.y;
    ROWS as f32 * (BUTTON_HEIGHT + gap) + 2.0 * gap
}

/// A button for an action.
struct ActionButton {
    name: &'static str,
    action: Action,
    is_enabled: bool,
    is_on: bool,
    about: &'static str,
}

/// Draws the buttons. Returns the action of the one that was pressed.
pub(super) fn draw(ui: &mut Ui, status: &Status<'_>, link_is_cut: bool) -> Option<Action> {
    let buttons = [
        playing(status),
        link_and_recording(status, link_is_cut),
        colours_and_cameras(status),
    ];
    ui.separator();
    let mut pressed = None;
    let gap = ui.spacing().item_spacing.x;
    let width = (ui.available_width() - gap * (COLUMNS - 1) as f32) / COLUMNS as f32;
    for row in buttons {
        ui.horizontal(|ui| {
            for button in row {
                let key = RichText::new(key_of(button.action)).weak().small();
                let shown = Button::new(button.name)
                    .selected(button.is_on)
                    .right_text(key)
                    .min_size(egui::vec2(width, BUTTON_HEIGHT));
                let shown = ui
                    .add_enabled(button.is_enabled, shown)
                    .on_hover_text(button.about)
                    .on_disabled_hover_text(match button.action {
                        Action::Video => "A browser records no videos.",
                        _ => "The server has this.",
                    });
                if shown.clicked() {
                    pressed = Some(button.action);
                }
            }
        });
    }
    pressed
}

const fn either(is_on: bool, on: &'static str, off: &'static str) -> &'static str {
    if is_on { on } else { off }
}

fn playing(status: &Status<'_>) -> [ActionButton; COLUMNS] {
    [
        ActionButton {
            name: either(status.is_paused, "Resume", "Pause"),
            action: Action::Pause,
            is_enabled: status.plays,
            is_on: status.is_paused,
            about: "Stops the game and everything on its way.",
        },
        ActionButton {
            name: "Reset",
            action: Action::Reset,
            is_enabled: status.plays,
            is_on: false,
            about: "Puts every cube back to its start.",
        },
        ActionButton {
            name: match status.view {
                ViewMode::Split => "View: both",
                ViewMode::Left => "View: left",
                ViewMode::Right => "View: right",
                ViewMode::Difference => "View: over",
            },
            action: Action::NextView,
            is_enabled: status.plays,
            is_on: status.view != ViewMode::Split,
            about: "Both halves, the left, the right, or the replica over the simulation.",
        },
        ActionButton {
            name: "Trails",
            action: Action::Trails,
            is_enabled: true,
            is_on: status.has_trails,
            about: "Where a few cubes were in the last second: shows what interpolation does to a path.",
        },
    ]
}

fn link_and_recording(status: &Status<'_>, link_is_cut: bool) -> [ActionButton; COLUMNS] {
    [
        ActionButton {
            name: either(link_is_cut, "Restore", "Cut link"),
            action: Action::CutLink,
            is_enabled: true,
            is_on: link_is_cut,
            about: "Drops all packets in both directions.",
        },
        ActionButton {
            name: either(status.records_replay, "Stop", "Replay"),
            action: Action::Replay,
            is_enabled: status.plays,
            is_on: status.records_replay,
            about: "Records the keys to a small file that plays back bit for bit.",
        },
        ActionButton {
            name: either(status.records_video, "Stop", "Video"),
            action: Action::Video,
            // There are no videos in a browser.
            is_enabled: cfg!(not(target_family = "wasm")),
            is_on: status.records_video,
            about: "Records the screen to an MP4.",
        },
        ActionButton {
            name: "Picture",
            action: Action::Screenshot,
            is_enabled: true,
            is_on: false,
            about: "Saves a picture of the window as a PNG.",
        },
    ]
}

fn colours_and_cameras(status: &Status<'_>) -> [ActionButton; COLUMNS] {
    [
        ActionButton {
            name: match status.colors {
                CubeColors::Interaction => "Colours",
                CubeColors::Bits => "by bits",
                CubeColors::Form => "by form",
                CubeColors::Distance => "by mm",
                CubeColors::Angle => "by °",
                CubeColors::Wait => "by wait",
            },
            action: Action::CubeColors,
            is_enabled: true,
            is_on: status.colors != CubeColors::Interaction,
            about: "Colours the cubes by the bits that they take, by how they are sent, by their error, or by how long they wait.",
        },
        ActionButton {
            name: "Timeline",
            action: Action::Timeline,
            is_enabled: true,
            is_on: status.has_timeline,
            about: "The last minute below the views: pause, and go back to any tick.",
        },
        ActionButton {
            name: "Camera",
            action: Action::ResetCamera,
            is_enabled: true,
            is_on: false,
            about: "Turns the cameras back to where they started, after dragging and zooming.",
        },
        ActionButton {
            name: "Link",
            action: Action::CopyLink,
            is_enabled: status.plays,
            is_on: false,
            about: either(
                cfg!(target_family = "wasm"),
                "Copies the address of this page with what both halves show.",
                "Copies the command that opens the window with what both halves show.",
            ),
        },
    ]
}

const ROWS: usize = 3;
const COLUMNS: usize = 4;

/// Logical points.
const BUTTON_HEIGHT: f32 = 22.0;
