//! Where viewers are admitted, and which.

use std::io;
use std::net::SocketAddr;

use super::super::Security;

/// Where viewers are admitted, and which.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen at. Port 0 lets the operating system choose one.
    pub bind: SocketAddr,
    /// Addresses that viewers dial, if it is not that one.
    pub public: Vec<SocketAddr>,
    /// Who is admitted.
    pub security: Security,
    /// Viewers at the same time, at most; 1 to [`MAX_VIEWERS`](Self::MAX_VIEWERS).
    pub max_viewers: usize,
}

impl ServerSettings {
    /// What netcode has room for.
    pub const MAX_VIEWERS: usize = 1024;
}

/// Why viewers cannot be admitted.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, not ours, or forbidden.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Without a key, nobody from outside may reach it.
    #[error("{0} can be reached from other machines: that needs a key")]
    InsecureInPublic(SocketAddr),
    /// Tokens name the address that they are good for.
    #[error("{0} is every address of this machine: say which one viewers dial with --public")]
    NoPublicAddress(SocketAddr),
}
