//! Bytes of states: true ones come back as they were, and others do no harm.

use cubewire_scene::Keys;
use proptest::prelude::*;

use super::*;
use crate::{Input, World};

/// A world with a ball.
fn played(ticks: u64) -> World {
    let mut world = World::new();
    for tick in 0..ticks {
        let keys = Keys {
            right: tick % 100 < 50,
            left: tick % 100 >= 50,
            up: tick % 160 < 80,
            down: tick % 160 >= 80,
            gather: true,
            ..Keys::default()
        };
        world.advance(Input {
            keys,
            ..Input::default()
        });
    }
    world
}

fn read(records: &[u8]) -> Result<WorldState, WorldStateError> {
    WorldState::from_bytes(&compress_to_vec(records, 1))
}

#[test]
fn bytes_give_back_the_state() {
    for ticks in [0, 1, 30, 100, 300, 600] {
        let state = played(ticks).state();
        let bytes = state.to_bytes();
        let back = WorldState::from_bytes(&bytes).unwrap();
        assert_eq!(back, state, "{ticks}");
        // Numbers may be equal and differ in a bit: those of 0 and −0.
        assert_eq!(back.to_records(), state.to_records(), "{ticks}");
        assert_eq!(back.to_bytes(), bytes, "{ticks}");
    }
}

#[test]
fn the_largest_state_fits() {
    let records = WorldState::initial().to_records();
    assert_eq!(records.len(), MAX_STATE_BYTES);
}

#[test]
fn bytes_that_end_early_or_late_are_refused() {
    let bytes = played(60).state().to_bytes();
    for length in (0..bytes.len()).step_by(7) {
        let result = WorldState::from_bytes(&bytes[..length]);
        assert_eq!(result, Err(WorldStateError::Compression), "{length}");
    }
    for more in 1..5 {
        let longer = [&bytes[..], &vec![0; more]].concat();
        let result = WorldState::from_bytes(&longer);
        assert_eq!(result, Err(WorldStateError::Trailing { bytes: more }));
    }
}

#[test]
fn what_decompresses_to_another_size_is_refused() {
    let records = played(60).state().to_records();
    for (length, cube) in [(0, 0), (7, 0), (8, 0), (records.len() - 1, CUBES - 1)] {
        assert_eq!(
            read(&records[..length]),
            Err(WorldStateError::Short { cube })
        );
    }
    let longer = [&records[..], &[0]].concat();
    assert_eq!(read(&longer), Err(WorldStateError::Trailing { bytes: 1 }));
    // A few bytes that would be gigabytes.
    let bomb = compress_to_vec(&vec![0; MAX_STATE_BYTES * 100], 9);
    assert!(bomb.len() < 6000);
    assert_eq!(
        WorldState::from_bytes(&bomb),
        Err(WorldStateError::Compression)
    );
}

#[test]
fn fields_out_of_range_are_refused() {
    let refused = |change: fn(&mut WorldState)| {
        let mut state = WorldState::initial();
        change(&mut state);
        read(&state.to_records()).unwrap_err()
    };
    assert_eq!(
        refused(|state| state.ticks = 1 << 32),
        WorldStateError::Ticks { ticks: 1 << 32 }
    );
    assert_eq!(
        refused(|state| state.bodies[PLAYER].interacting = false),
        WorldStateError::Flags {
            cube: PLAYER,
            flags: 0
        }
    );
    let changes: [(_, fn(&mut BodyState)); 9] = [
        ("position", |body| body.position.x = f32::NAN),
        ("position", |body| body.position.y = -258.0),
        ("position", |body| body.position.z = -1.1),
        ("position", |body| body.position.z = f32::INFINITY),
        ("orientation", |body| {
            body.orientation = Quat::from_xyzw(0.0, 0.0, 0.0, 1.01);
        }),
        ("orientation", |body| body.orientation.x = f32::NAN),
        ("linear velocity", |body| body.linear_velocity.z = -33.0),
        ("angular velocity", |body| body.angular_velocity.x = 17.0),
        ("time since it can sleep", |body| body.seconds_still = -1.0),
    ];
    for (field, change) in changes {
        let mut state = WorldState::initial();
        change(&mut state.bodies[7]);
        let error = read(&state.to_records()).unwrap_err();
        assert_eq!(error, WorldStateError::OutOfRange { cube: 7, field });
    }
    let mut state = WorldState::initial();
    state
        .bodies
        .iter_mut()
        .for_each(|body| body.position = Vec3::Z);
    assert_eq!(read(&state.to_records()), Err(WorldStateError::Crowded));
    let mut records = WorldState::initial().to_records();
    records[8 + 3 * 59] = 4;
    assert_eq!(
        read(&records),
        Err(WorldStateError::Flags { cube: 3, flags: 4 })
    );
}

/// Steps a world that others chose.
fn step(state: &WorldState) {
    let mut world = World::restored(state);
    for tick in 0..30 {
        world.step(Keys {
            blow: tick >= 15,
            gather: true,
            right: true,
            ..Keys::default()
        });
    }
    let _ = world.state().to_bytes();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bytes_that_were_changed_are_refused_or_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = played(60).state().to_bytes();
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        if let Ok(state) = WorldState::from_bytes(&bytes) {
            step(&state);
        }
    }

    #[test]
    fn states_that_were_changed_are_refused_or_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
    ) {
        let mut records = played(60).state().to_records();
        for (place, byte) in changes {
            *place.get_mut(&mut records) = byte;
        }
        if let Ok(state) = read(&records) {
            step(&state);
        }
    }

    #[test]
    fn any_state_within_the_limits_can_be_stepped(
        positions in prop::collection::vec(
            (-257.0_f32..257.0, -257.0_f32..257.0, -1.0_f32..33.0), 1..40,
        ),
        velocities in prop::collection::vec(prop::array::uniform6(-1.0_f32..1.0), 1..40),
        turns in prop::collection::vec(prop::array::uniform4(-1.0_f32..1.0), 1..40),
        asleep in 1_usize..5,
        spread in 0.0_f32..1.0,
    ) {
        let mut state = WorldState::initial();
        for (cube, body) in state.bodies.iter_mut().enumerate().take(60) {
            let (x, y, z) = positions[cube % positions.len()];
            // Many in one place, or each near one of many.
            body.position = Vec3::new(x, y, z) * spread;
            body.orientation = Quat::from_array(turns[cube % turns.len()]).normalize();
            let [x, y, z, a, b, c] = velocities[cube % velocities.len()];
            body.sleeping = cube % asleep == 1;
            if !body.sleeping {
                body.linear_velocity =
                    (Vec3::new(x, y, z) * 64.0).clamp_length_max(MAX_LINEAR_SPEED);
                body.angular_velocity =
                    (Vec3::new(a, b, c) * 32.0).clamp_length_max(MAX_ANGULAR_SPEED);
            }
        }
        if let Ok(state) = read(&state.to_records()) {
            step(&state);
        }
    }
}
