//! Bodies that a client moves ahead of the snapshots.

use bevy_time::Time;
use cubewire_bevy::{PredictionStats, VisualOffset};

use super::*;

/// Sideways speed, −1 to 1, and whether the hero jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Walk(i8, bool);

#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Speed([f32; 2]);

const HERO_SPEED: f32 = 6.0;
const JUMP: f32 = 8.0;
const GROUND: f32 = 1.0;

fn walk(time: Res<Time>, mut heroes: Query<(&TickInput<Walk>, &mut Transform, &mut Speed)>) {
    let seconds = time.delta_secs();
    for (TickInput(Walk(way, jumps)), mut at, mut speed) in &mut heroes {
        let is_down = at.translation.y < GROUND + 0.02;
        speed.0[0] = f32::from(*way) * HERO_SPEED;
        speed.0[1] = match (is_down, jumps) {
            (true, true) => JUMP,
            (true, false) => 0.0,
            (false, _) => speed.0[1] - 20.0 * seconds,
        };
        at.translation += Vec3::new(speed.0[0], speed.0[1], 0.0) * seconds;
        at.translation.y = at.translation.y.max(GROUND);
    }
}

fn heroes(app: &mut App) {
    protocol(app);
    app.add_predicted_input::<Walk>()
        .predict_component::<Speed>()
        .add_systems(PredictTick, walk)
        .init_resource::<NextInput<Walk>>();
}

/// A round trip of 150 ms, with jitter and loss.
fn conditions() -> Conditions {
    Conditions {
        latency: Duration::from_millis(75),
        jitter: Jitter::Uniform { spread: Duration::from_millis(33) },
        loss: Loss::Independent { probability: 0.02 },
        ..Conditions::PERFECT
    }
}

struct Game {
    net: TestNet,
    hero: Entity,
}

impl Game {
    fn new() -> Self {
        Self::of(heroes)
    }

    fn of(protocol: fn(&mut App)) -> Self {
        let mut net = TestNet::with_conditions(protocol, conditions(), 3);
        let world = net.server.world_mut();
        let at = Transform::from_xyz(0.0, GROUND, 0.0);
        let hero = world.spawn((Replicated, BodyKind::named("hero"), Speed::default(), at)).id();
        net.add_client();
        net.run_until(|net| client_of(net).is_some());
        let mut game = Self { net, hero };
        game.control();
        game.net.run_until(|net| net.count::<Predicted>(0) == 1);
        game.net.ticks(300);
        game
    }

    /// Lets the client control the hero.
    fn control(&mut self) {
        let client = client_of(&mut self.net).unwrap();
        self.net.server.world_mut().entity_mut(self.hero).insert(ControlledBy(client));
    }

    fn hold(&mut self, input: Walk, ticks: usize) {
        self.net.clients[0].world_mut().resource_mut::<NextInput<Walk>>().0 = input;
        self.net.ticks(ticks);
    }

    /// The pose at the server.
    fn at_server(&self) -> Vec3 {
        self.net.server.world().get::<Transform>(self.hero).unwrap().translation
    }

    /// The pose at the client, and what its mesh adds.
    fn at_client(&mut self) -> (Vec3, Vec3) {
        let world = self.net.clients[0].world_mut();
        let mut heroes = world.query_filtered::<(&Transform, &VisualOffset), With<Remote>>();
        let (at, offset) = heroes.single(world).unwrap();
        (at.translation, offset.translation)
    }

    fn stats(&mut self) -> PredictionStats {
        let world = self.net.clients[0].world_mut();
        world.query::<&ReplicationReceiver>().single(world).unwrap().prediction()
    }
}

fn client_of(net: &mut TestNet) -> Option<Entity> {
    let world = net.server.world_mut();
    world.query_filtered::<Entity, (With<Client>, With<Connected>)>().iter(world).next()
}

