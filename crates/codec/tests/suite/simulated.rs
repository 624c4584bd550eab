//! Packets between two ends that simulate the same: origins, inputs, attachments, and what they cost.

use cubewire_codec::ladder::{ARITHMETIC, DELTA, PREDICTED, SIMULATED};
use cubewire_codec::simulation::{MAX_ATTACHMENT_BYTES, MAX_SIMULATED_TICKS};
use cubewire_codec::{BitKind, BitLedger, Origin, QuantizedSnapshot, Sequence, Simulated};

use crate::engine::{Foreseen, Scene, shifted};
use crate::golden::play;
use crate::scene::Lane;

/// The number of a baseline. That of a packet is no multiple of 60, where the check has more bits, unless a test says so.
pub(crate) const BASELINE: Sequence = Sequence(1_001);

/// The bytes of header and check, with and without a baseline.
pub(crate) const HEAD: usize = 5;
const INITIAL_HEAD: usize = 7;
/// Of one that names a baseline and stages.
const LONG_HEAD: usize = 9;

/// Both ends, which hold the first frame of a play, with 7 as its input.
pub(crate) struct Ends {
    pub(crate) lane: Lane,
    pub(crate) frames: Vec<QuantizedSnapshot>,
    engine: Foreseen,
}

impl Ends {
    pub(crate) fn new() -> Self {
        let (initial, frames) = play();
        let mut ends = Self {
            lane: Lane::new(&initial, BitLedger::itemized()),
            engine: Foreseen::default(),
            frames,
        };
        let scene = Scene {
            origin: Some(Origin::Started(1)),
            inputs: vec![7],
            ..Scene::default()
        };
        ends.send(BASELINE, None, 0, &scene);
        ends
    }

    /// Sends a frame so many ticks after the baseline, and gives the bytes of the packet.
    pub(crate) fn send_after(&mut self, ticks: u16, frame: usize, scene: &Scene) -> usize {
        let sequence = Sequence(BASELINE.0 + ticks);
        self.send(sequence, Some(BASELINE), frame, scene)
    }

    fn send(
        &mut self,
        sequence: Sequence,
        baseline: Option<Sequence>,
        frame: usize,
        scene: &Scene,
    ) -> usize {
        let current = &self.frames[frame];
        self.engine = Foreseen::new(scene.prediction.as_ref().unwrap_or(current));
        let numbered = (sequence, SIMULATED.stages);
        let names = [baseline, None, None];
        let engine = &mut self.engine;
        self.lane
            .send_simulated(numbered, current, names, scene.simulated(), engine);
        let calls = usize::from(scene.origin.is_some());
        assert_eq!(engine.calls, calls);
        if scene.origin.is_some() {
            assert_eq!(engine.sequence, sequence);
            assert_eq!(engine.origin, scene.origin);
            assert_eq!(engine.baseline, baseline);
            assert_eq!(engine.inputs, scene.inputs);
        }
        self.assert_accounted();
        self.lane.packet.bytes.len()
    }

    /// The ledger of the packet, which lists every bit, adds up.
    fn assert_accounted(&self) {
        let ledger = &self.lane.packet.ledger;
        let items = ledger.items().unwrap();
        let bits = self.lane.packet.bytes.len() as f64 * 8.0;
        let sum = |kind: Option<BitKind>| {
            let items = items.iter();
            let of_kind = items.filter(|item| kind.is_none_or(|kind| item.kind == kind));
            of_kind.map(|item| item.bits).sum::<f64>()
        };
        assert!((sum(None) - bits).abs() < 1e-6);
        for kind in BitKind::ALL {
            assert!((sum(Some(kind)) - ledger.kind(kind)).abs() < 1e-6);
        }
        // What is said of the simulation comes before what is said of cubes.
        let is_of_scene = |kind| matches!(kind, BitKind::Inputs | BitKind::State);
        let last = items.iter().rposition(|item| is_of_scene(item.kind));
        let first = items.iter().position(|item| item.cube.is_some());
        assert!(last.zip(first).is_none_or(|(last, first)| last < first));
    }
}

pub(crate) fn continued(inputs: Vec<u8>) -> Scene {
    Scene {
        origin: Some(Origin::Continued(inputs.len() as u8)),
        inputs,
        ..Scene::default()
    }
}

