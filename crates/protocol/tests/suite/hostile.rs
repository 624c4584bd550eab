//! Damaged and hostile messages.

use std::time::Duration;

use cubewire_codec::{Limits, Sequence};
use cubewire_link::{Conditions, Loss};
use cubewire_protocol::{Ack, Arrival, Feedback, FeedbackError, Welcome};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pair::Pair;

proptest! {
    #[test]
    fn any_bytes_are_feedback_or_rejected(bytes in vec(any::<u8>(), 0..12)) {
        if let Ok(feedback) = Feedback::decode(&bytes) {
            prop_assert_eq!(feedback.encode(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_a_welcome_or_rejected(bytes in vec(any::<u8>(), 0..200)) {
        let limits = Limits { max_bodies: 901 };
        let _ = Welcome::decode(&bytes, limits);
    }

    #[test]
    fn a_sender_survives_any_feedback(
        messages in vec((any::<bool>(), any::<u16>(), any::<u32>()), 1..60),
    ) {
        // Half of the packets are lost, so that many of the acks are false.
        let mut pair = Pair::new(rough(), 5);
        for (is_ack, sequence, earlier) in messages {
            let mut message = vec![u8::from(!is_ack)];
            message.extend(sequence.to_be_bytes());
            if is_ack {
                message.extend(earlier.to_be_bytes());
            }
            if let Err(error) = pair.sender.on_message(&message) {
                prop_assert!(matches!(error, FeedbackError::NeverSent(_)));
            }
            pair.step();
        }
        // At worst it names a baseline that the receiver never had, and recovers from the report.
        pair.set_conditions(&Conditions::default());
        pair.run(60);
        let before = pair.decoded;
        pair.run(20);
        prop_assert_eq!(pair.decoded - before, 20);
    }

    #[test]
    fn damaged_packets_change_no_held_snapshot(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        ticks in 1_u64..40,
    ) {
        let mut pair = Pair::new(Conditions::default(), 6);
        pair.run(ticks);
        let newest = pair.receiver.newest().unwrap();
        let held = pair.receiver.get(newest).cloned();
        for (index, value) in damage {
            let mut packet = pair.sender.packet().bytes.clone();
            let index = index.index(packet.len());
            packet[index] ^= value | 1;
            packet.truncate(index + 7);
            let now = pair.now() + Duration::from_millis(1);
            let _ = pair.receiver.on_packet(now, &packet);
        }
        prop_assert_eq!(pair.receiver.get(newest).cloned(), held);
        // The clock is not led astray either, even where the number was damaged.
        pair.run(300);
        let before = pair.decoded;
        pair.run(20);
        prop_assert_eq!(pair.decoded - before, 20);
    }
}

fn rough() -> Conditions {
    Conditions {
        latency: Duration::from_millis(40),
        loss: Loss::Independent { probability: 0.5 },
        ..Conditions::default()
    }
}

#[test]
fn a_sender_recovers_from_a_false_ack() {
    let mut pair = Pair::new(Conditions::default(), 7);
    pair.cut(true);
    pair.run(5);
    let false_ack = Feedback::Ack(Ack {
        newest: Sequence(5),
        earlier: 0,
    });
    pair.sender.on_message(&false_ack.encode()).unwrap();
    pair.cut(false);
    pair.run(3);
    assert!(pair.sender.missing_baselines() > 0);
    assert!(!pair.rejected.is_empty());
    let before = pair.decoded;
    pair.run(20);
    assert_eq!(pair.decoded - before, 20);
}

#[test]
fn a_number_from_far_ahead_does_not_set_the_clock() {
    let mut pair = Pair::new(Conditions::default(), 8);
    pair.run(100);
    let mut packet = pair.sender.packet().bytes.clone();
    packet[0] ^= 0x40;
    let now = pair.now();
    let arrival = pair.receiver.on_packet(now, &packet);
    assert!(
        matches!(arrival, Ok(Arrival::OutOfWindow { .. })),
        "{arrival:?}"
    );
    let before = pair.decoded;
    pair.run(20);
    assert_eq!(pair.decoded - before, 20);
}

#[test]
fn a_clock_that_stood_still_is_corrected() {
    let mut pair = Pair::new(Conditions::default(), 9);
    pair.run(100);
    // The receiver's machine was suspended for a minute, and its clock with it.
    pair.skip(3_600);
    let before = pair.decoded;
    pair.run(100);
    assert_eq!(
        pair.decoded - before,
        40,
        "the first 60 packets are ignored"
    );
}
