//! Connects to a server, asks for snapshots and hands them to the one lane that there is.

mod error;
mod session;
mod systems;

use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;

use super::Security;

pub use error::ViewError;
use session::Session;
pub(in crate::replication) use systems::{close, flush, receive};

/// Where to connect to.
#[derive(Clone, Debug)]
pub struct ViewerSettings {
    /// The server.
    pub server: SocketAddr,
    /// How it admits us.
    pub security: Security,
    /// Silence after which the connection is given up: whole seconds, from one to
    /// [`LONGEST_TIMEOUT`](Self::LONGEST_TIMEOUT).
    pub timeout: Duration,
}

impl ViewerSettings {
    /// After that, the server gives up in any case.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(30);
}

/// The viewer's end of the connection.
#[derive(Resource, Debug)]
pub struct UdpViewer {
    settings: ViewerSettings,
    session: Result<Box<Session>, ViewError>,
}

/// How the connection fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewerStatus {
    /// No welcome yet.
    Connecting,
    /// Snapshots come.
    Connected,
    /// There is no connection, for this reason.
    Lost(String),
}

impl UdpViewer {
    /// Begins to connect.
    ///
    /// # Errors
    /// [`ViewError`] if that cannot even begin.
    pub fn new(settings: ViewerSettings) -> Result<Self, ViewError> {
        let session = Session::new(&settings)?;
        Ok(Self {
            settings,
            session: Ok(Box::new(session)),
        })
    }

    /// The server.
    #[must_use]
    pub const fn server(&self) -> SocketAddr {
        self.settings.server
    }

    /// How the connection fares.
    #[must_use]
    pub fn status(&self) -> ViewerStatus {
        match &self.session {
            Ok(session) if session.is_welcomed => ViewerStatus::Connected,
            Ok(_) => ViewerStatus::Connecting,
            Err(error) => ViewerStatus::Lost(error.to_string()),
        }
    }

    /// netcode's number of this viewer; none without a connection.
    #[must_use]
    pub fn client(&self) -> Option<u64> {
        let session = self.session.as_ref().ok()?;
        Some(session.netcode.client_id())
    }

    /// There and back, by renet's own acks; none without a connection.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        let session = self.session.as_ref().ok()?;
        Some(Duration::from_secs_f64(session.renet.rtt().max(0.0)))
    }

    /// Begins anew, if the connection is lost. What is shown stays until the new welcome.
    pub fn reconnect(&mut self) {
        if self.session.is_err() {
            self.session = Session::new(&self.settings).map(Box::new);
        }
    }
}
