mod cadences;

use std::ops::Range;

use cubewire_link::{Conditions, Jitter, Link, Loss};
use cubewire_protocol::renet_guard::{MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES};
use cubewire_protocol::{AllowedSnapshot, SendBudget};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::traffic::HEADER_BYTES;

const TICKS_PER_SECOND: u16 = 60;
const TICK: Duration = Duration::from_micros(16_667);

/// Two ends, with a link in each direction.
struct Pair {
    ends: [(RenetConnection, MessageBuffer); 2],
    links: [Link<Vec<u8>>; 2],
    now: Duration,
    /// Packets of the last flush, by end.
    sent: [Vec<Vec<u8>>; 2],
}

impl Pair {
    fn over(conditions: &Conditions, seed: u64) -> Self {
        let end = |bytes| (RenetConnection::new(bytes), MessageBuffer::new(HEADER_BYTES));
        Self {
            ends: [FROM_CLIENT_BYTES, FROM_SERVER_BYTES].map(end),
            links: [0, 1].map(|direction| Link::new(conditions.clone(), seed * 2 + direction)),
            now: Duration::ZERO,
            sent: Default::default(),
        }
    }

    fn lossy(loss: f64, seed: u64) -> Self {
        let conditions = Conditions {
            latency: Duration::from_millis(40),
            jitter: Jitter::Uniform { spread: Duration::from_millis(30) },
            loss: Loss::Independent { probability: loss },
            duplicate_probability: loss / 2.0,
            ..Conditions::PERFECT
        };
        Self::over(&conditions, seed)
    }

    fn say(&mut self, message: Vec<u8>) {
        self.ends[0].1.outgoing.messages.push(message);
    }

    fn flush(&mut self, from: usize) -> Vec<Vec<u8>> {
        let (renet, buffer) = &mut self.ends[from];
        renet.flush(self.now, buffer).unwrap()
    }

    fn step(&mut self) {
        for from in [0, 1] {
            let packets = self.flush(from);
            let buffer = &mut self.ends[from].1;
            for packet in &packets {
                let bytes = packet.len() + HEADER_BYTES;
                buffer.traffic.sent.count(packet, bytes);
                self.links[from].send(self.now, bytes, packet.clone());
            }
            self.sent[from] = packets;
        }
        self.now += TICK;
        for from in [0, 1] {
            let (renet, buffer) = &mut self.ends[1 - from];
            while let Some(packet) = self.links[from].receive(self.now) {
                renet.receive(self.now, &packet).unwrap();
            }
            renet.deliver(buffer);
        }
    }

    /// Checks the round-trip time that the first end has measured, in milliseconds.
    #[track_caller]
    fn assert_round_trip(&self, range: Range<u64>) {
        let measured = self.ends[0].1.round_trip.unwrap().as_millis() as u64;
        assert!(range.contains(&measured), "{measured} ms");
    }

    /// Returns the bytes that a datagram of the first end may have within a budget, and limits its reliable messages.
    fn allow(&mut self, budget: &mut SendBudget, tick: u64, kbps: u32) -> usize {
        let buffer = &mut self.ends[0].1;
        let (allowed, reliable) = budget.allow(tick, self.now, Some(kbps), true, &buffer.state());
        buffer.reliable_allowance = reliable;
        match allowed {
            AllowedSnapshot::Partial(packet_budget) => packet_budget.bytes,
            other => panic!("{other:?}"),
        }
    }

    /// Steps within a budget of 16 kbit/s, until the second end has received a message. Before each step, `write` gets
    /// the bytes that a datagram of the first end may have.
    #[track_caller]
    fn await_message(&mut self, write: impl Fn(&mut Self, usize)) {
        let mut budget = SendBudget::new(TICKS_PER_SECOND);
        for tick in 0..120 * 60 {
            let bytes = self.allow(&mut budget, tick, 16);
            write(self, bytes);
            self.step();
            if !self.ends[1].1.incoming.messages.is_empty() {
                return;
            }
        }
        panic!("it does not arrive");
    }

    /// Steps with this allowance for the first end, or more for a packet that is stalled. Returns the messages that the
    /// second end received.
    fn step_within(&mut self, allowance: Option<usize>) -> Vec<Vec<u8>> {
        let allowance = allowance.map(|allowance| allowance.max(self.ends[0].1.stalled_bytes));
        self.ends[0].1.reliable_allowance = allowance;
        self.step();
        let is_datagram = |packet: &[u8]| PacketKind::of(packet) == PacketKind::Unreliable;
        let reliable = self.sent[0].iter().filter(|packet| !is_datagram(packet));
        let bytes: usize = reliable.map(|packet| packet.len() + HEADER_BYTES).sum();
        assert!(allowance.is_none_or(|allowance| bytes <= allowance));
        std::mem::take(&mut self.ends[1].1.incoming.messages)
    }
}

