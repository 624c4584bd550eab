//! A receiver detects damaged packets, and packets with another snapshot than its simulation.

use cubewire_codec::entropy::coder::{BinCoder, BinEncoder};
use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::{
    Baseline, BitLedger, DecodeError, Inputs, Origin, Plan, QuantizedSnapshot, Sequence, Simulated,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::golden::play;
use crate::hostile::{Victim, decode_damaged, mutate};
use crate::scene::{Lane, body_of};
use crate::simulated::has_long_check;

/// Number of packets for each kind of check.
const PACKETS: usize = 800;

/// Decodes packets with a simulation that is wrong by a step along one axis of one body. Returns the number of
/// packets that pass their check, and the number of all packets.
fn count_passes(sequences: impl Iterator<Item = u16>) -> [usize; 2] {
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let inputs = Inputs::new(Origin::FromSceneStart(6), &[1; 6]);
    let [mut passed, mut tried] = [0, 0];
    for (number, sequence) in sequences.enumerate() {
        let sequence = Sequence(sequence);
        let current = &frames[number % frames.len()];
        let simulated = Simulated {
            inputs: inputs.as_ref(),
            state_chunk: &[],
        };
        lane.send_simulated((sequence, SIMULATED.stages), current, [None; 3], simulated);
        let right: Vec<_> = (0..current.len())
            .map(|body| body_of(current, body))
            .collect();
        let mut prediction = QuantizedSnapshot::new(Plan::cubes(), current.precision());
        for body in 0..current.len() {
            for axis in 0..3 {
                for step in [-1, 1] {
                    let mut wrong = right.clone();
                    wrong[body].position[axis] += step;
                    if wrong[body].position[2] < 0 {
                        continue;
                    }
                    prediction.assign(9, wrong).unwrap();
                    let mut out = Baseline::default();
                    let begun = lane.decoder.begin(&lane.packet.bytes, |_| None).unwrap();
                    let decoded = lane
                        .decoder
                        .finish(begun, |_| None, Some(&prediction), &mut out);
                    tried += 1;
                    match decoded {
                        Ok(_) => passed += 1,
                        Err(error) => assert_eq!(error, DecodeError::Desync(sequence)),
                    }
                }
            }
        }
    }
    [passed, tried]
}

#[test]
fn a_step_of_one_body_passes_once_in_16384_times() {
    let is_usual = |&sequence: &u16| !has_long_check(sequence);
    let [passed, tried] = count_passes((0..=u16::MAX).filter(is_usual).take(PACKETS));
    let expected = tried as f64 / 16_384.0;
    println!("{passed} of {tried} pass, {expected:.1} expected");
    assert!(
        expected > 10.0 && passed as f64 <= 2.0 * expected,
        "{passed}"
    );
    assert!(passed > 0, "the check has more than 14 bits");
}

#[test]
fn a_step_of_one_body_does_not_pass_the_longer_check() {
    let is_long = |&sequence: &u16| has_long_check(sequence);
    let [passed, tried] = count_passes((0..=u16::MAX).filter(is_long).take(PACKETS));
    assert!(tried > 200_000 && passed == 0, "{passed} of {tried}");
}

/// Packets with all origins, some of them with state chunks.
fn victims() -> Vec<Victim> {
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let mut victims = Vec::new();
    for (tick, current) in frames.iter().enumerate() {
        let origin = match tick % 4 {
            0 => Some(Origin::Continued(6)),
            1 => Some(Origin::FromSceneStart(tick as u8 + 1)),
            2 => Some(Origin::Restored(255)),
            _ => None,
        };
        let inputs = origin.and_then(|origin| {
            let inputs = vec![tick as u8 / 5; origin.age().into()];
            Inputs::new(origin, &inputs)
        });
        let simulated = Simulated {
            inputs: inputs.as_ref(),
            state_chunk: &vec![0xA5; tick % 4 * 40],
        };
        let held = lane.received.values().cloned().collect();
        let names = [6, 7, 8].map(|age| Some(Sequence(tick.checked_sub(age)? as u16)));
        let numbered = (Sequence(tick as u16), SIMULATED.stages);
        lane.send_simulated(numbered, current, names, simulated);
        let victim = Victim::of(&lane, held, "simulated", SIMULATED.stages);
        victims.push(victim.simulating(current));
    }
    victims
}

#[test]
fn mutated_simulated_packets_are_a_snapshot_or_an_error() {
    let mut random = ChaCha8Rng::seed_from_u64(crate::seed());
    let damage = |bytes: &mut Vec<u8>| match random.random_bool(0.3) {
        // After the header.
        true if bytes.len() > 6 => {
            let index = random.random_range(6..bytes.len());
            bytes[index] = random.random();
        }
        _ => mutate(&mut random, bytes),
    };
    let [refused, simulated] = decode_damaged(&mut victims(), 60_000, damage);
    assert!(
        refused > 20_000 && simulated > 5_000,
        "{refused} {simulated}"
    );
}

#[test]
fn truncated_and_extended_simulated_packets_are_refused() {
    let (mut tried, mut passed) = (0, 0);
    for mut victim in victims() {
        let whole = victim.bytes.clone();
        for length in 0..whole.len() {
            // A truncated packet can have other inputs. This receiver always simulates the same snapshot, so it
            // accepts it.
            let (is_simulated, decoded) = victim.decode(&whole[..length]);
            if !is_simulated {
                tried += 1;
                passed += usize::from(decoded.is_ok());
            }
        }
        for more in [&[0][..], &[1], &[0; 9], &[0xFF; 40]] {
            let bytes = [&whole[..], more].concat();
            let (_, decoded) = victim.decode(&bytes);
            // Appended bytes that are not zero change the arithmetic code, which can then decode to other inputs.
            assert!(more[0] != 0 || decoded.is_err());
        }
    }
    assert!(tried > 1_000 && passed <= 1, "{passed} of {tried}");
}

const HALF: u32 = 32_768;
const SIMULATED_BIN: (bool, u32) = (true, 63_488);
const NO_STATE_CHUNK: (bool, u32) = (true, 65_280);

/// Bins of a packet with an origin of this kind and age, spelled out, and unchanged inputs.
fn spelled_out(kind: &[bool], age: u8) -> Vec<(bool, u32)> {
    let mut bins = vec![SIMULATED_BIN, (false, 64_512)];
    bins.extend(kind.iter().map(|&bin| (bin, HALF)));
    bins.extend((0..8).rev().map(|bit| (age >> bit & 1 == 1, HALF)));
    bins.extend(vec![(true, 64_512); age.into()]);
    bins.push(NO_STATE_CHUNK);
    bins
}

/// Bins that have the same meaning as a shorter form. No encoder writes them, except the first.
#[test]
fn other_forms_of_the_same_are_refused() {
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let baseline = Some(Sequence(1));
    for (sequence, frame) in [(1, 0), (7, 6)] {
        let inputs = Inputs::new(
            Origin::FromSceneStart(sequence as u8),
            &vec![0; sequence.into()],
        );
        let simulated = Simulated {
            inputs: inputs.as_ref(),
            state_chunk: &[],
        };
        let numbered = (Sequence(sequence), SIMULATED.stages);
        let names = [baseline.filter(|_| sequence > 1), None, None];
        lane.send_simulated(numbered, &frames[frame], names, simulated);
    }
    let start = vec![SIMULATED_BIN, (true, 64_512)];
    let mut same_as_change = start.clone();
    same_as_change.push((false, 64_512));
    same_as_change.extend([(true, 49_152); 8]);
    same_as_change.extend([(true, 64_512); 5]);
    same_as_change.push(NO_STATE_CHUNK);
    let mut usual = [start, vec![(true, 64_512); 6]].concat();
    let mut empty = usual.clone();
    empty.push((false, 65_280));
    empty.extend([(false, HALF); 10]);
    usual.push(NO_STATE_CHUNK);
    for (what, bins, is_read) in [
        ("the usual form", usual, true),
        ("started", spelled_out(&[false, true], 6), true),
        ("restored", spelled_out(&[false, false], 6), true),
        ("another tick", spelled_out(&[true], 5), true),
        ("the baseline's tick", spelled_out(&[true], 6), false),
        ("no tick", spelled_out(&[true], 0), false),
        ("the same input as a change", same_as_change, false),
        ("a state chunk of no bytes", empty, false),
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
        let begun = lane.decoder.begin(&bytes, held);
        let decoded =
            begun.and_then(|begun| lane.decoder.finish(begun, held, Some(&frames[6]), &mut out));
        assert_eq!(decoded.is_ok(), is_read, "{what}: {decoded:?}");
    }
}
