//! Why a viewer has no connection.

use std::io;
use std::net::SocketAddr;

use cubewire_protocol::WelcomeError;
use cubewire_scene::{CUBES, TICKS_PER_SECOND};

/// Why there is no connection (any more).
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A connection without a key would be open to others.
    #[error("{0} is on another machine: that needs a key")]
    InsecureInPublic(SocketAddr),
    /// The operating system gives no socket.
    #[error("cannot send to {server}: {source}")]
    Socket {
        /// The server.
        server: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// No connect token can be made.
    #[error("cannot make a connect token for {server}: {reason}")]
    Token {
        /// The server.
        server: SocketAddr,
        /// Why.
        reason: String,
    },
    /// The server's machine says that nobody listens.
    #[error("nothing listens at {0}")]
    NothingListens(SocketAddr),
    /// The server never answered.
    #[error(
        "no answer from {server} for {seconds} s: it is not there, UDP does not get through, it was \
         started with another key, it is dialled at another address than its --public, or the two \
         clocks are an hour apart"
    )]
    NoAnswer {
        /// The server.
        server: SocketAddr,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The server has no room.
    #[error("the server at {0} is full")]
    Full(SocketAddr),
    /// The server fell silent.
    #[error("lost the server at {server}: nothing came from it for {seconds} s")]
    Lost {
        /// The server.
        server: SocketAddr,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The server said goodbye.
    #[error("the server at {0} has ended the connection")]
    Ended(SocketAddr),
    /// The server speaks another version, or what it sent is no welcome.
    #[error(transparent)]
    Welcome(#[from] WelcomeError),
    /// The server plays something else.
    #[error(
        "the server at {server} shows {cubes} cubes at {ticks_per_second} ticks a second, and this \
         program {CUBES} at {TICKS_PER_SECOND}"
    )]
    OtherGame {
        /// The server.
        server: SocketAddr,
        /// Its cubes.
        cubes: usize,
        /// Its ticks a second.
        ticks_per_second: u16,
    },
    /// What came is none of ours.
    #[error("what came from {server} is not what Cubewire sends: {reason}")]
    Hostile {
        /// The server.
        server: SocketAddr,
        /// What was wrong with it.
        reason: String,
    },
}