fn delayed(latency: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(latency), ..Conditions::PERFECT }
}

fn messages(count: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..count).map(|number| vec![number as u8; number * number * 7 % 5_000])
}

#[test]
fn reliable_messages_arrive_once_and_in_order_whatever_is_lost() {
    for (loss, seed, count, allowance) in [
        (0.0, 1, 40, None),
        (0.05, 2, 40, None),
        (0.3, 3, 40, None),
        (0.6, 4, 40, None),
        (0.1, 6, 10, Some(120)),
    ] {
        let mut pair = Pair::lossy(loss, seed);
        messages(count).for_each(|message| pair.say(message));
        let mut received = Vec::new();
        for _ in 0..6_000 {
            received.extend(pair.step_within(allowance));
        }
        assert!(received.into_iter().eq(messages(count)), "loss {loss}");
        assert_eq!(pair.ends[0].1.backlog_bytes, 0);
        assert!(pair.sent.iter().all(Vec::is_empty), "there is nothing to say");
    }
}

#[test]
fn messages_arrive_in_order_while_the_allowance_changes() {
    for seed in 0..10 {
        let mut pair = Pair::lossy(0.3, seed + 100);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |end: u64| random.random_range(0..end);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for tick in 0..3_000 {
            for _ in 0..below(4) {
                if tick < 1_500 {
                    let message = vec![tick as u8; below(300) as usize];
                    pair.say(message.clone());
                    sent.push(message);
                }
            }
            if below(3) == 0 {
                pair.ends[0].1.outgoing.datagrams.push(vec![1; below(3_000) as usize]);
            }
            if below(5) == 0 {
                pair.ends[1].1.outgoing.messages.push(vec![3; 20]);
            }
            let allowance = match below(4) {
                0 => Some(0),
                1 => Some(below(300) as usize),
                2 => Some(below(3_000) as usize),
                _ => None,
            };
            received.extend(pair.step_within(allowance));
        }
        assert_eq!(received.len(), sent.len(), "seed {seed}");
        assert!(received == sent);
    }
}

/// A burst of loss ends only after a number of packets, so with no other traffic, resends must be frequent enough to
/// end it.
#[test]
fn a_single_message_gets_through_bursts_of_loss_in_seconds() {
    let conditions = Conditions {
        latency: Duration::from_millis(75),
        loss: Loss::bursts(0.2, 4.0),
        ..Conditions::PERFECT
    };
    let waits = (0..500).map(|seed| {
        let mut pair = Pair::over(&conditions, seed);
        pair.say(vec![7; 60]);
        while pair.step_within(None).is_empty() {}
        pair.now
    });
    assert!(waits.max().unwrap() < Duration::from_secs(10));
}

#[test]
fn the_round_trip_is_measured_from_the_first_message_on_and_follows_a_slower_link() {
    for latency in [20, 100, 300] {
        let mut pair = Pair::over(&delayed(latency), 1);
        for _ in 0..20 {
            pair.say(vec![7; 60]);
            // Acks of datagrams are delayed until the next message, and must not count as a measurement.
            pair.ends[0].1.outgoing.datagrams.push(vec![1; 60]);
            (0..60).for_each(|_| pair.step());
            pair.assert_round_trip(2 * latency..2 * latency + 60);
        }
    }
    let mut pair = Pair::over(&delayed(25), 1);
    for tick in 0..3_600 {
        if tick == 600 {
            pair.links.iter_mut().for_each(|link| link.set_conditions(delayed(200)));
        }
        if tick % 30 == 0 {
            pair.say(vec![1; 20]);
        }
        pair.step();
    }
    pair.assert_round_trip(380..460);
}

#[test]
fn datagrams_of_any_length_are_sent_whole() {
    for bytes in [1, 63, 64, 1198, 1199, 1200, 1201, 2400, 36_185, MAX_UNRELIABLE_BYTES] {
        let mut pair = Pair::over(&Conditions::PERFECT, 1);
        let datagrams: Vec<_> = [1, 2].map(|byte| vec![byte; bytes]).into();
        pair.ends[0].1.outgoing.datagrams.clone_from(&datagrams);
        pair.step();
        assert_eq!(pair.ends[1].1.incoming.datagrams, datagrams);
        let packets = if bytes < 600 { 1 } else { 2 * bytes.div_ceil(1200) };
        assert_eq!(pair.sent[0].len(), packets, "{bytes} bytes");
        let most = 1200 + CHANNEL_BYTES;
        assert!(pair.sent[0].iter().all(|packet| packet.len() <= most));
        pair.step();
        assert!(pair.sent.iter().all(Vec::is_empty), "they are not acked");
    }
    // Overlong messages and datagrams, and empty datagrams, are not sent.
    let mut pair = Pair::over(&Conditions::PERFECT, 1);
    pair.say(vec![0; MAX_RELIABLE_BYTES + 1]);
    pair.ends[0].1.outgoing.datagrams = vec![vec![0; MAX_UNRELIABLE_BYTES + 1], Vec::new()];
    pair.step();
    assert!(pair.sent[0].is_empty());
}

