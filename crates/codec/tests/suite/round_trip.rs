//! Every snapshot survives every legal combination of stages, and the ledger accounts for every bit.

use cubewire_codec::ladder::{self, ARITHMETIC, LADDER, PREDICTED};
use cubewire_codec::stages::Orientation;
use cubewire_codec::{
    BitItem, BitKind, BitLedger, DecodeError, Plan, Sequence, Simulated, Snapshot, Stages,
};
use proptest::prelude::*;

use crate::lane::{Lane, any_stages, quantized};
use crate::plays::{Play, plays};
use crate::random::cases;

const ALL_COMPONENT_BITS: [u8; 14] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn assert_accounted(lane: &Lane, stages: Stages, bodies: usize) {
    let ledger = &lane.packet.ledger;
    let bits = lane.packet.bytes.len() as f64 * 8.0;
    let items = ledger.items().unwrap();
    for item in items {
        assert_components(item, stages);
    }
    let of_bodies = items.iter().filter(|item| item.body.is_some());
    assert!(of_bodies.clone().all(|item| usize::from(item.body.unwrap()) < bodies));
    let of_bodies: f64 = of_bodies.map(|item| item.bits).sum();
    let shared = [BitKind::Header, BitKind::Check, BitKind::Padding];
    let shared: f64 = shared.iter().map(|&kind| ledger.kind(kind)).sum();
    // The rest is the form and the count of the selection.
    let form_and_count = bits - shared - of_bodies;
    // With arithmetic coding, it is the named additional references, in 13 bits at most, and the changes of resting
    // bodies that no coded body is near: a flag, and one for each group of 16. Each can take 11 bits.
    let most = 13.0 + 11.0 * (1 + bodies.div_ceil(16)) as f64;
    assert!((-1e-6..=most.max(24.0)).contains(&form_and_count), "{form_and_count}");
}

/// Sends the frames of a play with the stages in turn, each relative to the frame before.
fn send_all(play: &Play, stages: &[Stages]) {
    let mut lane = Lane::new(&play.initial, BitLedger::itemized());
    let mut before = None;
    for ((sequence, snapshot), stages) in play.frames.iter().zip(stages.iter().cycle()) {
        lane.send(*sequence, *stages, snapshot, before);
        assert_accounted(&lane, *stages, snapshot.bodies.len());
        before = Some(*sequence);
    }
}

fn assert_components(item: &BitItem, stages: Stages) {
    let is_arithmetic = stages.delta.is_arithmetic();
    let has_components = match item.kind {
        BitKind::Position => !is_arithmetic || item.form.is_some(),
        BitKind::Orientation if stages.orientation == Orientation::Full => false,
        BitKind::Orientation => !is_arithmetic || item.form.is_some(),
        // A body at rest has only the flag.
        BitKind::Velocity => item.bits > 1.0,
        _ => false,
    };
    if !is_arithmetic && matches!(item.kind, BitKind::Position | BitKind::Orientation) {
        assert!(item.form.is_some(), "{item:?}");
    }
    assert_eq!(item.components.is_some(), has_components, "{item:?}");
    let Some(components) = item.components else {
        assert_eq!(item.prefix(), item.bits);
        return;
    };
    assert!(item.kind.component_names().is_some());
    let sum: f64 = components.iter().sum();
    assert!((item.prefix() + sum - item.bits).abs() < 1e-9, "{item:?}");
    assert!(components.iter().all(|&bits| bits > 0.0), "{item:?}");
    if is_arithmetic {
        assert!(item.prefix() > 0.0, "{item:?}");
    } else {
        assert!(components.iter().all(|bits| bits.fract() == 0.0), "{item:?}");
        // The flag, and the index of the omitted component.
        assert!((0.0..=3.0).contains(&item.prefix()), "{item:?}");
    }
}

