//! Random walks over games with lanes on the top rung. Lanes join and leave at every rate, links turn bad, are cut
//! and recover, worlds are lost, the scene is reset and sequence numbers wrap. A lane with a good link for ten
//! seconds must be in sync, no end may simulate a different state, and no cube may be wrong.

use std::time::{Duration, Instant};

use bevy::prelude::*;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::{
    ChangeLane, ForceDesync, LaneCheck, LaneSettings, LaneSync, LinkSettings, Rebuilds,
};
use cubewire::simulation::{CubeWorld, HeldKeys, ResetSimulation};
use cubewire_codec::ladder;
use cubewire_link::{Conditions, Jitter, Loss, Reordering};
use cubewire_scene::Keys;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{lane, random, seconds};

/// Ticks of a walk: a minute and a half.
const TICKS: u64 = 5_400;
const MAX_LANES: usize = 6;
/// Maximum number of ticks until a lane with a good link is in sync.
const MAX_TICKS_TO_SYNC: u64 = 600;

/// A lane, and the tick since which it has been on the top rung with a good link and without a forced loss of its
/// world.
struct Walker {
    lane: Entity,
    settings: LaneSettings,
    good_since: Option<u64>,
}

impl Walker {
    fn is_good(&self) -> bool {
        let link = &self.settings.link.conditions;
        self.settings.sender.stages == ladder::SIMULATED.stages
            && !link.cut
            && link.loss.mean_fraction() <= 0.01
            && link.latency <= Duration::from_millis(100)
    }
}

#[derive(Debug, Default)]
struct Count {
    joined: u32,
    left: u32,
    changed: u32,
    desynced: u32,
    reset: u32,
    /// Most snapshots that a lane compared.
    compared: u64,
    rebuilds: u64,
    /// Most ticks until a lane with a good link was in sync.
    longest_wait: u64,
}

fn chance(random: &mut impl Rng, one_in: u32) -> bool {
    random.random_ratio(1, one_in)
}

/// Returns a link that is good in half of the cases.
fn any_link(random: &mut impl Rng) -> LinkSettings {
    let millis = |random: &mut dyn Rng, most| Duration::from_millis(random.random_range(0..=most));
    let mut conditions = Conditions {
        latency: millis(random, 100),
        duplicate_probability: if chance(random, 4) { 0.2 } else { 0.0 },
        reordering: chance(random, 4).then(|| Reordering {
            probability: 0.05,
            min_delay: Duration::from_millis(10),
            max_delay: Duration::from_millis(60),
        }),
        ..Conditions::PERFECT
    };
    if chance(random, 4) {
        let probability = 0.01;
        conditions.loss = Loss::Independent { probability };
    }
    match random.random_range(0..6) {
        0 => conditions.cut = true,
        1 => conditions.loss = Loss::bursts(0.3, 20.0),
        2 => {
            let probability = random.random_range(0.05..0.95);
            conditions.loss = Loss::Independent { probability };
            conditions.jitter = Jitter::Uniform { spread: millis(random, 300) };
        }
        _ => {}
    }
    LinkSettings { conditions, seed: random.next_u64() }
}

fn any_settings(random: &mut impl Rng) -> LaneSettings {
    let mut settings = lane("simulated");
    if chance(random, 8) {
        settings.sender.stages = ladder::all().choose(random).expect("there are rungs").stages;
    }
    settings.sender.send_interval_ticks = *[1, 1, 2, 3, 6].choose(random).expect("not empty");
    settings.link = any_link(random);
    settings
}

fn any_keys(random: &mut impl Rng) -> Keys {
    Keys {
        left: random.random(),
        right: random.random(),
        up: random.random(),
        down: random.random(),
        blow: chance(random, 8),
        gather: chance(random, 2),
    }
}

fn join(game: &mut HeadlessGame, random: &mut impl Rng) -> Walker {
    let settings = any_settings(random);
    let lane = game.spawn_lane(settings.clone()).unwrap();
    let mut entity = game.app.world_mut().entity_mut(lane);
    entity.insert(LaneCheck::default());
    Walker { lane, settings, good_since: None }
}

