//! Validates packets of renet 2.0.1 before `RenetClient::process_packet` reads them.
//!
//! renet trusts some numbers of a packet: a slice's index, the slice count that each slice of a message repeats, and the
//! identifier of a reliable message. A peer can use them to make it panic, count its memory wrongly, or hold messages
//! that it does not count. `SECURITY.md` in the repository lists each defect with its input. `tests/suite/renet_guard`
//! shows each one against renet itself.
//!
//! Every packet begins with a kind and a sequence number. `v` is a variable-length integer (RFC 9000, section 16);
//! everything is big endian.
//!
//! ```text
//! small reliable    0 | sequence v | channel 8 | count 16 | each: message v, length v, bytes
//! small unreliable  1 | sequence v | channel 8 | count 16 | each: length v, bytes
//! reliable slice    2 | sequence v | channel 8 | message v | index v | slices v | length v | bytes
//! unreliable slice  3 | sequence v | channel 8 | message v | index v | slices v | length v | bytes
//! ack               4 | sequence v | ranges
//! ```
//!
//! Ranges of acks are not checked. renet validates them itself and looks them up in its list of sent packets.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Channel for unreliable messages, in both directions.
pub const UNRELIABLE_CHANNEL: u8 = 0;

/// Channel for reliable messages, which arrive in order, in both directions.
pub const RELIABLE_CHANNEL: u8 = 1;

/// Length of a slice, bytes. The last slice of a message may be shorter. Longer messages are sliced.
pub const SLICE_BYTES: usize = 1200;

/// Maximum number of bytes that renet adds to a datagram, to a slice, or to a group of reliable messages. Valid while
/// packet numbers are below 2³⁰: for 69 days at three packets per tick and 60 ticks a second.
pub const CHANNEL_BYTES: usize = 14;

/// Largest reliable message, in bytes.
pub const MAX_RELIABLE_BYTES: usize = u16::MAX as usize;

/// Largest unreliable message, in bytes: 256 slices.
pub const MAX_UNRELIABLE_BYTES: usize = 256 * SLICE_BYTES;

/// Largest packet, in bytes: the payload of a netcode datagram. renet's packets have at most 1228 bytes, but its acks
/// up to 1400.
pub const MAX_PACKET_BYTES: usize = 1300;

/// Maximum distance of a reliable message from the first incomplete one. renet keeps later messages until that one is
/// complete, and does not count the hundred bytes of overhead of each.
pub const MAX_GAP: u64 = 1 << 16;

/// Refuses packets that would make renet 2.0.1 panic or miscount.
///
/// A connection has one guard for the packets that it receives, and only passes packets to renet that
/// [`check`](Self::check) accepts. renet must have two receiving channels: [`UNRELIABLE_CHANNEL`], and
/// [`RELIABLE_CHANNEL`], which is ordered.
///
/// The guard accepts all packets of a renet peer that sends no empty messages, no acks longer than [`MAX_PACKET_BYTES`], no
/// messages beyond [`MAX_UNRELIABLE_BYTES`] and [`MAX_RELIABLE_BYTES`], and no reliable message [`MAX_GAP`] or more after the
/// first that has not arrived. Packets may be lost, late, duplicated or out of order. A sliced unreliable message may be 4096 sliced
/// messages late: more than a minute at 60 per second.
///
/// The guard holds up to 64 kB, and up to 2 MB more if the peer leaves a gap of [`MAX_GAP`]. The work for a packet is
/// proportional to its length. In addition, the first packet after a gap allocates 16 bytes for each message of the gap.
#[derive(Clone, Debug, Default)]
pub struct RenetGuard {
    /// The first incomplete reliable message.
    expected: u64,
    /// The reliable messages from `expected` on.
    reliable: VecDeque<Reliable>,
    /// Table of unreliable messages, indexed by message number modulo its size: number and slice count of the newest
    /// message. The count is 0 without a message. Empty before the first slice.
    unreliable: Vec<(u64, u64)>,
}

/// A reliable message that may be incomplete.
#[derive(Clone, Copy, Debug, Default)]
struct Reliable {
    /// Bit `i` is set if slice `i` has arrived. A reliable message has at most 55 slices.
    arrived: u64,
    /// Number of slices: 1 for a message that is not sliced, 0 if it is not known yet.
    slices: u8,
}

