//! The settings of a viewer.

use std::net::SocketAddr;
use std::time::Duration;

use super::super::Security;

/// Which server to connect to, and how.
#[derive(Clone, Debug)]
pub struct ViewerSettings {
    /// Address of the server.
    pub server: SocketAddr,
    /// How the server admits viewers.
    pub security: Security,
    /// Silence after which the connection is closed: whole seconds, from one to
    /// [`MAX_TIMEOUT`](Self::MAX_TIMEOUT).
    pub timeout: Duration,
}

impl ViewerSettings {
    /// After that long, the server closes the connection in any case.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(30);
}
