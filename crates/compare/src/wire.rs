//! In-memory links in both directions, with a latency in ticks and datagram loss.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Round-trip time in ticks.
    pub round_trip: u64,
    /// Fraction of datagrams that are lost, in each direction.
    pub loss: f64,
}

/// Maximum payload of a datagram, bytes. Longer messages take several datagrams.
const DATAGRAM_BYTES: usize = 1200;

#[derive(Debug)]
pub struct RawMessage {
    /// Whether delivery is reliable and ordered. Lost messages are sent again after each round trip.
    pub is_reliable: bool,
    /// Channel of the library. Not counted, because a transport tells both ends the channel with its own bytes.
    pub channel: usize,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub struct OneWayLink {
    latency: u64,
    conditions: Conditions,
    /// Messages in flight with their arrival ticks: reliable ones, and others.
    queues: [VecDeque<(u64, RawMessage)>; 2],
    random: u64,
    /// Number of bytes and of datagrams sent.
    pub bytes: u64,
    pub count: u64,
}

impl OneWayLink {
    pub fn new(latency: u64, conditions: Conditions, seed: u64) -> Self {
        Self { latency, conditions, queues: Default::default(), random: seed, bytes: 0, count: 0 }
    }

    pub fn send(&mut self, now: u64, message: RawMessage) {
        let mut due = now + self.latency;
        while self.loses(message.bytes.len()) {
            if !message.is_reliable {
                return;
            }
            due += self.conditions.round_trip.max(1);
        }
        let queue = &mut self.queues[usize::from(!message.is_reliable)];
        let before = queue.back().map_or(0, |&(before, _)| before);
        queue.push_back((due.max(before), message));
    }

    /// Counts a message of this length, and returns whether it is lost: whether any of its datagrams is.
    fn loses(&mut self, bytes: usize) -> bool {
        self.bytes += bytes as u64;
        let datagrams = bytes.div_ceil(DATAGRAM_BYTES).max(1);
        self.count += datagrams as u64;
        (0..datagrams).fold(false, |is_lost, _| is_lost | self.chance())
    }

    fn chance(&mut self) -> bool {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ (mixed >> 31)) >> 11) as f64) < self.conditions.loss * 2_f64.powi(53)
    }

    /// Returns the messages that have arrived, reliable ones first.
    pub fn receive(&mut self, now: u64) -> impl Iterator<Item = RawMessage> {
        self.queues.iter_mut().flat_map(move |queue| {
            let due = queue.partition_point(|&(due, _)| due <= now);
            queue.drain(..due).map(|(_, message)| message)
        })
    }
}
