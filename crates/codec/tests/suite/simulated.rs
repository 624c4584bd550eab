//! Packets between two ends that simulate the same scene: origins, inputs, state chunks, and their sizes.

use cubewire_codec::entropy::coder::{BinCoder, BinEncoder};
use cubewire_codec::ladder::{AFFINE, ARITHMETIC, DELTA, PREDICTED, SIMULATED};
use cubewire_codec::simulation::{MAX_SIMULATED_TICKS, MAX_STATE_CHUNK_BYTES};
use cubewire_codec::{
    Baselines, BitKind, BitLedger, DecodeError, EncodeError, Inputs, Life, Origin, Plan,
    QuantizedSnapshot, Sequence, Simulated,
};

use crate::golden::play;
use crate::lane::{Lane, body_of};

/// Sequence of a baseline. The packets after it have no longer check, unless a test says otherwise.
const BASELINE: Sequence = Sequence(1_001);

/// Bytes of header and check, with and without a baseline.
const HEAD: usize = 5;
const INITIAL_HEAD: usize = 7;
/// Bytes of header and check with a baseline and stages.
const LONG_HEAD: usize = 9;

/// Both ends. They hold the first frame, with input 7.
struct Ends {
    lane: Lane,
    frames: Vec<QuantizedSnapshot>,
}

impl Ends {
    fn new() -> Self {
        let (initial, frames) = play();
        let mut ends = Self { lane: Lane::new(&initial, BitLedger::itemized()), frames };
        ends.send(BASELINE, None, 0, Inputs::new(Origin::FromSceneStart(1), &[7]), &[]);
        ends
    }

    /// Sends a frame `ticks` after the baseline. Returns the size of the packet in bytes.
    fn send_after(
        &mut self,
        ticks: u16,
        frame: usize,
        inputs: Option<Inputs>,
        state_chunk: &[u8],
    ) -> usize {
        self.send(Sequence(BASELINE.0 + ticks), Some(BASELINE), frame, inputs, state_chunk)
    }

    fn send(
        &mut self,
        sequence: Sequence,
        baseline: Option<Sequence>,
        frame: usize,
        inputs: Option<Inputs>,
        state_chunk: &[u8],
    ) -> usize {
        let simulated = Simulated { inputs: inputs.as_ref(), state_chunk };
        let (numbered, names) = ((sequence, SIMULATED.stages), [baseline, None, None]);
        self.lane.send_simulated(numbered, &self.frames[frame], names, simulated);
        self.assert_order();
        self.lane.packet.bytes.len()
    }

    /// Checks that the simulation's items come before the bodies' items.
    fn assert_order(&self) {
        let items = self.lane.packet.ledger.items().unwrap();
        let is_of_scene = |kind| matches!(kind, BitKind::Inputs | BitKind::State);
        let last = items.iter().rposition(|item| is_of_scene(item.kind));
        let first = items.iter().position(|item| item.body.is_some());
        assert!(last.zip(first).is_none_or(|(last, first)| last < first));
    }
}

fn continued(inputs: &[u8]) -> Option<Inputs> {
    Inputs::new(Origin::Continued(inputs.len() as u8), inputs)
}

/// Whether a packet in sync has the longer check.
const fn has_long_check(sequence: u16) -> bool {
    sequence.wrapping_mul(2771) < 1024
}

#[test]
fn in_sync_a_packet_takes_no_byte_beyond_header_and_check() {
    let mut ends = Ends::new();
    for ticks in 1..=MAX_SIMULATED_TICKS as u16 {
        let inputs = continued(&vec![7; ticks.into()]);
        let bytes = ends.send_after(ticks, 9, inputs, &[]);
        let expected = match has_long_check(BASELINE.0 + ticks) {
            true => HEAD + 4..=HEAD + 5,
            false => HEAD..=HEAD,
        };
        assert!(expected.contains(&bytes), "{ticks} ticks: {bytes}");
        let ledger = &ends.lane.packet.ledger;
        assert_eq!(ledger.kind(BitKind::Header), 26.0);
        // Cost of a bin that is set with probability 63/64 for each input, and of the bins before and after.
        let inputs = 0.0743 + 0.0228 * f64::from(ticks);
        assert!((ledger.kind(BitKind::Inputs) - inputs).abs() < 0.05);
        for kind in [BitKind::State, BitKind::Selection, BitKind::Position] {
            assert_eq!(ledger.kind(kind), 0.0);
        }
    }
}

