//! The reasons why a viewer has no connection.

use std::io;
use std::net::SocketAddr;

use cubewire_protocol::WelcomeError;
use cubewire_scene::CUBES;

/// Why a viewer could not connect, or lost its connection.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Without a key, only loopback addresses are allowed.
    #[error("{0} is on another machine, which needs a key")]
    InsecureInPublic(SocketAddr),
    /// The socket cannot be opened.
    #[error("cannot send to {server}: {source}")]
    Socket {
        /// The server.
        server: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The connect token cannot be generated.
    #[error("cannot make a connect token for {server}: {reason}")]
    Token {
        /// The server.
        server: SocketAddr,
        /// Why.
        reason: String,
    },
    /// The server's machine reports that no process listens at the address.
    #[error("nothing listens at {0}")]
    NothingListens(SocketAddr),
    /// The server never answered.
    #[error(
        "no answer from {server} for {seconds} s: it is not running, UDP is blocked on the way, it has \
         another key, this is not its --public address, or the two clocks are a minute apart"
    )]
    NoAnswer {
        /// The server.
        server: SocketAddr,
        /// How long the viewer waited.
        seconds: u64,
    },
    /// The server already has its maximum number of viewers.
    #[error("the server at {0} is full")]
    Full(SocketAddr),
    /// Nothing was received from the server for too long.
    #[error("lost the server at {server}: nothing was received from it for {seconds} s")]
    Lost {
        /// The server.
        server: SocketAddr,
        /// How long the viewer waited.
        seconds: u64,
    },
    /// The server has ended without a word, and another one listens at its address.
    #[error("the server at {0} was restarted, and does not know this viewer: connect again")]
    Restarted(SocketAddr),
    /// The server has disconnected.
    #[error("the server at {0} has ended the connection")]
    Ended(SocketAddr),
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
    /// The server sent an invalid packet.
    #[error("{server} sent an invalid packet: {reason}")]
    Hostile {
        /// The server.
        server: SocketAddr,
        /// Why it is invalid.
        reason: String,
    },
}