#[test]
fn agreement_takes_no_byte_beyond_header_and_check() {
    let mut ends = Ends::new();
    for ticks in 1..=MAX_SIMULATED_TICKS as u16 {
        let bytes = ends.send_after(ticks, 9, &continued(vec![7; ticks.into()]));
        let has_long_check = (BASELINE.0 + ticks).is_multiple_of(60);
        let expected = match has_long_check {
            true => HEAD + 4..=HEAD + 5,
            false => HEAD..=HEAD,
        };
        assert!(expected.contains(&bytes), "{ticks} ticks: {bytes}");
        let ledger = &ends.lane.packet.ledger;
        assert_eq!(ledger.kind(BitKind::Header), 26.0);
        // The sixty-fourth part of a set bin each, and those before and after.
        let inputs = 0.139 + 0.0228 * f64::from(ticks);
        assert!((ledger.kind(BitKind::Inputs) - inputs).abs() < 0.05);
        assert_eq!(ledger.kind(BitKind::State), 0.0);
        for kind in [BitKind::Selection, BitKind::Position, BitKind::Orientation] {
            assert_eq!(ledger.kind(kind), 0.0);
        }
    }
}

#[test]
fn another_input_costs_three_bytes_at_most_and_a_single_key_two() {
    let mut ends = Ends::new();
    for input in (0..=u8::MAX).filter(|&input| input != 7) {
        for changed in [0, 3, 5] {
            let mut inputs = vec![7; 6];
            inputs[changed..].fill(input);
            let bytes = ends.send_after(6, 9, &continued(inputs));
            let keys = (input ^ 7).count_ones();
            let most = if keys == 1 { 2 } else { 3 };
            assert!(bytes <= HEAD + most, "{input} from {changed} on: {bytes}");
        }
    }
}

#[test]
fn every_exact_origin_comes_across_from_any_tick() {
    let mut ends = Ends::new();
    let origins = [Origin::Continued, Origin::Started, Origin::Restored];
    for age in [1, 2, 5, 6, 7, 60, 254, 255] {
        for (kind, origin) in origins.into_iter().enumerate() {
            let scene = Scene {
                origin: Some(origin(age)),
                inputs: vec![7; age.into()],
                ..Scene::default()
            };
            // Relative to a baseline of the same tick, of another, of one that is too old, and of none.
            let near = ends.send_after(age.into(), 9, &scene);
            let other = ends.send_after(u16::from(age) + 1, 9, &scene);
            let old = ends.send_after(1_000, 9, &scene);
            let none = ends.send(Sequence(3_001), None, 9, &scene);
            // Six bits for another origin than the usual one, one or two for which, and eight for its age. Then the
            // first input is another than none, which takes 12 bits or two bytes.
            let is_usual = kind == 0;
            assert!(near <= HEAD + if is_usual { 0 } else { 3 }, "{near}");
            assert!((HEAD + 2..=HEAD + 5).contains(&other), "{other}");
            assert!((LONG_HEAD + 1..=LONG_HEAD + 5).contains(&old), "{old}");
            assert!((INITIAL_HEAD + 1..=INITIAL_HEAD + 5).contains(&none));
        }
    }
}

#[test]
fn corrected_and_cold_packets_carry_the_cubes_that_are_wrong() {
    let mut ends = Ends::new();
    let current = ends.frames[6].clone();
    for (origin, right) in [(Origin::Corrected, 1), (Origin::Cold, 2)] {
        let mut scene = Scene {
            origin: Some(origin),
            inputs: vec![7; 6],
            prediction: Some(current.clone()),
            ..Scene::default()
        };
        // A bin each for the origin, and one that all is right.
        let bytes = ends.send_after(6, 6, &scene);
        assert_eq!(bytes, HEAD + right, "{origin:?}");
        assert_eq!(ends.lane.packet.sent_cubes, 0);

        scene.prediction = Some(shifted(&current, |cube| cube == 5));
        let one = ends.send_after(6, 6, &scene);
        assert_eq!(ends.lane.packet.sent_cubes, 1);
        scene.prediction = Some(shifted(&current, |cube| cube % 3 == 0));
        let many = ends.send_after(6, 6, &scene);
        assert_eq!(ends.lane.packet.sent_cubes, 16);
        assert!((bytes + 2..bytes + 16).contains(&one), "{one}");
        assert!(many > one, "{one} {many}");
        // What is simulated is the reference's, so that nothing is known of motion.
        scene.prediction = Some(ends.frames[0].clone());
        ends.send_after(6, 6, &scene);
        let packet = &ends.lane.packet;
        assert_eq!(packet.sent_cubes, packet.changed_cubes);
    }
}