#[test]
fn another_input_costs_three_bytes_at_most_and_a_single_key_two() {
    let mut ends = Ends::new();
    for input in (0..=u8::MAX).filter(|&input| input != 7) {
        for changed in [0, 3, 5] {
            let mut inputs = [7; 6];
            inputs[changed..].fill(input);
            let bytes = ends.send_after(6, 9, continued(&inputs), &[]);
            let keys = (input ^ 7).count_ones();
            let most = if keys == 1 { 2 } else { 3 };
            assert!(bytes <= HEAD + most, "{input} from {changed} on: {bytes}");
        }
    }
}

#[test]
fn every_origin_comes_across_from_any_tick() {
    let mut ends = Ends::new();
    let origins = [Origin::Continued, Origin::FromSceneStart, Origin::Restored];
    for age in [1, 2, 5, 6, 7, 60, 254, 255] {
        for (kind, origin) in origins.into_iter().enumerate() {
            let inputs = Inputs::new(origin(age), &vec![7; age.into()]);
            // The baseline is at the origin's tick, at another tick, too old, or missing.
            let near = ends.send_after(age.into(), 9, inputs, &[]);
            let other = ends.send_after(u16::from(age) + 1, 9, inputs, &[]);
            let old = ends.send_after(1_000, 9, inputs, &[]);
            let none = ends.send(Sequence(3_001), None, 9, inputs, &[]);
            // Another origin than the usual one takes six bits, its kind one or two, and its age eight. The
            // first input then differs from 0, which takes 12 bits or two bytes.
            let is_usual = kind == 0;
            assert!(near <= HEAD + if is_usual { 0 } else { 3 }, "{near}");
            assert!((HEAD + 2..=HEAD + 5).contains(&other), "{other}");
            assert!((LONG_HEAD + 1..=LONG_HEAD + 5).contains(&old), "{old}");
            assert!((INITIAL_HEAD + 1..=INITIAL_HEAD + 5).contains(&none));
        }
    }
}

#[test]
fn inputs_are_as_many_as_the_origin_is_old() {
    for origin in [Origin::Continued, Origin::FromSceneStart, Origin::Restored] {
        assert_eq!(Inputs::new(origin(6), &[7; 5]), None);
        assert_eq!(Inputs::new(origin(6), &[7; 7]), None);
        assert_eq!(Inputs::new(origin(0), &[]), None);
        assert_eq!(Inputs::new(origin(0), &[7; 256]), None);
        let inputs = Inputs::new(origin(255), &[7; 255]).unwrap();
        assert_eq!(inputs.bytes(), [7; 255]);
        assert_eq!(inputs.origin(), origin(255));
    }
}

#[test]
fn out_of_sync_packets_are_those_of_predicted_and_a_few_bins() {
    let (initial, frames) = play();
    let mut lanes = [PREDICTED, SIMULATED].map(|_| Lane::new(&initial, BitLedger::new()));
    let mut sums = [0; 2];
    for (tick, frame) in frames.iter().enumerate() {
        let names = [6, 7, 8].map(|age| Some(Sequence(tick.checked_sub(age)? as u16)));
        let mut bytes = [0; 2];
        for (which, rung) in [PREDICTED, SIMULATED].into_iter().enumerate() {
            let numbered = (Sequence(tick as u16), rung.stages);
            let lane = &mut lanes[which];
            lane.send_simulated(numbered, frame, names, Simulated::default());
            bytes[which] = lane.packet.bytes.len();
            sums[which] += bytes[which];
        }
        assert!(bytes[1] <= bytes[0] + 2, "{bytes:?}");
        let [predicted, simulated] = lanes.each_ref().map(|lane| &lane.packet.ledger);
        assert!((5.0..5.01).contains(&simulated.kind(BitKind::Inputs)));
        assert_eq!(simulated.kind(BitKind::State), 0.0);
        for kind in
            [BitKind::Selection, BitKind::Interacting, BitKind::Position, BitKind::Orientation]
        {
            let difference = simulated.kind(kind) - predicted.kind(kind);
            assert!(difference.abs() < 1e-6, "{kind}");
        }
    }
    assert!(sums[1] <= sums[0] + frames.len(), "{sums:?}");
}

