//! Observers that despawn the entity that is being written, or end the connection.

use cubewire_bevy::Server;

use super::*;

/// The action of an observer.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
enum Deed {
    DespawnIt,
    DespawnOthers,
    StripIt,
    EndTheConnection,
}

fn act(
    body: Entity,
    deed: Deed,
    bodies: &Query<Entity, With<Transform>>,
    servers: &Query<Entity, With<Server>>,
    commands: &mut Commands,
) {
    match deed {
        Deed::DespawnIt => commands.entity(body).try_despawn(),
        Deed::DespawnOthers => {
            let others = bodies.iter().filter(|&other| other != body);
            others.for_each(|other| commands.entity(other).try_despawn());
        }
        Deed::StripIt => {
            let mut body = commands.entity(body);
            body.try_remove::<(Transform, Health, OnFire, PlayerName, Follows, BodyKind)>();
        }
        Deed::EndTheConnection => {
            let servers = servers.iter();
            servers.for_each(|server| commands.entity(server).try_despawn());
        }
    }
}

/// A list of apps' setup functions. Each adds one observer, of one event of one component.
macro_rules! observers {
    ($($event:ident $component:ty),* $(,)?) => {
        [$((
            concat!(stringify!($event), " of ", stringify!($component)),
            (|app: &mut App| {
                app.add_observer(
                    |on: On<$event, $component>,
                     deed: Res<Deed>,
                     bodies: Query<Entity, With<Transform>>,
                     servers: Query<Entity, With<Server>>,
                     mut commands: Commands| {
                        act(on.entity, *deed, &bodies, &servers, &mut commands);
                    },
                );
            }) as fn(&mut App),
        )),*]
    };
}

#[test]
fn an_observer_at_a_client_can_end_what_it_observes_and_all_else() {
    let observers = observers![
        Add Transform, Insert Transform, Add Health, Insert Health, Add OnFire, Insert OnFire,
        Add PlayerName, Insert PlayerName, Remove PlayerName, Add Follows, Insert Follows,
        Remove Follows, Add BodyKind, Insert BodyKind, Remove BodyKind, Add Remote, Insert Remote,
        Remove Health, Remove Transform,
    ];
    use Deed::{DespawnIt, DespawnOthers, EndTheConnection, StripIt};
    for (name, observe) in observers {
        for deed in [DespawnIt, DespawnOthers, StripIt, EndTheConnection] {
            let mut net = TestNet::new(protocol);
            net.add_client_with(|app| {
                protocol(app);
                app.insert_resource(deed);
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
            let is_always = !name.contains("PlayerName")
                && !name.contains("Follows")
                && !name.starts_with("Remove");
            if is_always && matches!(deed, DespawnIt | EndTheConnection) {
                assert_eq!(net.count::<Transform>(0), 0, "{name}, {deed:?}");
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
    assert_eq!(net.count::<Server>(0), 0);
    assert!(all::<Connected>(&mut net.server).is_empty());
}
