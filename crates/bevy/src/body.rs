//! What an entity has that is replicated, at either end.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;

use crate::wire::BodyId;

/// At a server: clients see this entity. It needs a [`BodyKind`], and its [`Transform`] must be one of the world, without a
/// parent that moves. While the entity has [`Disabled`](bevy_ecs::entity_disabling::Disabled), or another component that the
/// app has registered as disabling, clients do not see it, and it keeps its slot.
///
/// A clone of the entity is another body. It has what the game inserted, such as this, [`BodyKind`] and all replicated
/// components, and not what replication inserted.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Transform)]
pub struct Replicated;

/// At a client: an entity of the server. It is spawned with all that is replicated of it, and [`BodyKind`] and this come last,
/// so an observer of their `Add` sees all the rest; in an app that is the server, too, that of [`BodyKind`] also fires for the
/// server's own bodies, which have no `Remote`.
///
/// A clone of the entity does not have this: it is the client's own, and stays where it is.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(Transform)]
pub struct Remote;

/// At a client: which of the server's bodies it is.
#[derive(Component, Clone, Copy, Debug)]
#[component(clone_behavior = Ignore)]
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
#[component(clone_behavior = Ignore)]
pub(crate) struct HasEnded;

/// At a server: inserted with a new [`Transform`], it makes the body jump there. Clients show the body at its old place until
/// they play the tick of the jump, and from then on at the new one, and never in between; if they have no snapshot of that
/// tick, from the first snapshot after it on. Each insertion is a jump. It must come in the same tick as the new `Transform`.
///
/// Needs [`replicate_teleports`](crate::CubewireAppExt::replicate_teleports) at both ends.
///
/// ```
/// # use bevy_app::{App, FixedUpdate};
/// # use bevy_ecs::prelude::*;
/// # use bevy_math::Vec3;
/// # use bevy_transform::components::Transform;
/// # use cubewire_bevy::{testing::TestNet, *};
/// fn protocol(app: &mut App) {
///     app.add_plugins(CubewirePlugin::new("arena"))
///         .body_kind("hero", Shape::capsule(0.6, 0.4))
///         .replicate_teleports();
/// }
///
/// /// Heroes who fall off the floor start again.
/// fn respawn(heroes: Query<(Entity, &Transform)>, mut commands: Commands) {
///     for (hero, at) in &heroes {
///         if at.translation.y < -50.0 {
///             commands.entity(hero).insert((Transform::from_xyz(0.0, 1.0, 0.0), Teleport));
///         }
///     }
/// }
///
/// let mut net = TestNet::new(protocol);
/// net.server.add_systems(FixedUpdate, respawn);
/// net.add_client();
/// let low = Transform::from_xyz(0.0, -49.0, 0.0);
/// let hero = net.server.world_mut().spawn((Replicated, BodyKind::named("hero"), low)).id();
/// net.run_until(|net| net.count::<Remote>(0) == 1);
/// net.server.world_mut().get_mut::<Transform>(hero).unwrap().translation.y = -51.0;
/// net.run_until(|net| {
///     let world = net.clients[0].world_mut();
///     let mut heroes = world.query_filtered::<&Transform, With<Remote>>();
///     let y = heroes.single(world).unwrap().translation.y;
///     assert!(y == -49.0 || y == 1.0, "the hero is in between, at {y}");
///     y == 1.0
/// });
/// ```
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(immutable)]
pub struct Teleport;

/// Inserts into a remote body, unless an observer of an earlier insertion has despawned it.
pub(crate) fn write(world: &mut World, body: Entity, bundle: impl Bundle) {
    if let Ok(mut body) = world.get_entity_mut(body) {
        body.insert(bundle);
    }
}

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
