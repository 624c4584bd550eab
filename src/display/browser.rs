//! The game's window in a browser: the canvas of the page.

use bevy::app::PluginGroupBuilder;
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::{Backends, WgpuSettings};

use bevy_egui::egui;

use super::LOGGED;
use crate::page;

const CANVAS: &str = "#game";

pub(crate) fn address() -> Option<String> {
    Some(page::address())
}

/// Text that gives a setting at the start, as a parameter of the address.
pub(crate) fn setting(name: &str, value: &str) -> String {
    format!("?{name}={value}")
}

pub(crate) fn copy(_: &egui::Context, text: &str) {
    page::copy(text);
}

pub(crate) fn browse(address: &str) {
    page::browse(address);
}

/// Bevy's default plugins with a window that fills the parent of its canvas. Logs go to the console.
pub(crate) fn plugins(window: Window) -> PluginGroupBuilder {
    // Both backends use the shaders that are compiled for WebGL2.
    let backends = if page::has_web_gpu() { Backends::BROWSER_WEBGPU } else { Backends::GL };
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: Some(Window {
                canvas: Some(CANVAS.to_owned()),
                fit_canvas_to_parent: true,
                // The page decides per key whether the browser handles it. The browser keeps F5, Ctrl+R and similar
                // keys.
                prevent_default_event_handling: false,
                ..window
            }),
            ..default()
        })
        .set(RenderPlugin {
            render_creation: WgpuSettings { backends: Some(backends), ..default() }.into(),
            ..default()
        })
        .set(LogPlugin {
            // These plugins warn about features that the browser lacks.
            filter: format!("{LOGGED},bevy_core_pipeline=error,bevy_pbr=error"),
            level: Level::WARN,
            ..default()
        })
}
