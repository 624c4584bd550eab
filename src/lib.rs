//! Cubewire: play Glenn Fiedler's cube demo, and watch where every bit of its network traffic goes.
//!
//! The house, from the ground up:
//!
//! | | |
//! | --- | --- |
//! | `crates/codec` | snapshots to bits and back, one stage of compression at a time |
//! | `crates/link` | a network link in memory that delays, loses, repeats and reorders |
//! | `crates/scene` | the rules of the demo: where cubes stand, what keys do, who is interacting |
//! | `crates/protocol` | sender and receiver: acks, baselines, jitter buffer, interpolation |
//! | `crates/lab` | measures the codec on recordings, from the command line |
//! | [`simulation`] | the authoritative world: bodies, player forces, 60 Hz step |
//! | [`replication`] | lanes: capture → quantize → encode → transport → decode → playout |
//! | [`transport`] | how a lane's messages travel: by memory over a simulated link, or by UDP |
//! | [`controls`] | the table of keys |
//! | [`view`] | the picture: both worlds, cameras, colours, text over them |
//! | [`panel`] | egui: switches and graphs; reads samples, triggers events |
//! | [`recording`] | scripts, replays, the keyboard, videos of the screen |
//! | [`game`] | the harnesses: in a window, on a manual clock, drawn into an image |
//! | [`commands`] | the command line: a file for each subcommand |
//! | `examples` | one small program for each thing that a game developer would take away |
//!
//! Imports point upwards in this table alone: `tests/suite/layers.rs` checks it.

pub mod commands;
pub mod controls;
mod display;
mod files;
pub mod game;
pub mod panel;
pub mod recording;
pub mod replication;
pub mod simulation;
pub mod transport;
pub mod view;