/// A packet that no correct peer sends. The connection should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedPacket {
    /// The packet is longer than [`MAX_PACKET_BYTES`].
    #[error("packet of {0} bytes, limit {MAX_PACKET_BYTES}")]
    TooLong(usize),
    /// The packet ends inside a field or a message.
    #[error("packet ends too early")]
    Truncated,
    /// Bytes follow the last message.
    #[error("{0} bytes after the last message of the packet")]
    TrailingBytes(usize),
    /// The kind of packet, or its channel, is unknown.
    #[error("packet of kind {kind} on channel {channel}")]
    Channel {
        /// The first byte.
        kind: u8,
        /// The channel, 0 to 255.
        channel: u8,
    },
    /// An unsliced message is empty, or too long for one piece.
    #[error("message of {0} bytes outside 1..={SLICE}")]
    MessageLength(u64),
    /// The slice is not valid for any message.
    #[error("slice {index} of {slices} with {bytes} bytes")]
    Slice {
        /// Index of the slice.
        index: u64,
        /// Number of slices of its message.
        slices: u64,
        /// Bytes of the slice.
        bytes: u64,
    },
    /// Two packets give a message different numbers of slices.
    #[error("message {message} has {slices} slices and {earlier} slices")]
    SliceCount {
        /// Number of the message.
        message: u64,
        /// Number of slices in this packet, 1 for an unsliced message.
        slices: u64,
        /// Number of slices in an earlier packet.
        earlier: u64,
    },
    /// The reliable message is [`MAX_GAP`] or more after the first incomplete one.
    #[error("reliable message {message} comes {MAX_GAP} or more after message {expected}")]
    Gap {
        /// Number of the message.
        message: u64,
        /// Number of the first incomplete message.
        expected: u64,
    },
    /// The slice belongs to a message so old that its slice count has been forgotten.
    #[error("slice of message {0} is too late")]
    TooLate(u64),
}

impl RenetGuard {
    /// Creates a guard for a new connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks a packet before it is passed to renet. A refused packet does not change the guard.
    ///
    /// # Errors
    /// [`RefusedPacket`]: the packet must not be passed to renet, and the connection should end.
    pub fn check(&mut self, packet: &[u8]) -> Result<(), RefusedPacket> {
        if packet.len() > MAX_PACKET_BYTES {
            return Err(RefusedPacket::TooLong(packet.len()));
        }
        let mut rest = packet;
        let kind = integer(&mut rest, 1)? as u8;
        let _sequence = varint(&mut rest)?;
        if kind == ACK {
            return Ok(());
        }
        let channel = integer(&mut rest, 1)? as u8;
        match (kind, channel) {
            (SMALL_RELIABLE, RELIABLE_CHANNEL) | (SMALL_UNRELIABLE, UNRELIABLE_CHANNEL) => {
                self.check_small(channel, rest)
            }
            (RELIABLE_SLICE, RELIABLE_CHANNEL) | (UNRELIABLE_SLICE, UNRELIABLE_CHANNEL) => {
                self.check_slice(channel, rest)
            }
            _ => Err(RefusedPacket::Channel { kind, channel }),
        }
    }

    fn check_small(&mut self, channel: u8, mut rest: &[u8]) -> Result<(), RefusedPacket> {
        let count = integer(&mut rest, 2)?;
        let mut messages = Vec::new();
        for _ in 0..count {
            if channel == RELIABLE_CHANNEL {
                messages.push(varint(&mut rest)?);
            }
            let bytes = varint(&mut rest)?;
            if !(1..=SLICE).contains(&bytes) {
                return Err(RefusedPacket::MessageLength(bytes));
            }
            take(&mut rest, bytes)?;
        }
        end(rest)?;
        // Check all messages before the first change, because a refused packet must not change the guard.
        for &message in &messages {
            self.check_reliable(message, 1)?;
        }
        for message in messages {
            self.put_reliable(message, 1, 0);
        }
        Ok(())
    }

    fn check_slice(&mut self, channel: u8, mut rest: &[u8]) -> Result<(), RefusedPacket> {
        let message = varint(&mut rest)?;
        let (index, slices) = (varint(&mut rest)?, varint(&mut rest)?);
        let bytes = varint(&mut rest)?;
        take(&mut rest, bytes)?;
        end(rest)?;
        let max = match channel {
            RELIABLE_CHANNEL => MAX_RELIABLE_BYTES as u64,
            _ => MAX_UNRELIABLE_BYTES as u64,
        };
        let is_legal = (2..=max.div_ceil(SLICE)).contains(&slices)
            && index < slices
            && (bytes == SLICE || index + 1 == slices && (1..SLICE).contains(&bytes))
            && index * SLICE + bytes <= max;
        if !is_legal {
            return Err(RefusedPacket::Slice { index, slices, bytes });
        }
        if channel == UNRELIABLE_CHANNEL {
            return self.check_unreliable(message, slices);
        }
        self.check_reliable(message, slices)?;
        self.put_reliable(message, slices as u8, index);
        Ok(())
    }

