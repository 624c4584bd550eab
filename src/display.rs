//! Bevy's default plugins for the platform: window, renderer and log.

#[cfg(not(target_family = "wasm"))]
mod desktop;
#[cfg(not(target_family = "wasm"))]
pub(crate) use desktop::{
    address, browse, copy, log_plugin, missing, no_adapter_off_screen, plugins, setting,
};

#[cfg(target_family = "wasm")]
mod browser;
#[cfg(target_family = "wasm")]
pub(crate) use browser::{address, browse, copy, plugins, setting};

/// What is logged: warnings, and the game's own messages. renet warns about every large snapshot, and its netcode about every
/// datagram of another program. At each start window and renderer warn about what they do without.
const LOGGED: &str =
    "cubewire=info,bevy_render=error,bevy_egui=error,winit=error,wgpu=error,renet=off";
