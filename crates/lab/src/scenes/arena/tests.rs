use std::collections::VecDeque;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::schema::Levels;

use super::*;

/// Age of the frame that a frame is compared with, frames.
const AGE: usize = 6;

/// Bits per quaternion component.
const COMPONENT_BITS: u8 = 9;

/// Position steps per metre in comparisons.
const PARTS: f32 = 128.0;

type Pose = (u8, [i32; 3], SmallestThree);

/// Returns a body's generation and quantized pose.
fn pose(body: &SceneBody) -> Pose {
    let position = (body.position * PARTS).to_array();
    let orientation = SmallestThree::quantize(body.orientation, COMPONENT_BITS, Levels::Odd);
    (body.generation, position.map(|c| c.round() as i32), orientation.expect("a unit quaternion"))
}

/// Returns the mean number of bodies that are awake, and of bodies with a pose or generation that changed within
/// [`AGE`] frames.
fn measure(arena: &mut Arena, frames: usize) -> [f64; 2] {
    let mut past: VecDeque<Vec<Option<Pose>>> = VecDeque::new();
    let (mut awake, mut changed) = (0, 0);
    for _ in 0..frames + AGE {
        let poses = arena.step();
        let poses: Vec<_> = poses.iter().map(|body| body.as_ref().map(pose)).collect();
        if past.len() == AGE {
            let before = past.pop_front().expect("there are some");
            let differing = poses.iter().zip(&before);
            changed += differing.filter(|(now, then)| now.is_some() && now != then).count();
            awake += arena.awake;
        }
        past.push_back(poses);
    }
    [awake, changed].map(|count| count as f64 / frames as f64)
}

#[test]
fn about_a_third_of_the_bodies_is_awake_while_they_roll_and_a_tenth_while_they_are_damped() {
    for (play, awake) in [(Play::Rolling, 450.0..850.0), (Play::Damped, 120.0..320.0)] {
        let means = measure(&mut Arena::new(play, 4), 120);
        assert!(awake.contains(&means[0]), "{play:?}: {means:?}");
        assert!((0.6..1.0).contains(&(means[1] / means[0])), "{play:?}: {means:?}");
    }
}

#[test]
fn walkers_and_blasts_touch_burn_and_hurt() {
    let mut arena = Arena::new(Play::Rolling, 5);
    let walkers: Vec<_> = arena.walkers.iter().map(|walker| walker.slot).collect();
    assert_eq!(walkers.len(), WALKERS);
    let first = arena.step();
    let last = (0..120).map(|_| arena.step()).last().unwrap();
    let bodies = || last.iter().flatten();
    for field in [0, 1] {
        let with = bodies().filter(|body| body.values[field] == 1.0).count();
        assert!((1..400).contains(&with), "{}: {with}", FIELDS[field].name);
    }
    let hurt = bodies().filter(|body| body.values[2] != 100.0);
    assert!((100..1900).contains(&hurt.count()));
    let walked = |slot: &usize| {
        let position = |frame: &Frame| frame[*slot].as_ref().map(|body| body.position);
        let ways = position(&first).zip(position(&last));
        ways.is_some_and(|(from, to)| from.distance(to) > 1.0)
    };
    let walked = walkers.iter().filter(|slot| walked(slot)).count();
    assert!(walked > WALKERS / 2, "{walked}");
}
