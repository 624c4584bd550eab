//! Lanes over networks with loss, delay, duplication and reordering.

use bevy::prelude::*;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::{
    Accounting, Compared, LaneCheck, LaneMeter, LaneSettings, SEND_INTERVALS, Totals,
};
use cubewire_codec::ladder;
use cubewire_link::{Bandwidth, Conditions, Loss, PRESETS};
use cubewire_scene::TICKS_PER_SECOND;

use crate::common::{lane, script, steps};

struct Play {
    game: HeadlessGame,
    lanes: Vec<Entity>,
}

impl Play {
    /// Starts a game that plays a script over these lanes, and plays some ticks.
    fn new(script_name: &str, lanes: impl IntoIterator<Item = LaneSettings>, ticks: usize) -> Self {
        let mut game = HeadlessGame::new(Some(script(script_name)));
        let lanes = lanes.into_iter().map(|settings| {
            let lane = game.spawn_lane(settings).unwrap();
            let checks = (LaneCheck::default(), Compared);
            game.app.world_mut().entity_mut(lane).insert(checks);
            lane
        });
        let lanes = lanes.collect();
        steps(&mut game, ticks);
        Self { game, lanes }
    }

    /// Plays ticks and returns each lane's mean position error, metres.
    fn mean_errors(&mut self, ticks: usize) -> Vec<f64> {
        let world = self.game.app.world_mut();
        for mut meter in world.query::<&mut LaneMeter>().iter_mut(world) {
            meter.mark();
        }
        steps(&mut self.game, ticks);
        self.each::<LaneMeter>().map(|meter| meter.totals().mean_error_m().unwrap()).collect()
    }

    fn each<T: Component>(&self) -> impl Iterator<Item = &T> {
        let world = self.game.app.world();
        self.lanes.iter().map(|&lane| world.get(lane).unwrap())
    }

    /// Checks that every decoded snapshot equals the sent one.
    fn assert_faultless(&self) {
        for (check, meter) in self.each::<LaneCheck>().zip(self.each::<LaneMeter>()) {
            assert!(check.compared > 0);
            assert_eq!((check.wrong, meter.refused), (0, 0), "{check:?}");
        }
    }
}

/// Returns a lower bound for the number of snapshots that arrive complete, from the losses of the network.
fn expected_whole(conditions: &Conditions, sent: &Totals) -> f64 {
    let ticks = sent.ticks as f64;
    let payload = sent.payload_bytes as f64 / ticks;
    let packets = (payload / FRAGMENT_BYTES).ceil();
    let all_survive = match conditions.loss {
        Loss::None => 1.0,
        Loss::Independent { probability } => (1.0 - probability).powf(packets),
        // A burst loses every packet: the first must be outside the bursts, and no burst may start after it.
        Loss::GilbertElliott { to_bad, .. } => {
            (1.0 - conditions.loss.mean_fraction()) * (1.0 - to_bad).powf(packets - 1.0)
        }
    };
    let wire = sent.traffic.wire_bytes as f64 / ticks;
    let per_tick =
        |bits_per_second: u64| bits_per_second as f64 / 8.0 / f64::from(TICKS_PER_SECOND);
    let fitting = match conditions.bandwidth {
        // Once the queue is full, hardly any snapshot finds room for all of its packets.
        Some(Bandwidth { bits_per_second, queue_bytes }) if wire > per_tick(bits_per_second) => {
            queue_bytes as f64 / wire
        }
        _ => ticks,
    };
    fitting.min(ticks) * all_survive
}

/// Longer messages are fragmented.
const FRAGMENT_BYTES: f64 = 1200.0;

#[test]
#[ignore = "the whole matrix: minutes"]
fn the_whole_matrix_of_rungs_and_networks_is_crossed_for_twenty_seconds() {
    const TICKS: usize = 1_200;
    // One network at a time, because every lane stores about 30 MB of snapshots.
    for preset in &PRESETS {
        let lanes = ladder::all().map(|rung| lane(&format!("{},link:{}", rung.name, preset.name)));
        let play = Play::new("mix", lanes, TICKS);
        let lanes = play.each::<LaneCheck>().zip(play.each::<LaneMeter>());
        for (rung, (check, meter)) in ladder::all().zip(lanes) {
            let sent = meter.totals();
            let expected = expected_whole(&preset.conditions, &sent);
            let what = format!(
                "{} over {}: {} of {TICKS} arrived whole, {expected:.1} expected; {} wrong, {} refused: {:?}",
                rung.name,
                preset.name,
                meter.received,
                check.wrong,
                meter.refused,
                meter.last_refusal
            );
            println!("{what}");
            assert_eq!((check.wrong, meter.refused), (0, 0), "{what}");
            assert_eq!(check.compared, meter.received, "{what}");
            assert_eq!(sent.snapshots, TICKS, "{what}");
            assert!(meter.received as f64 > 0.8 * expected, "{what}");
        }
    }
}

