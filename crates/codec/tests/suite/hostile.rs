//! Arbitrary bytes never make a decoder panic or change its state.

use cubewire_codec::ladder::{
    AFFINE, ARITHMETIC, CHANGED_FLAGS, LADDER, PREDICTED, Rung, SIMULATED,
};
use cubewire_codec::{
    Baseline, BitLedger, DecodeError, Decoder, Header, Inputs, Limits, Origin, Plan,
    QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages, decode_initial, encode_initial,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::golden::play;
use crate::lane::{Lane, flip};
use crate::plays::Play;
use crate::random::schema;
use crate::scenes::{legal_rungs, send};

/// Number of mutated packets per run, for all rungs together.
const MUTATIONS: usize = 200_000;

/// A packet and its receiver, with the receiver's baselines and its simulated snapshot.
struct Victim {
    bytes: Vec<u8>,
    decoder: Decoder,
    held: Vec<Baseline>,
    prediction: Option<QuantizedSnapshot>,
    name: &'static str,
    is_arithmetic: bool,
}

impl Victim {
    /// The last packet of a lane.
    fn of(lane: &Lane, name: &'static str, stages: Stages) -> Self {
        Self {
            bytes: lane.packet.bytes.clone(),
            decoder: lane.decoder.clone(),
            held: lane.received.values().cloned().collect(),
            prediction: None,
            name,
            is_arithmetic: stages.delta.is_arithmetic(),
        }
    }

    /// Decodes bytes. The receiver is unchanged if they are refused. Returns whether the packet asked for a
    /// simulation, and the result.
    fn decode(&mut self, bytes: &[u8]) -> (bool, Result<Baseline, DecodeError>) {
        let mut out = self.held.first().cloned().unwrap_or_default();
        let before = out.clone();
        let held = &self.held;
        let lookup = |sequence| held.iter().find(|baseline| baseline.sequence() == sequence);
        let begun = self.decoder.begin(bytes, lookup);
        let inputs = begun.as_ref().ok().and_then(|begun| begun.inputs()).copied();
        if let Some(inputs) = &inputs {
            let ticks = usize::from(inputs.origin().age());
            assert!(ticks > 0 && (1..=4).contains(&inputs.seats()));
            assert_eq!(inputs.bytes().len(), ticks * inputs.seats());
        }
        let prediction = self.prediction.as_ref();
        let decoded =
            begun.and_then(|begun| self.decoder.finish(begun, lookup, prediction, &mut out));
        assert!(self.decoder.state_chunk().len() <= 1_023);
        let decoded = match decoded {
            Ok(header) => {
                assert_eq!(out.sequence(), header.sequence);
                assert_eq!(out.origin(), inputs.map(|inputs| inputs.origin()));
                Ok(out)
            }
            Err(error) => {
                assert_eq!(out, before, "{}: {error}", self.name);
                // No data of a refused packet is left.
                assert!(self.decoder.state_chunk().is_empty());
                let ledger = self.decoder.ledger();
                assert!(ledger.is_none_or(|ledger| ledger.total() == 0.0));
                assert!(!error.to_string().is_empty());
                Err(error)
            }
        };
        (inputs.is_some(), decoded)
    }
}

/// Unusual parameters for every stage that has parameters.
fn unusual() -> Rung {
    let stages = "orientation=smallest-three-9+velocity=omitted+position=quantized-4096\
                  +delta=relative-indices-1-2+relative-position=two-ranges-18-18\
                  +relative-orientation=two-ranges-1-10+changed-flags=separate";
    Rung { name: "unusual", stages: stages.parse().unwrap(), ..CHANGED_FLAGS }
}

/// Packets with all origins, some of them with state chunks.
fn simulated_victims() -> Vec<Victim> {
    let (initial, frames) = play();
    let mut victims = Vec::new();
    let mut lanes = [1, 4].map(|seats| {
        Lane::of(Plan::cubes().with_seats(seats).unwrap(), &initial, BitLedger::new())
    });
    for (tick, current) in frames.iter().enumerate() {
        // One seat and four in turn.
        let seats = [1, 4][tick % 2];
        let lane = &mut lanes[tick % 2];
        let origin = match tick % 4 {
            0 => Some(Origin::Continued(6)),
            1 => Some(Origin::FromSceneStart(tick as u8 + 1)),
            2 => Some(Origin::Restored(255)),
            _ => None,
        };
        let inputs = origin.and_then(|origin| {
            let inputs = vec![tick as u8 / 5; seats * usize::from(origin.age())];
            Inputs::new(origin, &inputs)
        });
        let simulated =
            Simulated { inputs: inputs.as_ref(), state_chunk: &vec![0xA5; tick % 4 * 40] };
        let names = [6, 7, 8].map(|age| Some(Sequence(tick.checked_sub(age)? as u16)));
        let numbered = (Sequence(tick as u16), SIMULATED.stages);
        lane.send_simulated(numbered, current, names, simulated);
        victims.push(Victim {
            prediction: Some(current.clone()),
            ..Victim::of(lane, "simulated", SIMULATED.stages)
        });
    }
    victims
}

/// Packets of every rung and of unusual parameters, from random scenes.
fn victims(seed: u64) -> Vec<Victim> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut victims = simulated_victims();
    let more = [ARITHMETIC, PREDICTED, AFFINE, unusual(), unusual()];
    for rung in LADDER.into_iter().chain(more) {
        for _ in 0..4 {
            let play = Play::new(rng.random_range(0..=60), 4, rng.random());
            let mut lane = Lane::new(&play.initial, BitLedger::new());
            let mut before = None;
            for (sequence, snapshot) in play.frames {
                lane.send(sequence, rung.stages, &snapshot, before);
                before = Some(sequence);
                victims.push(Victim::of(&lane, rung.name, rung.stages));
            }
        }
    }
    let mut runner = TestRunner::new(ProptestConfig {
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    });
    for _ in 0..60 {
        let plan = Plan::new(schema(40).new_tree(&mut runner).unwrap().current()).unwrap();
        let rungs = legal_rungs(&plan);
        let rung = rungs[victims.len() % rungs.len()];
        let lane = send(&plan, &[rung], seed, 12);
        victims.push(Victim::of(&lane, "another scene", rung));
    }
    victims
}

