//! Cubewire: play Glenn Fiedler's cube demo and see how every bit of its network traffic is used.
//!
//! The crates and modules, from the lowest layer up:
//!
//! | crate or module | contents |
//! | --- | --- |
//! | `crates/text` | serde format for values as one-line lists of keys and values |
//! | `crates/codec` | the codec: encodes snapshots as bits and decodes them |
//! | `crates/link` | a simulated network link: delay, loss, duplication, reordering |
//! | `crates/files` | atomic file output |
//! | `crates/cli` | format of command-line errors |
//! | `crates/recording` | reads and writes recordings of scenes with their schema |
//! | `crates/palette` | colours of the panel, the view, films and plots |
//! | `crates/scene` | rules of the demo: initial layout, the player's forces, interacting cubes |
//! | `crates/protocol` | sender and receiver: acks, baselines, jitter buffer, interpolation |
//! | `crates/bevy` | replication for any Bevy game: registration, server and client plugins, transports |
//! | `crates/inspector` | window that shows how a game on `crates/bevy` uses every bit, and widgets that the panel shares |
//! | `crates/compare` | other replication libraries, measured next to `crates/bevy` |
//! | `crates/physics` | one tick of the demo on Rapier's sets, without Bevy |
//! | `crates/lab` | measures the codec on recordings, from the command line |
//! | `crates/fuzz` | fuzz targets, one for each reader of untrusted bytes in the other crates |
//! | `crates/hostile` | attacks on a server over loopback, and honest viewers that measure the effect; the tests run them |
//! | `crates/web` | the page for browsers, and the program that builds and serves it |
//! | [`theme`] | light and dark theme, and colours for egui and Bevy |
//! | [`simulation`] | the authoritative world: bodies, player forces, 60 Hz step |
//! | [`replication`] | lanes: capture → quantize → encode → transport → decode → playout |
//! | [`transport`] | transfers a lane's messages, in memory over a simulated link or over UDP |
//! | [`controls`] | table of keys |
//! | [`history`] | the last minute, tick by tick, for views and films of the past |
//! | [`view`] | draws both worlds: cubes, cameras, colours, text overlays |
//! | [`panel`] | egui panel: switches and graphs; reads samples, triggers events |
//! | [`recording`] | scripts, replays, keyboard input, videos, exports |
//! | [`game`] | runs the game: in a window, headless, or rendered offscreen |
//! | [`commands`] | the command line: one file per subcommand |
//! | [`web`] | the game in a page: parameters of the address, functions that the page calls |
//! | `examples` | minimal programs that use the codec, the protocol over a simulated link, and replication in a game |
//!
//! A module or crate uses only modules and crates in rows above its own, which `tests/suite/layers.rs` checks.
//!
//! Modules that a browser cannot support are left out of its build: `commands`, `game::desktop`, `recording::video`,
//! `transport::udp`. `clock`, `files` and `display` have one implementation per platform.

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "a library only for the app's own program, page, tests and tools"
)]

mod clock;
#[cfg(not(target_family = "wasm"))]
pub mod commands;
pub mod controls;
mod display;
mod files;
pub mod game;
pub mod history;
#[cfg(target_family = "wasm")]
mod page;
pub mod panel;
pub mod recording;
pub mod replication;
pub mod simulation;
pub mod theme;
pub mod transport;
pub mod view;
pub mod web;
