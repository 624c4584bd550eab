//! Refuses packets that renet 2.0.1 would panic on.
//!
//! renet cuts long messages into slices, each with its place and the number of all. It takes the
//! number from whichever slice of a message comes first and uses the place of every slice as an
//! index, unchecked: a peer that sends a place past the end, or two slices that disagree on their
//! number, makes it panic (`channel/slice_constructor.rs` and `channel/unreliable.rs`). It also
//! makes room for as many slices as a packet says, as far as the channel's memory goes.

use std::collections::BTreeMap;

use octets::Octets;

/// What one peer has said of its messages. Packets go through [`admit`](Self::admit) before renet
/// sees them.
#[derive(Debug, Default)]
pub(super) struct SliceGuard {
    /// By kind of packet and channel.
    messages: BTreeMap<(u8, u8), Messages>,
}

/// Slices that messages consist of, by message.
#[derive(Debug, Default)]
struct Messages {
    slices: BTreeMap<u64, u64>,
    /// Messages up to this one are not remembered, and no more of their slices are taken.
    forgotten: Option<u64>,
}

/// A packet that nobody who means well would send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HostilePacket {
    /// More slices than the longest message of ours needs.
    #[error("message {message} has {slices} slices, outside 1..={MAX_SLICES}")]
    Slices { message: u64, slices: u64 },
    /// A slice beyond the last.
    #[error("slice {slice} of message {message} is outside its {slices}")]
    Place {
        message: u64,
        slice: u64,
        slices: u64,
    },
    /// Two slices of a message disagree.
    #[error("message {message} has {first} slices and {slices} slices")]
    Disagree {
        message: u64,
        first: u64,
        slices: u64,
    },
    /// A message so old that it should have arrived or been given up long ago.
    #[error("message {message} comes too late")]
    TooLate { message: u64 },
    /// There is no such channel.
    #[error("there is no channel {0}")]
    Channel(u8),
    /// The slice's header is not complete.
    #[error("the packet ends inside the header of a slice")]
    Truncated,
}

impl From<octets::BufferTooShortError> for HostilePacket {
    fn from(_: octets::BufferTooShortError) -> Self {
        Self::Truncated
    }
}

impl SliceGuard {
    /// Whether renet may see the packet. What is wrong with packets other than slices, renet finds
    /// out by itself.
    pub(super) fn admit(&mut self, packet: &[u8]) -> Result<(), HostilePacket> {
        let Some(&kind @ (RELIABLE_SLICE | UNRELIABLE_SLICE)) = packet.first() else {
            return Ok(());
        };
        let mut bytes = Octets::with_slice(packet);
        bytes.skip(1)?;
        let _sequence = bytes.get_varint()?;
        let channel = bytes.get_u8()?;
        if channel > LAST_CHANNEL {
            return Err(HostilePacket::Channel(channel));
        }
        let message = bytes.get_varint()?;
        let slice = bytes.get_varint()?;
        let slices = bytes.get_varint()?;
        if !(1..=MAX_SLICES).contains(&slices) {
            return Err(HostilePacket::Slices { message, slices });
        }
        if slice >= slices {
            return Err(HostilePacket::Place {
                message,
                slice,
                slices,
            });
        }
        let messages = self.messages.entry((kind, channel)).or_default();
        messages.agree(message, slices)
    }
}

impl Messages {
    fn agree(&mut self, message: u64, slices: u64) -> Result<(), HostilePacket> {
        if self.forgotten.is_some_and(|forgotten| message <= forgotten) {
            return Err(HostilePacket::TooLate { message });
        }
        let first = *self.slices.entry(message).or_insert(slices);
        if first != slices {
            return Err(HostilePacket::Disagree {
                message,
                first,
                slices,
            });
        }
        if self.slices.len() > MAX_MESSAGES
            && let Some((oldest, _)) = self.slices.pop_first()
        {
            self.forgotten = Some(oldest);
        }
        Ok(())
    }
}