    fn check_unreliable(&mut self, message: u64, slices: u64) -> Result<(), RefusedPacket> {
        if self.unreliable.is_empty() {
            self.unreliable = vec![(0, 0); REMEMBERED];
        }
        // A message that has lost its entry to a newer one cannot be checked.
        let remembered = &mut self.unreliable[(message % REMEMBERED as u64) as usize];
        let (newest, earlier) = *remembered;
        if earlier == 0 || newest < message {
            *remembered = (message, slices);
        } else if newest > message {
            return Err(RefusedPacket::TooLate(message));
        } else if earlier != slices {
            return Err(RefusedPacket::SliceCount { message, slices, earlier });
        }
        Ok(())
    }

    /// Messages before the first incomplete one are accepted: renet discards them.
    fn check_reliable(&self, message: u64, slices: u64) -> Result<(), RefusedPacket> {
        let Some(ahead) = message.checked_sub(self.expected) else {
            return Ok(());
        };
        if ahead >= MAX_GAP {
            return Err(RefusedPacket::Gap { message, expected: self.expected });
        }
        let earlier = self.reliable.get(ahead as usize);
        match earlier.map_or(0, |known| known.slices.into()) {
            earlier if earlier > 0 && earlier != slices => {
                Err(RefusedPacket::SliceCount { message, slices, earlier })
            }
            _ => Ok(()),
        }
    }

    /// Records a slice that [`check_reliable`](Self::check_reliable) has accepted.
    fn put_reliable(&mut self, message: u64, slices: u8, index: u64) {
        let Some(ahead) = message.checked_sub(self.expected) else {
            return;
        };
        let ahead = ahead as usize;
        if self.reliable.len() <= ahead {
            self.reliable.resize(ahead + 1, Reliable::default());
        }
        let known = &mut self.reliable[ahead];
        known.slices = slices;
        known.arrived |= 1 << index;
        while let Some(first) = self.reliable.front()
            && first.slices > 0
            && first.arrived.count_ones() == first.slices.into()
        {
            self.reliable.pop_front();
            self.expected += 1;
        }
    }
}

/// Returns the sequence number of a packet. `None` if the packet is malformed.
pub fn sequence(packet: &[u8]) -> Option<u64> {
    let (_, mut rest) = packet.split_first()?;
    varint(&mut rest).ok()
}

/// Returns the ranges of sequence numbers that an ack lists, newest first, up to a malformed one. Empty for other packets.
pub fn acked(packet: &[u8]) -> impl Iterator<Item = RangeInclusive<u64>> {
    let mut rest = packet.strip_prefix(&[ACK]).unwrap_or_default();
    let _sequence = varint(&mut rest);
    let mut before = None;
    std::iter::from_fn(move || {
        let mut next = || varint(&mut rest).ok();
        let newest = match before {
            None => next()?,
            Some(oldest) => u64::checked_sub(oldest, next()? + 2)?,
        };
        let oldest = newest.checked_sub(next()?)?;
        if before.replace(oldest).is_none() {
            let _further_ranges = next()?;
        }
        Some(oldest..=newest)
    })
}

fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Result<&'a [u8], RefusedPacket> {
    let count = usize::try_from(count).map_err(|_| RefusedPacket::Truncated)?;
    let split = bytes.split_at_checked(count);
    let (taken, rest) = split.ok_or(RefusedPacket::Truncated)?;
    *bytes = rest;
    Ok(taken)
}

/// A big-endian integer of up to 8 bytes.
fn integer(bytes: &mut &[u8], count: u64) -> Result<u64, RefusedPacket> {
    let taken = take(bytes, count)?;
    Ok(taken.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// A variable-length integer. The upper two bits of the first byte are the binary logarithm of its length in bytes.
fn varint(bytes: &mut &[u8]) -> Result<u64, RefusedPacket> {
    let first = bytes.first().ok_or(RefusedPacket::Truncated)?;
    let length = 1 << (first >> 6);
    Ok(integer(bytes, length)? & u64::MAX >> (66 - 8 * length))
}

/// Checks that the packet has no more bytes.
const fn end(rest: &[u8]) -> Result<(), RefusedPacket> {
    match rest.len() {
        0 => Ok(()),
        bytes => Err(RefusedPacket::TrailingBytes(bytes)),
    }
}

// Kinds of packets.
const SMALL_RELIABLE: u8 = 0;
const SMALL_UNRELIABLE: u8 = 1;
const RELIABLE_SLICE: u8 = 2;
const UNRELIABLE_SLICE: u8 = 3;
const ACK: u8 = 4;

const SLICE: u64 = SLICE_BYTES as u64;

/// Size of the table of slice counts of unreliable messages.
const REMEMBERED: usize = 4096;
