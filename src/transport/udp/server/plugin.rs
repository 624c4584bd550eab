//! Serves viewers in other processes, in addition to the local lanes.

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;

use super::{UdpServer, systems};
use crate::replication::Serving;
use crate::replication::transport::{End, TransportSystems};

/// Admits viewers while there is a [`UdpServer`]. Needs
/// [`ReplicationPlugin`](crate::replication::ReplicationPlugin).
///
/// The socket is served in every frame, so that viewers stay connected while the game is paused.
#[derive(Debug)]
pub struct UdpServerPlugin;

impl Plugin for UdpServerPlugin {
    fn build(&self, app: &mut App) {
        let is_serving = resource_exists::<UdpServer>;
        app.add_systems(
            PreUpdate,
            systems::receive
                .in_set(TransportSystems::Receive(End::Sender))
                .run_if(is_serving),
        )
        .add_systems(
            Update,
            (systems::flush, publish)
                .chain()
                .in_set(TransportSystems::Flush(End::Sender))
                .run_if(is_serving),
        )
        .add_systems(
            Last,
            systems::close
                .after(exit_on_all_closed)
                .run_if(is_serving)
                .run_if(on_message::<AppExit>),
        );
    }
}

fn publish(server: Res<UdpServer>, serving: Option<ResMut<Serving>>, mut commands: Commands) {
    let traffic = server.traffic();
    match serving {
        // The address stays.
        Some(mut serving) if serving.traffic != traffic => serving.traffic = traffic,
        Some(_) => {}
        None => commands.insert_resource(Serving {
            address: server.address().to_string(),
            traffic,
        }),
    }
}
