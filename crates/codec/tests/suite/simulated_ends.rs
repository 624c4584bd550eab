//! What either end of a simulated scene refuses and keeps, and a play of both.

use cubewire_codec::ladder::{DELTA, PREDICTED, SIMULATED};
use cubewire_codec::simulation::MAX_ATTACHMENT_BYTES;
use cubewire_codec::{
    Baseline, BitLedger, DecodeError, EncodeError, Encoder, Limits, Origin, Packet, References,
    Sequence, Simulated,
};

use crate::engine::{Foreseen, World};
use crate::golden::play;
use crate::scene::Lane;
use crate::simulated::{BASELINE, Ends, HEAD, continued};

#[test]
fn what_was_attached_is_forgotten_with_the_next_packet() {
    let mut ends = Ends::new();
    let mut scene = continued(vec![7; 6]);
    scene.attachment = vec![1, 2, 3];
    ends.send_after(6, 9, &scene);
    assert_eq!(ends.lane.decoder.simulated().attachment, [1, 2, 3]);
    let names = [Some(BASELINE), None, None];
    for stages in [DELTA.stages, PREDICTED.stages, SIMULATED.stages] {
        let numbered = (Sequence(BASELINE.0 + 7), stages);
        let frame = &ends.frames[7];
        ends.lane
            .send_simulated(numbered, frame, names, Simulated::default(), &mut ());
        let simulated = ends.lane.decoder.simulated();
        assert!(simulated.attachment.is_empty() && simulated.inputs.is_empty());
        assert_eq!(simulated.origin, None);
        ends.send_after(6, 9, &scene);
    }
}

#[test]
fn wrong_arguments_are_named_and_nothing_is_lost() {
    let (initial, frames) = play();
    let mut encoder = Encoder::new(initial, Limits::default()).unwrap();
    let mut baseline = Baseline::default();
    baseline.record(BASELINE, PREDICTED.stages, &frames[0], None);
    let sequence = Sequence(BASELINE.0 + 6);
    let mut fewer = frames[6].clone();
    fewer.assign(9, []).unwrap();
    let mut wider = frames[6].clone();
    wider.assign(10, []).unwrap();
    let inputs = [7; 256];
    let attachment = [0; MAX_ATTACHMENT_BYTES + 1];
    let fits = Some(&frames[6]);
    let six = Simulated {
        origin: Some(Origin::Corrected),
        inputs: &inputs[..6],
        prediction: fits,
        attachment: &[],
    };
    let from = |origin, count: usize| Simulated {
        origin: Some(origin),
        inputs: &inputs[..count],
        ..six
    };
    let inputs = |origin, inputs| EncodeError::Inputs { origin, inputs };
    let (first, none) = (Some(&baseline), None);
    let attempts = [
        (
            first,
            from(Origin::Continued(6), 5),
            inputs(Origin::Continued(6), 5),
        ),
        (
            first,
            from(Origin::Started(6), 7),
            inputs(Origin::Started(6), 7),
        ),
        (
            first,
            from(Origin::Restored(0), 0),
            inputs(Origin::Restored(0), 0),
        ),
        (
            first,
            from(Origin::Corrected, 5),
            inputs(Origin::Corrected, 5),
        ),
        (first, from(Origin::Cold, 256), inputs(Origin::Cold, 256)),
        (none, six, inputs(Origin::Corrected, 6)),
        (
            first,
            Simulated {
                prediction: None,
                ..six
            },
            EncodeError::Prediction(Origin::Corrected),
        ),
        (
            first,
            Simulated {
                prediction: Some(&fewer),
                ..six
            },
            EncodeError::Prediction(Origin::Corrected),
        ),
        (
            first,
            Simulated {
                prediction: Some(&wider),
                ..from(Origin::Cold, 6)
            },
            EncodeError::Prediction(Origin::Cold),
        ),
        (
            first,
            Simulated {
                attachment: &attachment,
                ..Simulated::default()
            },
            EncodeError::Attachment(1_024),
        ),
    ];
    let (mut packet, mut kept) = (Packet::default(), Baseline::default());
    let mut encode = |baseline, simulated, packet: &mut Packet, kept: &mut Baseline| {
        let references = References {
            baseline,
            simulated,
            ..References::default()
        };
        let stages = SIMULATED.stages;
        encoder.encode(sequence, stages, &frames[6], references, packet, Some(kept))
    };
    encode(first, six, &mut packet, &mut kept).unwrap();
    let before = (packet.clone(), kept.clone());
    for (baseline, simulated, expected) in attempts {
        let error = encode(baseline, simulated, &mut packet, &mut kept).unwrap_err();
        assert_eq!(error, expected);
        assert_eq!((&packet, &kept), (&before.0, &before.1));
    }
    let message = EncodeError::Prediction(Origin::Cold).to_string();
    assert!(message.contains("prediction") && message.contains("Cold"));
    let message = EncodeError::Inputs {
        origin: Origin::Corrected,
        inputs: 5,
    };
    assert!(message.to_string().contains("5 inputs"), "{message}");
}

