//! Shows each defect of renet 2.0.1 against renet alone. The guard must then refuse these packets.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use renet::{ChannelConfig, ConnectionConfig, DisconnectReason, RenetClient, SendType};

use super::*;

/// One byte more than a slice, so that a message has two slices.
const LONG: usize = SLICE_BYTES + 1;

fn connection() -> RenetClient {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: 16 << 20,
        send_type,
    };
    let resend_time = Duration::from_millis(300);
    let channels = vec![
        channel(UNRELIABLE_CHANNEL, SendType::Unreliable),
        channel(RELIABLE_CHANNEL, SendType::ReliableOrdered { resend_time }),
    ];
    let mut connection = RenetClient::new(ConnectionConfig {
        available_bytes_per_tick: 1 << 20,
        server_channels_config: channels.clone(),
        client_channels_config: channels,
    });
    connection.set_connected();
    connection
}

/// State of a renet connection after it received packets without a guard.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Panicked,
    Ended(DisconnectReason),
    /// Bytes that renet counts in both receiving channels after all messages have been taken and incomplete
    /// unreliable ones discarded.
    Counted(u64),
}

fn unguarded(packets: &[Vec<u8>]) -> Outcome {
    let mut connection = connection();
    let all = AssertUnwindSafe(|| {
        for packet in packets {
            connection.process_packet(packet);
        }
        drain(&mut connection);
        connection.update(Duration::from_secs(4));
    });
    match catch_unwind(all) {
        Err(_) => Outcome::Panicked,
        Ok(()) => connection
            .disconnect_reason()
            .map_or_else(|| Outcome::Counted(counted(&connection)), Outcome::Ended),
    }
}

/// Takes the messages that have arrived and returns their number.
fn drain(connection: &mut RenetClient) -> usize {
    let channels = [UNRELIABLE_CHANNEL, RELIABLE_CHANNEL];
    let taken =
        channels.map(|channel| std::iter::from_fn(|| connection.receive_message(channel)).count());
    taken.iter().sum()
}

/// Returns the sum of renet's memory counters, which only its debug output shows.
fn counted(connection: &RenetClient) -> u64 {
    let text = format!("{connection:?}");
    let counters = text.split(" memory_usage_bytes: ").skip(1);
    let digits = counters.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.map(|digits| digits.unwrap().parse::<u64>().unwrap()).sum()
}

/// Returns the first refusal of a new guard.
fn refused(packets: &[Vec<u8>]) -> RefusedPacket {
    let mut guard = RenetGuard::new();
    let mut answers = packets.iter().map(|packet| guard.check(packet));
    answers.find_map(Result::err).expect("none was refused")
}

fn put(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend((value | 3 << 62).to_be_bytes());
}

fn head(kind: u8, channel: u8) -> Vec<u8> {
    let mut bytes = vec![kind];
    put(&mut bytes, 7);
    bytes.push(channel);
    bytes
}

fn small(channel: u8, messages: &[(u64, usize)]) -> Vec<u8> {
    let mut bytes = head(1 - channel, channel);
    bytes.extend((messages.len() as u16).to_be_bytes());
    for &(message, length) in messages {
        if channel == RELIABLE_CHANNEL {
            put(&mut bytes, message);
        }
        put(&mut bytes, length as u64);
        bytes.extend(vec![5; length]);
    }
    bytes
}

fn slice_of(channel: u8, message: u64, index: u64, slices: u64, length: usize) -> Vec<u8> {
    let mut bytes = head(3 - channel, channel);
    for value in [message, index, slices, length as u64] {
        put(&mut bytes, value);
    }
    bytes.extend(vec![6; length]);
    bytes
}

fn slice(channel: u8, message: u64, index: u64, slices: u64) -> Vec<u8> {
    slice_of(channel, message, index, slices, 1200)
}

const CHANNELS: [u8; 2] = [UNRELIABLE_CHANNEL, RELIABLE_CHANNEL];

/// `SliceConstructor::process_slice` indexes `received` with the packet's slice index.
#[test]
fn a_slice_index_beyond_the_count_panics_in_renet() {
    for channel in CHANNELS {
        for index in [3, 4, 1 << 40] {
            let packets = [slice(channel, 1, index, 3)];
            assert_eq!(unguarded(&packets), Outcome::Panicked);
            let expected = RefusedPacket::Slice { index, slices: 3, bytes: 1200 };
            assert_eq!(refused(&packets), expected);
        }
    }
}

