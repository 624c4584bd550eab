//! renet behind its guard: a correct peer works over any link, and other packets do no harm.

mod defects;

use std::time::Duration;

use allocation_counter::measure;
use cubewire_link::{Conditions, Jitter, Link, Loss};
use cubewire_protocol::renet_guard::{
    MAX_GAP, MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES, RELIABLE_CHANNEL, RefusedPacket, RenetGuard,
    SLICE_BYTES, UNRELIABLE_CHANNEL, acked, sequence,
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

const CHANNELS: [u8; 2] = [UNRELIABLE_CHANNEL, RELIABLE_CHANNEL];

fn connection() -> RenetClient {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: LIMIT,
        send_type,
    };
    let resend_time = Duration::from_millis(300);
    let channels = vec![
        channel(UNRELIABLE_CHANNEL, SendType::Unreliable),
        channel(RELIABLE_CHANNEL, SendType::ReliableOrdered { resend_time }),
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

/// A packet of up to 2¹⁶ − 1 messages: number and length.
fn small(channel: u8, messages: &[(u64, usize)]) -> Vec<u8> {
    let mut bytes = head(1 - channel, channel);
    bytes.extend((messages.len() as u16).to_be_bytes());
    for &(message, length) in messages {
        if channel == RELIABLE_CHANNEL {
            varint(message, &mut bytes);
        }
        varint(length as u64, &mut bytes);
        bytes.extend(vec![CONTENT; length]);
    }
    bytes
}

fn slice_of(channel: u8, message: u64, index: u64, slices: u64, length: usize) -> Vec<u8> {
    let mut bytes = head(3 - channel, channel);
    for value in [message, index, slices, length as u64] {
        varint(value, &mut bytes);
    }
    bytes.extend(vec![CONTENT; length]);
    bytes
}

fn slice(channel: u8, message: u64, index: u64, slices: u64) -> Vec<u8> {
    slice_of(channel, message, index, slices, SLICE_BYTES)
}

fn head(kind: u8, channel: u8) -> Vec<u8> {
    vec![kind, 7, channel]
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

fn conditions() -> impl Strategy<Value = Conditions> {
    (0.0..0.4, 0.0..0.5, 0..200_u64).prop_map(|(loss, duplicate_probability, spread)| {
        let spread = Duration::from_millis(spread);
        Conditions {
            latency: Duration::from_millis(60),
            jitter: Jitter::Uniform { spread },
            loss: Loss::bursts(loss, 2.0),
            duplicate_probability,
            ..Conditions::PERFECT
        }
    })
}

/// A message: its sending end, channel and length.
type Message = (usize, u8, usize);

fn message() -> impl Strategy<Value = Message> {
    let length = |max: usize| {
        prop_oneof![
            12 => 1..100_usize,
            4 => 1190..1210_usize,
            2 => 2395..2405_usize,
            1 => 1..=max,
            1 => Just(max),
        ]
    };
    prop_oneof![
        (0..2_usize, Just(UNRELIABLE_CHANNEL), length(MAX_UNRELIABLE_BYTES)),
        (0..2_usize, Just(RELIABLE_CHANNEL), length(MAX_RELIABLE_BYTES)),
    ]
}

/// One end, and the link to the other end.
struct End {
    renet: RenetClient,
    guard: RenetGuard,
    link: Link<Vec<u8>>,
    /// Messages by channel.
    received: [Vec<Vec<u8>>; 2],
}

struct Pair {
    ends: [End; 2],
    now: Duration,
    refused: Option<RefusedPacket>,
}

impl Pair {
    fn new(conditions: &Conditions, seed: u64) -> Self {
        let ends = [0, 1].map(|direction| End {
            renet: connection(),
            guard: RenetGuard::new(),
            link: Link::new(conditions.clone(), seed ^ direction),
            received: Default::default(),
        });
        Self { ends, now: Duration::ZERO, refused: None }
    }

    fn send(&mut self, from: usize, channel: u8, length: usize) {
        self.ends[from].renet.send_message(channel, vec![CONTENT; length]);
    }

    fn is_disconnected(&self) -> bool {
        self.ends.iter().any(|end| end.renet.is_disconnected())
    }

    /// Flushes both ends, and delivers the packets that arrive within a tick.
    fn tick(&mut self) {
        for end in &mut self.ends {
            for packet in end.renet.get_packets_to_send() {
                end.link.send(self.now, packet.len(), packet);
            }
        }
        self.now += TICK;
        for from in [0, 1] {
            while let Some(packet) = self.ends[from].link.receive(self.now) {
                let to = &mut self.ends[1 - from];
                self.refused = self.refused.or(to.guard.check(&packet).err());
                to.renet.process_packet(&packet);
            }
        }
        for end in &mut self.ends {
            end.renet.update(TICK);
            for channel in CHANNELS {
                let messages = received(&mut end.renet, channel);
                end.received[usize::from(channel)].extend(messages);
            }
        }
    }
}

/// Sends `per_tick` messages each tick.
fn play(mut pair: Pair, messages: &[Message], per_tick: usize) -> Result<(), TestCaseError> {
    let sent = |from: usize, channel: u8| {
        let all = messages.iter().copied();
        let these = all.filter(move |message| (message.0, message.1) == (from, channel));
        these.map(|(_, _, length)| vec![CONTENT; length])
    };
    let mut waiting = messages.chunks(per_tick);
    let mut quiet = 0;
    // Until every message has arrived, and incomplete ones have been discarded.
    while quiet < 300 {
        let next = waiting.next();
        for &(from, channel, length) in next.into_iter().flatten() {
            pair.send(from, channel, length);
        }
        pair.tick();
        prop_assert!(!pair.is_disconnected());
        prop_assert_eq!(pair.refused, None);
        let has_all = pair.ends.iter().enumerate().all(|(to, end)| {
            let free = end.renet.channel_available_memory(RELIABLE_CHANNEL);
            let arrived = end.received[usize::from(RELIABLE_CHANNEL)].len();
            arrived == sent(1 - to, RELIABLE_CHANNEL).count() && free == LIMIT
        });
        quiet = if has_all && next.is_none() { quiet + 1 } else { 0 };
        prop_assert!(pair.now < Duration::from_secs(600));
    }
    for (to, end) in pair.ends.iter().enumerate() {
        let [unreliable, reliable] = &end.received;
        prop_assert!(reliable.iter().cloned().eq(sent(1 - to, RELIABLE_CHANNEL)));
        let all: Vec<_> = sent(1 - to, UNRELIABLE_CHANNEL).collect();
        prop_assert!(unreliable.iter().all(|message| all.contains(message)));
        prop_assert_eq!(memory(&end.renet), (0, 0));
    }
    Ok(())
}

#[test]
fn the_sequences_of_acks_are_read() {
    let mut renet = connection();
    let arrived: Vec<u64> = vec![0, 1, 2, 7, 70, 71, 20_000];
    for &number in &arrived {
        let mut packet = vec![0];
        varint(number, &mut packet);
        packet.extend([RELIABLE_CHANNEL, 0, 0]);
        renet.process_packet(&packet);
    }
    let packets = renet.get_packets_to_send();
    assert_eq!(sequence(&packets[0]), Some(0));
    let ranges: Vec<_> = acked(&packets[0]).collect();
    assert_eq!(ranges, [20_000..=20_000, 70..=71, 7..=7, 0..=2]);
    for end in 0..packets[0].len() {
        assert!(
            acked(&packets[0][..end])
                .eq(ranges.iter().take(acked(&packets[0][..end]).count()).cloned())
        );
    }
    // A range before 0, and a packet that is not an ack.
    assert_eq!(acked(&[ACK, 0, 5, 2, 1, 9, 9]).collect::<Vec<_>>(), [3..=5]);
    assert_eq!(acked(&[ACK, 0, 5, 6]).count() + acked(&[1, 0, 5, 2, 0]).count(), 0);
    assert_eq!((sequence(&[]), sequence(&[0])), (None, None));
}

#[test]
fn accepted_packets_take_bounded_memory() {
    // Slices that begin as many messages as possible, and one-byte messages after a gap.
    let unreliable = (1..400).map(|message| slice(UNRELIABLE_CHANNEL, message, 0, 256));
    let reliable = (1..200).map(|message| slice(RELIABLE_CHANNEL, message, 0, 55));
    let far = (200..MAX_GAP).step_by(100).map(|first| {
        let messages: Vec<_> = (first..first + 100).map(|message| (message, 1)).collect();
        small(RELIABLE_CHANNEL, &messages)
    });
    let hostile: Vec<_> = unreliable.chain(reliable).chain(far).collect();
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
    let packet = prop_oneof![
        3 => (0..2_u8, vec((number(), 0..4_usize), 0..6))
            .prop_map(|(channel, messages)| small(channel, &messages)),
        6 => (0..2_u8, [number(), number(), number()], length).prop_map(
            |(channel, [message, index, slices], length)| {
                slice_of(channel, message, index, slices, length)
            }
        ),
    ];
    // A third of the packets have a channel that does not exist.
    let packet = (packet, prop::bool::weighted(0.33)).prop_map(|(mut packet, is_other)| {
        packet[2] = if is_other { 2 } else { packet[2] };
        (packet[0], packet.split_off(2))
    });
    let ack = vec(number(), 0..12).prop_map(|numbers| {
        let mut bytes = Vec::new();
        for number in numbers {
            varint(number, &mut bytes);
        }
        (ACK, bytes)
    });
    let other = (any::<u8>(), vec(prop_oneof![3 => 0..3_u8, 1 => any::<u8>()], 0..40));
    let body = prop_oneof![9 => packet, 2 => ack, 1 => other];
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
    fn all_that_a_correct_peer_sends_is_accepted_and_counted_right(
        conditions in conditions(),
        seed in any::<u64>(),
        messages in vec(message(), 1..150),
        per_tick in 1..20_usize,
    ) {
        play(Pair::new(&conditions, seed), &messages, per_tick)?;
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
                    for channel in CHANNELS {
                        received(&mut renet, channel);
                    }
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
