//! The shadow ladder, which encodes in the background.

use std::collections::HashMap;
use std::time::Duration;

use cubewire::game::headless::LaneGame;
use cubewire::replication::{
    Accounting, LaneMeter, LaneSettings, LiveLadder, PacketRecord, StageCosts, Totals, kbps,
};
use cubewire::simulation::{CubeWorld, ResetSimulation};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{
    Baseline, Baselines, Encoder, Inputs, Limits, Origin, Packet, Plan, QuantizedSnapshot,
    Sequence, Simulated, Snapshot,
};

use crate::common::{change, game, lane, steps};

/// Encodes every tick on every rung in the foreground, and stores every baseline.
struct InTheFrame(Vec<Encoded>);

struct Encoded {
    rung: Rung,
    encoder: Encoder,
    baselines: HashMap<u64, Baseline>,
    totals: Totals,
    bytes: Vec<usize>,
}

impl InTheFrame {
    fn new(initial: &Snapshot) -> Self {
        let encoder = || Encoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
        let rungs = ladder::all().map(|rung| Encoded {
            rung,
            encoder: encoder(),
            baselines: HashMap::new(),
            totals: Totals::default(),
            bytes: Vec::new(),
        });
        Self(rungs.collect())
    }

    fn encode(&mut self, game: &LaneGame, meter: &LaneMeter) {
        let cubes = game.cubes();
        let tick = cubes.tick();
        let sent = meter.samples().back().unwrap().snapshots.first();
        for Encoded { rung, encoder, baselines, totals, bytes } in &mut self.0 {
            let Some(sent) = sent else {
                totals.add_tick(&[]);
                bytes.push(0);
                continue;
            };
            let stages = rung.stages;
            let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
            quantized.quantize(cubes.current(), stages.precision()).unwrap();
            let ages = sent.acked_ages_ticks;
            let [baseline, second, third] =
                ages.map(|age| baselines.get(&(tick - u64::from(age?))));
            // From the baseline, or from the start of the scene without one.
            let mut inputs = Vec::new();
            let age = ages[0].map_or(tick, u64::from) as u8;
            let origin = match ages[0] {
                Some(_) => Origin::Continued(age),
                None => Origin::FromSceneStart(age),
            };
            cubes.inputs().since(tick - u64::from(age), &mut inputs);
            let inputs = Inputs::new(origin, &inputs).unwrap();
            let references = Baselines {
                baseline,
                additional: [second, third],
                simulated: Simulated { inputs: Some(&inputs), state_chunk: &[] },
                ..Baselines::default()
            };
            let (mut packet, mut kept) = (Packet::default(), Baseline::default());
            let keeps = stages.uses_baseline();
            let (sequence, kept_here) = (Sequence(tick as u16), keeps.then_some(&mut kept));
            encoder
                .encode(sequence, stages, &quantized, references, &mut packet, kept_here)
                .unwrap();
            if keeps {
                baselines.insert(tick, kept);
            }
            let record = PacketRecord::new(tick, &packet, stages);
            bytes.push(record.article_bytes());
            totals.add_tick(&[record]);
        }
    }

    fn check(&self, rungs: &[StageCosts<Rung>]) {
        assert_eq!(rungs.len(), self.0.len());
        for (rung, expected) in rungs.iter().zip(&self.0) {
            let name = rung.of.name;
            assert_eq!(name, expected.rung.name);
            assert_eq!(rung.totals, expected.totals, "{name}");
            let second = &expected.bytes[expected.bytes.len().saturating_sub(60)..];
            assert_eq!(rung.kbps(0), Some(kbps(second.iter().sum(), second.len())), "{name}");
        }
    }
}

fn shadowed(rung: &str) -> (LaneGame, InTheFrame) {
    let mut game = game("katamari", rung);
    game.add_shadow();
    let expected = InTheFrame::new(CubeWorld::default().current());
    (game, expected)
}

fn step(game: &mut LaneGame, expected: &mut InTheFrame) {
    game.step();
    expected.encode(game, game.meter());
}