pub(crate) fn mutate(rng: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..=4) {
        match rng.random_range(0..5) {
            0 => {
                let length = rng.random_range(0..=bytes.len());
                bytes.truncate(length);
            }
            1 => bytes.extend((0..rng.random_range(1..20)).map(|_| rng.random::<u8>())),
            2 if !bytes.is_empty() => {
                let offset = rng.random_range(0..bytes.len());
                bytes[offset] = rng.random();
            }
            3 => *bytes = (0..rng.random_range(0..80)).map(|_| rng.random()).collect(),
            _ if !bytes.is_empty() => {
                let bit = rng.random_range(0..bytes.len() * 8);
                flip(bytes, bit);
            }
            _ => {}
        }
    }
}

#[test]
fn mutated_packets_are_a_snapshot_or_an_error() {
    let seed = crate::seed();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut victims = victims(seed);
    let count = victims.len();
    let [mut refused, mut simulated] = [0; 2];
    for round in 0..MUTATIONS {
        let victim = &mut victims[round % count];
        let mut bytes = victim.bytes.clone();
        mutate(&mut rng, &mut bytes);
        let (is_simulated, decoded) = victim.decode(&bytes);
        refused += usize::from(decoded.is_err());
        simulated += usize::from(is_simulated);
    }
    // The same receivers still decode their original packets.
    for mut victim in victims {
        let bytes = victim.bytes.clone();
        victim.decode(&bytes).1.unwrap();
    }
    let accepted = MUTATIONS - refused;
    assert!(
        refused > MUTATIONS / 4 && accepted > MUTATIONS / 100 && simulated > MUTATIONS / 200,
        "{refused} {accepted} {simulated}"
    );
}

