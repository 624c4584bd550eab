//! Properties of every scene.

use cubewire_codec::schema::{FieldForm, Schema};

use super::arena::COOL_DOWN;
use super::*;

const FRAMES: usize = 300;

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
                    assert_eq!(then.life, body.life);
                }
                (Some(then), None) => {
                    died[slot] = Some((frame, then.life.generation));
                    deaths += 1;
                }
                (None, Some(body)) => {
                    if let Some((then, generation)) = died[slot] {
                        assert!(frame - then >= COOL_DOWN.into(), "slot {slot}");
                        assert_eq!(body.life.generation, u8::wrapping_add(generation, 1));
                    }
                    births += 1;
                }
                (None, None) => {}
            }
            let Some(body) = body else { continue };
            assert!(body.position.abs().max_element() < reach, "{body:?}");
            assert!(body.orientation.is_normalized(), "{body:?}");
            assert!(usize::from(body.life.kind) < kinds.len(), "{body:?}");
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