/// A packet that ends inside an item is rejected with the kind of that item.
#[test]
fn items_lie_where_the_decoder_reads_them() {
    let play = Play::new(40, 4, crate::seed());
    for rung in ladder::all().filter(|rung| !rung.stages.delta.is_arithmetic()) {
        let mut lane = Lane::new(&play.initial, BitLedger::itemized());
        let mut before = None;
        for (sequence, snapshot) in &play.frames {
            lane.send(*sequence, rung.stages, snapshot, before);
            before = Some(*sequence);
            let mut ends = 0;
            for item in lane.packet.ledger.clone().items().unwrap() {
                assert_eq!(item.bits.fract(), 0.0);
                let starts = ends;
                ends += item.bits as usize;
                for length in starts.div_ceil(8)..ends.div_ceil(8) {
                    let start = lane.packet.bytes[..length].to_vec();
                    let refused = lane.decode(&start, None);
                    let Err(DecodeError::Truncated { field, body, .. }) = refused else {
                        panic!("{refused:?}");
                    };
                    assert_eq!(field, item.kind, "{}", rung.name);
                    // Inside the selection, the decoder does not know yet which body the bits name.
                    if field != BitKind::Selection {
                        assert_eq!(body, item.body.map(usize::from), "{}", rung.name);
                    }
                }
            }
            assert_eq!(ends, lane.packet.bytes.len() * 8);
        }
    }
}

#[test]
fn every_legal_combination_brings_a_scene_across() {
    let play = Play::new(24, 4, crate::seed());
    let mut combinations = 0;
    for stages in Stages::every_legal(&ALL_COMPONENT_BITS) {
        send_all(&play, &[stages]);
        combinations += 1;
    }
    assert_eq!(combinations, 13_128);
}

#[test]
fn any_number_of_bodies_works() {
    for bodies in [0, 1, 2, 5, 40, 41, 64, 65, 255, 256, 257, 1000] {
        let play = Play::new(bodies, 4, crate::seed());
        for rung in LADDER {
            send_all(&play, &[rung.stages]);
        }
    }
}

#[test]
fn the_most_bodies_work() {
    let mut state = Snapshot { bodies: vec![Default::default(); cubewire_codec::MAX_BODIES] };
    let mut lane = Lane::new(&state, BitLedger::new());
    for (tick, rung) in LADDER.iter().enumerate() {
        state.bodies[0].interacting ^= true;
        state.bodies[40_000].position.z += 0.1;
        state.bodies[65_535].position.x += 3.0;
        let before = (tick as u16).checked_sub(1).map(Sequence);
        lane.send(Sequence(tick as u16), rung.stages, &state, before);
    }
    // All move at one point. The coder compares only some pairs, because all of them would take too long.
    for body in &mut state.bodies {
        body.position.z = 1.0;
    }
    lane.send(Sequence(99), PREDICTED.stages, &state, None);
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn any_legal_parameters_bring_any_scene_across(
        play in plays(40, 6),
        stages in prop::collection::vec(any_stages(&ALL_COMPONENT_BITS), 1..4),
    ) {
        send_all(&play, &stages);
    }

    /// Baselines of varying age. Arithmetic coding also adapts from packet to packet.
    #[test]
    fn any_held_baselines_can_be_named(
        play in plays(20, 8),
        choices in prop::collection::vec(
            (
                prop_oneof![
                    1 => prop::sample::select(LADDER.to_vec()),
                    2 => prop::sample::select(vec![ARITHMETIC, PREDICTED]),
                ],
                0_usize..6,
                prop::option::of(0_usize..4),
                prop::option::of(0_usize..4),
            ),
            8,
        ),
    ) {
        let mut lane = Lane::new(&play.initial, BitLedger::itemized());
        let frames = play.frames;
        for (frame, (rung, age, first, second)) in choices.into_iter().enumerate() {
            let at = |age: usize| Some(frames[frame.checked_sub(age)?].0);
            let more = |more: Option<usize>| at(age + more?);
            let names = [at(age).filter(|_| age > 0), more(first), more(second)];
            let (sequence, snapshot) = &frames[frame];
            let current = quantized(&Plan::cubes(), snapshot, rung.stages);
            let numbered = (*sequence, rung.stages);
            lane.send_simulated(numbered, &current, names, Simulated::default());
            assert_accounted(&lane, rung.stages, snapshot.bodies.len());
        }
    }
}
