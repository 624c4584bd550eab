//! Transfer of the scene's state to a receiver, in chunks inside packets.
//!
//! ```text
//! sequence 16 | chunk 8 | chunks 8 | bytes
//! ```
//!
//! Big endian. The sequence number is the tick of the state. The state complements the snapshot of that tick. All
//! chunks but the last have [`CHUNK_BYTES`]. The ack of a packet is also the ack of its chunk, so
//! retransmission needs no other message. A chunk counts as lost if later packets have arrived. It is then sent again at
//! increasing intervals. The transfer ends if the snapshot of its tick is lost.

use std::cmp::Reverse;
use std::sync::Arc;

use cubewire_codec::Sequence;
use cubewire_codec::simulation::MAX_SIMULATED_TICKS;

use crate::clock::sequence;

/// Bytes of state in a chunk. With the rest of its packet it usually fits into a datagram.
const CHUNK_BYTES: usize = 900;

const HEAD_BYTES: usize = 4;

/// Maximum length of a state, bytes.
pub const MAX_STATE_BYTES: usize = CHUNK_BYTES * u8::MAX as usize;

#[derive(Debug)]
pub(crate) struct StateTransfer {
    pub(crate) tick: u64,
    state: Arc<[u8]>,
    /// Whether the receiver is known to have the snapshot of the tick.
    has_snapshot: bool,
    chunks: Vec<Chunk>,
    /// Tick of each packet with a chunk and the index of the chunk, ascending by tick.
    carried: Vec<(u64, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Unsent,
    Sent {
        /// Tick of the last packet with this chunk.
        at: u64,
        /// Number of times it was sent, at most [`MAX_TIMES`].
        times: u64,
    },
    Arrived,
}

impl StateTransfer {
    /// # Panics
    /// If the state is empty or longer than [`MAX_STATE_BYTES`].
    pub(crate) fn new(tick: u64, state: Arc<[u8]>, has_snapshot: bool) -> Self {
        assert!((1..=MAX_STATE_BYTES).contains(&state.len()), "it fits its chunks");
        Self {
            tick,
            has_snapshot,
            chunks: vec![Chunk::Unsent; state.len().div_ceil(CHUNK_BYTES)],
            state,
            carried: Vec::new(),
        }
    }

    /// Whether the receiver can restore the state.
    pub(crate) fn is_complete(&self) -> bool {
        self.has_snapshot && self.chunks.iter().all(|&chunk| chunk == Chunk::Arrived)
    }

    /// Whether the snapshot of the tick is lost, given that the receiver has the snapshot of tick `newest`.
    pub(crate) const fn has_lost_snapshot(&self, newest: u64) -> bool {
        !self.has_snapshot && newest > self.tick + MAX_REORDERED_TICKS
    }

    /// Returns the number of chunks that have arrived and the total.
    pub(crate) fn progress(&self) -> (usize, usize) {
        let chunks = self.chunks.iter();
        let arrived = chunks.filter(|&&chunk| chunk == Chunk::Arrived);
        (arrived.count(), self.chunks.len())
    }

    /// Writes the chunk for the packet of `tick`, or leaves `bytes` empty. `newest` is the newest tick that the
    /// receiver has.
    pub(crate) fn chunk(&mut self, tick: u64, newest: u64, bytes: &mut Vec<u8>) {
        bytes.clear();
        // Returns the number of ticks that a due chunk has waited, or `None` if it is not due.
        let waited = |chunk: &Chunk| match *chunk {
            Chunk::Unsent => Some(u64::MAX),
            Chunk::Sent { at, times: 1 } => {
                let is_lost = newest > at + REORDERED_TICKS || tick > at + TIMEOUT_TICKS;
                is_lost.then_some(tick - at)
            }
            // The interval grows by a tick each time, so that resends do not stay in step with periodic losses.
            Chunk::Sent { at, times } => (tick >= at + times).then_some(tick - at),
            Chunk::Arrived => None,
        };
        let due = (0..).zip(&self.chunks);
        // The longest wait first, then the lowest index.
        let due = due.filter_map(|(index, chunk)| Some((waited(chunk)?, Reverse(index))));
        let Some((_, Reverse(index))) = due.max() else {
            return;
        };
        self.chunks[index] = Chunk::Sent {
            at: tick,
            times: match self.chunks[index] {
                Chunk::Sent { times, .. } => (times + 1).min(MAX_TIMES),
                _ => 1,
            },
        };
        self.carried.push((tick, index));
        let chunks = self.chunks.len();
        let first = index * CHUNK_BYTES;
        let last = self.state.len().min(first + CHUNK_BYTES);
        bytes.extend(sequence(self.tick).0.to_be_bytes());
        bytes.extend([index as u8, chunks as u8]);
        bytes.extend(&self.state[first..last]);
    }