#[test]
fn a_receiver_without_the_world_is_told_so() {
    let mut ends = Ends::new();
    let sequence = Sequence(BASELINE.0 + 6);
    ends.send_after(6, 9, &continued(vec![7; 6]));
    let bytes = ends.lane.packet.bytes.clone();
    let received = &ends.lane.received;
    let held = |sequence: Sequence| received.get(&sequence.0);
    let decoder = &mut ends.lane.decoder;
    let mut out = Baseline::default();
    let error = decoder.decode(&bytes, held, &mut out).unwrap_err();
    assert_eq!(error, DecodeError::Simulation(sequence));
    // A world of other cubes, or in another precision.
    let mut fewer = ends.frames[9].clone();
    fewer.assign(9, []).unwrap();
    let mut wider = ends.frames[9].clone();
    wider.assign(10, []).unwrap();
    for prediction in [fewer, wider] {
        let mut engine = Foreseen::new(&prediction);
        let error = decoder.decode_simulated(&bytes, held, &mut engine, &mut out);
        assert_eq!(error, Err(DecodeError::Simulation(sequence)));
    }
    assert_eq!(out, Baseline::default());
}

#[test]
fn two_ends_that_simulate_the_same_need_the_keys_alone() {
    // Both play, and the receiver only knows which keys there were.
    const TICKS: u16 = 200;
    const AGE: u16 = 6;
    let start = World::new(40);
    let mut lane = Lane::new(&start.initial(), BitLedger::new());
    let (mut sender, mut engine) = (start.clone(), start.engine());
    let keys = |tick: u16| [0, 1, 3, 8][usize::from(tick / 17 % 4)];
    for tick in 1..=TICKS {
        sender.step(keys(tick));
        // Somebody moves a cube that the receiver does not know of.
        let is_moved = tick == 120;
        if is_moved {
            sender.cubes[5].position[0] += 100;
        }
        let baseline = tick.checked_sub(AGE).filter(|&tick| tick > 0).map(Sequence);
        let first = baseline.map_or(1, |Sequence(before)| before + 1);
        let inputs: Vec<u8> = (first..=tick).map(keys).collect();
        let count = inputs.len() as u8;
        let origin = match baseline {
            _ if tick >= 120 => Origin::Corrected,
            Some(_) => Origin::Continued(count),
            None => Origin::Started(count),
        };
        // The sender has an engine for the receiver's wrong worlds.
        let prediction = baseline.map(|baseline| {
            let mut world = World::of(lane.sent[&baseline.0].snapshot());
            inputs.iter().for_each(|&input| world.step(input));
            world.snapshot()
        });
        let simulated = Simulated {
            origin: Some(origin),
            inputs: &inputs,
            prediction: prediction.as_ref(),
            attachment: &[],
        };
        let numbered = (Sequence(tick), SIMULATED.stages);
        let current = sender.snapshot();
        let names = [baseline, None, None];
        lane.send_simulated(numbered, &current, names, simulated, &mut engine);
        let bytes = lane.packet.bytes.len();
        let has_long_check = tick.is_multiple_of(60);
        let is_same = inputs.iter().all(|&input| input == keys(first - 1));
        match origin {
            Origin::Continued(_) if is_same && !has_long_check => assert_eq!(bytes, HEAD),
            Origin::Continued(_) => assert!(bytes <= HEAD + 7, "{bytes}"),
            Origin::Corrected if is_moved => assert_eq!(lane.packet.sent_cubes, 1),
            _ => {}
        }
        // Once the baseline has it, the simulation is right again.
        if tick >= 120 + AGE {
            assert_eq!(lane.packet.sent_cubes, 0, "{tick}");
            assert!(!is_same || has_long_check || bytes == HEAD + 1);
        }
    }
}
