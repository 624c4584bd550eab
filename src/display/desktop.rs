//! Bevy's default plugins on a desktop, and checks for a display and a graphics adapter, without which Bevy panics.

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

pub(crate) fn plugins(window: Window) -> PluginGroupBuilder {
    DefaultPlugins
        .set(WindowPlugin { primary_window: Some(window), ..default() })
        .set(log_plugin())
        // A test opens the window on a thread that is not the main thread.
        .set(WinitPlugin { run_on_any_thread: true })
        // The game handles more signals than Ctrl-C.
        .disable::<TerminalCtrlCHandlerPlugin>()
}

/// Address of the page that contains the game. Always `None` on a desktop.
pub(crate) const fn address() -> Option<String> {
    None
}

/// Text that gives a setting at the start, as a command-line argument.
pub(crate) fn setting(name: &str, value: &str) -> String {
    format!("--{name} {value}")
}

pub(crate) fn copy(ctx: &egui::Context, text: &str) {
    ctx.copy_text(text.to_owned());
}

pub(crate) fn browse(address: &str) {
    if let Err(error) = open::that_detached(address) {
        warn!("{address} could not be opened: {error}");
    }
}

/// Logs to standard error. The environment variable `RUST_LOG` overrides the filter.
pub(crate) fn log_plugin() -> LogPlugin {
    LogPlugin {
        filter: LOGGED.to_owned(),
        level: Level::WARN,
        // No colour codes in a file.
        fmt_layer: |_| {
            let layer =
                fmt::Layer::default().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
            Some(Box::new(layer))
        },
        ..default()
    }
}

/// Reason why a window cannot be opened, or `None` if it can.
pub(crate) fn missing() -> Option<&'static str> {
    if cfg!(target_os = "linux") && !has_display() {
        return Some("there is no display");
    }
    no_adapter(Backends::PRIMARY | Backends::GL)
}

/// Reason why offscreen rendering is not possible, or `None` if it is.
pub(crate) fn no_adapter_off_screen() -> Option<&'static str> {
    no_adapter(Backends::PRIMARY)
}

fn no_adapter(backends: Backends) -> Option<&'static str> {
    let instance = Instance::new(InstanceDescriptor {
        // Limited, because other backends log errors about missing libraries.
        backends,
        ..InstanceDescriptor::new_without_display_handle_from_env()
    });
    let adapters = block_on(instance.enumerate_adapters(backends));
    let usable = adapters.iter().any(|adapter| adapter.get_info().device_type != DeviceType::Other);
    (!usable).then_some(
        "there is no graphics driver: install a Vulkan driver, which may be a software renderer",
    )
}

fn has_display() -> bool {
    let wayland = cfg!(feature = "wayland") && env::var_os("WAYLAND_DISPLAY").is_some();
    wayland || x11rb::connect(None).is_ok()
}
