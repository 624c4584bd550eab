//! Connects to a server, requests snapshots, and delivers them to the only lane of the app.

mod error;
mod session;
mod systems;

use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;

use super::Security;
use crate::replication::transport::{End, TransportSystems};
use crate::replication::{ConnectionStatus, Reconnect, ServerConnection};

pub use error::ViewError;
use session::Session;

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

/// The viewer's end of the connection.
#[derive(Resource, Debug)]
pub struct UdpViewer {
    settings: ViewerSettings,
    session: Result<Box<Session>, ViewError>,
}

/// Receives from the server of the [`UdpViewer`], which must exist. Needs
/// [`ViewerPlugin`](crate::replication::ViewerPlugin). The socket is served in every frame.
#[derive(Debug)]
pub struct UdpViewerPlugin;

impl Plugin for UdpViewerPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(reconnect)
            .add_systems(
                PreUpdate,
                (systems::receive, publish)
                    .chain()
                    .in_set(TransportSystems::Receive(End::Receiver)),
            )
            .add_systems(
                Update,
                systems::flush.in_set(TransportSystems::Flush(End::Receiver)),
            )
            .add_systems(
                Last,
                systems::close
                    .after(exit_on_all_closed)
                    .run_if(on_message::<AppExit>),
            );
    }
}

fn reconnect(_: On<Reconnect>, mut viewer: ResMut<UdpViewer>) {
    viewer.reconnect();
}

fn publish(
    viewer: Res<UdpViewer>,
    connection: Option<ResMut<ServerConnection>>,
    mut commands: Commands,
) {
    let now = viewer.connection();
    match connection {
        Some(mut connection) => {
            connection.set_if_neq(now);
        }
        None => commands.insert_resource(now),
    }
}

impl UdpViewer {
    /// Starts to connect; the handshake happens while the app runs.
    ///
    /// # Errors
    /// [`ViewError`] if there is no socket or no connect token.
    pub fn new(settings: ViewerSettings) -> Result<Self, ViewError> {
        let session = Session::new(&settings)?;
        Ok(Self {
            settings,
            session: Ok(Box::new(session)),
        })
    }

    /// The state of the connection.
    #[must_use]
    pub fn connection(&self) -> ServerConnection {
        let session = self.session.as_ref();
        ServerConnection {
            server: self.settings.server.to_string(),
            status: match session {
                Ok(session) if session.is_welcomed => ConnectionStatus::Connected,
                Ok(_) => ConnectionStatus::Connecting,
                Err(error) => ConnectionStatus::Lost(error.to_string()),
            },
            round_trip: session
                .ok()
                .and_then(|session| session.channel.round_trip()),
            id: session.ok().map(|session| session.netcode.client_id()),
            granted: session.ok().and_then(|session| session.granted()),
        }
    }

    fn reconnect(&mut self) {
        if self.session.is_err() {
            self.session = Session::new(&self.settings).map(Box::new);
        }
    }
}