/// Changes one of the lanes or the scene.
fn disturb(
    game: &mut HeadlessGame,
    walkers: &mut Vec<Walker>,
    random: &mut impl Rng,
    count: &mut Count,
) {
    if walkers.len() < 2 || walkers.len() < MAX_LANES && chance(random, 3) {
        walkers.push(join(game, random));
        count.joined += 1;
        return;
    }
    let index = random.random_range(0..walkers.len());
    let walker = &mut walkers[index];
    let (entity, world) = (walker.lane, game.app.world_mut());
    match random.random_range(0..12) {
        0 => {
            world.write_message(ResetSimulation);
            count.reset += 1;
        }
        1 | 2 => {
            world.trigger(ForceDesync { entity });
            walker.good_since = None;
            count.desynced += 1;
        }
        3 => {
            world.despawn(entity);
            walkers.swap_remove(index);
            count.left += 1;
        }
        _ => {
            let settings = any_settings(random);
            walker.settings = settings.clone();
            walker.good_since = None;
            world.trigger(ChangeLane { entity, settings });
            count.changed += 1;
        }
    }
}

fn walk(seed: u64) -> Count {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut game = HeadlessGame::new(None);
    let first = if chance(&mut random, 2) { 65_536 - random.random_range(0..TICKS) } else { 0 };
    let mut cubes = game.app.world_mut().resource_mut::<CubeWorld>();
    cubes.count_from(first);
    // Mean number of ticks between events. A link may be bad for long.
    let ticks_per_event = random.random_range(20..300);
    let (mut walkers, mut count) = (Vec::new(), Count::default());
    for tick in first..first + TICKS {
        if chance(&mut random, 30) {
            let keys = any_keys(&mut random);
            game.app.insert_resource(HeldKeys::from(keys));
        }
        if walkers.len() < 2 || chance(&mut random, ticks_per_event) {
            disturb(&mut game, &mut walkers, &mut random, &mut count);
        }
        game.step();
        for walker in &mut walkers {
            check(&game, walker, tick, &mut count);
        }
    }
    let rebuilds = game.app.world().resource::<Rebuilds>();
    assert!(rebuilds.most_in_a_minute <= Rebuilds::MAX_A_MINUTE);
    count.rebuilds = rebuilds.total;
    count
}

fn check(game: &HeadlessGame, walker: &mut Walker, tick: u64, count: &mut Count) {
    let (lane, world) = (walker.lane, game.app.world());
    let sync = world.get::<LaneSync>(lane).unwrap();
    let compared = world.get::<LaneCheck>(lane).unwrap();
    let is_good = walker.is_good();
    let settings = &walker.settings;
    assert_eq!(sync.desyncs, 0, "tick {tick}: {settings:?}");
    assert_eq!(compared.wrong, 0, "tick {tick}: {settings:?}");
    count.compared = count.compared.max(compared.compared);
    if !is_good {
        walker.good_since = None;
        return;
    }
    let since = *walker.good_since.get_or_insert(tick);
    let waited = tick - since;
    let is_synced = sync.synced_ticks().is_some();
    assert!(
        is_synced || waited <= MAX_TICKS_TO_SYNC,
        "tick {tick}, good since {since}: {settings:?} {sync:?}"
    );
    if !is_synced {
        count.longest_wait = count.longest_wait.max(waited);
    }
}

#[test]
fn lanes_of_a_random_walk_are_in_sync_ten_seconds_after_their_links_are_good() {
    let seed = random().next_u64();
    println!("{:?}", walk(seed));
}

/// Runs for `CUBEWIRE_SECONDS`, by default a minute.
#[test]
#[ignore = "takes as long as it is told to"]
fn walks_go_on() {
    let started = Instant::now();
    let mut seeds = random();
    while started.elapsed() < Duration::from_secs(seconds()) {
        let seed = seeds.next_u64();
        println!("seed {seed}");
        println!("{:?}", walk(seed));
    }
}
