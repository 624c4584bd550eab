//! Checks for a display and a graphics adapter, without which Bevy panics, and the log of both.

use std::env;
use std::io::{self, IsTerminal};

use bevy::app::{PluginGroupBuilder, TerminalCtrlCHandlerPlugin};
use bevy::log::tracing_subscriber::fmt;
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::tasks::block_on;
use bevy::winit::WinitPlugin;
use bevy_egui::egui;
use wgpu::{Backends, DeviceType, Instance, InstanceDescriptor};

use super::LOGGED;

/// Bevy's default plugins, with this window.
#[must_use]
pub(crate) fn plugins(window: Window) -> PluginGroupBuilder {
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: Some(window),
            ..default()
        })
        .set(log_plugin())
        // A test opens the window, not on its first thread.
        .set(WinitPlugin {
            run_on_any_thread: true,
        })
        // The game listens for more than Ctrl-C.
        .disable::<TerminalCtrlCHandlerPlugin>()
}

/// The address of the page that the game is in.
pub(crate) const fn address() -> Option<String> {
    None
}

/// How a setting is given when the game starts.
pub(crate) fn setting(name: &str, value: &str) -> String {
    format!("--{name} {value}")
}

/// Copies a text to the clipboard.
pub(crate) fn copy(ctx: &egui::Context, text: &str) {
    ctx.copy_text(text.to_owned());
}

/// Opens an address in the browser that the system is set to.
pub(crate) fn browse(address: &str) {
    if let Err(error) = open::that_detached(address) {
        warn!("{address} could not be opened: {error}");
    }
}

/// Logs to standard error, what the environment variable `RUST_LOG` says if there is one.
#[must_use]
pub(crate) fn log_plugin() -> LogPlugin {
    LogPlugin {
        filter: LOGGED.to_owned(),
        level: Level::WARN,
        // A file has no colours.
        fmt_layer: |_| {
            let layer = fmt::Layer::default()
                .with_writer(io::stderr)
                .with_ansi(io::stderr().is_terminal());
            Some(Box::new(layer))
        },
        ..default()
    }
}

/// What is missing to open a window; `None` if nothing is.
#[must_use]
pub(crate) fn missing() -> Option<&'static str> {
    if cfg!(target_os = "linux") && !has_display() {
        return Some("there is no display");
    }
    no_adapter(Backends::PRIMARY | Backends::GL)
}

/// What is missing to render off screen; `None` if nothing is.
#[must_use]
pub(crate) fn no_adapter_off_screen() -> Option<&'static str> {
    no_adapter(Backends::PRIMARY)
}

fn no_adapter(backends: Backends) -> Option<&'static str> {
    let instance = Instance::new(InstanceDescriptor {
        // Others would complain about what they lack.
        backends,
        ..InstanceDescriptor::new_without_display_handle_from_env()
    });
    let adapters = block_on(instance.enumerate_adapters(backends));
    let usable = adapters
        .iter()
        .any(|adapter| adapter.get_info().device_type != DeviceType::Other);
    (!usable).then_some("there is no graphics driver: Vulkan, also in software, is needed")
}

fn has_display() -> bool {
    let wayland = cfg!(feature = "wayland") && env::var_os("WAYLAND_DISPLAY").is_some();
    wayland || x11rb::connect(None).is_ok()
}
