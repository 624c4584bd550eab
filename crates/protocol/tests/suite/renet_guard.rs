//! renet behind its guard: a correct peer works over any link, and other packets do no harm.

use std::time::Duration;

use allocation_counter::measure;
use cubewire_link::{Conditions, Jitter, Link, Loss};
use cubewire_protocol::renet_guard::{
    MAX_GAP, MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES, RELIABLE_CHANNEL, RenetGuard,
    UNRELIABLE_CHANNEL, ack_of,
};
use proptest::collection::vec;
use proptest::prelude::*;
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

use crate::random::cases;

const TICK: Duration = Duration::from_millis(16);

/// Memory limit of a channel, bytes.
const LIMIT: usize = 16 << 20;

/// Content of every message.
const CONTENT: u8 = b'a';

const ACK: u8 = 4;

fn connection() -> RenetClient {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: LIMIT,
        send_type,
    };
    let resend_time = Duration::from_millis(300);
    let reliable = SendType::ReliableOrdered { resend_time };
    let channels = vec![
        channel(UNRELIABLE_CHANNEL, SendType::Unreliable),
        channel(RELIABLE_CHANNEL, reliable),
    ];
    let mut connection = RenetClient::new(ConnectionConfig {
        available_bytes_per_tick: 16 << 20,
        server_channels_config: channels.clone(),
        client_channels_config: channels,
    });
    connection.set_connected();
    connection
}

fn received(connection: &mut RenetClient, channel: u8) -> Vec<Vec<u8>> {
    let messages = std::iter::from_fn(|| connection.receive_message(channel));
    messages.map(|message| message.to_vec()).collect()
}

/// Returns the bytes that the channels count and the bytes that they store, from renet's debug output.
fn memory(connection: &RenetClient) -> (usize, usize) {
    let text = format!("{connection:?}");
    let sum = |name: &str| {
        let values = text.split(name).skip(1);
        let digits = values.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        digits.map(|digits| digits.unwrap().parse::<usize>().unwrap()).sum::<usize>()
    };
    let messages = text.split("b\"").skip(1);
    let bytes = messages.map(|rest| rest.find('"').unwrap()).sum::<usize>();
    (sum(" memory_usage_bytes: "), 1200 * sum(" num_slices: ") + bytes)
}

#[derive(Clone, Debug)]
struct Scenario {
    conditions: Conditions,
    seed: u64,
    /// Whether packets with acks only are sent only after a reliable message arrived.
    saves_acks: bool,
    /// For each message, the sending end, the channel and the length.
    messages: Vec<(usize, u8, usize)>,
    per_tick: usize,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let conditions = (0.0..0.4, 0.0..0.5, 0..200_u64).prop_map(|(loss, duplicate, spread)| {
        let spread = Duration::from_millis(spread);
        Conditions {
            latency: Duration::from_millis(60),
            jitter: Jitter::Uniform { spread },
            loss: Loss::bursts(loss, 2.0),
            duplicate_probability: duplicate,
            ..Conditions::PERFECT
        }
    });
    let length = |max: usize| {
        prop_oneof![
            12 => 1..100_usize,
            4 => 1190..1210_usize,
            2 => 2395..2405_usize,
            1 => 1..=max,
            1 => Just(max),
        ]
    };
    let message = prop_oneof![
        (0..2_usize, Just(UNRELIABLE_CHANNEL), length(MAX_UNRELIABLE_BYTES)),
        (0..2_usize, Just(RELIABLE_CHANNEL), length(MAX_RELIABLE_BYTES)),
    ];
    (conditions, any::<u64>(), any::<bool>(), vec(message, 1..150), 1..20_usize).prop_map(
        |(conditions, seed, saves_acks, messages, per_tick)| Scenario {
            conditions,
            seed,
            saves_acks,
            messages,
            per_tick,
        },
    )
}

/// One end, and the link to the other end.
struct End {
    renet: RenetClient,
    guard: RenetGuard,
    link: Link<Vec<u8>>,
    owes_ack: bool,
    received: [Vec<Vec<u8>>; 2],
}

