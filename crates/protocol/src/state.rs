//! The state of the sender's scene on its way to a receiver, in pieces that ride on its packets.
//!
//! ```text
//! sequence 16 | piece 8 | pieces 8 | bytes
//! ```
//!
//! Big endian. The sequence is that of the tick whose state it is. All pieces but the last have [`PIECE_BYTES`]. An ack
//! of a packet is one of its piece, so that lost pieces are sent again and no other message is needed.

use std::collections::VecDeque;
use std::sync::Arc;

use cubewire_codec::Sequence;
use cubewire_codec::simulation::MAX_SIMULATED_TICKS;

use crate::sender::sequence;

/// Bytes of a state in one piece. With the rest of its packet it usually fits a datagram.
const PIECE_BYTES: usize = 900;

const HEAD_BYTES: usize = 4;

/// Bytes of a state, at most.
pub const MAX_STATE_BYTES: usize = PIECE_BYTES * u8::MAX as usize;

/// At the sender.
#[derive(Debug)]
pub(crate) struct StateTransfer {
    tick: u64,
    state: Arc<[u8]>,
    /// By piece: whether the receiver has it.
    arrived: Vec<bool>,
    /// The piece that each packet carried, by tick, ascending.
    carried: VecDeque<(u64, usize)>,
    next: usize,
}

impl StateTransfer {
    /// # Panics
    /// If the state is empty or longer than [`MAX_STATE_BYTES`].
    pub(crate) fn new(tick: u64, state: Arc<[u8]>) -> Self {
        assert!(
            (1..=MAX_STATE_BYTES).contains(&state.len()),
            "it fits its pieces"
        );
        Self {
            tick,
            arrived: vec![false; state.len().div_ceil(PIECE_BYTES)],
            state,
            carried: VecDeque::new(),
            next: 0,
        }
    }

    pub(crate) const fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn is_complete(&self) -> bool {
        !self.arrived.contains(&false)
    }

    /// How many pieces have arrived, of how many.
    pub(crate) fn progress(&self) -> (usize, usize) {
        let arrived = self.arrived.iter().filter(|&&arrived| arrived);
        (arrived.count(), self.arrived.len())
    }

    /// Writes the piece that the packet of `tick` carries; nothing once all have arrived.
    pub(crate) fn piece(&mut self, tick: u64, bytes: &mut Vec<u8>) {
        bytes.clear();
        let pieces = self.arrived.len();
        let places = (self.next..pieces).chain(0..self.next);
        let Some(piece) = { places }.find(|&piece| !self.arrived[piece]) else {
            return;
        };
        self.next = piece + 1;
        self.carried.push_back((tick, piece));
        let first = piece * PIECE_BYTES;
        let last = self.state.len().min(first + PIECE_BYTES);
        bytes.extend(sequence(self.tick).0.to_be_bytes());
        bytes.extend([piece as u8, pieces as u8]);
        bytes.extend(&self.state[first..last]);
    }

    /// The receiver has the packet of that tick.
    pub(crate) fn on_ack(&mut self, tick: u64) {
        if let Ok(place) = self.carried.binary_search_by_key(&tick, |&(tick, _)| tick) {
            self.arrived[self.carried[place].1] = true;
        }
    }
}

/// At the receiver.
#[derive(Debug, Default)]
pub(crate) struct StateAssembly {
    sequence: Sequence,
    pieces: Vec<Option<Box<[u8]>>>,
}

impl StateAssembly {
    /// Takes a piece. Gives the whole state with the last one that was missing. Pieces that do not fit are ignored.
    pub(crate) fn add(&mut self, piece: &[u8]) -> Option<(Sequence, Vec<u8>)> {
        let (head, bytes) = piece.split_first_chunk::<HEAD_BYTES>()?;
        let [high, low, place, pieces] = *head;
        let sequence = Sequence(u16::from_be_bytes([high, low]));
        let (place, pieces) = (usize::from(place), usize::from(pieces));
        let is_whole = bytes.len() == PIECE_BYTES;
        let is_last = place + 1 == pieces && (1..=PIECE_BYTES).contains(&bytes.len());
        if place >= pieces || !(is_whole || is_last) {
            return None;
        }
        if (sequence, pieces) != (self.sequence, self.pieces.len()) {
            let late = self.sequence.ticks_since(sequence);
            if !self.pieces.is_empty() && (1..=MAX_LATE_TICKS).contains(&late) {
                return None;
            }
            self.sequence = sequence;
            self.pieces.clear();
            self.pieces.resize(pieces, None);
        }
        if self.pieces[place].is_some() {
            return None;
        }
        self.pieces[place] = Some(bytes.into());
        let whole: Option<Vec<_>> = self.pieces.iter().map(Option::as_deref).collect();
        Some((sequence, whole?.concat()))
    }
}

/// Pieces of an older state that come so late are ignored.
const MAX_LATE_TICKS: u16 = 2 * MAX_SIMULATED_TICKS as u16;

#[cfg(test)]
mod tests {
    use super::*;

    fn state(length: usize) -> Arc<[u8]> {
        (0..length).map(|place| (place * 7 % 251) as u8).collect()
    }

    #[test]
    fn a_state_arrives_over_a_link_that_loses_most_packets() {
        for length in [1, 900, 901, 20_000, MAX_STATE_BYTES] {
            let state = state(length);
            let mut transfer = StateTransfer::new(70_000, Arc::clone(&state));
            let (mut assembly, mut piece, mut whole) = (StateAssembly::default(), Vec::new(), None);
            let mut tick = 70_001;
            while !transfer.is_complete() {
                transfer.piece(tick, &mut piece);
                assert!(piece.len() <= cubewire_codec::simulation::MAX_ATTACHMENT_BYTES);
                if tick % 7 == 3 {
                    whole = whole.or(assembly.add(&piece));
                    transfer.on_ack(tick);
                }
                tick += 1;
            }
            let (sequence, bytes) = whole.expect("it is complete");
            assert_eq!(sequence, Sequence(70_000_u32 as u16));
            assert_eq!(bytes[..], state[..]);
            transfer.piece(tick, &mut piece);
            assert!(piece.is_empty());
        }
    }

    #[test]
    fn pieces_that_do_not_fit_are_ignored() {
        let mut assembly = StateAssembly::default();
        for piece in [
            &[][..],
            &[0, 1, 0, 1],
            &[0, 1, 1, 1, 9],
            &[0, 1, 0, 2, 9],
            &[0, 1, 0, 0, 9],
        ] {
            assert_eq!(assembly.add(piece), None);
        }
        let whole = assembly.add(&[0, 1, 0, 1, 9]);
        assert_eq!(whole, Some((Sequence(1), vec![9])));
        // Again, and an older one.
        assert_eq!(assembly.add(&[0, 1, 0, 1, 9]), None);
        assert_eq!(assembly.add(&[0, 0, 0, 1, 9]), None);
    }
}
