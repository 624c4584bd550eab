//! Server: captures all bodies once per tick, and sends them to each client.

mod apply;
mod capture;
mod control;
mod limit;
mod outbox;
mod receive;
mod send;
mod sender;
mod settings;
mod visibility;

use bevy_app::{
    App, FixedPostUpdate, FixedUpdate, Last, Plugin, PostUpdate, PreStartup, PreUpdate,
};
use bevy_ecs::prelude::*;
use cubewire_codec::ladder::Rung;
use cubewire_protocol::Throttle;

pub use self::capture::{Bodies, InSlot};
pub use self::limit::{EncodeLimit, encode};
pub use self::sender::ReplicationSender;
pub use self::settings::{ByteBudget, ClientRequests, ConnectionSettings};
pub use self::visibility::{Interest, VisibilityAppExt, VisibilityFilter, WhenHidden};

use crate::transport::{self, CubewireSystems};

/// Replicates all bodies with [`Replicated`](crate::Replicated) to all clients that a transport connects.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerPlugin;

impl Plugin for ServerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ReplicationStats>()
            .init_resource::<ClientRequests>()
            .init_resource::<EncodeLimit>()
            .init_resource::<visibility::Filters>()
            .add_observer(capture::reject)
            .add_observer(capture::forget)
            .add_observer(capture::withdraw)
            .add_observer(capture::change_kind)
            .add_observer(capture::note_teleport)
            .add_observer(transport::tell_why)
            .add_systems(PreStartup, |world: &mut World| {
                world.init_resource::<Bodies>();
            })
            .add_systems(
                PreUpdate,
                (receive::admit, receive::deliver).chain().in_set(CubewireSystems::Deliver),
            )
            .add_systems(FixedUpdate, control::control.in_set(CubewireSystems::Predict))
            .add_systems(
                FixedPostUpdate,
                (
                    capture::capture.in_set(CubewireSystems::Capture),
                    (
                        send::report_tick,
                        send::send_messages,
                        apply::apply,
                        control::report,
                        send::limit_encoding.run_if(resource_exists::<EncodeLimit>),
                        send::send_snapshots,
                    )
                        .chain()
                        .in_set(CubewireSystems::Send),
                ),
            )
            .add_systems(
                PostUpdate,
                (send::send_messages, apply::apply, send::limit_messages)
                    .chain()
                    .in_set(CubewireSystems::Send),
            )
            .add_systems(Last, crate::shadow::go_on::<Rung>);
    }
}

/// Factor of the growth of a waiting body's priority, for clients with a [`ByteBudget`]. 1 for bodies without this
/// component. A body with 0 or less is sent only if all bodies fit. The removal of a body is sent at any priority.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct SendPriority(pub f32);

/// Number of a group of bodies, for clients with a [`ByteBudget`]. Bodies of a group are sent in one packet if they fit, and
/// all have the highest priority in the group.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendGroup(pub u32);

/// Counters of a server.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicationStats {
    /// Number of the last tick.
    pub tick: u64,
    /// Number of bodies that are replicated.
    pub bodies: usize,
    /// Number of bodies that are not replicated, because there are [too many](crate::CubewirePlugin::max_bodies), their kind is
    /// not registered, or they have had no valid `Transform` yet.
    pub waiting: usize,
    /// Number of the `waiting` bodies that wait for a slot to cool down. A slot stays empty for
    /// [a second](cubewire_protocol::COOLDOWN), and for at least two ticks, after its body has gone.
    pub cooling: usize,
    /// Number of snapshots put into message buffers.
    pub packets: u64,
    /// Number of snapshots encoded. Clients share a snapshot if they see the same and have received the same.
    pub encodes: u64,
    /// Bytes of the snapshots put into message buffers.
    pub snapshot_bytes: u64,
    /// Restrictions of all clients, because encoding takes more time than the [`EncodeLimit`].
    pub throttle: Throttle,
}
