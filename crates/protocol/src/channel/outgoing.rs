//! The sending half: chunks of the stream until they are acked, and messages as they come.

use std::collections::VecDeque;
use std::time::Duration;

use super::{
    ACK_BYTES, ChannelError, FRAGMENT, HAS_ACK, HAS_CHUNKS, MAX_DATAGRAM_BYTES, MAX_RELIABLE_BYTES,
    MAX_UNRELIABLE_BYTES, PIECE_BYTES, RUN_HEAD, TooLong, WHOLE, WINDOW,
};

#[derive(Clone, Debug, Default)]
pub(super) struct Outgoing {
    /// What no chunk has yet.
    stream: VecDeque<u8>,
    /// Those that are not acked, ascending.
    chunks: VecDeque<Chunk>,
    next_chunk: u32,
    messages: Vec<Vec<u8>>,
    next_message: u16,
    /// Smoothed, of chunks that were sent once; at first, of any, from its first sending.
    round_trip: Option<Duration>,
}

#[derive(Clone, Debug)]
struct Chunk {
    number: u32,
    bytes: Vec<u8>,
    first_sent_at: Duration,
    last_sent_at: Duration,
    resends: u32,
}

/// Chunks with numbers that follow each other, in one datagram.
#[derive(Debug)]
struct Run {
    /// Index of the first.
    first: usize,
    count: usize,
    /// Number after the last: between two indices that follow each other, chunks may have been acked.
    next: u32,
    /// With their headers.
    bytes: usize,
}

/// Gathers chunks for so many bytes.
#[derive(Debug)]
struct Runs {
    runs: Vec<Run>,
    left: usize,
    /// Bytes around a run in a datagram of its own.
    around: usize,
}

impl Runs {
    /// Adds a chunk, if there is room; indices ascend.
    fn push(&mut self, index: usize, chunk: &Chunk) -> bool {
        let bytes = 1 + chunk.bytes.len();
        let continues = |run: &&mut Run| {
            run.first + run.count == index
                && run.next == chunk.number
                && run.count < 255
                && run.bytes + bytes <= PIECE_BYTES
        };
        match self.runs.last_mut().filter(continues) {
            Some(run) if bytes <= self.left => {
                run.count += 1;
                run.next = run.next.wrapping_add(1);
                run.bytes += bytes;
                self.left -= bytes;
                true
            }
            None if self.around + bytes <= self.left => {
                self.runs.push(Run {
                    first: index,
                    count: 1,
                    next: chunk.number.wrapping_add(1),
                    bytes: RUN_HEAD + bytes,
                });
                self.left -= self.around + bytes;
                true
            }
            _ => false,
        }
    }
}

/// A datagram before it is written.
#[derive(Debug, Default)]
struct Draft {
    ack: Option<(u32, u64)>,
    run: Option<Run>,
    /// Its flag and its bytes; it always leaves room for an ack.
    message: Option<(u8, Vec<u8>)>,
}

impl Draft {
    /// Bytes without those of a run.
    fn bytes(&self) -> usize {
        let message = self.message.as_ref().map_or(0, |(_, bytes)| bytes.len());
        1 + self.ack.map_or(0, |_| ACK_BYTES) + message
    }

    fn encode(&self, chunks: &VecDeque<Chunk>) -> Vec<u8> {
        let mut bytes = vec![0];
        if let Some((expected, after)) = self.ack {
            bytes[0] |= HAS_ACK;
            bytes.extend(expected.to_be_bytes());
            bytes.extend(after.to_be_bytes());
        }
        if let Some(run) = &self.run {
            bytes[0] |= HAS_CHUNKS;
            bytes.extend(chunks[run.first].number.to_be_bytes());
            bytes.push(run.count as u8);
            for chunk in chunks.range(run.first..run.first + run.count) {
                bytes.push(chunk.bytes.len() as u8);
                bytes.extend(&chunk.bytes);
            }
        }
        if let Some((flag, message)) = &self.message {
            bytes[0] |= flag;
            bytes.extend(message);
        }
        bytes
    }
}

/// Most bytes of a chunk: so few that one fits into what the smallest budget allows.
const CHUNK_BYTES: usize = 80;

/// Until the first ack.
const FIRST_ROUND_TRIP: Duration = Duration::from_millis(150);

const MIN_RESEND: Duration = Duration::from_millis(60);
const MAX_RESEND: Duration = Duration::from_secs(1);

impl Outgoing {
    pub(super) fn send_reliable(&mut self, message: &[u8]) -> Result<(), TooLong> {
        let bytes = message.len();
        let most = MAX_RELIABLE_BYTES;
        let length = u16::try_from(bytes).map_err(|_| TooLong { bytes, most })?;
        self.stream.extend(length.to_be_bytes());
        self.stream.extend(message);
        Ok(())
    }

    pub(super) fn send_unreliable(&mut self, message: Vec<u8>) -> Result<(), TooLong> {
        let (bytes, most) = (message.len(), MAX_UNRELIABLE_BYTES);
        if bytes > most {
            return Err(TooLong { bytes, most });
        }
        self.messages.push(message);
        Ok(())
    }

    pub(super) const fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    pub(super) fn backlog_bytes(&self) -> usize {
        let chunks = self.chunks.iter().map(|chunk| chunk.bytes.len());
        self.stream.len() + chunks.sum::<usize>()
    }

