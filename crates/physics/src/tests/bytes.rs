//! Bytes of states. Valid bytes give the rounded state, and others do no harm.

use cubewire_codec::{BodyState, Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_scene::{CUBES, Keys, PLAYER};
use glam::{Quat, Vec3};
use miniz_oxide::deflate::compress_to_vec;
use proptest::prelude::*;

use crate::pose::PRECISION;
use crate::state::{ExactBody, MAX_STATE_BYTES, STEPS, TICKS_BYTES, VELOCITY_BYTES};
use crate::{World, WorldState, WorldStateError};

fn played(ticks: u64) -> World {
    let mut world = World::new();
    (0..ticks).for_each(|tick| world.step(Keys::rolling(tick, true)));
    world
}

fn initial() -> QuantizedSnapshot {
    World::new().quantized().unwrap()
}

fn read(records: &[u8]) -> Result<WorldState, WorldStateError> {
    WorldState::from_bytes(&initial(), &compress_to_vec(records, 1))
}

#[test]
fn bytes_and_the_snapshot_give_the_rounded_state() {
    for ticks in [0, 1, 30, 100, 300, 600] {
        let world = played(ticks);
        let (state, snapshot) = (world.state(), world.quantized().unwrap());
        let bytes = state.to_bytes();
        let rounded = WorldState::from_bytes(&snapshot, &bytes).unwrap();
        assert_eq!(rounded, state.rounded().unwrap(), "{ticks}");
        assert_eq!(rounded.rounded(), Ok(rounded.clone()), "{ticks}");
        assert_eq!(rounded.to_bytes(), bytes, "{ticks}");
        assert!(bytes.len() < if ticks == 0 { 3_000 } else { 20_000 });
        // The rounded state quantizes to the same snapshot.
        let restored = World::restored(&rounded);
        assert_eq!(restored.quantized().unwrap(), snapshot, "{ticks}");
        assert_eq!(restored.ticks(), ticks);
        for (near, exact) in rounded.bodies.iter().zip(&state.bodies) {
            let off = (near.linear_velocity - exact.linear_velocity).abs();
            assert!(off.max_element() < 1.0 / STEPS, "{near:?} {exact:?}");
            assert!((near.position - exact.position).length() < 0.002);
        }
    }
}

#[test]
fn the_initial_state_is_rounded_to_itself_and_is_the_largest() {
    let mut state = WorldState::initial(4);
    assert_eq!(state.rounded(), Ok(state.clone()));
    assert_eq!(state.to_records().len(), MAX_STATE_BYTES);
    state.bodies[7].position.x = f32::NAN;
    assert!(state.rounded().is_err());
    let _ = state.to_bytes();
}

#[test]
fn bytes_that_end_early_or_late_are_refused() {
    let world = played(60);
    let (bytes, snapshot) = (world.state().to_bytes(), world.quantized().unwrap());
    for length in 0..bytes.len() {
        let result = WorldState::from_bytes(&snapshot, &bytes[..length]);
        assert_eq!(result, Err(WorldStateError::Compression), "{length}");
    }
    for more in 1..5 {
        let longer = [&bytes[..], &vec![0; more]].concat();
        let result = WorldState::from_bytes(&snapshot, &longer);
        assert_eq!(result, Err(WorldStateError::Trailing { bytes: more }));
    }
}

#[test]
fn what_decompresses_to_another_size_is_refused() {
    let records = WorldState::initial(1).to_records();
    for (length, cube) in [
        (0, 0),
        (3, 0),
        (4, 0),
        (104, 100),
        (4 + CUBES, 0),
        (4 + CUBES + 12 * 7 + 6, 7),
        (records.len() - 1, CUBES - 1),
    ] {
        assert_eq!(read(&records[..length]), Err(WorldStateError::Short { cube }));
    }
    // If cubes are asleep, the records are shorter than the maximum.
    let longer = [&played(60).state().to_records()[..], &[0]].concat();
    assert_eq!(read(&longer), Err(WorldStateError::Trailing { bytes: 1 }));
    // A few bytes that decompress to 400 times the maximum.
    let bomb = compress_to_vec(&vec![0; MAX_STATE_BYTES * 400], 9);
    assert!(bomb.len() < 6000);
    let refused = WorldState::from_bytes(&initial(), &bomb);
    assert_eq!(refused, Err(WorldStateError::Compression));
}

#[test]
fn fields_out_of_range_are_refused() {
    let (rest, velocity) = (TICKS_BYTES, TICKS_BYTES + CUBES);
    let mut records = WorldState::initial(1).to_records();
    records[rest + 7] = 101;
    let error = WorldStateError::Rest { cube: 7, rest: 101 };
    assert_eq!(read(&records), Err(error));
    // 2056 steps of 1/64 m/s, and 1032 of 1/64 rad/s.
    let offsets = |cube: usize, axis: usize| {
        let first = velocity + VELOCITY_BYTES * cube + 2 * axis;
        [first, first + 1]
    };
    for (cube, axis, high) in [(7, 2, 8), (900, 4, 4)] {
        let mut records = WorldState::initial(1).to_records();
        let [low, at] = offsets(cube, axis);
        (records[low], records[at]) = (0, high);
        assert!(read(&records).is_ok(), "exactly the limit");
        records[low] = 8;
        assert_eq!(read(&records), Err(WorldStateError::Speed { cube }));
    }
}

#[test]
fn snapshots_that_are_not_of_the_scene_are_refused() {
    let bytes = WorldState::initial(1).to_bytes();
    let refused = |cubes: Vec<BodyState>, precision| {
        let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), precision);
        snapshot.quantize(&Snapshot { bodies: cubes }, precision).unwrap();
        WorldState::from_bytes(&snapshot, &bytes)
    };
    let cubes = World::new().snapshot().bodies;
    assert_eq!(
        refused(cubes[1..].to_vec(), PRECISION),
        Err(WorldStateError::Snapshot { cubes: 900 })
    );
    assert_eq!(
        refused(cubes.clone(), ladder::UNCOMPRESSED.stages.precision()),
        Err(WorldStateError::Snapshot { cubes: CUBES })
    );
    let mut heap = cubes;
    heap.iter_mut().for_each(|cube| cube.position = Vec3::Z);
    assert_eq!(refused(heap, PRECISION), Err(WorldStateError::Crowded));
}

