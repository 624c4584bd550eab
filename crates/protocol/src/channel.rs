//! Two kinds of messages in datagrams that may be lost, late, doubled or out of order: unreliable ones of any length, and
//! reliable ones, which arrive once and in order.

mod incoming;
mod outgoing;
#[cfg(test)]
mod tests;

use std::time::Duration;

use self::incoming::Incoming;
use self::outgoing::Outgoing;

/// Most bytes of a datagram of a [`MessageChannel`].
pub const MAX_DATAGRAM_BYTES: usize = 1 + ACK_BYTES + RUN_HEAD + PIECE_BYTES;

/// Most bytes of a reliable message.
pub const MAX_RELIABLE_BYTES: usize = u16::MAX as usize;

/// Most bytes of an unreliable message, in 256 fragments.
pub const MAX_UNRELIABLE_BYTES: usize = 256 * PIECE_BYTES;

/// Most bytes of chunks, a fragment or a message in one datagram.
const PIECE_BYTES: usize = 1200;

/// Bytes of an ack.
const ACK_BYTES: usize = 12;

/// Bytes before the chunks of a run, and at least as many as those before a fragment.
const RUN_HEAD: usize = 5;

/// Chunks that may be sent before the first of them is acked, and be received before it.
const WINDOW: u32 = 1024;

const HAS_ACK: u8 = 1;
const HAS_CHUNKS: u8 = 2;
const WHOLE: u8 = 4;
const FRAGMENT: u8 = 8;

/// One end of a connection, which turns messages into datagrams and back. Time is an argument.
///
/// ```text
/// flags 8 | ack: expected 32, after 64 | chunks: first 32, count 8, of each: length 8, bytes | message: the rest
///                                                       | fragment: message 16, index 8, last 8, the rest
/// ```
///
/// Big endian; the lower two bits of the flags say whether there are an ack and chunks, the next two whether there is no
/// message, a whole one or a fragment. Reliable messages are a stream, each after its length of 16 bits, that is cut into
/// numbered chunks; a chunk is sent again until it is acked. `expected` is the first chunk that has not arrived, and a bit of
/// `after`, from the lowest, stands for each that follows.
///
/// Memory is bounded whatever the peer sends: by a window of chunks, a reliable message and four of the longest unreliable
/// ones. What waits to be sent is not: see [`backlog_bytes`](Self::backlog_bytes).
#[derive(Clone, Debug, Default)]
pub struct MessageChannel {
    incoming: Incoming,
    outgoing: Outgoing,
}

/// Why a message cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of {bytes} bytes is longer than the longest, of {most}")]
pub struct TooLong {
    /// Bytes of the message.
    pub bytes: usize,
    /// The most that it may have.
    pub most: usize,
}

/// Why a datagram is none of a [`MessageChannel`]. None of it has been taken, except for an ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// It ends inside a header or a chunk.
    #[error("the datagram of {0} bytes ends too early")]
    Truncated(usize),
    /// It is longer than [`MAX_DATAGRAM_BYTES`].
    #[error("the datagram has {0} bytes, more than {MAX_DATAGRAM_BYTES}")]
    TooLong(usize),
    /// The flags are unknown.
    #[error("flags {0:#04x} are unknown")]
    Flags(u8),
    /// It acks a chunk that was never sent.
    #[error("chunk {0} was acked and never sent")]
    NeverSent(u32),
    /// A chunk without bytes.
    #[error("chunk {0} is empty")]
    EmptyChunk(u32),
    /// A fragment that is not one of its message.
    #[error("fragment {index} of message {message} is outside 0..={last}")]
    Fragment {
        /// Number of the message.
        message: u16,
        /// Index of the fragment.
        index: u8,
        /// Index of the last fragment of the message.
        last: u8,
    },
}

impl MessageChannel {
    /// Queues a reliable message.
    ///
    /// # Errors
    /// [`TooLong`] if it has more than [`MAX_RELIABLE_BYTES`].
    pub fn send_reliable(&mut self, message: &[u8]) -> Result<(), TooLong> {
        self.outgoing.send_reliable(message)
    }