    /// The datagrams, and whether one of them has the ack.
    pub(super) fn flush(
        &mut self,
        now: Duration,
        ack: Option<(u32, u64)>,
        allowance: usize,
        overhead: usize,
    ) -> (Vec<Vec<u8>>, bool) {
        let mut drafts = Vec::new();
        for message in std::mem::take(&mut self.messages) {
            self.cut(message, &mut drafts);
        }
        let mut left = allowance;
        if ack.is_some() && drafts.is_empty() && left >= overhead + 1 + ACK_BYTES {
            left -= overhead + 1 + ACK_BYTES;
            drafts.push(Draft::default());
        }
        if let Some(first) = drafts.first_mut() {
            first.ack = ack;
        }
        let is_acked = !drafts.is_empty();
        for run in self.runs_to_send(now, left, overhead) {
            let has_room = |draft: &Draft| {
                draft.run.is_none() && draft.bytes() + run.bytes <= MAX_DATAGRAM_BYTES
            };
            match drafts.iter_mut().find(|draft| has_room(draft)) {
                Some(draft) => draft.run = Some(run),
                None => drafts.push(Draft {
                    run: Some(run),
                    ..Draft::default()
                }),
            }
        }
        let datagrams = drafts.iter().map(|draft| draft.encode(&self.chunks));
        (datagrams.collect(), is_acked)
    }

    /// Cuts an unreliable message into datagrams.
    fn cut(&mut self, message: Vec<u8>, drafts: &mut Vec<Draft>) {
        if message.len() <= PIECE_BYTES {
            drafts.push(Draft {
                message: Some((WHOLE, message)),
                ..Draft::default()
            });
            return;
        }
        let number = self.next_message.to_be_bytes();
        self.next_message = self.next_message.wrapping_add(1);
        let pieces = message.chunks(PIECE_BYTES);
        let last = (pieces.len() - 1) as u8;
        for (index, piece) in pieces.enumerate() {
            let head = [number[0], number[1], index as u8, last];
            drafts.push(Draft {
                message: Some((FRAGMENT, [&head, piece].concat())),
                ..Draft::default()
            });
        }
    }

    /// The chunks that are sent now: overdue ones, then new ones.
    fn runs_to_send(&mut self, now: Duration, allowance: usize, overhead: usize) -> Vec<Run> {
        let round_trip = self.round_trip.unwrap_or(FIRST_ROUND_TRIP);
        let wait = (round_trip * 3 / 2 + Duration::from_millis(30)).clamp(MIN_RESEND, MAX_RESEND);
        let mut runs = Runs {
            runs: Vec::new(),
            left: allowance,
            around: overhead + 1 + RUN_HEAD,
        };
        for (index, chunk) in self.chunks.iter_mut().enumerate() {
            // All others wait for the first, and it alone can crowd no link: only they are sent ever less often.
            let doublings = if index == 0 { 0 } else { chunk.resends.min(4) };
            let wait = (wait * (1 << doublings)).min(MAX_RESEND);
            if now >= chunk.last_sent_at + wait && runs.push(index, chunk) {
                (chunk.last_sent_at, chunk.resends) = (now, chunk.resends + 1);
            }
        }
        while !self.stream.is_empty() && self.sent() < WINDOW {
            let bytes = self.stream.len().min(CHUNK_BYTES);
            let chunk = Chunk {
                number: self.next_chunk,
                bytes: self.stream.range(..bytes).copied().collect(),
                first_sent_at: now,
                last_sent_at: now,
                resends: 0,
            };
            if !runs.push(self.chunks.len(), &chunk) {
                break;
            }
            self.stream.drain(..bytes);
            self.chunks.push_back(chunk);
            self.next_chunk = self.next_chunk.wrapping_add(1);
        }
        runs.runs
    }

    /// Number of the first chunk that is not acked.
    fn first(&self) -> u32 {
        self.chunks
            .front()
            .map_or(self.next_chunk, |chunk| chunk.number)
    }

    /// Chunks from the first that is not acked on.
    fn sent(&self) -> u32 {
        self.next_chunk.wrapping_sub(self.first())
    }

    pub(super) fn on_ack(
        &mut self,
        now: Duration,
        expected: u32,
        after: u64,
    ) -> Result<(), ChannelError> {
        let first = self.first();
        if expected.wrapping_sub(first) > self.sent() {
            // One from before this one is old, and one from the future wrong.
            return match first.wrapping_sub(expected) <= u32::MAX / 2 {
                true => Ok(()),
                false => Err(ChannelError::NeverSent(expected)),
            };
        }
        let has_arrived = |number: u32| {
            let since = number.wrapping_sub(expected);
            let is_after = (1..=64).contains(&since) && after >> (since - 1) & 1 == 1;
            since > u32::MAX / 2 || is_after
        };
        let mut newest = None;
        // Where a round trip takes longer than the first wait, all are sent twice until there is a measurement.
        let is_unknown = self.round_trip.is_none();
        self.chunks.retain(|chunk| {
            let arrived = has_arrived(chunk.number);
            if arrived && (chunk.resends == 0 || is_unknown) {
                newest = Some(now.saturating_sub(chunk.first_sent_at));
            }
            !arrived
        });
        if let Some(sample) = newest {
            self.round_trip = Some(match self.round_trip {
                Some(smoothed) => (smoothed * 7 + sample) / 8,
                None => sample,
            });
        }
        Ok(())
    }
}
