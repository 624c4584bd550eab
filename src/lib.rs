//! Cubewire: play Glenn Fiedler's cube demo, and see what every bit of its network traffic is for.
//!
//! The crates and modules, from the lowest layer up:
//!
//! | crate or module | contents |
//! | --- | --- |
//! | `crates/text` | reads and writes values as lists of keys and values in a line, through serde |
//! | `crates/codec` | the codec: encodes snapshots as bits and decodes them |
//! | `crates/link` | a simulated network link: delay, loss, duplication, reordering |
//! | `crates/files` | files that appear whole or not at all |
//! | `crates/cli` | the form of what programs say of a wrong command line |
//! | `crates/recording` | reads and writes recordings of scenes, with their schema |
//! | `crates/palette` | the colours of the panel, the view, films and plots |
//! | `crates/scene` | the rules of the demo: initial layout, the player's forces, interacting cubes |
//! | `crates/protocol` | sender and receiver: acks, baselines, jitter buffer, interpolation |
//! | `crates/bevy` | replication for any Bevy game: registration, server and client plugins, transports |
//! | `crates/inspector` | where every bit of a game on `crates/bevy` goes: a window, and what it and the panel are made of |
//! | `crates/compare` | other replication libraries, measured beside `crates/bevy` |
//! | `crates/physics` | one tick of the demo on Rapier's sets, without Bevy |
//! | `crates/lab` | measures the codec on recordings, from the command line |
//! | `crates/fuzz` | fuzz targets: one for each reader of foreign bytes in the other crates |
//! | `crates/hostile` | attacks a server over loopback, and measures what that costs an honest viewer |
//! | `crates/web` | the page for browsers, and the program that builds and serves it |
//! | [`theme`] | light or dark, and colours for egui and Bevy |
//! | [`simulation`] | the authoritative world: bodies, player forces, 60 Hz step |
//! | [`replication`] | lanes: capture → quantize → encode → transport → decode → playout |
//! | [`transport`] | transfers a lane's messages, in memory over a simulated link or over UDP |
//! | [`controls`] | the table of keys |
//! | [`history`] | the last minute, tick by tick, for views that look back |
//! | [`view`] | draws both worlds: cubes, cameras, colours, text overlays |
//! | [`panel`] | the egui panel: switches and graphs; reads samples, triggers events |
//! | [`recording`] | scripts, replays, keyboard input, videos of the screen, exports |
//! | [`game`] | runs the game: in a window, without one, or rendered offscreen |
//! | [`commands`] | the command line: one file per subcommand |
//! | [`web`] | the game in a page: what its address asks for, what the page calls |
//! | `examples` | minimal programs that use the codec, the protocol over a simulated link, and replication in a game |
//!
//! A module or crate uses only those in rows above its own; `tests/suite/layers.rs` checks that.
//!
//! What a browser does not have is left out of a build for it as a whole: `commands`, `game::desktop`,
//! `recording::video`, `transport::udp`. Where it has something else, one module has both: `clock`, `files`, `display`.

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
