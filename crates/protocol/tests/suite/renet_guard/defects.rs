//! Shows each defect of renet 2.0.1 against renet alone. The guard must then refuse these packets.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cubewire_protocol::renet_guard::{
    MAX_GAP, MAX_PACKET_BYTES, MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES, RELIABLE_CHANNEL,
    RefusedPacket, RenetGuard, SLICE_BYTES, UNRELIABLE_CHANNEL,
};
use renet::DisconnectReason;

use super::{
    ACK, CHANNELS, LIMIT, connection, head, memory, received, slice, slice_of, small, varint,
};

/// State of a renet connection after it received packets without a guard.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Panicked,
    Ended,
    /// Bytes that renet counts in both receiving channels after all messages have been taken and incomplete
    /// unreliable ones discarded.
    Counted(usize),
}

fn unguarded(packets: &[Vec<u8>]) -> Outcome {
    let mut connection = connection();
    let all = AssertUnwindSafe(|| {
        for packet in packets {
            connection.process_packet(packet);
        }
        for channel in CHANNELS {
            received(&mut connection, channel);
        }
        connection.update(Duration::from_secs(4));
    });
    match catch_unwind(all) {
        Err(_) => Outcome::Panicked,
        Ok(()) if connection.is_disconnected() => Outcome::Ended,
        Ok(()) => Outcome::Counted(memory(&connection).0),
    }
}

/// Returns the answers of a new guard.
fn answers(packets: &[Vec<u8>]) -> Vec<Result<(), RefusedPacket>> {
    let mut guard = RenetGuard::new();
    packets.iter().map(|packet| guard.check(packet)).collect()
}

/// Checks what renet does with packets: the outcome, or `None` for a panic or a wrong count. The guard must refuse the
/// last packet only.
fn check_defect(packets: &[Vec<u8>], outcome: Option<Outcome>, refused: RefusedPacket) {
    let without = unguarded(packets);
    match outcome {
        Some(outcome) => assert_eq!(without, outcome, "{refused}"),
        None => assert_ne!(without, Outcome::Counted(0), "{refused}"),
    }
    let answers = answers(packets);
    let (last, before) = answers.split_last().unwrap();
    assert!(before.iter().all(Result::is_ok), "{refused}: {before:?}");
    assert_eq!(*last, Err(refused));
}

/// Checks that renet and the guard accept these packets.
fn check_legal(packets: &[Vec<u8>]) {
    assert_eq!(unguarded(packets), Outcome::Counted(0));
    assert!(answers(packets).iter().all(Result::is_ok));
}

/// `SliceConstructor::process_slice` indexes `received` with the packet's slice index.
#[test]
fn a_slice_index_beyond_the_count_panics_in_renet() {
    for channel in CHANNELS {
        for index in [3, 4, 1 << 40] {
            let refused = RefusedPacket::Slice { index, slices: 3, bytes: 1200 };
            check_defect(&[slice(channel, 1, index, 3)], Some(Outcome::Panicked), refused);
        }
    }
}

/// renet takes the slice count of the first slice and does not compare the others with it.
#[test]
fn two_slice_counts_of_a_message_panic_in_renet_or_are_counted_wrongly() {
    let differing =
        |message, slices, earlier| RefusedPacket::SliceCount { message, slices, earlier };
    for channel in CHANNELS {
        // Index 7 is below the second count and above the first.
        let beyond = [slice(channel, 0, 0, 3), slice(channel, 0, 7, 9)];
        check_defect(&beyond, Some(Outcome::Panicked), differing(0, 9, 3));
        // Completed with a larger count: renet subtracts more than it has added.
        let larger = [slice(channel, 0, 0, 2), slice(channel, 0, 1, 50)];
        check_defect(&larger, None, differing(0, 50, 2));
        // Completed with a smaller count: 18 slices stay counted for the life of the connection.
        let mut smaller: Vec<_> = (1..20).map(|index| slice(channel, 0, index, 20)).collect();
        smaller.push(slice(channel, 0, 0, 2));
        check_defect(&smaller, Some(Outcome::Counted(18 * 1200)), differing(0, 2, 20));
    }
    // A complete unreliable message may be sent again. renet then starts it again.
    let [first, second] = [0, 1].map(|index| slice(UNRELIABLE_CHANNEL, 4, index, 2));
    let mut packets = vec![first.clone(), second, first];
    check_legal(&packets);
    packets.push(slice(UNRELIABLE_CHANNEL, 4, 1, 50));
    check_defect(&packets, None, differing(4, 50, 2));
    // renet discards slices of complete reliable messages.
    check_legal(
        &[(0, 2), (1, 2), (0, 2), (3, 9)]
            .map(|(index, count)| slice(RELIABLE_CHANNEL, 0, index, count)),
    );
    // `ReceiveChannelReliable::process_message` does not drop the slices of a message that then arrives in one piece.
    let packets = [slice(RELIABLE_CHANNEL, 0, 0, 50), small(RELIABLE_CHANNEL, &[(0, 1)])];
    check_defect(&packets, Some(Outcome::Counted(50 * 1200)), differing(0, 1, 50));
    // In the other order, renet ignores the slices. The guard refuses them while it remembers the message.
    check_legal(&[small(RELIABLE_CHANNEL, &[(1, 1), (0, 1)]), slice(RELIABLE_CHANNEL, 1, 0, 50)]);
}