fn play(scenario: Scenario) -> Result<(), TestCaseError> {
    let mut ends = [0, 1].map(|direction| End {
        renet: connection(),
        guard: RenetGuard::new(),
        link: Link::new(scenario.conditions.clone(), scenario.seed ^ direction),
        owes_ack: false,
        received: Default::default(),
    });
    let sent = |from: usize, channel: u8| {
        let all = scenario.messages.iter().copied();
        let these = all.filter(move |message| (message.0, message.1) == (from, channel));
        these.map(|(_, _, length)| vec![CONTENT; length])
    };
    let mut waiting = scenario.messages.chunks(scenario.per_tick);
    let (mut now, mut quiet) = (Duration::ZERO, 0);
    // Until every message has arrived, and incomplete ones have been discarded.
    while quiet < 300 {
        let next = waiting.next();
        for &(from, channel, length) in next.into_iter().flatten() {
            ends[from].renet.send_message(channel, vec![CONTENT; length]);
        }
        for end in &mut ends {
            for packet in end.renet.get_packets_to_send() {
                match ack_of(&packet) {
                    Some(ack) if scenario.saves_acks && !end.owes_ack => {
                        end.renet.process_packet(&ack);
                    }
                    _ => end.link.send(now, packet.len(), packet),
                }
            }
            end.owes_ack = false;
        }
        now += TICK;
        for from in [0, 1] {
            while let Some(packet) = ends[from].link.receive(now) {
                let to = &mut ends[1 - from];
                prop_assert_eq!(to.guard.check(&packet), Ok(()));
                to.owes_ack |= packet[0] == 0 || packet[0] == 2;
                to.renet.process_packet(&packet);
            }
        }
        let mut is_quiet = next.is_none();
        for (to, end) in ends.iter_mut().enumerate() {
            end.renet.update(TICK);
            prop_assert_eq!(end.renet.disconnect_reason(), None);
            for channel in [UNRELIABLE_CHANNEL, RELIABLE_CHANNEL] {
                let messages = received(&mut end.renet, channel);
                end.received[usize::from(channel)].extend(messages);
            }
            let arrived = end.received[usize::from(RELIABLE_CHANNEL)].len();
            let free = end.renet.channel_available_memory(RELIABLE_CHANNEL);
            is_quiet &= arrived == sent(1 - to, RELIABLE_CHANNEL).count() && free == LIMIT;
        }
        quiet = if is_quiet { quiet + 1 } else { 0 };
        prop_assert!(now < Duration::from_secs(600));
    }
    for (to, end) in ends.iter().enumerate() {
        let [unreliable, reliable] = &end.received;
        prop_assert!(reliable.iter().cloned().eq(sent(1 - to, RELIABLE_CHANNEL)));
        let all: Vec<_> = sent(1 - to, UNRELIABLE_CHANNEL).collect();
        prop_assert!(unreliable.iter().all(|message| all.contains(message)));
        prop_assert_eq!(memory(&end.renet), (0, 0));
    }
    Ok(())
}

/// Runs for ten minutes. Both ends send every tick. Acks are sent only after a reliable message. Returns the
/// length of the longest ack, or `None` if renet ended the connection.
fn longest_ack(conditions: &Conditions, forgets: bool) -> Option<usize> {
    let mut ends = [connection(), connection()];
    let mut links = [0, 1].map(|direction| Link::new(conditions.clone(), direction));
    let (mut now, mut owes_ack, mut longest) = (Duration::ZERO, [false; 2], 0);
    let mut arrived = 0;
    for tick in 0..36_000 {
        ends[0].send_message(UNRELIABLE_CHANNEL, vec![CONTENT; 8]);
        ends[1].send_message(UNRELIABLE_CHANNEL, vec![CONTENT; 30]);
        if tick % 60 == 0 {
            ends[1].send_message(RELIABLE_CHANNEL, vec![CONTENT; 30]);
        }
        for from in [0, 1] {
            let packets = ends[from].get_packets_to_send();
            if ends[from].is_disconnected() {
                return None;
            }
            for packet in packets {
                let ack = ack_of(&packet);
                if ack.is_some() {
                    longest = longest.max(packet.len());
                }
                match ack {
                    Some(ack) if !owes_ack[from] => {
                        if forgets {
                            ends[from].process_packet(&ack);
                        }
                    }
                    _ => links[from].send(now, packet.len(), packet),
                }
            }
            owes_ack[from] = false;
        }
        now += TICK;
        for from in [0, 1] {
            while let Some(packet) = links[from].receive(now) {
                owes_ack[1 - from] |= packet[0] == 0 || packet[0] == 2;
                ends[1 - from].process_packet(&packet);
            }
        }
        arrived += received(&mut ends[0], RELIABLE_CHANNEL).len();
        for end in &mut ends {
            end.update(TICK);
            received(end, UNRELIABLE_CHANNEL);
        }
    }
    assert!(arrived > 590, "{arrived}");
    Some(longest)
}