    /// Records that the receiver has the packet of a tick.
    pub(crate) fn on_ack(&mut self, tick: u64) {
        self.has_snapshot |= tick == self.tick;
        if let Ok(index) = self.carried.binary_search_by_key(&tick, |&(tick, _)| tick) {
            self.chunks[self.carried[index].1] = Chunk::Arrived;
        }
    }
}

/// A state that the receiver assembles.
#[derive(Debug, Default)]
pub(crate) struct StateAssembly {
    tick: u64,
    /// The chunks that have arrived. Empty before the first one.
    chunks: Vec<Option<Box<[u8]>>>,
    /// Whether [`take`](Self::take) was called for this state.
    is_taken: bool,
}

impl StateAssembly {
    /// Adds a chunk from the packet of tick `now`. Ignores invalid chunks.
    pub(crate) fn add(&mut self, now: u64, chunk: &[u8]) {
        let Some((head, bytes)) = chunk.split_first_chunk::<HEAD_BYTES>() else {
            return;
        };
        let [high, low, index, chunks] = *head;
        let age = sequence(now).ticks_since(Sequence(u16::from_be_bytes([high, low])));
        let Some(tick) = now.checked_sub(age.into()) else {
            return;
        };
        let (index, chunks) = (usize::from(index), usize::from(chunks));
        let is_whole = bytes.len() == CHUNK_BYTES;
        let is_last = index + 1 == chunks && (1..=CHUNK_BYTES).contains(&bytes.len());
        if index >= chunks || !(is_whole || is_last) {
            return;
        }
        if (tick, chunks) != (self.tick, self.chunks.len()) {
            // A late chunk of an older state must not replace the newer one.
            let late = self.tick.saturating_sub(tick);
            if !self.chunks.is_empty() && (1..=MAX_LATE_TICKS).contains(&late) {
                return;
            }
            self.tick = tick;
            self.is_taken = false;
            self.chunks.clear();
            self.chunks.resize(chunks, None);
        }
        if !self.is_taken {
            self.chunks[index].get_or_insert_with(|| bytes.into());
        }
    }

    /// Returns the tick of the state if at least one chunk has arrived and it was not taken yet.
    pub(crate) fn awaited(&self) -> Option<u64> {
        (!self.is_taken && !self.chunks.is_empty()).then_some(self.tick)
    }

    /// Returns the tick of the state if all chunks have arrived and it was not taken yet.
    pub(crate) fn complete(&self) -> Option<u64> {
        let awaited = self.awaited();
        awaited.filter(|_| self.chunks.iter().all(Option::is_some))
    }

    /// Takes the bytes of a [complete](Self::complete) state.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.is_taken = true;
        let chunks = self.chunks.iter_mut().filter_map(Option::take);
        chunks.collect::<Vec<_>>().concat()
    }
}

/// A chunk is sent again if a packet that was sent more than this many ticks later has arrived.
const REORDERED_TICKS: u64 = 2;

/// A chunk is sent again after this time if no acks arrive.
const TIMEOUT_TICKS: u64 = 30;

/// Maximum interval between further resends, ticks.
const MAX_TIMES: u64 = 8;

/// The snapshot of the state counts as lost if a packet that was sent more than this many ticks later has arrived.
/// More than for a chunk, because the whole transfer is then given up.
const MAX_REORDERED_TICKS: u64 = 8;

/// Chunks of an older state are ignored if they arrive within this time after it.
const MAX_LATE_TICKS: u64 = 2 * MAX_SIMULATED_TICKS as u64;

#[cfg(test)]
mod tests {
    use super::*;

    fn state(length: usize) -> Arc<[u8]> {
        (0..length).map(|offset| (offset * 7 % 251) as u8).collect()
    }

