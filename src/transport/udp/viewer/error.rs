//! The reasons why a viewer has no connection.

use std::io;
use std::net::SocketAddr;

use cubewire_protocol::SessionError;
use cubewire_scene::CUBES;

/// Why a viewer cannot connect, or takes nothing more from its server. Other reasons why a connection ends are those of
/// [`UdpConnection`](cubewire_bevy::udp::UdpConnection).
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no socket or no connect token.
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    /// The server has refused the viewer, or its welcome is invalid.
    #[error("the session with the server at {server} ended: {reason}")]
    Session {
        /// The server.
        server: SocketAddr,
        /// Its reason, or what is wrong with its message.
        reason: SessionError,
    },
    /// The server has another number of cubes.
    #[error("the server at {server} has {cubes} cubes, and this program {CUBES}")]
    OtherCubes {
        /// The server.
        server: SocketAddr,
        /// Its cubes.
        cubes: usize,
    },
    /// The server sent a message that cannot be read.
    #[error("{server} sent a malformed message")]
    Malformed {
        /// The server.
        server: SocketAddr,
    },
}
