//! Observers that despawn the entity that is being written, or end the connection.

use super::*;

#[derive(Resource, Clone, Copy, Debug, PartialEq)]
enum Action {
    DespawnIt,
    DespawnOthers,
    StripIt,
    EndTheConnection,
}

/// An observer with the action of [`Action`].
fn act<E: EntityEvent, C: Bundle>(
    on: On<E, C>,
    action: Res<Action>,
    bodies: Query<Entity, With<Transform>>,
    servers: Query<Entity, With<Server>>,
    mut commands: Commands,
) {
    let body = on.event_target();
    match *action {
        Action::DespawnIt => commands.entity(body).try_despawn(),
        Action::DespawnOthers => {
            let others = bodies.iter().filter(|&other| other != body);
            others.for_each(|other| commands.entity(other).try_despawn());
        }
        Action::StripIt => {
            let mut body = commands.entity(body);
            body.try_remove::<(Transform, Health, OnFire, PlayerName, Follows, BodyKind)>();
        }
        Action::EndTheConnection => {
            servers.iter().for_each(|server| commands.entity(server).try_despawn());
        }
    }
}

/// Name of an observer, and a function that adds it.
type Observer = (&'static str, fn(&mut App));

/// An observer of one event, of one component or of all bodies.
fn observer<E: EntityEvent, C: Bundle>() -> Observer {
    (std::any::type_name::<(E, C)>(), |app| _ = app.add_observer(act::<E, C>))
}

#[test]
fn an_observer_at_a_client_can_end_what_it_observes_and_all_else() {
    /// Observers of `Add` and `Insert`.
    fn both<C: Component>() -> [Observer; 2] {
        [observer::<Add, C>(), observer::<Insert, C>()]
    }
    // Events of every body.
    let always = [
        both::<Transform>(),
        both::<Health>(),
        both::<OnFire>(),
        both::<BodyKind>(),
        both::<Remote>(),
    ];
    let others = [both::<PlayerName>(), both::<Follows>()];
    let removals = [
        observer::<Remove, PlayerName>(),
        observer::<Remove, Follows>(),
        observer::<Remove, BodyKind>(),
        observer::<Remove, Health>(),
        observer::<Remove, Transform>(),
        observer::<Vanished, ()>(),
    ];
    let always = always.into_iter().flatten().map(|observer| (observer, true));
    let others = others.into_iter().flatten().chain(removals).map(|observer| (observer, false));
    use Action::{DespawnIt, DespawnOthers, EndTheConnection, StripIt};
    for ((name, observe), is_always) in always.chain(others) {
        for action in [DespawnIt, DespawnOthers, StripIt, EndTheConnection] {
            let mut net = TestNet::new(protocol);
            net.add_client_with(|app| {
                protocol(app);
                app.insert_resource(action);
                observe(app);
            });
            let mut bodies = Vec::new();
            for tick in 0..90 {
                play(&mut net, &mut bodies, tick);
                if let Some(&body) = bodies.get(tick % 12) {
                    let name = PlayerName(format!("body {tick}"));
                    match tick % 3 {
                        0 => insert(&mut net, body, (name, Follows(bodies[0]))),
                        1 => insert(&mut net, body, OnFire(tick % 2 == 0)),
                        _ => {
                            let world = server(&mut net);
                            world.entity_mut(body).remove::<(PlayerName, Follows)>();
                        }
                    }
                }
                net.tick();
            }
            if is_always && matches!(action, DespawnIt | EndTheConnection) {
                assert_eq!(net.count::<Transform>(0), 0, "{name}, {action:?}");
            }
        }
    }
}

#[test]
fn an_observer_at_a_server_can_end_a_new_connection() {
    let mut net = TestNet::new(protocol);
    net.server.add_observer(|on: On<Add, Connected>, mut commands: Commands| {
        commands.entity(on.entity).despawn();
    });
    net.add_client();
    net.ticks(60);
    assert_eq!((net.count::<Server>(0), count::<Connected>(&mut net.server)), (0, 0));
}
