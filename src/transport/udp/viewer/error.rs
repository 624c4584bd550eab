//! The reasons why a viewer has no connection.

use std::io;
use std::net::SocketAddr;

use cubewire_protocol::WelcomeError;
use cubewire_scene::CUBES;

/// Why a viewer cannot connect, or takes nothing more from its server. Other reasons why a connection ends are those of
/// [`UdpConnection`](cubewire_bevy::udp::UdpConnection).
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no socket or no connect token.
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    /// The server has another version, or its welcome is malformed.
    #[error(transparent)]
    Welcome(#[from] WelcomeError),
    /// The server has another schema.
    #[error(
        "the server at {server} plays another scene: it says {theirs:?}, and this program {ours:?}"
    )]
    OtherScene {
        /// The server.
        server: SocketAddr,
        /// The first line of its schema that differs.
        theirs: String,
        /// The line of this program's.
        ours: String,
    },
    /// The server has another number of cubes.
    #[error("the server at {server} has {cubes} cubes, and this program {CUBES}")]
    OtherCubes {
        /// The server.
        server: SocketAddr,
        /// Its cubes.
        cubes: usize,
    },
    /// The server sent an invalid message.
    #[error("{server} sent an invalid packet: {reason}")]
    Hostile {
        /// The server.
        server: SocketAddr,
        /// Why it is invalid.
        reason: String,
    },
}
