//! The ablation, which encodes in the background on demand.

use cubewire::game::headless::LaneGame;
use cubewire::replication::{Ablation, LiveLadder, WantsAblation};
use cubewire_codec::ladder;

use crate::common::{change, game, lane};

/// Creates a game that has played for a while before an ablation is requested.
fn ablated(rung: &str) -> LaneGame {
    let mut game = game("katamari", rung);
    game.add_shadow();
    step(&mut game, 60);
    game.app.insert_resource(WantsAblation(true));
    game
}

/// Steps ticks and waits for the ablation after each.
fn step(game: &mut LaneGame, ticks: usize) {
    for _ in 0..ticks {
        game.step();
        let mut ablations = game.app.world_mut().query::<&mut Ablation>();
        for mut ablation in ablations.iter_mut(game.app.world_mut()) {
            ablation.finish().unwrap();
        }
    }
}

fn ablation(game: &LaneGame) -> Option<&Ablation> {
    game.app.world().get::<Ablation>(game.lane)
}

/// For each stage, returns the result of the ablation and of the shadow ladder, kbit/s.
fn figures(game: &mut LaneGame) -> Vec<(&'static str, f64, f64)> {
    game.shadow().unwrap();
    let shadow = game.app.world().get::<LiveLadder>(game.lane).unwrap();
    let rows = ablation(game).unwrap().rows().iter();
    rows.filter_map(|row| {
        let rung = shadow.rows().iter().find(|rung| rung.stages == row.stages)?;
        Some((rung.of.name, row.kbps(0).unwrap(), rung.kbps(0).unwrap()))
    })
    .collect()
}

#[test]
fn an_ablation_costs_what_the_shadow_ladder_says_where_they_have_the_same_stages() {
    for (rung, common) in [
        ("changed-flags", 3),
        ("predicted-position", 2),
        ("relative-index", 4),
        // The ticks between packets count.
        ("changed-flags,rate:20", 3),
    ] {
        let mut game = ablated(rung);
        step(&mut game, 180);
        let figures = figures(&mut game);
        assert_eq!(figures.len(), common, "{figures:?}");
        for (name, ablated, shadowed) in figures {
            assert_eq!(ablated, shadowed, "{rung}: {name}");
        }
        if !rung.contains("rate") {
            let ablation = ablation(&game).unwrap();
            assert_eq!(ablation.share(), 1.0);
            assert_eq!(ablation.age_ticks(game.cubes().tick()), Some(0));
        }
    }
}

/// Arithmetic coding adapts from packet to packet. The ablation started later, so it has adapted less.
#[test]
fn an_ablation_of_arithmetic_coding_costs_about_what_the_shadow_ladder_says() {
    let mut game = ablated("predicted");
    step(&mut game, 240);
    let figures = figures(&mut game);
    let names: Vec<_> = figures.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["predicted", "arithmetic", "delta", "position", "predicted-position"]);
    for (name, ablated, shadowed) in figures {
        let difference = ablated / shadowed - 1.0;
        assert!(difference.abs() < 0.02, "{name}: {ablated} {shadowed}");
    }
}

#[test]
fn other_stages_start_it_again_and_nothing_runs_that_nobody_wants() {
    let mut game = game("katamari", "delta");
    step(&mut game, 10);
    game.app.insert_resource(WantsAblation(true));
    step(&mut game, 10);
    assert!(ablation(&game).is_none(), "there is no shadow");

    let mut game = ablated("delta");
    step(&mut game, 100);
    assert!(ablation(&game).unwrap().rows()[0].kbps(0).is_some());
    change(&mut game, lane("index"));
    step(&mut game, 1);
    let restarted = ablation(&game).unwrap();
    assert_eq!(restarted.rows()[0].stages, ladder::INDEX.stages);
    assert!(restarted.rows().iter().all(|row| row.kbps(0).is_none()));

    game.app.insert_resource(WantsAblation(false));
    step(&mut game, 2);
    assert!(ablation(&game).is_none());
}
