//! Properties of every scene.

use std::hash::{DefaultHasher, Hash, Hasher};

use cubewire_codec::schema::{FieldForm, Schema};

use super::slots::COOL_DOWN;
use super::*;

const FRAMES: usize = 300;

/// Number of frames that is enough to tell two scenes apart.
const FEW: usize = 60;

fn hash(frame: &Frame) -> u64 {
    let mut hasher = DefaultHasher::new();
    for body in frame {
        body.is_some().hash(&mut hasher);
        let Some(body) = body else { continue };
        (body.kind, body.generation).hash(&mut hasher);
        let (position, orientation) = (body.position.to_array(), body.orientation.to_array());
        position.map(f32::to_bits).hash(&mut hasher);
        orientation.map(f32::to_bits).hash(&mut hasher);
        let values = body.values.iter();
        values.for_each(|value| value.to_bits().hash(&mut hasher));
    }
    hasher.finish()
}

/// Returns the hashes of a scene's first frames.
fn hashes(mut scene: impl Scene) -> Vec<u64> {
    (0..FEW).map(|_| hash(&scene.step())).collect()
}

/// Whether a field can have this value. A `Body` field must name a filled slot.
fn is_in(frame: &Frame, form: FieldForm, value: f64) -> bool {
    let is_there = || frame[value as usize].is_some();
    let error = (form.dequantize(form.quantize(value)) - value).abs();
    match form {
        FieldForm::Body => value == -1.0 || is_there(),
        FieldForm::Float { min, max, step } => {
            (f64::from(min)..=f64::from(max)).contains(&value) && error <= f64::from(step) / 2.0
        }
        _ => error == 0.0,
    }
}

/// Checks every frame of a scene. `reach` is the maximum distance from the origin along each axis. Returns the number
/// of bodies that were added and removed.
fn check(mut scene: impl Scene, schema: &Schema, reach: f32) -> [usize; 2] {
    let (kinds, fields) = (&schema.kinds, &schema.fields);
    let mut before = scene.step();
    // For each slot, the frame that removed its last body, and the body's generation.
    let mut died = vec![None; before.len()];
    let (mut births, mut deaths) = (0, 0);
    for frame in 0..FRAMES as u64 {
        let now = scene.step();
        for (slot, (then, body)) in before.iter().zip(&now).enumerate() {
            match (then, body) {
                (Some(then), Some(body)) => {
                    assert_eq!((then.kind, then.generation), (body.kind, body.generation));
                }
                (Some(then), None) => {
                    died[slot] = Some((frame, then.generation));
                    deaths += 1;
                }
                (None, Some(body)) => {
                    if let Some((then, generation)) = died[slot] {
                        assert!(frame - then >= COOL_DOWN, "slot {slot}");
                        assert_eq!(body.generation, u8::wrapping_add(generation, 1));
                    }
                    births += 1;
                }
                (None, None) => {}
            }
            let Some(body) = body else { continue };
            assert!(body.position.abs().max_element() < reach, "{body:?}");
            assert!(body.orientation.is_normalized(), "{body:?}");
            assert!(usize::from(body.kind) < kinds.len(), "{body:?}");
            assert_eq!(body.values.len(), fields.len());
            for (field, &value) in fields.iter().zip(&body.values) {
                assert!(is_in(&now, field.form, value), "{field:?} {value:?}");
            }
        }
        before = now;
    }
    [births, deaths]
}

#[test]
fn equal_seeds_make_equal_frames_and_others_do_not() {
    let arena = |play, seed| hashes(Arena::new(play, seed));
    let rolling = arena(Play::Rolling, 1);
    assert_eq!(arena(Play::Rolling, 1), rolling);
    assert_ne!(arena(Play::Rolling, 2).last(), rolling.last());
    assert_ne!(arena(Play::Damped, 1).last(), rolling.last());
    let asteroids = |seed| hashes(Asteroids::new(seed));
    assert_eq!(asteroids(1), asteroids(1));
    assert_ne!(asteroids(2).last(), asteroids(1).last());
}

#[test]
fn the_arena_keeps_to_its_bounds_and_bodies_come_and_go() {
    let [births, deaths] = check(Arena::new(Play::Rolling, 3), &ARENA, 500.0);
    // Twenty a second.
    assert!((90..=110).contains(&births), "{births}");
    assert!((80..=120).contains(&deaths), "{deaths}");
}

#[test]
fn asteroids_keep_to_their_bounds_and_all_stay() {
    let changes = check(Asteroids::new(3), &ASTEROIDS, 64.0);
    assert_eq!(changes, [0, 0]);
}