    /// Queues an unreliable message for the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// [`TooLong`] if it has more than [`MAX_UNRELIABLE_BYTES`].
    pub fn send_unreliable(&mut self, message: Vec<u8>) -> Result<(), TooLong> {
        self.outgoing.send_unreliable(message)
    }

    /// The datagrams to send now: all unreliable messages, and of reliable ones what is new or has to be sent again, for at
    /// most `allowance` bytes with `overhead` for each datagram that they need of their own.
    pub fn flush(&mut self, now: Duration, allowance: usize, overhead: usize) -> Vec<Vec<u8>> {
        let ack = self.incoming.take_ack();
        let (datagrams, is_acked) = self.outgoing.flush(now, ack, allowance, overhead);
        self.incoming.keep_ack(ack.is_some() && !is_acked);
        datagrams
    }

    /// Takes a datagram of the other end.
    ///
    /// # Errors
    /// [`ChannelError`] if it is none.
    pub fn on_datagram(&mut self, now: Duration, datagram: &[u8]) -> Result<(), ChannelError> {
        let truncated = ChannelError::Truncated(datagram.len());
        if datagram.len() > MAX_DATAGRAM_BYTES {
            return Err(ChannelError::TooLong(datagram.len()));
        }
        let (&flags, mut rest) = datagram.split_first().ok_or(truncated)?;
        if flags > 15 || flags & (WHOLE | FRAGMENT) == WHOLE | FRAGMENT {
            return Err(ChannelError::Flags(flags));
        }
        if flags & HAS_ACK != 0 {
            let expected = take(&mut rest).ok_or(truncated)?;
            let after = take(&mut rest).ok_or(truncated)?;
            let (expected, after) = (u32::from_be_bytes(expected), u64::from_be_bytes(after));
            self.outgoing.on_ack(now, expected, after)?;
        }
        let mut chunks = Vec::new();
        if flags & HAS_CHUNKS != 0 {
            let first = u32::from_be_bytes(take(&mut rest).ok_or(truncated)?);
            let [count] = take(&mut rest).ok_or(truncated)?;
            for index in 0..u32::from(count) {
                let [length] = take(&mut rest).ok_or(truncated)?;
                let (bytes, after) = rest.split_at_checked(length.into()).ok_or(truncated)?;
                let number = first.wrapping_add(index);
                if bytes.is_empty() {
                    return Err(ChannelError::EmptyChunk(number));
                }
                chunks.push((number, bytes));
                rest = after;
            }
        }
        match flags & (WHOLE | FRAGMENT) {
            WHOLE => self.incoming.on_whole(rest),
            FRAGMENT => self.incoming.on_fragment(rest, truncated)?,
            _ => {}
        }
        for (number, bytes) in chunks {
            self.incoming.on_chunk(number, bytes);
        }
        Ok(())
    }

    /// The next reliable message that has arrived.
    pub fn poll_reliable(&mut self) -> Option<Vec<u8>> {
        self.incoming.poll_reliable()
    }

    /// The next unreliable message that has arrived.
    pub fn poll_unreliable(&mut self) -> Option<Vec<u8>> {
        self.incoming.poll_unreliable()
    }

    /// Bytes of reliable messages that are not known to have arrived. A peer that acks nothing lets them grow: it is up to
    /// the caller to give it up.
    #[must_use]
    pub fn backlog_bytes(&self) -> usize {
        self.outgoing.backlog_bytes()
    }

    /// Round-trip time, smoothed, of what was reliable and did not have to be sent again; none before the first.
    #[must_use]
    pub const fn round_trip(&self) -> Option<Duration> {
        self.outgoing.round_trip()
    }

    /// Whether a datagram carries an unreliable message, or a fragment of one.
    #[must_use]
    pub fn has_message(datagram: &[u8]) -> bool {
        let flags = datagram.first();
        flags.is_some_and(|flags| flags & (WHOLE | FRAGMENT) != 0)
    }

    /// Whether there is nothing to send, now or again.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.outgoing.backlog_bytes() == 0 && !self.incoming.has_ack()
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