#[test]
fn an_input_acts_at_once_and_a_free_hero_is_never_corrected() {
    let mut game = Game::new();
    let before = game.stats();
    for step in 0..20 {
        let (from, _) = game.at_client();
        let way = [1, -1, 0, 1, -1][step % 5];
        game.hold(Walk(way, step % 3 == 0), 2);
        let (now, _) = game.at_client();
        let wanted = f32::from(way) * HERO_SPEED / 60.0;
        // Two ticks, with one to three inputs.
        let moved = now.x - from.x;
        assert!((0.9 * wanted.abs()..=3.1 * wanted.abs()).contains(&moved.abs()), "{moved}");
        assert!(moved * wanted >= 0.0);
        game.hold(Walk(way, false), 38);
    }
    let after = game.stats();
    assert!(after.ticks > before.ticks + 700);
    assert_eq!(after.corrections, before.corrections, "{after:?}");
    game.hold(Walk::default(), 120);
    let ((at, offset), server) = (game.at_client(), game.at_server());
    assert!(at.distance(server) < 0.01 && offset == Vec3::ZERO, "{at} {server} {offset}");
}

#[test]
fn what_the_server_does_to_the_hero_is_taken_over_smoothly() {
    let mut game = Game::new();
    let before = game.stats();
    let hero = game.hero;
    game.net.server.world_mut().get_mut::<Transform>(hero).unwrap().translation.x += 1.0;
    let (mut last, _) = game.at_client();
    for _ in 0..90 {
        game.net.tick();
        let (at, offset) = game.at_client();
        let shown = at + offset;
        assert!(shown.distance(last) < 0.2, "{shown} after {last}");
        last = shown;
    }
    assert!(last.distance(game.at_server()) < 0.01);
    let after = game.stats();
    assert!(after.corrections > before.corrections && after.corrected_units > 0.9, "{after:?}");
    assert!(after.ticks_again < before.ticks_again + 40, "{after:?}");
}

#[test]
fn a_change_of_the_controller_ends_the_prediction() {
    let mut game = Game::new();
    game.hold(Walk(1, false), 30);
    game.net.server.world_mut().entity_mut(game.hero).remove::<(ControlledBy, TickInput<Walk>)>();
    let (mut last, _) = game.at_client();
    for _ in 0..120 {
        game.net.tick();
        let (at, offset) = game.at_client();
        assert!((at + offset).distance(last) < 0.3, "{at} {offset} after {last}");
        last = at + offset;
    }
    assert_eq!(game.net.count::<Predicted>(0), 0);
    assert!(last.distance(game.at_server()) < 0.01, "{last} {}", game.at_server());
    game.control();
    game.net.run_until(|net| net.count::<Predicted>(0) == 1);
}

#[test]
fn a_client_that_reconnects_or_stops_sending_inputs_predicts_again() {
    let mut game = Game::new();
    game.net.clients[0].world_mut().remove_resource::<NextInput<Walk>>();
    game.net.ticks(200);
    game.net.clients[0].world_mut().init_resource::<NextInput<Walk>>();
    game.hold(Walk(1, false), 120);
    assert!((game.at_client().0.x - game.at_server().x).abs() > 0.5, "it is ahead");
    game.net.reconnect(0);
    game.net.run_until(|net| net.count::<Remote>(0) == 0);
    game.net.run_until(|net| client_of(net).is_some() && net.count::<Remote>(0) == 1);
    game.control();
    game.net.run_until(|net| net.count::<Predicted>(0) == 1);
    game.hold(Walk(-1, false), 120);
    assert!(game.at_client().0.x < game.at_server().x - 0.5);
}

#[test]
fn the_birth_and_death_of_a_controlled_body_are_those_of_any_body() {
    let mut game = Game::new();
    game.hold(Walk(1, true), 20);
    game.net.server.world_mut().despawn(game.hero);
    game.net.run_until(|net| net.count::<Remote>(0) == 0);
    game.net.ticks(120);
    let client = client_of(&mut game.net).unwrap();
    let at = Transform::from_xyz(5.0, GROUND, 0.0);
    let kind = BodyKind::named("hero");
    let world = game.net.server.world_mut();
    let hero = world.spawn((Replicated, kind, Speed::default(), at, ControlledBy(client)));
    game.hero = hero.id();
    game.net.run_until(|net| net.count::<Predicted>(0) == 1);
    game.hold(Walk(1, false), 60);
    assert!(game.at_client().0.x > game.at_server().x + 0.5);
}

