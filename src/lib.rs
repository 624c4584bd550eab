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
//! | [`replication`] | lanes: capture → quantize → encode → renet → link or UDP → decode → playout |
//! | [`view`] | the picture: both worlds, cameras, colours, overlays |
//! | [`panel`] | egui: switches and graphs; reads samples, writes lane settings and what the halves show |
//! | [`recording`] | input scripts, replays, frame-exact videos, live capture |
//! | [`controls`] | keys |
//! | [`window`] | all of that in a window |
//! | [`headless`] | the same game without a window, measured |
//! | [`cli`] | the command line |
//! | `examples` | one small program for each thing that a game developer would take away |

pub mod cli;
pub mod controls;
mod display;
mod files;
pub mod headless;
pub mod panel;
pub mod recording;
pub mod replication;
pub mod simulation;
pub mod view;
pub mod window;

use bevy::app::{PluginGroup, PluginGroupBuilder};

/// The game without its window: [`simulation`], [`replication`] and [`recording`].
#[derive(Debug)]
pub struct GamePlugins;

impl PluginGroup for GamePlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add(simulation::SimulationPlugin)
            .add(replication::ReplicationPlugin)
            .add(recording::ScriptPlugin)
    }
}
