//! Components of replicated entities, at the server and at clients.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;

use crate::wire::BodyId;

/// Server: replicates this entity to clients. It needs a [`BodyKind`]. Its [`Transform`] is sent as a position in the
/// world, so it must not have a moving parent. Its scale is not replicated. While the entity has
/// [`Disabled`](bevy_ecs::entity_disabling::Disabled),
/// or another component that the app registered as disabling, clients do not see it and it keeps its slot.
///
/// If the translation is not finite, or the rotation is not finite or has length zero, clients keep the last valid
/// value of it. The other values are still sent, and the log names the first such body.
///
/// A clone of the entity is a new body. The clone gets the components that the game inserted, including this one, but
/// not the components of replication.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Transform)]
pub struct Replicated;

/// Client: marks an entity that was spawned for a body of the server. [`BodyKind`] and `Remote` are inserted last, so
/// an observer of their `Add` sees all other replicated components. In an app with both plugins, an observer of
/// [`BodyKind`] also runs for the server's own bodies, which have no `Remote`.
///
/// A clone of the entity does not get this component. It is a local entity that replication does not update.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(Transform)]
pub struct Remote;

/// Client: identifies the server's body.
#[derive(Component, Clone, Copy, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct RemoteBody(pub(crate) BodyId);

/// Kind of a body, as [registered](crate::CubewireAppExt::body_kind).
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable)]
pub struct BodyKind(&'static str);

impl BodyKind {
    /// Returns the kind with this name. Bodies of an unregistered kind are not replicated; `ReplicationStats` counts
    /// them.
    pub const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        self.0
    }
}

/// A connection has ended or could not be established: no server listens, the server is full or has a different
/// protocol, the peer left or timed out, the peer violated the protocol, or this end called [`disconnect`]. Triggered on the
/// connection's entity before the entity is despawned. Messages that arrived before the end were delivered. Not triggered if
/// this end despawns the entity or its app exits.
#[derive(EntityEvent, Clone, Debug, PartialEq, Eq)]
pub struct Disconnected {
    /// The connection's entity.
    pub entity: Entity,
    /// The reason, as a sentence. If the protocols differ, it names the first line that differs.
    pub reason: String,
}

/// [`Disconnected`] is not triggered for this connection: that has happened, or the entity is a successor.
#[derive(Component, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct HasEnded;

/// Server: inserted together with a new [`Transform`], makes the body jump. Clients show the body at its old position
/// until they play the jump's tick, and at the new one from then on, without interpolation between the two. If a client
/// has no snapshot of that tick, the jump happens at the first later snapshot. Each insertion is a jump. Insert it in
/// the same tick as the new `Transform`.
///
/// Jumps are counted modulo 256. A client without news of the body for at least 256 ticks interpolates if the body has
/// jumped a multiple of 256 times in this time.
///
/// Needs [`replicate_teleports`](crate::CubewireAppExt::replicate_teleports) at both ends.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use bevy_transform::components::Transform;
/// # use cubewire_bevy::prelude::*;
/// /// Heroes who fall off the floor start again.
/// fn respawn(heroes: Query<(Entity, &Transform)>, mut commands: Commands) {
///     for (hero, at) in &heroes {
///         if at.translation.y < -50.0 {
///             commands.entity(hero).insert((Transform::from_xyz(0.0, 1.0, 0.0), Teleport));
///         }
///     }
/// }
/// # bevy_ecs::system::assert_is_system(respawn);
/// ```
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(immutable)]
pub struct Teleport;

/// Inserts the bundle into a remote body. Skipped if an observer of an earlier insertion has despawned it.
pub(crate) fn write(world: &mut World, body: Entity, bundle: impl Bundle) {
    if let Ok(mut body) = world.get_entity_mut(body) {
        body.insert(bundle);
    }
}

/// Ends a connection when the commands are applied: see [`disconnect`].
pub(crate) fn disconnect_later(
    commands: &mut Commands<'_, '_>,
    entity: Entity,
    reason: impl Into<String>,
) {
    let reason = reason.into();
    commands.queue(move |world: &mut World| disconnect(world, entity, reason));
}

/// Ends a connection: triggers [`Disconnected`] and despawns the entity. The other end receives the messages that were
/// written before, and then the reason as its [`Disconnected::reason`]. They are sent until they have arrived, for at most
/// a second.
///
/// Despawning the entity ends a connection in the same way, without a reason.
pub fn disconnect(world: &mut World, entity: Entity, reason: impl Into<String>) {
    let Ok(mut connection) = world.get_entity_mut(entity) else {
        return;
    };
    // An observer can call this function again.
    if !connection.contains::<HasEnded>() {
        connection.insert(HasEnded);
        let reason = reason.into();
        log::debug!("connection {entity} ended: {reason}");
        world.trigger(Disconnected { entity, reason });
    }
    let _ = world.try_despawn(entity);
}