#[test]
fn every_truncation_and_every_extension_is_refused() {
    let (mut checked, mut passed) = (0, 0);
    for mut victim in victims(1) {
        let whole = victim.bytes.clone();
        for length in 0..whole.len() {
            let error = match victim.decode(&whole[..length]) {
                // A truncated packet can have other inputs. This receiver always simulates the same snapshot.
                (true, _) => continue,
                (_, Err(error)) => error,
                // The check has 14 bits, so few damaged packets pass.
                (_, Ok(_)) if victim.is_arithmetic => {
                    passed += 1;
                    continue;
                }
                (_, Ok(_)) => panic!("{}: {length} bytes", victim.name),
            };
            checked += usize::from(matches!(error, DecodeError::Check(_)));
            // Arithmetic coding reads zeros after the end, and the check detects the wrong result.
            let is_noticed = victim.is_arithmetic
                && matches!(
                    error,
                    DecodeError::Check(_)
                        | DecodeError::UnknownBaseline(_)
                        | DecodeError::NonCanonical { .. }
                        | DecodeError::OutOfRange { .. }
                        | DecodeError::Desync(_)
                );
            assert!(
                is_noticed
                    || matches!(error, DecodeError::Truncated { at_bit, .. } if at_bit == length as u64 * 8),
                "{}: {error}",
                victim.name
            );
        }
        let longer = [&whole[..], &[0]].concat();
        let error = victim.decode(&longer).1.unwrap_err();
        assert!(matches!(
            error,
            DecodeError::TrailingBytes { bytes: 1, .. } | DecodeError::NonCanonical { .. }
        ));
    }
    println!("{checked} fail the check, {passed} pass");
    assert!(checked > 100 && passed <= 1 + checked / 4_000, "{checked} {passed}");
}

#[test]
fn errors_name_the_thing_and_the_position() {
    let state = Snapshot { bodies: vec![Default::default(); 5] };
    let mut decoder = Decoder::new(Plan::cubes(), state, Limits::default()).unwrap();
    // Full orientation, velocity and position, no delta. Floats follow, the third of them a NaN.
    let floats = [&[0, 7, 0x80, 0, 0][..], &[0x00; 4], &[0xff; 8]].concat();
    for (bytes, message) in [
        (&[][..], "the packet ends at bit 0, inside header"),
        (&[0, 7, 0b0100_0000, 0b1000_0000], "the packet is relative to #4, which is not stored"),
        (&floats, "position of body 0 before bit 132 is not a finite number"),
    ] {
        let decoded = decoder.decode(bytes, |_| None, &mut Baseline::default());
        assert_eq!(decoded.unwrap_err().to_string(), message);
    }
}

#[test]
fn an_initial_state_comes_back_bit_for_bit_and_nothing_else_does() {
    for seed in 0..50 {
        let Play { initial, .. } = Play::new(seed % 21, 0, seed as u64);
        let mut bytes = Vec::new();
        encode_initial(&initial, &mut bytes).unwrap();
        assert_eq!(bytes.len(), (17 + initial.bodies.len() * 321).div_ceil(8));
        let decoded = decode_initial(&bytes, Limits::default()).unwrap();
        // The texts distinguish −0 from 0.
        assert_eq!(format!("{decoded:?}"), format!("{initial:?}"));
        for length in 0..bytes.len() {
            assert!(decode_initial(&bytes[..length], Limits::default()).is_err());
        }
        bytes.push(0);
        assert!(decode_initial(&bytes, Limits::default()).is_err());
    }
}

#[test]
fn an_initial_state_larger_than_its_bytes_or_the_limits_is_refused() {
    // Claims 131 071 bodies.
    let huge = [0xff; 40];
    assert!(matches!(decode_initial(&huge, Limits::default()), Err(DecodeError::TooManyBodies(_))));
    // Claims 65 536 bodies, but has no bytes for them.
    let error = decode_initial(&[0x80, 0, 0, 0], Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the packet ends at bit 32, inside position of body 0");
    let limits = Limits { max_bodies: 2 };
    let mut bytes = Vec::new();
    let three = Snapshot { bodies: vec![Default::default(); 3] };
    encode_initial(&three, &mut bytes).unwrap();
    let error = decode_initial(&bytes, limits).unwrap_err();
    assert_eq!(error.to_string(), "initial state: 3 bodies are more than the limit of 2");
    assert!(Decoder::new(Plan::cubes(), three, limits).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_a_header_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..14)) {
        if let Ok(header) = Header::decode(&bytes) {
            // No other header has the same meaning.
            let encoded = header.encode();
            let whole = encoded.len() - 1;
            prop_assert_eq!(&encoded[..whole], &bytes[..whole]);
        }
    }

    #[test]
    fn any_bytes_are_an_initial_state_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = decode_initial(&bytes, Limits::default());
    }
}