#[test]
fn other_rungs_can_be_the_baseline_and_name_simulated_ones() {
    let mut ends = Ends::new();
    let (middle, end) = (Sequence(BASELINE.0 + 6), Sequence(BASELINE.0 + 12));
    for rung in [DELTA, ARITHMETIC, PREDICTED, SIMULATED] {
        let frame = ends.frames[6].clone();
        let names = [Some(BASELINE), None, None];
        let lane = &mut ends.lane;
        lane.send_simulated((middle, rung.stages), &frame, names, Simulated::default());
        assert_eq!(lane.received[&middle.0].origin(), None);
        // The input of the tick before is not known, so it counts as 0.
        let none = ends.send(end, Some(middle), 12, continued(&[0; 6]), &[]);
        let seven = ends.send(end, Some(middle), 12, continued(&[7; 6]), &[]);
        let head = if rung == SIMULATED { HEAD } else { LONG_HEAD };
        assert_eq!(none, head, "{}", rung.name);
        assert!(seven > none);
    }
}

#[test]
fn state_chunks_of_any_length_come_across_and_are_forgotten_with_the_next_packet() {
    let mut ends = Ends::new();
    let bytes: Vec<u8> =
        (0..MAX_STATE_CHUNK_BYTES).map(|byte| (byte * byte * 89 % 251) as u8).collect();
    for length in [0, 1, 2, 100, 255, 256, MAX_STATE_CHUNK_BYTES] {
        let sized = |head: usize| match length {
            0 => head..=head,
            // Eight bits say that there is a chunk, and ten have its length.
            _ => head + length..=head + length + 3,
        };
        let size = ends.send_after(6, 9, continued(&[7; 6]), &bytes[..length]);
        assert!(sized(HEAD).contains(&size), "{length}: {size}");
        let state = ends.lane.packet.ledger.kind(BitKind::State);
        let bits = if length == 0 { 0.0 } else { 10.0 + 8.0 * length as f64 };
        assert!((state - bits).abs() < 0.01, "{state}");
        // Also out of sync.
        ends.send_after(6, 0, None, &bytes[..length]);
        assert_eq!(ends.lane.packet.changed_bodies, 0);
    }
    for stages in [DELTA.stages, PREDICTED.stages] {
        ends.send_after(6, 9, None, &[1, 2, 3]);
        let names = [Some(BASELINE), None, None];
        let (numbered, none) = ((Sequence(BASELINE.0 + 7), stages), Simulated::default());
        ends.lane.send_simulated(numbered, &ends.frames[7], names, none);
        assert!(ends.lane.decoder.state_chunk().is_empty());
    }
}

#[test]
fn a_receiver_with_another_world_or_none_is_out_of_sync() {
    let mut ends = Ends::new();
    let with_long_check = (7..).find(|ticks| has_long_check(BASELINE.0 + ticks)).unwrap();
    for ticks in [6, with_long_check] {
        let sequence = Sequence(BASELINE.0 + ticks);
        ends.send_after(ticks, 9, continued(&vec![7; ticks.into()]), &[]);
        let frame = &ends.frames[9];
        let [mut fewer, mut moved] = [(); 2].map(|()| frame.clone());
        fewer.clear_slots(frame.len() - 1);
        let mut wider = QuantizedSnapshot::new(Plan::cubes(), AFFINE.stages.precision());
        wider.clear_slots(frame.len());
        let mut body = body_of(frame, 7);
        body.position[1] += 1;
        let values = [frame.is_interacting(7).into()];
        moved.put_integers(7, Life::default(), body, &values).unwrap();
        let bytes = ends.lane.packet.bytes.clone();
        for prediction in [None, Some(&fewer), Some(&wider), Some(&moved)] {
            assert_eq!(ends.lane.decode(&bytes, prediction), Err(DecodeError::Desync(sequence)));
        }
    }
}

type Bin = (bool, u32);

const HALF: u32 = 32_768;
const SIMULATED_BIN: Bin = (true, 63_488);
/// The origin is the baseline's tick, or an input equals the previous one.
const SAME: Bin = (true, 64_512);
const OTHER: Bin = (false, 64_512);
const NO_STATE_CHUNK: Bin = (true, 65_280);

