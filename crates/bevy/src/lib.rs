#![doc = include_str!("../README.md")]
// The registration serves both ends, so a build with one end leaves parts of it unused.
#![cfg_attr(
    not(all(feature = "server", feature = "client")),
    allow(dead_code, reason = "each end uses half of the registered entries")
)]

mod body;
#[cfg(feature = "client")]
pub mod client;
mod clock;
mod components;
mod forms;
#[cfg(feature = "bevy_renet")]
pub mod game_renet;
mod measure;
#[cfg(feature = "memory")]
pub mod memory;
mod messages;
mod predicted;
pub mod prelude;
mod protocol;
mod register;
mod registry;
#[cfg(any(feature = "memory", feature = "udp"))]
pub mod renet_connection;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub mod shadow;
#[cfg(all(feature = "server", feature = "client", feature = "memory"))]
pub mod testing;
mod traffic;
pub mod transport;
#[cfg(feature = "udp")]
pub mod udp;
mod wire;

#[cfg(any(feature = "memory", feature = "udp"))]
pub use cubewire_link;
pub use {cubewire_codec, cubewire_protocol};

pub use body::{BodyKind, Disconnected, Remote, Replicated, Teleport, disconnect};
#[cfg(feature = "client")]
pub use client::*;
pub use clock::{Clocks, ConnectionClock};
pub use forms::{Field, Pose, Shape};
pub use measure::Measure;
#[cfg(feature = "memory")]
pub use memory::{MemoryLink, MemoryNetwork};
pub use messages::{FromClient, FromServer, NetMessage, ToClient, ToServer};
pub use predicted::{ControlledBy, NextInput, PredictTick, Predicted, TickInput, VisualOffset};
pub use protocol::Protocol;
pub use register::CubewireAppExt;
pub use registry::CubewirePlugin;
#[cfg(any(feature = "memory", feature = "udp"))]
pub use renet_connection::RenetConnection;
#[cfg(feature = "server")]
pub use server::*;
pub use traffic::{DirectionTraffic, HEADER_BYTES, SocketTraffic, Traffic, header_bytes};
#[cfg(any(feature = "memory", feature = "udp"))]
pub use transport::LinkConditions;
pub use transport::{
    Client, Connected, ConnectionPlugin, CubewireSystems, MessageBuffer, Server, connected,
};
pub use wire::{MAX_TO_CLIENT_BYTES, MAX_TO_SERVER_BYTES};
