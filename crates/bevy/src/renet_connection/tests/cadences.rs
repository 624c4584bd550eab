//! Steady traffic for more than five minutes: reliable messages at regular intervals in one direction or both, with a
//! datagram in each tick and direction.

use super::*;

/// Number of ticks of a row.
const TICKS: usize = 20_000;

/// Limit of an ack, in bytes. renet lists at most 64 ranges of received packets, and those of duplicates that arrive late.
const MAX_ACK_BYTES: usize = 300;

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

/// What a row has taken.
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
