//! Bevy's default plugins for each platform: window, renderer and log.

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

/// Log filter: warnings, and the game's own messages. renet is off because it warns about every large snapshot, and its
/// netcode about every foreign datagram. Window and renderer warn about missing features at each start.
const LOGGED: &str =
    "cubewire=info,bevy_render=error,bevy_egui=error,winit=error,wgpu=error,renet=off";