/// Bins of a packet with an origin of this kind and age, spelled out, and unchanged inputs.
fn spelled_out(kind: &[bool], age: u8) -> Vec<Bin> {
    let mut bins = vec![SIMULATED_BIN, OTHER];
    bins.extend(kind.iter().map(|&bin| (bin, HALF)));
    bins.extend((0..8).rev().map(|bit| (age >> bit & 1 == 1, HALF)));
    bins.extend(vec![SAME; age.into()]);
    bins.push(NO_STATE_CHUNK);
    bins
}

/// Bins that have the same meaning as a shorter form. No encoder writes them, except the first.
#[test]
fn other_forms_of_the_same_are_refused() {
    let mut ends = Ends::new();
    ends.send_after(6, 6, continued(&[7; 6]), &[]);
    let head = ends.lane.packet.bytes[..HEAD].to_vec();
    let start = &[SIMULATED_BIN, SAME][..];
    let same_as_change =
        [start, &[OTHER], &[(true, 49_152); 8], &[SAME; 5], &[NO_STATE_CHUNK]].concat();
    let empty = [start, &[SAME; 6], &[(false, 65_280)], &[(false, HALF); 10]].concat();
    for (what, bins, is_read) in [
        ("the usual form", [start, &[SAME; 6], &[NO_STATE_CHUNK]].concat(), true),
        ("started", spelled_out(&[false, true], 6), true),
        ("restored", spelled_out(&[false, false], 6), true),
        ("another tick", spelled_out(&[true], 5), true),
        ("the baseline's tick", spelled_out(&[true], 6), false),
        ("no tick", spelled_out(&[true], 0), false),
        ("the same input as a change", same_as_change, false),
        ("a state chunk of no bytes", empty, false),
    ] {
        let mut bytes = head.clone();
        let mut encoder = BinEncoder::new(&mut bytes);
        for (bin, one) in bins {
            encoder.bin(bin, one);
        }
        encoder.finish();
        let decoded = ends.lane.decode(&bytes, Some(&ends.frames[6]));
        assert_eq!(decoded.is_ok(), is_read, "{what}: {:?}", decoded.err());
    }
}

#[test]
fn unchanged_inputs_of_four_seats_cost_as_much_as_those_of_one() {
    let (initial, frames) = play();
    let plan = Plan::cubes().with_seats(4).unwrap();
    let mut ends = Ends { lane: Lane::of(plan, &initial, BitLedger::itemized()), frames };
    let held = [1, 0, 255, 9];
    let send = |ends: &mut Ends, sequence, named, ticks: &[[u8; 4]], from: fn(u8) -> Origin| {
        let inputs = Inputs::new(from(ticks.len() as u8), ticks.as_flattened());
        assert_eq!(inputs.map(|inputs| inputs.seats()), Some(4));
        ends.send(sequence, named, 9, inputs, &[])
    };
    send(&mut ends, BASELINE, None, &[held], Origin::FromSceneStart);
    for changed in 0..4 {
        for input in [0, 3, 8, 77] {
            let mut ticks = [held; 6];
            let bytes = send(&mut ends, Sequence(1_007), Some(BASELINE), &ticks, Origin::Continued);
            assert_eq!(bytes, HEAD);
            for inputs in &mut ticks[2..] {
                inputs[changed] = input;
            }
            let bytes = send(&mut ends, Sequence(1_007), Some(BASELINE), &ticks, Origin::Continued);
            assert!(bytes <= HEAD + 4, "{input} in seat {changed}: {bytes}");
        }
    }
    let random: Vec<[u8; 4]> =
        (0..255_u32).map(|tick| tick.wrapping_mul(0x9E37_79B9).to_le_bytes()).collect();
    send(&mut ends, Sequence(1_256), Some(BASELINE), &random, Origin::Continued);
    // Another number of seats than the scene's is an error.
    let inputs = continued(&[7; 6]);
    let simulated = Simulated { inputs: inputs.as_ref(), state_chunk: &[] };
    let references = Baselines { simulated, ..Baselines::default() };
    let (lane, frame) = (&mut ends.lane, &ends.frames[0]);
    let (sequence, stages) = (Sequence(1_300), SIMULATED.stages);
    let encoded = lane.encoder.encode(sequence, stages, frame, references, &mut lane.packet, None);
    assert_eq!(encoded, Err(EncodeError::Seats { inputs: 1, scene: 4 }));
}
