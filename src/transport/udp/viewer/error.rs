//! Errors of a viewer's connection.

use std::io;
use std::net::SocketAddr;

use cubewire_protocol::SessionError;
use cubewire_scene::CUBES;

/// Why a viewer cannot connect, or ends its session. The transport has further reasons: see
/// [`UdpConnection`](cubewire_bevy::udp::UdpConnection).
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The socket or the connect token cannot be created.
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    /// The server refused the viewer, or sent an invalid message.
    #[error("the session with the server at {server} ended: {reason}")]
    Session {
        /// Address of the server.
        server: SocketAddr,
        /// Reason of the server, or the error in its message.
        reason: SessionError,
    },
    /// The server's scene has another number of cubes.
    #[error("the server at {server} has {cubes} cubes, and this program {CUBES}")]
    OtherCubes {
        /// Address of the server.
        server: SocketAddr,
        /// Number of cubes of the server.
        cubes: usize,
    },
    /// The server sent a message that cannot be decoded.
    #[error("{server} sent a malformed message")]
    Malformed {
        /// Address of the server.
        server: SocketAddr,
    },
}