#[test]
fn acks_that_are_not_sent_are_forgotten() {
    for (loss, spread) in [(0.0, 0), (0.05, 30), (0.05, 100), (0.3, 30), (0.3, 200)] {
        let spread = Duration::from_millis(spread);
        let conditions = Conditions {
            latency: Duration::from_millis(110),
            jitter: Jitter::Uniform { spread },
            loss: Loss::bursts(loss, 2.0),
            ..Conditions::PERFECT
        };
        let longest = longest_ack(&conditions, true);
        assert!(longest.is_some_and(|bytes| bytes < 100), "{longest:?}");
        // Without the guard's help, renet fails on every link that reorders packets.
        assert_eq!(longest_ack(&conditions, false).is_some(), spread.is_zero());
    }
}

#[test]
fn accepted_packets_take_bounded_memory() {
    let mut hostile = Vec::new();
    // Slices that begin as many messages as possible, and one-byte messages after a gap.
    for (kind, channel, slices, messages) in [(3, 0, 256, 400), (2, 1, 55, 200)] {
        for message in 1..messages {
            let mut packet = vec![kind, 0, channel];
            for number in [message, 0, slices, 1200] {
                varint(number, &mut packet);
            }
            packet.extend([CONTENT; 1200]);
            hostile.push(packet);
        }
    }
    for first in (200..MAX_GAP).step_by(100) {
        let mut packet = vec![0, 0, 1, 0, 100];
        for message in first..first + 100 {
            varint(message, &mut packet);
            packet.extend([1, CONTENT]);
        }
        hostile.push(packet);
    }
    let used = measure(|| {
        let (mut renet, mut guard) = (connection(), RenetGuard::new());
        for packet in &hostile {
            if guard.check(packet).is_ok() {
                renet.process_packet(packet);
            }
        }
        assert!(!renet.is_disconnected() && received(&mut renet, RELIABLE_CHANNEL).is_empty());
    });
    // The channels count up to their limits. The rest is overhead.
    let most = LIMIT..2 * LIMIT + (8 << 20);
    let bytes = used.bytes_max as usize;
    assert!(most.contains(&bytes), "{bytes}");
}

#[derive(Clone, Debug)]
enum Step {
    Receive(Vec<u8>),
    /// An earlier packet with a changed byte at this position.
    Damage(prop::sample::Index, prop::sample::Index, u8),
    Send(u8, usize),
    Flush,
    Take,
    Wait(u64),
}

fn varint(value: u64, bytes: &mut Vec<u8>) {
    match value {
        0..64 => bytes.push(value as u8),
        64..16384 => bytes.extend((value as u16 | 1 << 14).to_be_bytes()),
        _ => bytes.extend((value | 3 << 62).to_be_bytes()),
    }
}

/// Mostly small numbers, so that packets contradict each other.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        30 => 0..5_u64,
        3 => 0..300_u64,
        1 => 60_000..70_000_u64,
        1 => 0..1_u64 << 62,
    ]
}

