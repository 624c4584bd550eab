//! The receiving half: the stream in order, and messages of which all fragments have arrived.

use std::collections::{BTreeMap, VecDeque};

use super::{ChannelError, WINDOW, take};

#[derive(Clone, Debug, Default)]
pub(super) struct Incoming {
    /// The first chunk that has not arrived.
    expected: u32,
    /// Chunks after it, by number.
    early: BTreeMap<u32, Vec<u8>>,
    is_ack_due: bool,
    /// The stream from the message on that is not complete.
    stream: Vec<u8>,
    reliable: VecDeque<Vec<u8>>,
    /// Messages of which fragments are missing, the oldest first.
    incomplete: VecDeque<Incomplete>,
    unreliable: VecDeque<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Incomplete {
    message: u16,
    last: u8,
    fragments: BTreeMap<u8, Vec<u8>>,
}

/// Messages that are so much older or newer than a fragment are given up: their numbers come again.
const NUMBERS: u16 = 64;

/// Fragments of incomplete messages, at most: those of four of the longest.
const MAX_FRAGMENTS: usize = 4 * 256;

impl Incoming {
    pub(super) fn on_chunk(&mut self, number: u32, bytes: &[u8]) {
        self.is_ack_due = true;
        let ahead = number.wrapping_sub(self.expected);
        if ahead >= WINDOW {
            return;
        }
        self.early.entry(number).or_insert_with(|| bytes.to_vec());
        while let Some(bytes) = self.early.remove(&self.expected) {
            self.stream.extend(bytes);
            self.expected = self.expected.wrapping_add(1);
        }
        self.split();
    }

    /// Takes the complete messages out of the stream.
    fn split(&mut self) {
        let mut taken = 0;
        while let Some((length, rest)) = self.stream[taken..].split_first_chunk() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some(message) = rest.get(..length) else {
                break;
            };
            self.reliable.push_back(message.to_vec());
            taken += 2 + length;
        }
        self.stream.drain(..taken);
    }

    pub(super) fn on_whole(&mut self, message: &[u8]) {
        self.unreliable.push_back(message.to_vec());
    }

    pub(super) fn on_fragment(
        &mut self,
        mut bytes: &[u8],
        truncated: ChannelError,
    ) -> Result<(), ChannelError> {
        let message = u16::from_be_bytes(take(&mut bytes).ok_or(truncated)?);
        let [index, last, ref piece @ ..] = *bytes else {
            return Err(truncated);
        };
        let wrong = ChannelError::Fragment {
            message,
            index,
            last,
        };
        if index > last {
            return Err(wrong);
        }
        let fragments = self.incomplete.iter().map(|held| held.fragments.len());
        if fragments.sum::<usize>() >= MAX_FRAGMENTS {
            self.incomplete.pop_front();
        }
        let mut known = self.incomplete.iter();
        let position = known.position(|incomplete| incomplete.message == message);
        let position = position.unwrap_or_else(|| {
            let distance = |held: u16| message.wrapping_sub(held).min(held.wrapping_sub(message));
            self.incomplete
                .retain(|incomplete| distance(incomplete.message) < NUMBERS);
            self.incomplete.push_back(Incomplete {
                message,
                last,
                fragments: BTreeMap::new(),
            });
            self.incomplete.len() - 1
        });
        let incomplete = &mut self.incomplete[position];
        if incomplete.last != last {
            return Err(wrong);
        }
        incomplete
            .fragments
            .entry(index)
            .or_insert_with(|| piece.to_vec());
        if incomplete.fragments.len() == usize::from(last) + 1
            && let Some(complete) = self.incomplete.remove(position)
        {
            let pieces: Vec<_> = complete.fragments.into_values().collect();
            self.unreliable.push_back(pieces.concat());
        }
        Ok(())
    }

    pub(super) fn poll_reliable(&mut self) -> Option<Vec<u8>> {
        self.reliable.pop_front()
    }

    pub(super) fn poll_unreliable(&mut self) -> Option<Vec<u8>> {
        self.unreliable.pop_front()
    }

    pub(super) const fn has_ack(&self) -> bool {
        self.is_ack_due
    }

    /// The first chunk that is missing and those after it that are not, if that is to be said.
    pub(super) fn take_ack(&mut self) -> Option<(u32, u64)> {
        if !std::mem::take(&mut self.is_ack_due) {
            return None;
        }
        let after = self.early.keys().fold(0_u64, |after, number| {
            match number.wrapping_sub(self.expected) {
                distance @ 1..=64 => after | 1 << (distance - 1),
                _ => after,
            }
        });
        Some((self.expected, after))
    }

    /// The ack was not sent.
    pub(super) const fn keep_ack(&mut self, is_due: bool) {
        self.is_ack_due |= is_due;
    }
}

#[cfg(test)]
impl Incoming {
    pub(super) fn memory_bytes(&self) -> usize {
        let fragments = self
            .incomplete
            .iter()
            .flat_map(|message| message.fragments.values());
        let pieces = self.early.values().chain(fragments);
        pieces.map(Vec::len).sum::<usize>() + self.stream.len()
    }
}
