//! Steady traffic for more than five minutes: reliable messages at regular intervals in one direction or both, with a
//! datagram in each tick and direction.

use super::*;

/// Number of ticks of a row.
const TICKS: usize = 20_000;

/// Limit of an ack, in bytes: several times as long as the longest one of all rows, and far below the limit of a packet.
const MAX_ACK_BYTES: usize = 100;

#[derive(Clone, Copy, Debug)]
struct Row {
    /// Length of each reliable message.
    bytes: usize,
    /// Ticks from one message to the next, by sending end. `None` if the end sends no messages.
    periods: [Option<usize>; 2],
    loss: f64,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for there in [1, 2, 7, 18, 60, 120] {
        for back in [None, Some(1), Some(5), Some(18), Some(119)] {
            for loss in [0.0, 0.01, 0.05, 0.1] {
                for bytes in [1, 60, 1_500] {
                    rows.push(Row { bytes, periods: [Some(there), back], loss });
                }
            }
        }
    }
    rows
}

/// Cost of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    longest_ack: usize,
    /// Acks of both directions, and their bytes without headers.
    acks: usize,
    ack_bytes: usize,
}

impl Taken {
    fn count(&mut self, packets: &[Vec<u8>]) {
        for packet in packets.iter().filter(|packet| packet[0] == 4) {
            self.longest_ack = self.longest_ack.max(packet.len());
            self.acks += 1;
            self.ack_bytes += packet.len();
        }
    }
}

fn run(row: Row, seed: u64) -> Taken {
    let mut pair = Pair::lossy(row.loss, seed);
    let (mut taken, mut sent, mut received) = (Taken::default(), [0_u32; 2], [0_u32; 2]);
    for tick in 0..TICKS + 600 {
        for from in [0, 1] {
            let outgoing = &mut pair.ends[from].1.outgoing;
            outgoing.datagrams.push(vec![7; 8]);
            if tick < TICKS && row.periods[from].is_some_and(|period| tick.is_multiple_of(period)) {
                let number = sent[from].to_be_bytes();
                outgoing.messages.push(number.into_iter().cycle().take(4.max(row.bytes)).collect());
                sent[from] += 1;
            }
        }
        pair.step();
        pair.sent.iter().for_each(|packets| taken.count(packets));
        for to in [0, 1] {
            let incoming = std::mem::take(&mut pair.ends[to].1.incoming);
            for message in incoming.messages {
                let number = message.first_chunk().map(|number| u32::from_be_bytes(*number));
                assert_eq!(number, Some(received[1 - to]), "{row:?}");
                received[1 - to] += 1;
            }
        }
    }
    assert_eq!(received, sent, "{row:?}");
    assert!(pair.ends.iter().all(|(_, buffer)| buffer.backlog_bytes == 0), "{row:?}");
    assert!(taken.longest_ack <= MAX_ACK_BYTES, "{row:?}: {taken:?}");
    taken
}

#[test]
fn steady_messages_arrive_with_short_acks() {
    let rows = rows();
    for index in 0..48 {
        // 37 and the number of rows have no common divisor.
        run(rows[index * 37 % rows.len()], index as u64);
    }
}

#[test]
#[ignore = "all rows, of which the other takes some, with a table"]
fn every_cadence_is_steady() {
    println!("bytes | period there | back | loss | longest ack | acks | bytes of acks");
    for (index, row) in rows().into_iter().enumerate() {
        let Taken { longest_ack, acks, ack_bytes } = run(row, index as u64);
        let Row { bytes, periods: [there, back], loss } = row;
        println!("{bytes} | {there:?} | {back:?} | {loss} | {longest_ack} | {acks} | {ack_bytes}");
    }
}

/// Runs a minute within a budget, which datagrams use up, over a link with this latency. Each end sends a message at its own
/// interval. Returns the ticks that the slowest message of each end took, and the reliable packets of each end.
fn run_within(kbps: u32, row: Row, latency_ms: u64) -> [(usize, usize); 2] {
    let loss = Loss::Independent { probability: row.loss };
    let conditions = Conditions { loss, ..delayed(latency_ms) };
    let mut pair = Pair::over(&conditions, 1);
    let mut budget = SendBudget::new(TICKS_PER_SECOND);
    let (mut slowest, mut sent_at, mut second) = ([(0, 0); 2], [vec![], vec![]], VecDeque::new());
    for tick in 0..3_600 {
        for from in [0, 1] {
            if row.periods[from].is_some_and(|period| tick % period == 0) {
                pair.ends[from].1.outgoing.messages.push(vec![7; row.bytes]);
                sent_at[from].push(tick);
            }
        }
        let bytes = pair.allow(&mut budget, tick as u64, kbps);
        if bytes >= 100 {
            pair.ends[0].1.outgoing.datagrams.push(vec![1; bytes]);
        }
        pair.step();
        second.push_back(pair.sent[0].iter().map(|packet| packet.len() + HEADER_BYTES).sum());
        if second.len() > TICKS_PER_SECOND.into() {
            second.pop_front();
        }
        assert!(second.iter().sum::<usize>() <= kbps as usize * 125, "tick {tick} of {row:?}");
        for from in [0, 1] {
            let kinds = pair.sent[from].iter().map(|packet| PacketKind::of(packet));
            let reliable = kinds.filter(|kind| *kind == PacketKind::Reliable).count();
            let messages = std::mem::take(&mut pair.ends[1 - from].1.incoming.messages).len();
            let times = sent_at[from].drain(..messages).map(|sent| tick - sent);
            slowest[from].0 = times.max().unwrap_or(0).max(slowest[from].0);
            slowest[from].1 += reliable;
        }
    }
    slowest
}

#[test]
fn steady_messages_arrive_within_a_budget() {
    for (kbps, period) in [(16, 120), (64, 20), (256, 1)] {
        for (latency_ms, loss, most) in [(20, 0.0, 60), (200, 0.0, 75), (200, 0.05, 240)] {
            let row = Row { bytes: 20, periods: [Some(period), Some(30)], loss };
            let [(there, _), (back, resent)] = run_within(kbps, row, latency_ms);
            assert!(there <= most && back <= most, "{there} {back}: {kbps} kbps, {latency_ms} ms");
            // Acks are not late: each message of the other end is sent once.
            assert!(loss > 0.0 || latency_ms > 100 || resent == 120, "{resent}: {kbps} kbps");
        }
    }
}

/// A peer that sends only acks does not make renet's list of received packets grow.
#[test]
fn acks_alone_are_acknowledged_now_and_then() {
    let mut renet = RenetConnection::new(FROM_CLIENT_BYTES);
    let mut buffer = MessageBuffer::new(HEADER_BYTES);
    let mut acks = Vec::new();
    for sequence in (0..20_000_u32).rev() {
        // In four bytes. Every second sequence is missing.
        let [a, b, c, d] = ((2 << 30) | (2 * sequence)).to_be_bytes();
        let packet = [4, a, b, c, d, 0, 0, 0];
        if renet.receive(Duration::ZERO, &packet).is_err() {
            return;
        }
        if sequence % 100 == 0 {
            match renet.flush(TICK, &mut buffer) {
                Ok(packets) => acks.extend(packets),
                Err(_) => return,
            }
        }
    }
    panic!("{} acks, the longest with {:?} bytes", acks.len(), acks.iter().map(Vec::len).max());
}