/// The same packet by `predicted` is larger than where the simulation is right about most cubes.
#[test]
fn a_simulation_that_is_nearly_right_is_better_than_none() {
    let mut ends = Ends::new();
    let current = ends.frames[6].clone();
    let scene = Scene {
        origin: Some(Origin::Corrected),
        inputs: vec![7; 6],
        prediction: Some(shifted(&current, |cube| cube % 16 == 0)),
        ..Scene::default()
    };
    let simulated = ends.send_after(6, 6, &scene);
    let without = ends.send_after(6, 6, &Scene::default());
    assert!(2 * simulated < without, "{simulated} {without}");
}

#[test]
fn without_a_simulation_packets_are_those_of_predicted_and_a_few_bins() {
    let (initial, frames) = play();
    let mut lanes = [PREDICTED, SIMULATED].map(|_| Lane::new(&initial, BitLedger::new()));
    let mut sums = [0; 2];
    for (tick, frame) in frames.iter().enumerate() {
        let names = [6, 7, 8].map(|age| Some(Sequence(tick.checked_sub(age)? as u16)));
        let mut bytes = [0; 2];
        for (which, rung) in [PREDICTED, SIMULATED].into_iter().enumerate() {
            let numbered = (Sequence(tick as u16), rung.stages);
            let lane = &mut lanes[which];
            lane.send_simulated(numbered, frame, names, Simulated::default(), &mut ());
            bytes[which] = lane.packet.bytes.len();
            sums[which] += bytes[which];
        }
        assert!(bytes[1] <= bytes[0] + 2, "{bytes:?}");
        let [predicted, simulated] = lanes.each_ref().map(|lane| &lane.packet.ledger);
        assert!((5.0..5.01).contains(&simulated.kind(BitKind::Inputs)));
        assert_eq!(simulated.kind(BitKind::State), 0.0);
        for kind in [
            BitKind::Selection,
            BitKind::Interacting,
            BitKind::Position,
            BitKind::Orientation,
        ] {
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
        let (lane, simulated) = (&mut ends.lane, Simulated::default());
        lane.send_simulated((middle, rung.stages), &frame, names, simulated, &mut ());
        assert_eq!(lane.received[&middle.0].origin(), None);
        // That input of the tick before is not known.
        let none = ends.send(end, Some(middle), 12, &continued(vec![0; 6]));
        let seven = ends.send(end, Some(middle), 12, &continued(vec![7; 6]));
        let head = if rung == SIMULATED { HEAD } else { LONG_HEAD };
        assert_eq!(none, head, "{}", rung.name);
        assert!(seven > none);
    }
}

#[test]
fn attachments_of_any_length_come_across() {
    let mut ends = Ends::new();
    let bytes: Vec<u8> = (0..MAX_ATTACHMENT_BYTES)
        .map(|byte| (byte * byte * 89 % 251) as u8)
        .collect();
    for length in [0, 1, 2, 100, 255, 256, MAX_ATTACHMENT_BYTES] {
        let attachment = bytes[..length].to_vec();
        let sized = |head: usize| match length {
            0 => head..=head,
            // Eight bits that there is one, which are not the state's, and ten for its length.
            _ => head + length..=head + length + 3,
        };
        let mut scene = continued(vec![7; 6]);
        scene.attachment = attachment.clone();
        let size = ends.send_after(6, 9, &scene);
        assert!(sized(HEAD).contains(&size), "{length}: {size}");
        let state = ends.lane.packet.ledger.kind(BitKind::State);
        let bits = if length == 0 {
            0.0
        } else {
            10.0 + 8.0 * length as f64
        };
        assert!((state - bits).abs() < 0.01, "{state}");
        // Without a simulation, too.
        let scene = Scene {
            attachment,
            ..Scene::default()
        };
        ends.send_after(6, 0, &scene);
        assert_eq!(ends.lane.packet.changed_cubes, 0);
    }
}