/// renet takes the slice count of the first slice and does not compare the others with it.
#[test]
fn two_slice_counts_of_a_message_panic_in_renet_or_are_counted_wrongly() {
    for channel in CHANNELS {
        // Index 7 is below the second count and above the first.
        let beyond = [slice(channel, 0, 0, 3), slice(channel, 0, 7, 9)];
        assert_eq!(unguarded(&beyond), Outcome::Panicked);
        // Completed with a larger count: renet subtracts more than it has added.
        let larger = [slice(channel, 0, 0, 2), slice(channel, 0, 1, 50)];
        let smaller = {
            let mut slices: Vec<_> = (1..20).map(|index| slice(channel, 0, index, 20)).collect();
            slices.push(slice(channel, 0, 0, 2));
            slices
        };
        assert_ne!(unguarded(&larger), Outcome::Counted(0));
        // Completed with a smaller count: 18 slices stay counted for the life of the connection.
        assert_eq!(unguarded(&smaller), Outcome::Counted(18 * 1200));
        for (packets, slices, earlier) in [(&beyond[..], 9, 3), (&larger, 50, 2), (&smaller, 2, 20)]
        {
            let expected = RefusedPacket::SliceCount { message: 0, slices, earlier };
            assert_eq!(refused(packets), expected);
        }
    }
}

/// A complete unreliable message may be sent again. renet then starts it again.
#[test]
fn a_complete_message_keeps_its_slice_count() {
    let [first, second] = [0, 1].map(|index| slice(UNRELIABLE_CHANNEL, 4, index, 2));
    let mut packets = vec![first.clone(), second, first];
    assert_eq!(unguarded(&packets), Outcome::Counted(0));
    packets.push(slice(UNRELIABLE_CHANNEL, 4, 1, 50));
    assert_ne!(unguarded(&packets), Outcome::Counted(0));
    let mut guard = RenetGuard::new();
    let answers: Vec<_> = packets.iter().map(|packet| guard.check(packet)).collect();
    assert_eq!(answers[..3], [Ok(()); 3]);
    assert!(matches!(answers[3], Err(RefusedPacket::SliceCount { .. })));
    // renet discards slices of complete reliable messages.
    let [first, second, other] =
        [(0, 2), (1, 2), (3, 9)].map(|(index, count)| slice(RELIABLE_CHANNEL, 0, index, count));
    let packets = [first.clone(), second, first, other];
    assert_eq!(unguarded(&packets), Outcome::Counted(0));
    let mut guard = RenetGuard::new();
    assert!(packets.iter().all(|packet| guard.check(packet).is_ok()));
}

/// `ReceiveChannelReliable::process_message` does not drop the slices of a message that then arrives in one piece.
#[test]
fn slices_of_a_message_that_arrives_in_one_piece_stay_counted_in_renet() {
    let packets = [slice(RELIABLE_CHANNEL, 0, 0, 50), small(RELIABLE_CHANNEL, &[(0, 1)])];
    assert_eq!(unguarded(&packets), Outcome::Counted(50 * 1200));
    let expected = RefusedPacket::SliceCount { message: 0, slices: 1, earlier: 50 };
    assert_eq!(refused(&packets), expected);
    // In the other order, renet ignores the slices. The guard refuses them while it remembers the message.
    let packets = [small(RELIABLE_CHANNEL, &[(1, 1), (0, 1)]), slice(RELIABLE_CHANNEL, 1, 0, 50)];
    assert_eq!(unguarded(&packets), Outcome::Counted(0));
    let mut guard = RenetGuard::new();
    assert!(packets.iter().all(|packet| guard.check(packet).is_ok()));
}

/// renet only counts contents.
#[test]
fn empty_messages_cost_nothing_in_renet() {
    for channel in CHANNELS {
        let empty: Vec<_> = (1..=60).map(|message| (message, 0)).collect();
        let packet = small(channel, &empty);
        let mut connection = connection();
        connection.process_packet(&packet);
        assert_eq!(counted(&connection), 0);
        let held = format!("{connection:?}").matches("b\"\"").count();
        assert_eq!(held, 60);
        assert_eq!(refused(&[packet]), RefusedPacket::MessageLength(0));
    }
    // renet refuses an empty slice of a reliable message, and accepts one of an unreliable message.
    let packets = [slice_of(UNRELIABLE_CHANNEL, 0, 0, 1, 0)];
    assert_eq!(unguarded(&packets), Outcome::Counted(0));
    assert!(matches!(refused(&packets), RefusedPacket::Slice { .. }));
}

/// renet stores any number of messages after a missing one, and only counts their contents.
#[test]
fn reliable_messages_far_beyond_a_gap_are_refused() {
    let mut connection = connection();
    for first in (1..100_000).step_by(60) {
        let messages: Vec<_> = (first..first + 60).map(|message| (message, 1)).collect();
        connection.process_packet(&small(RELIABLE_CHANNEL, &messages));
    }
    assert_eq!(drain(&mut connection), 0);
    assert_eq!(counted(&connection), 100_020);

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
    assert_eq!(guard.reliable.len() as u64, MAX_GAP);
    assert_eq!(guard.check(&one(MAX_GAP)), far(MAX_GAP, 0));
    for index in [0, 0, 1] {
        assert_eq!(guard.check(&one(MAX_GAP + 1)), far(MAX_GAP + 1, 0));
        let first = slice(RELIABLE_CHANNEL, 0, index, 2);
        assert_eq!(guard.check(&first), Ok(()));
    }
    assert_eq!(guard.expected, 2);
    assert_eq!(guard.check(&one(MAX_GAP + 1)), Ok(()));
}