fn lossy(rung: &str) -> LaneSettings {
    lane(&format!("{rung},link:latency=50ms+loss=0.2,seed:3"))
}

#[test]
fn what_is_encoded_in_the_background_costs_what_it_would_in_the_frame() {
    let (mut game, mut expected) = shadowed("changed-flags");
    for tick in 0..300 {
        let settings = match tick {
            60 => Some(lane("predicted")),
            120 => Some(lossy("uncompressed")),
            180 => Some(lossy("delta,rate:20")),
            _ => None,
        };
        if let Some(settings) = settings {
            change(&mut game, settings);
        }
        if tick == 240 {
            game.app.world_mut().write_message(ResetSimulation);
        }
        step(&mut game, &mut expected);
    }
    assert_eq!(expected.0[0].totals.ticks, 300);
    assert_eq!(expected.0[0].totals.snapshots, 180 + 40);
    expected.check(game.shadow().unwrap().unwrap().rows());
}

#[test]
fn the_figures_say_how_old_they_are() {
    let (mut game, _) = shadowed("delta");
    let shadow = game.app.world().get::<LiveLadder>(game.lane).unwrap();
    assert_eq!(shadow.age_ticks(game.cubes().tick()), None);
    for _ in 0..120 {
        game.step();
        let now = game.cubes().tick();
        let shadow = game.app.world().get::<LiveLadder>(game.lane).unwrap();
        let counted = shadow.rows()[0].totals.ticks as u64;
        assert_eq!(shadow.age_ticks(now), (counted > 0).then_some(now - counted));
        // At most one queue is being encoded while another one fills.
        assert!(now - counted <= 30);
    }
    let now = game.cubes().tick();
    let shadow = game.shadow().unwrap().unwrap();
    assert_eq!(shadow.age_ticks(now), Some(0));
    assert!(shadow.mean_time() > Duration::ZERO);
}

#[test]
fn a_restart_leaves_out_the_ticks_that_are_still_being_encoded() {
    let (mut game, mut expected) = shadowed("delta");
    for _ in 0..50 {
        step(&mut game, &mut expected);
    }
    let lane = game.lane;
    let mut shadow = game.app.world_mut().get_mut::<LiveLadder>(lane).unwrap();
    shadow.restart().unwrap();
    for rung in &mut expected.0 {
        rung.totals = Totals::default();
    }
    for _ in 0..50 {
        step(&mut game, &mut expected);
    }
    expected.check(game.shadow().unwrap().unwrap().rows());
}

#[test]
fn a_shadow_that_is_moved_to_another_lane_continues_there() {
    let (mut game, mut expected) = shadowed("delta");
    let second = game.spawn_lane(lossy("predicted")).unwrap();
    for _ in 0..50 {
        step(&mut game, &mut expected);
    }
    let first = game.lane;
    let world = game.app.world_mut();
    let shadow = world.entity_mut(first).take::<LiveLadder>().unwrap();
    world.entity_mut(second).insert(shadow);
    for _ in 0..50 {
        game.step();
        let meter = game.app.world().get::<LaneMeter>(second).unwrap();
        expected.encode(&game, meter);
    }
    let mut shadow = game.app.world_mut().get_mut::<LiveLadder>(second).unwrap();
    shadow.finish().unwrap();
    expected.check(shadow.rows());
}

#[test]
fn the_shadow_of_the_lanes_own_rung_costs_what_the_lane_does() {
    for name in ["changed-flags", "simulated"] {
        let mut game = game("katamari", name);
        game.add_shadow();
        steps(&mut game, 240);
        let lane = Totals::of(game.meter().samples()).kbps(Accounting::PayloadAndUdp);
        let shadow = game.shadow().unwrap().unwrap();
        let is_own = |rung: &&StageCosts<Rung>| rung.of.name == name;
        let shadow = shadow.rows().iter().find(is_own).unwrap().mean_kbps();
        println!("{name}: {lane:.1} kbps");
        assert!((lane - shadow).abs() < 1e-9, "{name}: {lane} {shadow}");
    }
}