#[test]
fn acks_stay_short_where_some_is_lost() {
    let mut pair = Pair::lossy(0.05, 9);
    let (mut acks, mut bytes) = (0, 0);
    for tick in 0..6_000 {
        pair.ends[0].1.outgoing.datagrams.push(vec![1; 60]);
        if tick % 60 == 0 {
            pair.say(vec![2; 20]);
        }
        pair.step();
        acks += pair.sent[1].len();
        bytes += pair.sent[1].iter().map(Vec::len).sum::<usize>();
    }
    assert!(acks > 80 && bytes < 20 * acks, "{acks} acks, {bytes} bytes");
}

#[test]
fn other_packets_are_an_error() {
    for packet in [
        &[][..],
        &[5, 0, 0],
        &[4, 0, 0],
        &[0, 0, 2, 0, 0],
        &[1, 0, 0, 0, 1, 9],
        &[1, 1, 0, 0, 1, 1, 9],
        &[3, 1, 0, 0, 0, 2, 1, 9],
    ] {
        let mut renet = RenetConnection::new(FROM_CLIENT_BYTES);
        assert!(renet.receive(Duration::ZERO, packet).is_err(), "{packet:?}");
    }
}

/// Sends datagrams as large as the budget allows. Returns the most bytes sent in any second, and the message bytes that
/// arrive per second.
fn within_budget(kbps: u32, per_tick: usize, loss: f64) -> (usize, usize) {
    let mut pair = Pair::lossy(loss, u64::from(kbps));
    let mut budget = SendBudget::new(TICKS_PER_SECOND);
    let (mut sent, mut arrived, mut before) = (Vec::new(), 0, 0);
    for tick in 0..1_200 {
        if pair.ends[0].1.backlog_bytes < 1 << 20 {
            pair.say(vec![tick as u8; per_tick]);
        }
        let bytes = pair.allow(&mut budget, tick, kbps);
        // Replication also saves up until a body fits.
        if bytes >= 100 {
            pair.ends[0].1.outgoing.datagrams.push(vec![1; bytes]);
        }
        pair.step();
        let [(_, from), (_, to)] = &mut pair.ends;
        let bytes = from.traffic.sent.bytes() as usize;
        sent.push(bytes - std::mem::replace(&mut before, bytes));
        arrived += std::mem::take(&mut to.incoming.messages).iter().map(Vec::len).sum::<usize>();
        to.incoming.datagrams.clear();
    }
    let most = sent.windows(TICKS_PER_SECOND.into()).map(|second| second.iter().sum()).max();
    (most.unwrap(), arrived / 20)
}

#[test]
fn no_second_exceeds_a_budget_with_all_that_is_sent_again() {
    for (kbps, per_tick, least) in [(1_500, 2_000, 30_000), (64, 200, 1_000), (16, 60, 100)] {
        for loss in [0.0, 0.05, 0.2, 0.5] {
            let (most, arrived) = within_budget(kbps, per_tick, loss);
            let budget = kbps as usize * 125;
            assert!(most <= budget, "{most} of {budget} bytes, {kbps} kbit/s, loss {loss}");
            let least = (f64::from(least) * (1.0 - loss) * (1.0 - loss)) as usize;
            assert!(arrived > least, "{arrived} bytes a second, {kbps} kbit/s, loss {loss}");
        }
    }
}

/// Messages that were sent in full packets are resent in packets of the same size.
#[test]
fn a_message_arrives_where_the_budget_falls_below_its_packets() {
    let mut pair = Pair::lossy(0.3, 2);
    pair.say(vec![7; 20_000]);
    pair.step_within(None);
    pair.await_message(|pair, bytes| pair.ends[0].1.outgoing.datagrams.push(vec![1; bytes]));
}