/// renet allocates memory for a whole message when its first slice arrives, up to the channel's limit.
#[test]
fn slice_counts_of_messages_beyond_the_limits_are_refused() {
    for (channel, max) in CHANNELS.into_iter().zip([256, 55]) {
        let mut connection = connection();
        connection.process_packet(&slice(channel, 0, 0, 13_000));
        assert_eq!(counted(&connection), 13_000 * 1200);
        for slices in [0, 1, max + 1, 13_000, 1 << 61] {
            let packets = [slice(channel, 0, 0, slices)];
            assert!(matches!(refused(&packets), RefusedPacket::Slice { .. }));
        }
        let mut guard = RenetGuard::new();
        for index in 0..max - 1 {
            assert_eq!(guard.check(&slice(channel, 0, index, max)), Ok(()));
        }
        let all = [MAX_UNRELIABLE_BYTES, MAX_RELIABLE_BYTES][usize::from(channel)];
        let last = all - 1200 * (max as usize - 1);
        let too_long = slice_of(channel, 0, max - 1, max, last + 1);
        assert!(matches!(guard.check(&too_long), Err(RefusedPacket::Slice { .. })));
        let last = slice_of(channel, 0, max - 1, max, last);
        assert_eq!(guard.check(&last), Ok(()));
        assert_eq!(guard.expected, u64::from(channel));
    }
}

/// The guard must not forget a slice count while renet may still have slices of the message.
#[test]
fn slices_of_forgotten_messages_are_refused() {
    let mut guard = RenetGuard::new();
    for message in 0..10_000 {
        let packet = slice(UNRELIABLE_CHANNEL, message, 0, 2);
        assert_eq!(guard.check(&packet), Ok(()));
    }
    assert_eq!(guard.unreliable.len(), REMEMBERED);
    let oldest = 10_000 - REMEMBERED as u64;
    let answers =
        [oldest - 1, oldest].map(|message| guard.check(&slice(UNRELIABLE_CHANNEL, message, 1, 2)));
    assert_eq!(answers, [Err(RefusedPacket::TooLate(oldest - 1)), Ok(())]);
}

/// renet itself ends the connection for most of these packets, and ignores trailing bytes.
#[test]
fn damaged_packets_are_refused_with_a_reason() {
    let whole = small(RELIABLE_CHANNEL, &[(0, 3), (1, 3)]);
    let sliced = slice(UNRELIABLE_CHANNEL, 3, 0, 2);
    for packet in [&whole, &sliced] {
        for length in 0..packet.len() {
            let mut guard = RenetGuard::new();
            let answer = guard.check(&packet[..length]);
            assert_eq!(answer, Err(RefusedPacket::Truncated), "{length}");
        }
        let longer = [&packet[..], &[0, 0]].concat();
        assert_eq!(refused(&[longer]), RefusedPacket::TrailingBytes(2));
    }
    let long = vec![ACK; MAX_PACKET_BYTES + 1];
    assert_eq!(refused(&[long]), RefusedPacket::TooLong(1301));
    for (kind, channel) in [(0, 0), (1, 1), (2, 2), (3, 1), (5, 0), (255, 1)] {
        let answer = refused(&[head(kind, channel)]);
        assert_eq!(answer, RefusedPacket::Channel { kind, channel });
    }
    assert_eq!(
        refused(&[small(UNRELIABLE_CHANNEL, &[(0, LONG)])]).to_string(),
        "message of 1201 bytes outside 1..=1200"
    );
}

/// The guard leaves these to renet.
#[test]
fn renet_ends_the_connection_for_illegal_acks_and_descending_sequences() {
    let ack = |numbers: &[u64]| {
        let mut bytes = vec![ACK];
        for &number in [7].iter().chain(numbers) {
            put(&mut bytes, number);
        }
        bytes
    };
    // A range below 0; missing ranges; ranges that meet.
    for numbers in [&[5, 6, 0][..], &[9, 1, 1 << 61], &[9, 1, 1, 7, 0]] {
        let packet = ack(numbers);
        assert_eq!(RenetGuard::new().check(&packet), Ok(()));
        assert!(matches!(unguarded(&[packet]), Outcome::Ended(_)));
    }
    let mut connection = connection();
    connection.send_message(RELIABLE_CHANNEL, vec![1; LONG]);
    assert_eq!(connection.get_packets_to_send().len(), 2);
    connection.process_packet(&ack(&[(1 << 62) - 1, (1 << 62) - 1, 0]));
    let free = connection.channel_available_memory(RELIABLE_CHANNEL);
    assert_eq!(free, 16 << 20);

    for sequence in (0..2_000).rev().step_by(2) {
        let mut bytes = vec![ACK];
        for number in [sequence, 0, 0, 0] {
            put(&mut bytes, number);
        }
        connection.process_packet(&bytes);
    }
    assert!(connection.get_packets_to_send().is_empty());
    let reason = connection.disconnect_reason();
    assert!(matches!(reason, Some(DisconnectReason::PacketSerialization(_))));
}