/// renet only counts contents.
#[test]
fn empty_messages_cost_nothing_in_renet() {
    for channel in CHANNELS {
        let empty: Vec<_> = (1..=60).map(|message| (message, 0)).collect();
        let packet = small(channel, &empty);
        let mut connection = connection();
        connection.process_packet(&packet);
        assert_eq!(memory(&connection).0, 0);
        let held = format!("{connection:?}").matches("b\"\"").count();
        assert_eq!(held, 60);
        assert_eq!(answers(&[packet]), [Err(RefusedPacket::MessageLength(0))]);
    }
    // renet refuses an empty slice of a reliable message, and accepts one of an unreliable message.
    let refused = RefusedPacket::Slice { index: 0, slices: 1, bytes: 0 };
    let packets = [slice_of(UNRELIABLE_CHANNEL, 0, 0, 1, 0)];
    check_defect(&packets, Some(Outcome::Counted(0)), refused);
}

/// renet stores any number of messages after a missing one, and only counts their contents.
#[test]
fn reliable_messages_far_beyond_a_gap_are_refused() {
    let mut connection = connection();
    for first in (1..100_000).step_by(60) {
        let messages: Vec<_> = (first..first + 60).map(|message| (message, 1)).collect();
        connection.process_packet(&small(RELIABLE_CHANNEL, &messages));
    }
    assert!(received(&mut connection, RELIABLE_CHANNEL).is_empty());
    assert_eq!(memory(&connection).0, 100_020);

    let mut guard = RenetGuard::new();
    let one = |message| small(RELIABLE_CHANNEL, &[(message, 1)]);
    let far = |message, expected| Err(RefusedPacket::Gap { message, expected });
    assert_eq!(guard.check(&one(MAX_GAP)), far(MAX_GAP, 0));
    assert_eq!(guard.check(&slice(RELIABLE_CHANNEL, 1 << 61, 0, 2)), far(1 << 61, 0));
    // A refused packet is not recorded in part.
    let half = small(RELIABLE_CHANNEL, &[(0, 1), (1 << 61, 1)]);
    assert_eq!(guard.check(&half), far(1 << 61, 0));
    for message in [MAX_GAP - 1, MAX_GAP - 1, 1] {
        assert_eq!(guard.check(&one(message)), Ok(()));
    }
    assert_eq!(guard.check(&one(MAX_GAP)), far(MAX_GAP, 0));
    for index in [0, 0, 1] {
        assert_eq!(guard.check(&one(MAX_GAP + 1)), far(MAX_GAP + 1, 0));
        assert_eq!(guard.check(&slice(RELIABLE_CHANNEL, 0, index, 2)), Ok(()));
    }
    // Messages 0 and 1 are complete.
    assert_eq!(guard.check(&one(MAX_GAP + 1)), Ok(()));
    assert_eq!(guard.check(&one(MAX_GAP + 2)), far(MAX_GAP + 2, 2));
}