// First bytes of renet's packets.
const RELIABLE_SLICE: u8 = 2;
const UNRELIABLE_SLICE: u8 = 3;

/// The last of our channels.
const LAST_CHANNEL: u8 = super::CHANNEL;

/// An uncompressed snapshot of 901 cubes takes 31.
const MAX_SLICES: u64 = 64;

/// Messages whose slices are remembered: a minute of them, and renet gives one up after three
/// seconds.
const MAX_MESSAGES: usize = 4096;

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use octets::OctetsMut;
    use renet::RenetServer;

    use super::*;

    fn slice(message: u64, slice: u64, slices: u64) -> Vec<u8> {
        let mut buffer = [0; 1300];
        let mut bytes = OctetsMut::with_slice(&mut buffer);
        bytes.put_u8(UNRELIABLE_SLICE).unwrap();
        bytes.put_varint(message).unwrap();
        bytes.put_u8(0).unwrap();
        for value in [message, slice, slices, 1200] {
            bytes.put_varint(value).unwrap();
        }
        bytes.put_bytes(&[7; 1200]).unwrap();
        let length = bytes.off();
        buffer[..length].to_vec()
    }

    fn renet_panics(packets: &[Vec<u8>]) -> bool {
        let mut server = RenetServer::new(super::super::config());
        server.add_connection(1);
        let all = AssertUnwindSafe(|| {
            for packet in packets {
                let _ = server.process_packet_from(packet, 1);
            }
        });
        catch_unwind(all).is_err()
    }

    #[test]
    fn what_makes_renet_panic_does_not_get_through() {
        let past_the_end = vec![slice(1, 9, 3)];
        let disagreeing = vec![slice(1, 0, 3), slice(1, 7, 9)];
        for packets in [past_the_end, disagreeing] {
            // If renet has learned to check, this file can go.
            assert!(renet_panics(&packets));
            let mut guard = SliceGuard::default();
            let admitted: Vec<_> = packets
                .into_iter()
                .filter(|packet| guard.admit(packet).is_ok())
                .collect();
            assert!(!renet_panics(&admitted));
        }
    }

    #[test]
    fn each_refusal_says_why() {
        let mut guard = SliceGuard::default();
        let why = |guard: &mut SliceGuard, packet: &[u8]| guard.admit(packet).unwrap_err();
        let error = why(&mut guard, &slice(5, 0, 1_000_000));
        assert_eq!(
            error.to_string(),
            "message 5 has 1000000 slices, outside 1..=64"
        );
        let error = why(&mut guard, &slice(5, 0, 0));
        assert_eq!(
            error,
            HostilePacket::Slices {
                message: 5,
                slices: 0
            }
        );
        guard.admit(&slice(5, 0, 3)).unwrap();
        let error = why(&mut guard, &slice(5, 1, 4));
        assert_eq!(error.to_string(), "message 5 has 3 slices and 4 slices");
        let error = why(&mut guard, &slice(5, 0, 3)[..4]);
        assert_eq!(error, HostilePacket::Truncated);
        let mut other_channel = slice(5, 0, 3);
        other_channel[2] = 200;
        assert_eq!(why(&mut guard, &other_channel), HostilePacket::Channel(200));
    }

    #[test]
    fn memory_is_bounded_and_what_is_forgotten_stays_out() {
        let mut guard = SliceGuard::default();
        for message in 0..10_000 {
            guard.admit(&slice(message, 0, 3)).unwrap();
        }
        let remembered: usize = guard.messages.values().map(|m| m.slices.len()).sum();
        assert_eq!(remembered, MAX_MESSAGES);
        let error = guard.admit(&slice(10, 0, 9)).unwrap_err();
        assert_eq!(error, HostilePacket::TooLate { message: 10 });
    }

    #[test]
    fn other_packets_are_left_to_renet() {
        let mut guard = SliceGuard::default();
        for packet in [&[][..], &[0], &[1, 2, 3], &[4], &[255, 255]] {
            assert_eq!(guard.admit(packet), Ok(()));
        }
    }
}