#[test]
fn a_client_without_inputs_predicts_nothing() {
    let mut game = Game::new();
    game.net.add_client_with(|app| {
        heroes(app);
        app.world_mut().remove_resource::<NextInput<Walk>>();
    });
    game.net.run_until(|net| net.count::<Remote>(1) == 1);
    game.hold(Walk(1, false), 120);
    assert_eq!(game.net.count::<Predicted>(1), 0);
    let stats = |app: &mut App| {
        let world = app.world_mut();
        world.query::<&ReplicationReceiver>().single(world).unwrap().prediction()
    };
    let stats = stats(&mut game.net.clients[1]);
    assert_eq!((stats.ticks, stats.corrections, stats.input_delay), (0, 0, None));
}

/// A box that heroes push: both ends run the same system.
fn push(
    heroes: Query<&Transform, (With<TickInput<Walk>>, Without<Crate>)>,
    mut crates: Query<&mut Transform, With<Crate>>,
) {
    for mut pushed in &mut crates {
        for hero in &heroes {
            let off = pushed.translation.x - hero.translation.x;
            if off.abs() < 1.0 {
                pushed.translation.x = hero.translation.x + off.signum();
            }
        }
    }
}

#[derive(Component)]
struct Crate;

#[test]
fn other_bodies_can_be_predicted_too() {
    let mut game = Game::new();
    let crates = |app: &mut App| {
        app.add_systems(PredictTick, push.after(walk));
    };
    crates(&mut game.net.server);
    crates(&mut game.net.clients[0]);
    let at = Transform::from_xyz(3.0, GROUND, 0.0);
    game.net.server.world_mut().spawn((Replicated, BodyKind::named("crate"), Crate, at));
    game.net.run_until(|net| net.count::<Remote>(0) == 2);
    let world = game.net.clients[0].world_mut();
    let mut bodies = world.query::<(Entity, &BodyKind)>();
    let pushed = bodies.iter(world).find(|(_, kind)| kind.name() == "crate").unwrap().0;
    world.entity_mut(pushed).insert((Predicted, Crate));
    game.net.ticks(60);
    let before = game.stats();
    game.hold(Walk(1, false), 60);
    let world = game.net.clients[0].world_mut();
    let ahead = world.get::<Transform>(pushed).unwrap().translation.x;
    let mut crates = game.net.server.world_mut().query_filtered::<&Transform, With<Crate>>();
    let behind = crates.single(game.net.server.world()).unwrap().translation.x;
    assert!(ahead > behind + 0.5, "{ahead} {behind}");
    let after = game.stats();
    assert!(after.corrections <= before.corrections + 2, "{before:?} {after:?}");
    // It is interpolated again.
    game.net.clients[0].world_mut().entity_mut(pushed).remove::<Predicted>();
    game.hold(Walk::default(), 120);
    let at = game.net.clients[0].world().get::<Transform>(pushed).unwrap().translation.x;
    let server = crates.single(game.net.server.world()).unwrap().translation.x;
    assert!((at - server).abs() < 0.01, "{at} {server}");
}

#[test]
fn a_teleport_of_a_predicted_body_is_a_jump() {
    fn jumping(app: &mut App) {
        heroes(app);
        app.replicate_teleports();
    }
    let mut game = Game::of(jumping);
    game.hold(Walk(1, false), 30);
    let there = Transform::from_xyz(-8.0, GROUND, 0.0);
    game.net.server.world_mut().entity_mut(game.hero).insert((there, Teleport));
    game.net.run_until(|net| {
        let world = net.clients[0].world_mut();
        world.query_filtered::<&Transform, With<Predicted>>().single(world).unwrap().translation.x
            < 0.0
    });
    let (at, offset) = game.at_client();
    assert!(offset == Vec3::ZERO, "{at} {offset}");
    game.hold(Walk::default(), 60);
    assert!(game.at_client().0.distance(game.at_server()) < 0.01);
}

#[test]
fn a_disabled_body_is_not_predicted_until_it_returns() {
    let mut game = Game::new();
    let disabled = bevy_ecs::entity_disabling::Disabled;
    game.net.server.world_mut().entity_mut(game.hero).insert(disabled);
    game.net.run_until(|net| net.count::<Remote>(0) == 0);
    game.net.ticks(60);
    game.net
        .server
        .world_mut()
        .entity_mut(game.hero)
        .remove::<bevy_ecs::entity_disabling::Disabled>();
    game.net.run_until(|net| net.count::<Predicted>(0) == 1);
    game.hold(Walk(1, false), 60);
    assert!(game.at_client().0.x > game.at_server().x + 0.5);
}

