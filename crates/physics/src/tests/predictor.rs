//! Predictions from quantized snapshots, twelve ticks ahead, as over a round trip of 150 ms.

use cubewire_codec::{BodyState, Plan, QuantizedSnapshot, Snapshot};
use cubewire_scene::{Keys, PLAYER};
use proptest::prelude::*;

use super::*;
use crate::pose::PRECISION;
use crate::{OwnState, OwnVelocity, PredictionBase, Predictor};

const AHEAD: usize = 12;

/// One packet in so many has the exact state.
const EXACT_ONE_IN: usize = 30;

/// What a client receives, and what it does not know.
#[derive(Default)]
struct Play {
    snapshots: Vec<Snapshot>,
    own: Vec<OwnState>,
    keys: Vec<Keys>,
}

impl Play {
    /// Keys change every `hold` ticks.
    fn of(ticks: usize, hold: usize, gathers: bool) -> Self {
        let (mut play, mut world, mut seed) = (Self::default(), World::new(), 7_u32);
        let mut held = Keys::default();
        for tick in 0..ticks {
            if tick % hold == 0 {
                let mut key = || {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    seed >> 16 < 26_000
                };
                let [left, right, up, down] = [(); 4].map(|()| key());
                held = Keys { left, right, up, down, gather: gathers, blow: false };
            }
            world.step(held);
            play.keys.push(held);
            let mut quantized = QuantizedSnapshot::new(Plan::cubes(), PRECISION);
            world.quantize_into(&mut quantized).unwrap();
            let mut snapshot = Snapshot::default();
            quantized.dequantize(&mut snapshot);
            play.snapshots.push(snapshot);
            let own = world.own(0);
            let own = match tick % EXACT_ONE_IN {
                0 => own,
                _ => OwnState::Rounded(own.velocity()),
            };
            play.own.push(OwnState::from_bytes(&own.to_bytes()).unwrap());
        }
        play
    }

    fn base(&self, tick: usize) -> PredictionBase<'_> {
        PredictionBase {
            tick: tick as u64,
            snapshot: &self.snapshots[tick],
            earlier: (tick as u64 - 2, &self.snapshots[tick - 2]),
            own: self.own[tick],
        }
    }

    /// Returns the corrections of the player's cube in cm, ascending, for each tick in which other cubes move near it or not.
    fn corrections(&self, pushes: bool) -> Vec<f32> {
        let mut predictor = Predictor::new(PLAYER);
        let mut corrections = Vec::new();
        for tick in 80..self.snapshots.len() - AHEAD {
            let base = self.base(tick);
            predictor.advance(self.keys[tick + AHEAD - 1]);
            let before = own(&predictor);
            let mut correction = 0.0;
            if predictor.confirm(&base, self.keys[tick..=tick].iter().copied()) {
                predictor.restart(None);
                for ahead in 1..AHEAD {
                    predictor.advance(self.keys[tick + ahead]);
                }
                correction = 100.0 * before.distance(own(&predictor));
            }
            let [then, later] = [tick - AHEAD, tick + AHEAD].map(|it| &self.snapshots[it].bodies);
            let moves = (1..then.len()).any(|cube| then[cube].position != later[cube].position);
            if moves == pushes && tick > 100 {
                corrections.push(correction);
            }
        }
        corrections.sort_by(f32::total_cmp);
        corrections
    }
}

fn own(predictor: &Predictor) -> glam::Vec3 {
    let cube = predictor.cubes().next().map(|(_, cube, _)| cube);
    cube.unwrap_or_default().position
}

fn percentile(ascending: &[f32], percent: usize) -> f32 {
    ascending[(ascending.len() - 1) * percent / 100]
}

#[test]
fn a_free_cube_is_hardly_ever_corrected() {
    for hold in [20, 60, 120] {
        let corrections = Play::of(3600, hold, false).corrections(false);
        assert!(percentile(&corrections, 99) < 5.0, "{hold}");
    }
}

#[test]
fn a_cube_that_pushes_is_corrected_little() {
    for (hold, gathers) in [(20, false), (60, false), (60, true)] {
        let corrections = Play::of(3600, hold, gathers).corrections(true);
        assert!(percentile(&corrections, 50) < 3.0, "{hold}");
        assert!(percentile(&corrections, 95) < 15.0, "{hold}");
    }
}

#[test]
fn from_an_exact_state_all_comes_true_while_the_cube_is_free() {
    let mut world = World::new();
    let keys = |tick: u64| Keys { left: tick >= 100, up: tick % 90 > 50, ..Keys::default() };
    // Beyond the grid.
    (0..400).for_each(|tick| world.step(keys(tick)));
    let snapshot = world.snapshot();
    let mut predictor = Predictor::new(PLAYER);
    let own_state = world.own(0);
    let earlier = (398, &snapshot);
    let base = PredictionBase { tick: 400, snapshot: &snapshot, earlier, own: own_state };
    assert!(predictor.confirm(&base, [].into_iter()));
    predictor.restart(None);
    for tick in 400..460 {
        world.step(keys(tick));
        predictor.advance(keys(tick));
        assert_eq!(own(&predictor), world.snapshot().bodies[PLAYER].position, "{tick}");
    }
}

proptest! {
    #[test]
    fn own_states_are_read_as_written(speeds in prop::array::uniform6(-12.0_f32..12.0)) {
        let [a, b, c, d, e, f] = speeds;
        let velocity = OwnVelocity { linear: [a, b, c].into(), angular: [d, e, f].into() };
        let bytes = OwnState::Rounded(velocity).to_bytes();
        let read = OwnState::from_bytes(&bytes).unwrap();
        let near = |a: glam::Vec3, b: glam::Vec3| (a - b).abs().max_element() <= 0.5 / 64.0 + 1e-6;
        prop_assert!(bytes.len() == 9 || velocity == OwnVelocity::default());
        prop_assert!(near(read.velocity().linear, velocity.linear));
        prop_assert!(near(read.velocity().angular, velocity.angular));
        prop_assert_eq!(read.to_bytes(), bytes);
        let body = BodyState { position: velocity.linear, ..BodyState::default() };
        let exact = OwnState::Exact(body, velocity, 7);
        prop_assert_eq!(OwnState::from_bytes(&exact.to_bytes()), Some(exact));
    }

    #[test]
    fn any_bytes_are_a_state_of_the_scene_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
        if let Some(own) = OwnState::from_bytes(&bytes) {
            let mut predictor = Predictor::new(PLAYER);
            let snapshot = crate::initial_snapshot(1);
            let earlier = (0, &snapshot);
            predictor.confirm(&PredictionBase { tick: 9, snapshot: &snapshot, earlier, own }, [].into_iter());
            predictor.restart(None);
            predictor.advance(Keys { right: true, ..Keys::default() });
            prop_assert!(predictor.cubes().all(|(_, cube, _)| cube.position.is_finite()));
        }
    }
}
