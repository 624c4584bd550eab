//! Snapshots that arrive are exact under any link conditions.

use cubewire_codec::{Plan, Stages, ladder};
use cubewire_link::PRESETS;
use cubewire_protocol::BaselineChoice;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::pair::Pair;

#[test]
fn every_rung_is_exact_over_every_preset() {
    for (seed, preset) in PRESETS.iter().enumerate() {
        for rung in ladder::all() {
            let mut pair = Pair::new(preset.conditions.clone(), seed as u64);
            pair.stages = rung.stages;
            pair.run(600);
            let case = format!("{} over {}", rung.name, preset.name);
            assert!(pair.decoded > 260, "{case}: {}", pair.decoded);
            assert_eq!(pair.rejected, [], "{case}");
        }
    }
}

#[test]
fn an_hour_of_random_changes_over_three_wraps_of_the_sequence_is_exact() {
    const TICKS: u64 = 220_000;
    let start = 65_536 - 200;
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let readable = Stages::every_readable(|most| random.random_range(0..most));
    let plan = Plan::cubes();
    let stages: Vec<_> = readable.filter(|&stages| plan.check_complete(stages).is_ok()).collect();
    let mut pair = Pair::starting_at(start, PRESETS[0].conditions.clone(), 7);
    while pair.tick < start + TICKS {
        pair.stages = stages[random.random_range(0..stages.len())];
        pair.send_interval_ticks = [1, 1, 2, 3, 6][random.random_range(0..5)];
        pair.choice = match random.random_range(0..4) {
            0 => BaselineChoice::Smallest,
            _ => BaselineChoice::Newest,
        };
        if random.random_bool(0.3) {
            let preset = &PRESETS[random.random_range(0..PRESETS.len())];
            pair.set_conditions(&preset.conditions);
        }
        if random.random_bool(0.05) {
            pair.reconnect();
        }
        pair.run(random.random_range(1..300));
    }
    assert!(pair.tick / 65_536 >= 4);
    assert!(pair.decoded > TICKS / 4, "{}", pair.decoded);
    assert_eq!(pair.rejected, []);
}
