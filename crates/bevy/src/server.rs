//! The server's side: bodies are captured once a tick, and sent to every client.

mod capture;
mod outbox;
mod peer;
mod receive;
mod send;
mod settings;
mod views;
mod visibility;

use bevy_app::{App, FixedPostUpdate, Last, Plugin, PostUpdate, PreStartup, PreUpdate};
use bevy_ecs::prelude::*;

pub use self::capture::{Bodies, InSlot};
pub use self::peer::{ByteBudget, Peer};
pub use self::settings::{ClientRequests, ConnectionSettings};
pub use self::visibility::{Interest, VisibilityAppExt, VisibilityFilter, WhenHidden};

use crate::mailbox::CubewireSystems;

/// Replicates all bodies with [`Replicated`](crate::Replicated) to all clients that a transport connects.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerPlugin;

impl Plugin for ServerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ReplicationStats>()
            .init_resource::<ClientRequests>()
            .init_resource::<visibility::Filters>()
            .add_observer(capture::forget)
            .add_observer(capture::withdraw)
            .add_observer(capture::change_kind)
            .add_observer(capture::check_teleport)
            .add_systems(PreStartup, |world: &mut World| {
                world.init_resource::<Bodies>();
            })
            .add_systems(
                PreUpdate,
                (receive::admit, receive::deliver)
                    .chain()
                    .in_set(CubewireSystems::Deliver),
            )
            .add_systems(
                FixedPostUpdate,
                (
                    capture::capture.in_set(CubewireSystems::Capture),
                    (
                        send::report_pause,
                        send::send_messages,
                        settings::apply,
                        send::send_snapshots,
                    )
                        .chain()
                        .in_set(CubewireSystems::Send),
                ),
            )
            .add_systems(
                PostUpdate,
                (send::send_messages, settings::apply, send::limit_messages)
                    .chain()
                    .in_set(CubewireSystems::Send),
            )
            .add_systems(Last, crate::shadow::go_on);
    }
}

/// How urgent a body is for clients with a [`ByteBudget`]: its priority grows so many times as fast while it waits. 1 without
/// this; a body with 0 or less is sent only where all fits. That a body vanishes is sent whatever its priority.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct SendPriority(pub f32);

/// To clients with a [`ByteBudget`], bodies of a group are sent in one packet if they fit, and are as urgent as the most
/// urgent of them.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendGroup(pub u32);

/// What a server has done.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicationStats {
    /// The number of the last tick.
    pub tick: u64,
    /// Bodies that are replicated.
    pub bodies: usize,
    /// Bodies that are not, as there are [too many](crate::CubewirePlugin::max_bodies), their kind is not registered, or they
    /// have had no legal `Transform` yet.
    pub waiting: usize,
    /// Bodies among these that wait only until a slot can be used again. A slot stays empty for
    /// [a second](cubewire_protocol::COOLDOWN) after its body has gone, and for at least two ticks.
    pub cooling: usize,
    /// Snapshots that were put into mailboxes.
    pub packets: u64,
    /// Snapshots that were encoded: clients that see the same, and have received the same, share one.
    pub encodes: u64,
    /// Bytes of snapshots that were put into mailboxes.
    pub snapshot_bytes: u64,
}