    #[test]
    fn a_state_arrives_over_a_link_that_loses_most_packets() {
        for length in [1, 900, 901, 20_000, MAX_STATE_BYTES] {
            let state = state(length);
            let mut transfer = StateTransfer::new(70_000, Arc::clone(&state), true);
            let (mut assembly, mut chunk) = (StateAssembly::default(), Vec::new());
            let mut tick = 70_001;
            let mut newest = 70_000;
            let mut sent = 0;
            while !transfer.is_complete() {
                assert_eq!(assembly.complete(), None);
                transfer.chunk(tick, newest, &mut chunk);
                assert!(chunk.len() <= cubewire_codec::simulation::MAX_STATE_CHUNK_BYTES);
                sent += usize::from(!chunk.is_empty());
                if tick % 7 == 3 {
                    assembly.add(tick, &chunk);
                    transfer.on_ack(tick);
                    newest = tick;
                }
                tick += 1;
            }
            let chunks = transfer.progress().1;
            assert!(sent <= 7 * (chunks + 2), "{sent} for {chunks}");
            assert_eq!(assembly.complete(), Some(70_000));
            assert_eq!(assembly.take()[..], state[..]);
            assert_eq!(assembly.complete(), None);
            transfer.chunk(tick, newest, &mut chunk);
            assert!(chunk.is_empty());
        }
    }

    #[test]
    fn chunks_that_do_not_fit_are_ignored() {
        let mut assembly = StateAssembly::default();
        for chunk in [&[][..], &[0, 1, 0, 1], &[0, 1, 1, 1, 9], &[0, 1, 0, 2, 9], &[0, 1, 0, 0, 9]]
        {
            assembly.add(9, chunk);
            assert_eq!(assembly.complete(), None);
        }
        assembly.add(9, &[0, 1, 0, 1, 9]);
        assert_eq!(assembly.complete(), Some(1));
        assert_eq!(assembly.take(), [9]);
        // The same chunk again, and one of an older state.
        for chunk in [[0, 1, 0, 1, 9], [0, 0, 0, 1, 9]] {
            assembly.add(9, &chunk);
            assert_eq!(assembly.complete(), None);
        }
        // A chunk from before the first tick.
        assembly.add(9, &[0, 10, 0, 1, 9]);
        assert_eq!(assembly.complete(), None);
    }

    #[test]
    fn a_state_is_taken_however_long_ago_the_last_one_was() {
        for gap in [65_536 - 256, 65_536 - 2, 65_536, 65_536 + 2] {
            let mut assembly = StateAssembly::default();
            for tick in [1_000_u64, 1_000 + gap] {
                let [high, low] = sequence(tick).0.to_be_bytes();
                assembly.add(tick + 7, &[high, low, 0, 1, 9]);
                assert_eq!(assembly.complete(), Some(tick), "after {gap} ticks");
                assembly.take();
            }
        }
    }

    #[test]
    fn a_state_is_complete_with_the_snapshot_of_its_tick_which_may_be_lost() {
        let mut transfer = StateTransfer::new(100, state(9), false);
        let mut chunk = Vec::new();
        transfer.chunk(101, 99, &mut chunk);
        transfer.on_ack(101);
        assert!(!transfer.is_complete());
        assert!(!transfer.has_lost_snapshot(100 + MAX_REORDERED_TICKS));
        assert!(transfer.has_lost_snapshot(101 + MAX_REORDERED_TICKS));
        transfer.on_ack(100);
        assert!(transfer.is_complete());
        assert!(!transfer.has_lost_snapshot(200));
    }

    #[test]
    fn a_chunk_is_sent_once_unless_it_is_lost_or_nothing_is_heard() {
        let mut transfer = StateTransfer::new(100, state(1800), true);
        let mut chunk = Vec::new();
        let mut sends = |transfer: &mut StateTransfer, tick, newest| {
            transfer.chunk(tick, newest, &mut chunk);
            chunk.get(2).copied()
        };
        assert_eq!(sends(&mut transfer, 101, 94), Some(0));
        assert_eq!(sends(&mut transfer, 102, 95), Some(1));
        for tick in 103..110 {
            assert_eq!(sends(&mut transfer, tick, tick - 6), None, "{tick}");
        }
        // The packet of 101 is not acked, but later ones are.
        assert_eq!(sends(&mut transfer, 110, 104), Some(0));
        assert_eq!(sends(&mut transfer, 111, 105), Some(1));
        let again = (112..130).filter(|&tick| sends(&mut transfer, tick, 105) == Some(0));
        assert_ever_longer(&again.collect::<Vec<_>>());

        let mut unheard = StateTransfer::new(100, state(9), true);
        let sent = (101..155).filter(|&tick| sends(&mut unheard, tick, 95).is_some());
        let sent: Vec<u64> = sent.collect();
        assert_eq!(sent[..2], [101, 101 + TIMEOUT_TICKS + 1]);
        assert_ever_longer(&sent[1..]);
    }

    /// Checks that the gaps between the ticks increase.
    fn assert_ever_longer(ticks: &[u64]) {
        let gaps: Vec<u64> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() >= 3 && gaps.is_sorted_by(|a, b| a < b), "{ticks:?}");
    }
}
