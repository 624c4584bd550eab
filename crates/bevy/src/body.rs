//! What an entity has that is replicated, at either end.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;

use crate::wire::BodyId;

/// At a server: clients see this entity. It needs a [`BodyKind`], and its [`Transform`] must be one of the world, without a
/// parent that moves.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Transform)]
pub struct Replicated;

/// At a client: an entity of the server. It is spawned with all that is replicated of it, and [`BodyKind`] and this come last,
/// so an observer of their `Add` sees all the rest; in an app that is the server, too, that of [`BodyKind`] also fires for the
/// server's own bodies, which have no `Remote`.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Transform)]
pub struct Remote;

/// At a client: which of the server's bodies it is.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct RemoteBody(pub(crate) BodyId);

/// The kind of a body: one that was [registered](crate::CubewireAppExt::body_kind).
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable)]
pub struct BodyKind(&'static str);

impl BodyKind {
    /// The kind of that name. A body of a kind that was not registered is not replicated, and is counted in
    /// `ReplicationStats`.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.0
    }
}

/// A connection has ended, or could not be made: nobody listens there, the server is full or has another protocol, the other end
/// has left or is lost, or it has broken the rules. Triggered at the entity of the connection before that is despawned: at a
/// server that refuses a client, and tells it, that is up to five seconds later; it loses [`Connected`](crate::Connected) at once.
/// Not triggered where this end despawns the entity, or its app exits.
#[derive(EntityEvent, Clone, Debug, PartialEq, Eq)]
pub struct Disconnected {
    /// The connection.
    pub entity: Entity,
    /// In a sentence; of different protocols it names the first line that differs.
    pub reason: String,
}

/// On a connection that is despawned later: [`Disconnected`] was triggered at it.
#[derive(Component, Debug)]
pub(crate) struct HasEnded;

/// Ends a connection: triggers [`Disconnected`] at it, unless that has happened, and despawns it.
pub fn disconnect(world: &mut World, entity: Entity, reason: impl Into<String>) {
    let Ok(connection) = world.get_entity(entity) else {
        return;
    };
    if !connection.contains::<HasEnded>() {
        let reason = reason.into();
        world.trigger(Disconnected { entity, reason });
    }
    let _ = world.try_despawn(entity);
}
