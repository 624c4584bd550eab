//! Bytes that nobody who means well would send.

use std::time::Duration;

use cubewire_codec::Limits;
use cubewire_link::Conditions;
use cubewire_protocol::{Feedback, Welcome};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pair::Pair;

proptest! {
    #[test]
    fn any_bytes_are_feedback_or_refused(bytes in vec(any::<u8>(), 0..12)) {
        if let Ok(feedback) = Feedback::decode(&bytes) {
            prop_assert_eq!(feedback.encode(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_a_welcome_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        let limits = Limits { max_cubes: 901 };
        let _ = Welcome::decode(&bytes, limits);
    }

    #[test]
    fn a_sender_that_is_told_anything_goes_on(
        messages in vec((any::<bool>(), any::<u16>(), any::<u32>()), 1..60),
    ) {
        let mut pair = Pair::new(Conditions::default(), 5);
        for (is_ack, sequence, earlier) in messages {
            let mut message = vec![u8::from(!is_ack)];
            message.extend(sequence.to_be_bytes());
            if is_ack {
                message.extend(earlier.to_be_bytes());
            }
            pair.sender.on_message(&message).unwrap();
            pair.step();
        }
        // It named what the receiver never had at worst, was told, and is believed again.
        pair.run(20);
        let before = pair.decoded;
        pair.run(20);
        prop_assert_eq!(pair.decoded - before, 20);
    }

    #[test]
    fn damaged_packets_change_nothing_that_is_held(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        ticks in 1_u64..40,
    ) {
        let mut pair = Pair::new(Conditions::default(), 6);
        pair.run(ticks);
        let newest = pair.receiver.newest().unwrap();
        let held = pair.receiver.get(newest).cloned();
        for (place, value) in damage {
            let mut packet = pair.sender.packet().bytes.clone();
            let place = place.index(packet.len());
            packet[place] ^= value | 1;
            packet.truncate(place + 7);
            let now = pair.now() + Duration::from_millis(1);
            let _ = pair.receiver.on_packet(now, &packet);
        }
        prop_assert_eq!(pair.receiver.get(newest).cloned(), held);
    }
}