#[test]
fn with_more_loss_the_display_gets_worse_and_the_data_does_not() {
    let percents = [0, 50, 80, 95];
    let lanes = percents.map(|percent| {
        let loss = f64::from(percent) / 100.0;
        lane(&format!("changed-flags,link:latency=50ms+loss={loss}"))
    });
    let mut play = Play::new("katamari", lanes, 300);
    let mut last = 0.0;
    for (percent, error) in percents.into_iter().zip(play.mean_errors(600)) {
        println!("{percent} % lost: {:.1} mm off on average", error * 1000.0);
        assert!(error > last, "{error} m at {percent} %");
        last = error;
    }
    play.assert_faultless();
}

#[test]
fn fewer_snapshots_a_second_cost_less_and_show_less() {
    let lanes = [60, 30, 20, 10].map(|rate| lane(&format!("changed-flags,rate:{rate}")));
    let jerky = lane("changed-flags,rate:10,interpolation:none");
    let mut play = Play::new("katamari", lanes.into_iter().chain([jerky]), 300);
    let errors = play.mean_errors(300);
    // A replica that stands still has a large error.
    assert!(errors[4] > 10.0 * errors[0], "{errors:?} m");
    let mut last = (f64::INFINITY, 0.0);
    let meters = play.each::<LaneMeter>().zip(SEND_INTERVALS);
    for ((meter, ticks), error) in meters.zip(errors) {
        let sent: usize = meter.newest(600).map(|sample| sample.snapshots.len()).sum();
        assert_eq!(sent, 600 / ticks as usize);
        let kbps = meter.kbps(Accounting::PayloadAndUdp);
        assert!(kbps < last.0 && error > last.1, "{kbps} kbps, {error} m");
        last = (kbps, error);
    }
    play.assert_faultless();
}

#[test]
fn a_curve_through_velocities_beats_the_line_at_ten_a_second() {
    let lanes = ["linear", "hermite", "extrapolate"]
        .map(|kind| lane(&format!("at-rest,rate:10,interpolation:{kind}")));
    let errors = Play::new("katamari", lanes, 200).mean_errors(300);
    let [line, curve, beyond] = errors[..] else { unreachable!("three lanes") };
    println!("linear {line} m, hermite {curve} m, extrapolate {beyond} m");
    assert!(curve < 0.9 * line, "{curve} and {line}");
    assert!(beyond > curve, "{beyond} and {curve}");
}

#[test]
fn the_playout_delay_is_by_rule_by_hand_or_adaptive_and_prevents_stalls() {
    let lanes = [
        "link:perfect",
        "link:perfect,rate:30",
        "link:perfect,rate:20",
        "link:perfect,rate:10",
        "link:perfect,playout:120ms",
        "link:perfect,playout:adaptive",
        "link:article,playout:adaptive",
        "link:article,playout:20ms",
        "link:article,playout:250ms",
    ];
    let play = Play::new(
        "katamari",
        lanes.map(|settings| lane(&format!("changed-flags,{settings}"))),
        600,
    );
    let delays = play
        .each::<LaneMeter>()
        .map(|meter| meter.samples().back().unwrap().playout_delay.as_millis());
    let delays: Vec<_> = delays.collect();
    assert_eq!(delays[..5], [85, 150, 200, 350, 120]);
    let (calm, rough) = (delays[5], delays[6]);
    assert!(calm < 60, "{calm} ms");
    assert!(rough > calm + 30, "{rough} ms and {calm} ms");
    let stalls: Vec<_> = play.each::<LaneMeter>().map(|meter| meter.totals().stalls).collect();
    assert!(stalls[7] > 25, "{stalls:?} stalls");
    assert_eq!(stalls[8], 0);
}
