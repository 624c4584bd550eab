//! Buttons for what keys do, each with its key.

use bevy_egui::egui::{self, Button, RichText, Ui};

use super::Status;
use crate::controls::{Action, key_of};
use crate::view::{CubeColors, ViewMode};

/// Height of the toolbar with the space above it, logical points.
pub(super) fn height(ui: &Ui) -> f32 {
    let gap = ui.spacing().item_spacing.y;
    let rows = BUTTONS.div_ceil(COLUMNS) as f32;
    rows * (BUTTON_HEIGHT + gap) + 2.0 * gap
}

/// Draws the buttons. Returns the action of the one that was pressed.
pub(super) fn draw(ui: &mut Ui, status: &Status<'_>, link_is_cut: bool) -> Option<Action> {
    let view = match status.view {
        ViewMode::Split => "View: both",
        ViewMode::Left => "View: left",
        ViewMode::Right => "View: right",
        ViewMode::Difference => "View: over",
    };
    let either = |is_on: bool, on: &'static str, off: &'static str| if is_on { on } else { off };
    let buttons: [_; BUTTONS] = [
        (
            either(status.is_paused, "Resume", "Pause"),
            Action::Pause,
            status.plays,
            status.is_paused,
            "Stops the game and everything on its way.",
        ),
        (
            "Reset",
            Action::Reset,
            status.plays,
            false,
            "Puts every cube back to its start.",
        ),
        (
            view,
            Action::NextView,
            status.plays,
            status.view != ViewMode::Split,
            "Both halves, the left, the right, or the replica over the simulation.",
        ),
        (
            "Trails",
            Action::Trails,
            true,
            status.has_trails,
            "Where a few cubes were in the last second: shows what interpolation does to a path.",
        ),
        (
            either(link_is_cut, "Restore", "Cut link"),
            Action::CutLink,
            true,
            link_is_cut,
            "Drops all packets in both directions.",
        ),
        (
            either(status.records_replay, "Stop", "Replay"),
            Action::Replay,
            status.plays,
            status.records_replay,
            "Records the keys to a small file that plays back bit for bit.",
        ),
        (
            either(status.records_video, "Stop", "Video"),
            Action::Video,
            // There are no videos in a browser.
            cfg!(not(target_family = "wasm")),
            status.records_video,
            "Records the screen to an MP4.",
        ),
        (
            "Picture",
            Action::Screenshot,
            true,
            false,
            "Saves a picture of the window as a PNG.",
        ),
        (
            match status.colors {
                CubeColors::Interaction => "Colours",
                CubeColors::Bits => "by bits",
                CubeColors::Form => "by form",
                CubeColors::Distance => "by mm",
                CubeColors::Angle => "by °",
            },
            Action::CubeColors,
            true,
            status.colors != CubeColors::Interaction,
            "Colours the cubes by the bits that they take, by how they are sent, or by their error.",
        ),
        (
            "Timeline",
            Action::Timeline,
            true,
            status.has_timeline,
            "The last minute below the views: pause, and go back to any tick.",
        ),
        (
            "Camera",
            Action::ResetCamera,
            true,
            false,
            "Turns the cameras back to where they started, after dragging and zooming.",
        ),
        (
            "Link",
            Action::CopyLink,
            status.plays,
            false,
            if cfg!(target_family = "wasm") {
                "Copies the address of this page with what both halves show."
            } else {
                "Copies the command that opens the window with what both halves show."
            },
        ),
    ];
    ui.separator();
    let mut pressed = None;
    let gap = ui.spacing().item_spacing.x;
    let width = (ui.available_width() - gap * (COLUMNS - 1) as f32) / COLUMNS as f32;
    for row in buttons.chunks(COLUMNS) {
        ui.horizontal(|ui| {
            for &(name, action, is_enabled, is_on, about) in row {
                let key = RichText::new(key_of(action)).weak().small();
                let button = Button::new(name)
                    .selected(is_on)
                    .right_text(key)
                    .min_size(egui::vec2(width, BUTTON_HEIGHT));
                let button = ui
                    .add_enabled(is_enabled, button)
                    .on_hover_text(about)
                    .on_disabled_hover_text(match action {
                        Action::Video => "A browser records no videos.",
                        _ => "The server has this.",
                    });
                if button.clicked() {
                    pressed = Some(action);
                }
            }
        });
    }
    pressed
}

const BUTTONS: usize = 12;
const COLUMNS: usize = 4;

/// Logical points.
const BUTTON_HEIGHT: f32 = 22.0;
