//! What becomes of packets whose simulation is another, and of damaged ones.

use cubewire_codec::entropy::coder::{BinCoder, BinEncoder};
use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::{
    Baseline, BitLedger, DecodeError, Decoder, Origin, QuantizedSnapshot, Sequence, Snapshot,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::{Foreseen, Scene, cube_of, shifted};
use crate::golden::play;
use crate::hostile::mutate;
use crate::scene::Lane;

/// Packets that are tried for each kind of check.
const PACKETS: u16 = 800;

/// Decodes packets of sequences in a simulation that is wrong by a step of one axis of one cube, and counts those that
/// pass and those that are tried.
fn count_passes(sequences: impl Iterator<Item = u16>) -> [usize; 2] {
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let [mut passed, mut tried] = [0, 0];
    for (number, sequence) in sequences.enumerate() {
        let sequence = Sequence(sequence);
        let current = &frames[number % frames.len()];
        let scene = Scene {
            origin: Some(Origin::Started(6)),
            inputs: vec![1; 6],
            ..Scene::default()
        };
        let numbered = (sequence, SIMULATED.stages);
        let mut engine = Foreseen::new(current);
        lane.send_simulated(numbered, current, [None; 3], scene.simulated(), &mut engine);
        let right: Vec<_> = (0..current.len())
            .map(|cube| cube_of(current, cube))
            .collect();
        for cube in 0..current.len() {
            for axis in 0..3 {
                for step in [-1, 1] {
                    let mut wrong = right.clone();
                    wrong[cube].position[axis] += step;
                    if wrong[cube].position[2] < 0 {
                        continue;
                    }
                    let prediction = engine.prediction.as_mut().unwrap();
                    prediction.assign(9, wrong).unwrap();
                    let mut out = Baseline::default();
                    let bytes = &lane.packet.bytes;
                    let decoder = &mut lane.decoder;
                    tried += 1;
                    match decoder.decode_simulated(bytes, |_| None, &mut engine, &mut out) {
                        Ok(_) => passed += 1,
                        Err(error) => assert_eq!(error, DecodeError::Simulation(sequence)),
                    }
                }
            }
        }
    }
    [passed, tried]
}

#[test]
fn a_step_of_one_cube_passes_once_in_16384_times() {
    let is_usual = |sequence: &u16| !sequence.is_multiple_of(60);
    let [passed, tried] = count_passes((0..).filter(is_usual).take(PACKETS.into()));
    let expected = tried as f64 / 16_384.0;
    println!("{passed} of {tried} pass, {expected:.1} expected");
    assert!(
        expected > 10.0 && passed as f64 <= 2.0 * expected,
        "{passed}"
    );
    assert!(passed > 0, "the check has more than 14 bits");
}

#[test]
fn a_step_of_one_cube_does_not_pass_once_a_second() {
    let [passed, tried] = count_passes((0..PACKETS).map(|number| 60 * number));
    assert!(tried > 200_000 && passed == 0, "{passed} of {tried}");
}

/// A packet, and what its receiver holds and simulates.
struct Victim {
    bytes: Vec<u8>,
    held: Vec<Baseline>,
    decoder: Decoder,
    engine: Foreseen,
}

/// Packets of all origins, some of them with attachments.
fn victims() -> Vec<Victim> {
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let mut victims = Vec::new();
    for (tick, current) in frames.iter().enumerate() {
        let baseline = tick.checked_sub(6);
        let origin = match tick % 6 {
            0 => Origin::Continued(6),
            1 => Origin::Started(tick as u8 + 1),
            2 => Origin::Restored(255),
            _ if baseline.is_none() => Origin::Continued(1),
            3 => Origin::Cold,
            _ => Origin::Corrected,
        };
        let scene = Scene {
            origin: Some(origin).filter(|_| tick % 9 != 8),
            inputs: vec![
                tick as u8 / 5;
                if tick % 9 == 8 {
                    0
                } else {
                    origin.age().unwrap_or(6).into()
                }
            ],
            prediction: Some(match origin.is_exact() {
                true => current.clone(),
                false => shifted(current, |cube| cube % 6 == tick % 6),
            }),
            attachment: vec![0xA5; tick % 4 * 40],
        };
        let held = lane.received.values().cloned().collect();
        let mut engine = Foreseen::new(scene.prediction.as_ref().unwrap());
        let names = [6, 7, 8].map(|age| Some(Sequence(tick.checked_sub(age)? as u16)));
        let numbered = (Sequence(tick as u16), SIMULATED.stages);
        lane.send_simulated(numbered, current, names, scene.simulated(), &mut engine);
        victims.push(Victim {
            bytes: lane.packet.bytes.clone(),
            held,
            decoder: lane.decoder.clone(),
            engine,
        });
    }
    victims
}

impl Victim {
    /// Decodes bytes, asks at most once for a simulation of at most 255 ticks, and stays as it is if they are refused.
    fn decode(&mut self, bytes: &[u8]) -> Result<Baseline, DecodeError> {
        let mut out = self.held.first().cloned().unwrap_or_default();
        let before = out.clone();
        let held = &self.held;
        let lookup = |sequence| held.iter().find(|baseline| baseline.sequence() == sequence);
        self.engine.calls = 0;
        self.engine.inputs.clear();
        let (decoder, engine) = (&mut self.decoder, &mut self.engine);
        let decoded = decoder.decode_simulated(bytes, lookup, engine, &mut out);
        assert!(engine.calls <= 1);
        if engine.calls == 1 {
            assert!((1..=255).contains(&engine.inputs.len()));
            let age = engine.origin.and_then(Origin::age).map(usize::from);
            assert!(age.is_none_or(|age| age == engine.inputs.len()));
            assert!(age.is_some() || engine.baseline.is_some());
        }
        let simulated = decoder.simulated();
        assert!(simulated.attachment.len() <= 1_023);
        match decoded {
            Ok(header) => {
                assert_eq!(out.sequence(), header.sequence);
                assert_eq!(out.origin(), simulated.origin);
                assert_eq!(engine.calls == 1, simulated.origin.is_some());
                assert_finite(out.snapshot());
                Ok(out)
            }
            Err(error) => {
                assert_eq!(out, before, "{error}");
                // Nothing of a refused packet is left.
                assert!(simulated.attachment.is_empty() && simulated.inputs.is_empty());
                assert!(!error.to_string().is_empty());
                Err(error)
            }
        }
    }
}

fn assert_finite(snapshot: &QuantizedSnapshot) {
    let mut floats = Snapshot::default();
    snapshot.dequantize(&mut floats);
    for cube in floats.cubes {
        assert!(cube.position.is_finite() && cube.orientation.is_finite());
    }
}

#[test]
fn mutated_simulated_packets_are_a_snapshot_or_an_error() {
    let mut random = ChaCha8Rng::seed_from_u64(crate::seed());
    let mut victims = victims();
    let (mut refused, mut simulated) = (0, 0);
    for round in 0..60_000 {
        let count = victims.len();
        let victim = &mut victims[round % count];
        let mut bytes = victim.bytes.clone();
        match random.random_bool(0.3) {
            // Behind the header.
            true if bytes.len() > 6 => {
                let place = random.random_range(6..bytes.len());
                bytes[place] = random.random();
            }
            _ => mutate(&mut random, &mut bytes),
        }
        refused += usize::from(victim.decode(&bytes).is_err());
        simulated += victim.engine.calls;
    }
    assert!(
        refused > 20_000 && simulated > 5_000,
        "{refused} {simulated}"
    );
    // The same receivers still decode what they were sent.
    for victim in &mut victims {
        let bytes = victim.bytes.clone();
        victim.decode(&bytes).unwrap();
    }
}

#[test]
fn truncated_and_extended_simulated_packets_are_refused() {
    let (mut tried, mut passed) = (0, 0);
    for mut victim in victims() {
        let whole = victim.bytes.clone();
        for length in 0..whole.len() {
            // An exact packet says the same with other inputs, for an engine that always simulates the same.
            let decoded = victim.decode(&whole[..length]);
            let is_exact = victim.engine.origin.is_some_and(Origin::is_exact);
            if victim.engine.calls == 0 || !is_exact {
                tried += 1;
                passed += usize::from(decoded.is_ok());
            }
        }
        for more in [&[0][..], &[1], &[0; 9], &[0xFF; 40]] {
            let bytes = [&whole[..], more].concat();
            let decoded = victim.decode(&bytes);
            // Ones more are another arithmetic number, which can be that of other inputs.
            assert!(more[0] != 0 || decoded.is_err());
        }
    }
    assert!(tried > 1_000 && passed <= 1, "{passed} of {tried}");
}

#[test]
fn random_bytes_behind_a_right_header_are_soon_at_an_end() {
    let mut random = ChaCha8Rng::seed_from_u64(crate::seed());
    let mut victims = victims();
    // One that names a baseline.
    let victim = &mut victims[12];
    for length in (0..40).cycle().take(20_000) {
        let mut bytes = victim.bytes[..6].to_vec();
        bytes.extend((0..length).map(|_| random.random::<u8>()));
        let _ = victim.decode(&bytes);
    }
}

const HALF: u32 = 32_768;

/// Bins of a packet with an exact origin of that kind and age, spelled out, and unchanged inputs.
fn spelled_out(kind: &[bool], age: u8) -> Vec<(bool, u32)> {
    let mut bins = vec![(true, 63_488), (true, 61_440), (false, 64_512)];
    bins.extend(kind.iter().map(|&bin| (bin, HALF)));
    bins.extend((0..8).rev().map(|bit| (age >> bit & 1 == 1, HALF)));
    bins.extend(vec![(true, 64_512); age.into()]);
    bins
}

/// No encoder writes these, except the first, and they would be read as what is sent in a shorter form.
#[test]
fn other_forms_of_the_same_are_refused() {
    const NO_ATTACHMENT: (bool, u32) = (true, 65_280);
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let mut engine = Foreseen::new(&frames[6]);
    let baseline = Some(Sequence(1));
    for (sequence, frame) in [(1, 0), (7, 6)] {
        let numbered = (Sequence(sequence), SIMULATED.stages);
        let scene = Scene {
            origin: Some(Origin::Started(sequence as u8)),
            inputs: vec![0; sequence.into()],
            ..Scene::default()
        };
        let mut engine = Foreseen::new(&frames[frame]);
        let names = [baseline.filter(|_| sequence > 1), None, None];
        let (current, simulated) = (&frames[frame], scene.simulated());
        lane.send_simulated(numbered, current, names, simulated, &mut engine);
    }
    let usual = vec![(true, 63_488), (true, 61_440), (true, 64_512)];
    let mut same_as_change = usual.clone();
    same_as_change.push((false, 64_512));
    same_as_change.extend([(true, 49_152); 8]);
    same_as_change.extend([(true, 64_512); 5]);
    let mut usual = [usual, vec![(true, 64_512); 6]].concat();
    let mut empty = usual.clone();
    empty.push((false, 65_280));
    empty.extend([(false, HALF); 10]);
    usual.push(NO_ATTACHMENT);
    same_as_change.push(NO_ATTACHMENT);
    let attached = |mut bins: Vec<(bool, u32)>| {
        bins.push(NO_ATTACHMENT);
        bins
    };
    for (what, bins, is_read) in [
        ("the usual form", usual, true),
        ("started", attached(spelled_out(&[false, true], 6)), true),
        ("restored", attached(spelled_out(&[false, false], 6)), true),
        ("another tick", attached(spelled_out(&[true], 5)), true),
        (
            "the baseline's tick",
            attached(spelled_out(&[true], 6)),
            false,
        ),
        ("no tick", attached(spelled_out(&[true], 0)), false),
        ("the same input as a change", same_as_change, false),
        ("an attachment of no bytes", empty, false),
    ] {
        // Header and check.
        let mut bytes = lane.packet.bytes[..5].to_vec();
        let mut encoder = BinEncoder::new(&mut bytes);
        for (bin, one) in bins {
            encoder.bin(bin, one);
        }
        encoder.finish();
        let received = &lane.received;
        let held = |sequence: Sequence| received.get(&sequence.0);
        let mut out = Baseline::default();
        let decoded = lane
            .decoder
            .decode_simulated(&bytes, held, &mut engine, &mut out);
        assert_eq!(decoded.is_ok(), is_read, "{what}: {decoded:?}");
    }
}
