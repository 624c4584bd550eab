//! The settings of a server, and the error if it cannot be set up.

use std::io;
use std::net::SocketAddr;

use super::super::Security;

/// Where a server listens, and which viewers it admits.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen at. With port 0 the operating system chooses the port.
    pub bind: SocketAddr,
    /// Addresses that viewers connect to; if empty, the bound address.
    pub public: Vec<SocketAddr>,
    /// Which viewers are admitted.
    pub security: Security,
    /// Connected viewers, at most: 1 to [`MAX_VIEWERS`](Self::MAX_VIEWERS). Other values are clamped.
    pub max_viewers: usize,
}

impl ServerSettings {
    /// A viewer takes about 8 MB, and 12 at most: the last 256 snapshots as it decodes them, for baselines.
    pub const MAX_VIEWERS: usize = 64;
}

/// Why a server cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, belongs to another machine, or is not permitted.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Without a key, only loopback addresses are allowed.
    #[error("{0} can be reached from other machines, which needs a key")]
    InsecureInPublic(SocketAddr),
    /// Connect tokens name the address that they are valid for.
    #[error(
        "{0} is every address of this machine: name the one that viewers connect to with --public"
    )]
    NoPublicAddress(SocketAddr),
}
