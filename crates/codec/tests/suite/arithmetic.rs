//! Arithmetic coding of extreme scenes: every packet decodes to the encoded snapshot, and both ends keep equal
//! baselines.

use cubewire_codec::ladder::{ARITHMETIC, CHANGED_FLAGS, PREDICTED, SIMULATED};
use cubewire_codec::{Baseline, BitLedger, BodyState, Sequence, Snapshot, Stages};
use glam::Vec3;
use proptest::prelude::*;

use crate::pair::real_play;
use crate::random::cases;
use crate::scene::Lane;

/// Sends frames relative to the sixth frame before. The additional references are older than that by `older`, in
/// turn. A reference is not named if it was not sent or is 0 older.
fn send_by_age(frames: &[(Sequence, Snapshot)], stages: &[Stages], older: &[[u16; 2]]) {
    let mut lane = Lane::new(&frames[0].1, BitLedger::new());
    let turns = stages.iter().cycle().zip(older.iter().cycle());
    for ((sequence, frame), (stages, older)) in frames.iter().zip(turns) {
        let at = |age: u16| Some(Sequence(sequence.0.wrapping_sub(age)));
        let additional = older.map(|older| at(6 + older).filter(|_| older > 0));
        lane.send_naming(*sequence, *stages, frame, at(6), additional);
    }
}

fn send_on_both(frames: &[(Sequence, Snapshot)]) {
    for rung in [ARITHMETIC, PREDICTED] {
        send_by_age(frames, &[rung.stages], &[[1, 2]]);
    }
}

#[test]
fn any_additional_references_arrive_and_stages_change_in_mid_stream() {
    let (arithmetic, predicted) = (ARITHMETIC.stages, PREDICTED.stages);
    let (flags, simulated) = (CHANGED_FLAGS.stages, SIMULATED.stages);
    let older = [
        [3, 9],
        [1, 0],
        [0, 5],
        [15, 14],
        [2, 1],
        [4, 4],
        [0, 0],
        [1, 2],
        [7, 2],
    ];
    let frames = real_play(60);
    for stages in [
        &[predicted][..],
        &[predicted, simulated, arithmetic, flags],
        &[arithmetic, flags, arithmetic, predicted, simulated],
    ] {
        send_by_age(&frames, stages, &older);
    }
}

#[test]
fn worlds_move_as_a_whole_and_bodies_are_put_elsewhere() {
    // More bodies change than can touch or carry others, all close together.
    let mut frames = real_play(12);
    for (frame, (_, state)) in frames.iter_mut().enumerate() {
        for (n, body) in state.bodies.iter_mut().enumerate() {
            body.position.x *= 0.2;
            body.position.y *= 0.2;
            body.position.x += 0.01 * (frame * (1 + n % 5)) as f32;
        }
    }
    send_on_both(&frames);
    // From corner to corner of the world, so that every prediction is far outside.
    let mut frames = real_play(30);
    for (frame, (_, state)) in frames.iter_mut().enumerate() {
        for (n, body) in state.bodies.iter_mut().enumerate().take(40) {
            let side = (frame / (1 + n % 7)) % 2;
            let corner = [-255.9, 255.9][side];
            body.position = Vec3::new(corner, -corner, 16.0 + corner / 17.0);
        }
    }
    send_on_both(&frames);
}

#[test]
fn bins_that_are_all_set_leave_zeros_of_which_eight_are_omitted() {
    // All bodies stay and toggle: every bin of the packet is 1.
    let body = |number: u8| BodyState {
        position: Vec3::new(f32::from(number), 0.0, 0.5),
        ..BodyState::default()
    };
    let initial = Snapshot {
        bodies: (0..200).map(body).collect(),
    };
    let mut toggled = initial.clone();
    for body in &mut toggled.bodies {
        body.interacting = true;
    }
    for rung in [ARITHMETIC, PREDICTED] {
        let mut lane = Lane::new(&initial, BitLedger::new());
        lane.send(Sequence(7), rung.stages, &toggled, None);
        let bytes = lane.packet.bytes.clone();
        // After header and check.
        let bins = &bytes[7..];
        assert!(
            bins.len() > 8 && bins.iter().all(|&byte| byte == 0),
            "{bins:?}"
        );
        for length in 7..bytes.len() + 12 {
            let mut other = bytes.clone();
            other.resize(length, 0);
            let decoded = lane
                .decoder
                .decode(&other, |_| None, &mut Baseline::default());
            assert_eq!(decoded.is_ok(), length == bytes.len(), "{length}");
        }
    }
}

/// A position on a lattice of the limit distances for touching, carrying and being near.
fn limit_position() -> impl Strategy<Value = Vec3> {
    let along = || prop::sample::select(vec![0, 0, 0, 350, 512, 900, 1024]);
    let position = |(x, y, z): (i32, i32, i32)| Vec3::new(x as f32, y as f32, (z + 102) as f32);
    (along(), along(), along()).prop_map(move |parts| position(parts) / 512.0)
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// Bodies at the limit distances for touching, carrying and being near.
    #[test]
    fn bodies_at_limits_arrive(
        positions in prop::collection::vec(prop::collection::vec(limit_position(), 8), 6),
        moves in prop::collection::vec(prop::collection::vec(any::<bool>(), 8), 6),
        variant in 0_usize..2,
    ) {
        let body = |position: &Vec3| BodyState { position: *position, ..BodyState::default() };
        let mut state = Snapshot { bodies: positions[0].iter().map(body).collect() };
        let mut lane = Lane::new(&state, BitLedger::new());
        let mut before = None;
        for (frame, (positions, moves)) in positions.iter().zip(&moves).enumerate() {
            for ((body, position), moves) in state.bodies.iter_mut().zip(positions).zip(moves) {
                if *moves {
                    body.position = *position;
                }
            }
            let sequence = Sequence(6 * frame as u16);
            lane.send(sequence, [ARITHMETIC, PREDICTED][variant].stages, &state, before);
            before = Some(sequence);
        }
    }
}
