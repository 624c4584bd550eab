//! The canvas of the page.

use bevy::app::PluginGroupBuilder;
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::{Backends, WgpuSettings};

use bevy_egui::egui;

use super::LOGGED;
use crate::page;

/// Selects the canvas in the page.
const CANVAS: &str = "#game";

/// The address of the page, without parameters.
pub(crate) fn address() -> Option<String> {
    Some(page::address())
}

/// How a setting is given when the game starts.
pub(crate) fn setting(name: &str, value: &str) -> String {
    format!("?{name}={value}")
}

/// Copies a text to the clipboard.
pub(crate) fn copy(_: &egui::Context, text: &str) {
    page::copy(text);
}

/// Opens an address in another tab.
pub(crate) fn browse(address: &str) {
    page::browse(address);
}

/// Bevy's default plugins; the window fills the element that its canvas is in. Logs go to the console.
#[must_use]
pub(crate) fn plugins(window: Window) -> PluginGroupBuilder {
    // Both take the shaders that are compiled for WebGL2.
    let backends = match page::has_web_gpu() {
        true => Backends::BROWSER_WEBGPU,
        false => Backends::GL,
    };
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: Some(Window {
                canvas: Some(CANVAS.to_owned()),
                fit_canvas_to_parent: true,
                // The page decides key by key: the browser keeps F5, Ctrl R and the like.
                prevent_default_event_handling: false,
                ..window
            }),
            ..default()
        })
        .set(RenderPlugin {
            render_creation: WgpuSettings {
                backends: Some(backends),
                ..default()
            }
            .into(),
            ..default()
        })
        .set(LogPlugin {
            // What they do without is drawn without.
            filter: format!("{LOGGED},bevy_core_pipeline=error,bevy_pbr=error"),
            level: Level::WARN,
            ..default()
        })
}