/// After a lost packet, acks of later packets must not let the sender exceed the receiver's memory.
#[test]
fn megabytes_arrive_over_links_that_lose_packets() {
    for (latency, loss, seed) in [(5, 0.01, 1), (20, 0.05, 2), (50, 0.02, 3)] {
        let conditions = Conditions { loss: Loss::bursts(loss, 1.0), ..delayed(latency) };
        let mut pair = Pair::over(&conditions, seed);
        (0..80).for_each(|_| pair.say(vec![7; 50_000]));
        let mut received = 0;
        while received < 80 {
            received += pair.step_within(None).len();
        }
    }
}

#[test]
fn after_a_pause_messages_are_sent_again_once() {
    for pause in [1, 20, 3_600] {
        let mut pair = Pair::over(&Conditions::PERFECT, 1);
        for _ in 0..3 {
            pair.say(vec![7; 20_000]);
            pair.flush(0);
            pair.now += TICK;
        }
        pair.now += Duration::from_secs(pause);
        let bytes = pair.flush(0).iter().map(Vec::len).sum::<usize>();
        assert!(bytes < 62_000, "{bytes} bytes after {pause} s");
    }
}

/// A minute without acks, after which the link works again.
#[test]
fn silence_costs_little_and_ends_soon() {
    let mut pair = Pair::over(&Conditions::PERFECT, 1);
    let mut last_second = 0;
    for tick in 0..3_600 {
        pair.say(vec![1; 20]);
        let packets = pair.flush(0);
        if tick >= 3_540 {
            last_second += packets.iter().map(|packet| packet.len() + HEADER_BYTES).sum::<usize>();
        }
        pair.now += TICK;
    }
    assert!(last_second < 30_000, "{last_second} bytes a second");
    let (mut received, mut ticks) = (0, 0);
    while received < 3_600 {
        received += pair.step_within(None).len();
        ticks += 1;
    }
    assert!(ticks < 30 * 60, "{ticks} ticks");
}

/// Acks use up part of the allowance that a held packet saves up for.
#[test]
fn acks_do_not_keep_a_held_packet_from_being_sent() {
    let mut pair = Pair::over(&Conditions::PERFECT, 1);
    pair.say(vec![7; 5_000]);
    pair.flush(0);
    pair.await_message(|pair, _| pair.ends[1].1.outgoing.messages.push(vec![1]));
}

/// Descending sequences produce an ack that is too long for renet, which then ends the connection.
#[test]
fn a_connection_that_renet_has_ended_is_an_error() {
    let mut renet = RenetConnection::new(FROM_CLIENT_BYTES);
    for sequence in (0..1_500_u16).rev() {
        let [high, low] = ((2 * sequence) | 1 << 14).to_be_bytes();
        let packet = [0, high, low, 1, 0, 1, 0, 1, 9];
        renet.receive(Duration::ZERO, &packet).unwrap();
    }
    let mut buffer = MessageBuffer::new(HEADER_BYTES);
    let mut flushes = (1..10).map(|tick| renet.flush(TICK * tick, &mut buffer));
    assert!(flushes.any(|flush| flush.is_err()));
}

#[test]
fn small_messages_take_bounded_memory_until_they_are_delivered() {
    let mut renet = RenetConnection::new(FROM_CLIENT_BYTES);
    let mut packet = vec![1, 0, 0];
    packet.extend(500_u16.to_be_bytes());
    packet.extend([1, 9].repeat(500));
    let mut buffer = MessageBuffer::new(HEADER_BYTES);
    let (mut pair, mut reliable) = (Pair::over(&Conditions::PERFECT, 1), 0);
    for delivered in [MAX_UNDELIVERED, 2 * MAX_UNDELIVERED] {
        for _ in 0..100 {
            renet.receive(Duration::ZERO, &packet).unwrap();
        }
        pair.say(vec![7; 20]);
        for packet in pair.flush(0) {
            renet.receive(Duration::ZERO, &packet).unwrap();
        }
        pair.now += TICK;
        renet.deliver(&mut buffer);
        reliable += 1;
        assert_eq!(buffer.incoming.messages.len(), reliable);
        let count = buffer.incoming.datagrams.len();
        assert!((delivered - 1_000..=delivered).contains(&count), "{count}");
    }
}

/// Packets with messages and datagrams, and the other end's acks: see `WIRE.md`, section 17.
pub(crate) fn golden() -> Vec<Vec<u8>> {
    let mut pair = Pair::over(&Conditions::PERFECT, 1);
    let long = |length: usize| (0..length).map(|index| index as u8).collect();
    pair.say(b"hello".to_vec());
    pair.say(long(100));
    pair.ends[0].1.outgoing.datagrams = vec![vec![1, 2, 3], vec![4], long(1203)];
    pair.step();
    let mut packets = pair.sent[0].clone();
    pair.step();
    packets.append(&mut pair.sent[1]);
    packets
}