fn step(state: &WorldState) {
    let mut world = World::restored(state);
    for tick in 0..30 {
        world.step(Keys { blow: tick >= 15, gather: true, right: true, ..Keys::default() });
    }
    let _ = world.state().to_bytes();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(10)))]

    #[test]
    fn states_that_were_changed_are_refused_or_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
    ) {
        let mut records = played(60).state().to_records();
        for (offset, byte) in changes {
            *offset.get_mut(&mut records) = byte;
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
        let mut state = WorldState::initial(1);
        for (cube, body) in state.bodies.iter_mut().enumerate().take(60) {
            let (x, y, z) = positions[cube % positions.len()];
            // Many cubes at one point, or each near one of many points.
            body.position = Vec3::new(x, y, z) * spread;
            body.orientation = Quat::from_array(turns[cube % turns.len()]).normalize();
            let [x, y, z, a, b, c] = velocities[cube % velocities.len()];
            body.sleeping = cube % asleep == 1;
            body.linear_velocity = Vec3::new(x, y, z) * 64.0;
            body.angular_velocity = Vec3::new(a, b, c) * 32.0;
        }
        state.bodies[PLAYER].interacting = true;
        let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), PRECISION);
        let cubes = state.bodies.iter().map(ExactBody::cube).collect();
        prop_assume!(snapshot.quantize(&Snapshot { bodies: cubes }, PRECISION).is_ok());
        if let Ok(state) = WorldState::from_bytes(&snapshot, &state.to_bytes()) {
            step(&state);
        }
    }
}