/// Packets that renet can parse. Most are illegal.
fn readable() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![4 => Just(1200_usize), 1 => 0..3_usize, 1 => 1190..1210_usize];
    let small = (0..2_u8, 0..3_u8, vec((number(), 0..4_usize), 0..6));
    let small = small.prop_map(|(kind, channel, messages)| {
        let mut bytes = vec![channel];
        bytes.extend((messages.len() as u16).to_be_bytes());
        for (message, length) in messages {
            if kind == 0 {
                varint(message, &mut bytes);
            }
            varint(length as u64, &mut bytes);
            bytes.extend(vec![CONTENT; length]);
        }
        (kind, bytes)
    });
    let slice = (2..4_u8, 0..3_u8, [number(), number(), number()], length);
    let slice = slice.prop_map(|(kind, channel, numbers, length)| {
        let mut bytes = vec![channel];
        for number in numbers.into_iter().chain([length as u64]) {
            varint(number, &mut bytes);
        }
        bytes.extend(vec![CONTENT; length]);
        (kind, bytes)
    });
    // Two of three slices have the channel of their kind.
    let channel = |(kind, mut bytes): (u8, Vec<u8>)| {
        if bytes[0] != 2 {
            bytes[0] = u8::from(kind % 2 == 0);
        }
        (kind, bytes)
    };
    let ack = vec(number(), 0..12).prop_map(|numbers| {
        let mut bytes = Vec::new();
        for number in numbers {
            varint(number, &mut bytes);
        }
        (ACK, bytes)
    });
    let other = (any::<u8>(), vec(prop_oneof![3 => 0..3_u8, 1 => any::<u8>()], 0..40));
    let body = prop_oneof![
        3 => small.prop_map(channel),
        6 => slice.prop_map(channel),
        2 => ack,
        1 => other,
    ];
    (number(), body).prop_map(|(sequence, (kind, body))| {
        let mut bytes = vec![kind];
        varint(sequence, &mut bytes);
        bytes.extend(body);
        bytes
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => readable().prop_map(Step::Receive),
        3 => any::<(prop::sample::Index, prop::sample::Index, u8)>()
            .prop_map(|(packet, position, change)| Step::Damage(packet, position, change)),
        2 => (0..2_u8, 1..1200_usize).prop_map(|(channel, length)| Step::Send(channel, length)),
        2 => Just(Step::Flush),
        2 => Just(Step::Take),
        1 => (0..4_000_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn all_that_a_correct_peer_sends_is_accepted_and_counted_right(scenario in scenario()) {
        play(scenario)?;
    }
}

proptest! {
    #![proptest_config(cases(1024))]

    /// Without the guard, renet panics in most of these cases.
    #[test]
    fn accepted_packets_never_make_renet_panic_or_miscount(steps in vec(step(), 1..120)) {
        let (mut renet, mut guard) = (connection(), RenetGuard::new());
        let mut packets = vec![vec![0]];
        for step in steps {
            let packet = match step {
                Step::Receive(packet) => packet,
                Step::Damage(packet, position, change) => {
                    // Only the head changes; the contents stay the same.
                    let mut packet = packet.get(&packets).clone();
                    let position = position.index(packet.len().min(12));
                    if packet[position] != CONTENT {
                        packet[position] ^= change;
                    }
                    packet
                }
                Step::Send(channel, length) => {
                    renet.send_message(channel, vec![CONTENT; length]);
                    continue;
                }
                Step::Flush => {
                    packets.extend(renet.get_packets_to_send());
                    continue;
                }
                Step::Take => {
                    received(&mut renet, UNRELIABLE_CHANNEL);
                    received(&mut renet, RELIABLE_CHANNEL);
                    continue;
                }
                Step::Wait(ms) => {
                    renet.update(Duration::from_millis(ms));
                    continue;
                }
            };
            // A refused packet changes neither the guard nor renet.
            if guard.check(&packet).is_ok() {
                renet.process_packet(&packet);
            }
            packets.push(packet);
            if renet.is_disconnected() {
                return Ok(());
            }
        }
        let (counted, held) = memory(&renet);
        prop_assert_eq!(counted, held);
    }
}
