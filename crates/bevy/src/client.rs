//! Client: remote bodies appear, move and vanish as the server's bodies did, one playout delay later.

mod components;
mod play;
mod predict;
mod prediction;
mod receiver;
mod upstream;

use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, FixedUpdate, Plugin, PostUpdate, PreStartup, PreUpdate};
use bevy_ecs::prelude::*;
use cubewire_protocol::Settings;

pub use self::predict::PredictsBodies;
pub use self::prediction::PredictionStats;
pub use self::receiver::ReplicationReceiver;

use crate::body::{Remote, RemoteBody};
use crate::predicted::Predicted;
use crate::protocol::{NO_PROTOCOL, Protocol};
use crate::transport::{self, CubewireSystems, Server};

/// Shows the bodies of the server that a transport connects to. Supports one connection at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientPlugin;

impl Plugin for ClientPlugin {
    fn build(&self, app: &mut App) {
        app.register_required_components::<Server, PlayoutDelay>()
            .init_resource::<PredictsBodies>()
            .add_systems(PreStartup, |protocol: Option<Res<'_, Protocol>>| {
                protocol.expect(NO_PROTOCOL);
            })
            .add_observer(play::disconnect)
            .add_observer(transport::tell_why)
            .add_systems(
                PreUpdate,
                (
                    (receiver::begin, receiver::deliver, receiver::request)
                        .chain()
                        .in_set(CubewireSystems::Deliver),
                    play::play.in_set(CubewireSystems::Play),
                ),
            )
            .add_systems(FixedUpdate, predict::predict.in_set(CubewireSystems::Predict))
            .add_systems(FixedPostUpdate, upstream::send.in_set(CubewireSystems::Send))
            .add_systems(PostUpdate, upstream::send.in_set(CubewireSystems::Send));
    }
}

/// How long a snapshot waits before it is shown, on the entity of the client's connection. The delay absorbs jitter and bridges
/// lost snapshots.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub enum PlayoutDelay {
    /// As long as the link needs: the largest delay needed in the last five seconds, up to one second.
    #[default]
    Adaptive,
    /// This delay, up to 240 ticks.
    Fixed(Duration),
}

impl PlayoutDelay {
    const fn fixed(self) -> Option<Duration> {
        match self {
            Self::Adaptive => None,
            Self::Fixed(delay) => Some(delay),
        }
    }
}

/// Settings that a client requests from its server, on the entity of the client's connection. A change sends a new request.
/// [`ReplicationReceiver::answer`] returns the answer.
///
/// A server declines requests unless its resource `ClientRequests` is `Grant`. A budget must be within
/// [`BUDGETS_KBPS`](cubewire_protocol::BUDGETS_KBPS), and the stages must be [legal](cubewire_codec::Plan::legal) in the protocol.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub struct SettingsRequest(pub Settings);

/// A remote body vanishes. Triggered on its entity, before the entity is despawned.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vanished {
    /// The body.
    pub entity: Entity,
    /// Why it vanishes.
    pub reason: VanishReason,
}

/// Why a remote body vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VanishReason {
    /// The server has despawned the body.
    Despawned,
    /// The body still exists, but is no longer visible to the client.
    Hidden,
    /// The connection has ended.
    Disconnected,
}

/// On a remote body: the entity is not despawned when the body vanishes. It loses [`Remote`] and becomes a local entity.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct KeepVanished;

/// Triggers [`Vanished`] and despawns the body, unless the client has already despawned it.
fn vanish(world: &mut World, entity: Entity, reason: VanishReason) {
    if world.get_entity(entity).is_err() {
        return;
    }
    world.trigger(Vanished { entity, reason });
    let Ok(mut body) = world.get_entity_mut(entity) else {
        return;
    };
    if body.contains::<KeepVanished>() {
        body.remove::<(Remote, RemoteBody, Predicted)>();
    } else {
        body.despawn();
    }
}
