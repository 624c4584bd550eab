//! Admits viewers from other processes beside the lanes of this one.

use bevy::prelude::*;

use super::ReplicationSystems;
use super::digest::{self, Digest};
use super::transport::udp::{self, UdpServer};

/// Lets viewers watch, once there is a [`UdpServer`]. Needs
/// [`ReplicationPlugin`](super::ReplicationPlugin).
///
/// The socket is looked after in every frame, so that viewers stay connected while the game is
/// paused.
#[derive(Debug)]
pub struct ServingPlugin;

/// When viewers are served, beside [`ReplicationSystems`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServingSystems {
    /// What came from viewers is taken in, in [`PreUpdate`].
    Receive,
    /// What goes to them is handed to the socket, in [`Update`]: right after the ticks of a frame.
    Flush,
}

impl Plugin for ServingPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            PreUpdate,
            ServingSystems::Receive.run_if(resource_exists::<UdpServer>),
        )
        .configure_sets(
            Update,
            ServingSystems::Flush.run_if(resource_exists::<UdpServer>),
        )
        .add_systems(
            PreUpdate,
            udp::receive_server.in_set(ServingSystems::Receive),
        )
        .add_systems(
            FixedUpdate,
            digest::of_sent
                .run_if(resource_exists::<Digest>)
                .after(ReplicationSystems::Send)
                .before(ReplicationSystems::Receive),
        )
        .add_systems(Update, udp::flush_server.in_set(ServingSystems::Flush))
        .add_systems(
            Last,
            udp::close_server
                .run_if(resource_exists::<UdpServer>)
                .run_if(on_message::<AppExit>),
        );
    }
}