#[test]
fn slow_motion_and_pauses_of_either_end_leave_the_prediction_as_good() {
    let mut game = Game::new();
    let clock = |app: &mut App, speed: f32| {
        let mut time = app.world_mut().resource_mut::<Time<bevy_time::Virtual>>();
        if speed > 0.0 {
            time.set_relative_speed(speed);
            time.unpause();
        } else {
            time.pause();
        }
    };
    for end in [0, 1] {
        for speed in [0.5, 0.0] {
            let app = |game: &mut Game, speed| match end {
                0 => clock(&mut game.net.server, speed),
                _ => clock(&mut game.net.clients[0], speed),
            };
            app(&mut game, speed);
            game.hold(Walk(1, false), 150);
            app(&mut game, 1.0);
            game.hold(Walk(-1, false), 400);
            let before = game.stats();
            game.hold(Walk(1, false), 120);
            let after = game.stats();
            assert!(after.ticks >= before.ticks + 110, "{end} {speed}: {before:?} {after:?}");
            assert_eq!(after.corrections, before.corrections, "{end} {speed}");
            game.hold(Walk::default(), 90);
            assert!(game.at_client().0.distance(game.at_server()) < 0.01, "{end} {speed}");
        }
    }
}

#[test]
fn prediction_is_switched_off_and_on_while_the_game_runs() {
    let mut game = Game::new();
    for _ in 0..2 {
        let delay = |game: &mut Game| game.stats().input_delay.unwrap().as_secs_f32();
        assert!(delay(&mut game) < 0.018);
        game.hold(Walk(1, false), 90);
        assert!(game.at_client().0.x > game.at_server().x + 0.5);
        game.net.clients[0].insert_resource(PredictsBodies(false));
        let before = game.stats();
        let (mut last, _) = game.at_client();
        for _ in 0..120 {
            game.hold(Walk(1, false), 1);
            let (at, offset) = game.at_client();
            assert!((at + offset).distance(last) < 0.35, "{at} {offset} after {last}");
            last = at + offset;
        }
        assert!(game.at_client().0.x < game.at_server().x - 0.5, "it is shown late");
        assert!((0.2..0.6).contains(&delay(&mut game)), "{}", delay(&mut game));
        let after = game.stats();
        assert_eq!(
            (after.corrections, after.ticks_again),
            (before.corrections, before.ticks_again)
        );
        assert!(after.ticks > before.ticks + 100, "inputs go on");
        game.net.clients[0].insert_resource(PredictsBodies(true));
        game.hold(Walk(-1, false), 90);
        assert_eq!(game.stats().corrections, before.corrections);
    }
}

/// Bytes that two clients were sent in ten seconds: the one that controls the hero, and one that watches.
fn bytes_of_both(protocol: fn(&mut App)) -> [u64; 2] {
    let mut game = Game::of(protocol);
    game.net.add_client();
    game.net.run_until(|net| count::<Connected>(&mut net.server) == 2);
    game.net.set_conditions(&Conditions::PERFECT);
    game.net.ticks(300);
    let mut ends = all::<Client>(&mut game.net.server);
    let controller = game.net.server.world().get::<ControlledBy>(game.hero).unwrap().0;
    ends.sort_by_key(|&end| end != controller);
    let before = [0, 1].map(|end| sent_bytes(&game.net, ends[end]));
    for second in 0..10 {
        game.hold(Walk([1, -1][second % 2], second % 3 == 0), 60);
    }
    [0, 1].map(|end| sent_bytes(&game.net, ends[end]) - before[end])
}

#[test]
fn a_predicted_component_costs_only_its_controller() {
    let [own, other] = bytes_of_both(heroes);
    let [own_without, other_without] = bytes_of_both(|app| {
        protocol(app);
        app.add_predicted_input::<Walk>()
            .add_systems(PredictTick, walk)
            .init_resource::<NextInput<Walk>>();
    });
    assert_eq!(other, other_without);
    // Eight bytes and their length, in each of 600 ticks.
    assert!((own_without + 590 * 9..=own_without + 610 * 9).contains(&own), "{own} {own_without}");
}
