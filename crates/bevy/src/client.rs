//! The client's side: remote bodies appear, move and vanish as the server's did, one playout delay later.

mod cold;
mod inputs;
mod play;
mod session;
mod upstream;

use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, Plugin, PostUpdate, PreStartup, PreUpdate};
use bevy_ecs::prelude::*;
use cubewire_protocol::Settings;

pub use self::session::Session;

use crate::body::{Remote, RemoteBody};
use crate::mailbox::CubewireSystems;
use crate::protocol::{NO_PROTOCOL, Protocol};

/// Shows the bodies of the server that a transport connects to. One at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientPlugin;

impl Plugin for ClientPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PlayoutDelay>()
            .add_systems(PreStartup, |protocol: Option<Res<'_, Protocol>>| {
                protocol.expect(NO_PROTOCOL);
            })
            .add_observer(play::disconnect)
            .add_systems(
                PreUpdate,
                (
                    (session::begin, session::deliver, session::request)
                        .chain()
                        .in_set(CubewireSystems::Deliver),
                    play::play.in_set(CubewireSystems::Play),
                ),
            )
            .add_systems(
                FixedPostUpdate,
                (upstream::send_feedback, upstream::send)
                    .chain()
                    .in_set(CubewireSystems::Send),
            )
            .add_systems(
                PostUpdate,
                (upstream::send_feedback, upstream::send)
                    .chain()
                    .in_set(CubewireSystems::Send),
            );
    }
}

/// How long a snapshot waits before it is shown, so that late ones are in time and lost ones are bridged.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlayoutDelay {
    /// As long as the link needs: the most of the last five seconds, up to a second.
    #[default]
    Adaptive,
    /// This long, up to 240 ticks.
    Fixed(Duration),
}

/// Settings that a client asks of its server; on the entity of the connection at the client. A change asks again.
/// [`Session::answer`] has the answer.
///
/// A server declines them unless its resource `ClientRequests` is `Grant`. A budget is in
/// [`BUDGETS_KBPS`](cubewire_protocol::BUDGETS_KBPS), and stages are [those of the protocol](cubewire_codec::Plan::legal).
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub struct SettingsRequest(pub Settings);

/// A remote body vanishes. Triggered at it before it is despawned.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vanished {
    /// The body.
    pub entity: Entity,
    /// Why.
    pub reason: VanishReason,
}

/// Why a remote body vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VanishReason {
    /// The server has despawned it.
    Despawned,
    /// It is still there, and the client sees it no more.
    Hidden,
    /// The connection has ended.
    Disconnected,
}

/// A remote body with this is not despawned when it vanishes; instead it loses [`Remote`], and becomes the client's own.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct KeepVanished;

/// Tells that a body has vanished, and despawns it. Nothing happens if the client has already despawned it.
fn vanish(world: &mut World, entity: Entity, reason: VanishReason) {
    if world.get_entity(entity).is_err() {
        return;
    }
    world.trigger(Vanished { entity, reason });
    let Ok(mut body) = world.get_entity_mut(entity) else {
        return;
    };
    match body.contains::<KeepVanished>() {
        true => {
            body.remove::<(Remote, RemoteBody)>();
        }
        false => body.despawn(),
    }
}