/// renet allocates memory for a whole message when its first slice arrives, up to the channel's limit.
#[test]
fn slice_counts_of_messages_beyond_the_limits_are_refused() {
    for (channel, max, all) in [
        (UNRELIABLE_CHANNEL, 256, MAX_UNRELIABLE_BYTES),
        (RELIABLE_CHANNEL, 55, MAX_RELIABLE_BYTES),
    ] {
        let mut connection = connection();
        connection.process_packet(&slice(channel, 0, 0, 13_000));
        assert_eq!(memory(&connection).0, 13_000 * 1200);
        for slices in [0, 1, max + 1, 13_000, 1 << 61] {
            let refused = RefusedPacket::Slice { index: 0, slices, bytes: 1200 };
            assert_eq!(answers(&[slice(channel, 0, 0, slices)]), [Err(refused)]);
        }
        let mut guard = RenetGuard::new();
        for index in 0..max - 1 {
            assert_eq!(guard.check(&slice(channel, 0, index, max)), Ok(()));
        }
        let last = all - SLICE_BYTES * (max as usize - 1);
        let too_long = slice_of(channel, 0, max - 1, max, last + 1);
        assert!(matches!(guard.check(&too_long), Err(RefusedPacket::Slice { .. })));
        assert_eq!(guard.check(&slice_of(channel, 0, max - 1, max, last)), Ok(()));
    }
}

/// The guard must not forget a slice count while renet may still have slices of the message.
#[test]
fn slices_of_forgotten_messages_are_refused() {
    let mut guard = RenetGuard::new();
    for message in 0..10_000 {
        assert_eq!(guard.check(&slice(UNRELIABLE_CHANNEL, message, 0, 2)), Ok(()));
    }
    let oldest = 10_000 - 4096;
    let answers =
        [oldest - 1, oldest].map(|message| guard.check(&slice(UNRELIABLE_CHANNEL, message, 1, 2)));
    assert_eq!(answers, [Err(RefusedPacket::TooLate(oldest - 1)), Ok(())]);
}

/// renet itself ends the connection for most of these packets, and ignores trailing bytes.
#[test]
fn damaged_packets_are_refused_with_a_reason() {
    let refused = |packet: &[u8]| RenetGuard::new().check(packet).unwrap_err();
    for packet in [small(RELIABLE_CHANNEL, &[(0, 3), (1, 3)]), slice(UNRELIABLE_CHANNEL, 3, 0, 2)] {
        for length in 0..packet.len() {
            assert_eq!(refused(&packet[..length]), RefusedPacket::Truncated, "{length}");
        }
        let longer = [&packet[..], &[0, 0]].concat();
        assert_eq!(refused(&longer), RefusedPacket::TrailingBytes(2));
    }
    let long = [ACK; MAX_PACKET_BYTES + 1];
    assert_eq!(refused(&long), RefusedPacket::TooLong(1301));
    for (kind, channel) in [(0, 0), (1, 1), (2, 2), (3, 1), (5, 0), (255, 1)] {
        assert_eq!(refused(&head(kind, channel)), RefusedPacket::Channel { kind, channel });
    }
    let long = refused(&small(UNRELIABLE_CHANNEL, &[(0, SLICE_BYTES + 1)]));
    assert_eq!(long.to_string(), "message of 1201 bytes outside 1..=1200");
}

/// The guard leaves these to renet.
#[test]
fn renet_ends_the_connection_for_illegal_acks_and_descending_sequences() {
    let ack = |numbers: &[u64]| {
        let mut bytes = vec![ACK];
        numbers.iter().for_each(|&number| varint(number, &mut bytes));
        bytes
    };
    // A range below 0; missing ranges; ranges that meet.
    for numbers in [&[7, 5, 6, 0][..], &[7, 9, 1, 1 << 61], &[7, 9, 1, 1, 7, 0]] {
        let packet = ack(numbers);
        assert_eq!(RenetGuard::new().check(&packet), Ok(()));
        assert_eq!(unguarded(&[packet]), Outcome::Ended);
    }
    let mut connection = connection();
    connection.send_message(RELIABLE_CHANNEL, vec![1; SLICE_BYTES + 1]);
    assert_eq!(connection.get_packets_to_send().len(), 2);
    connection.process_packet(&ack(&[7, (1 << 62) - 1, (1 << 62) - 1, 0]));
    assert_eq!(connection.channel_available_memory(RELIABLE_CHANNEL), LIMIT);

    for sequence in (0..2_000).rev().step_by(2) {
        connection.process_packet(&ack(&[sequence, 0, 0, 0]));
    }
    assert!(connection.get_packets_to_send().is_empty());
    let reason = connection.disconnect_reason();
    assert!(matches!(reason, Some(DisconnectReason::PacketSerialization(_))));
}
