//! Looks at renet's packets before renet 2.0.1 does, and refuses those that are none of ours.
//!
//! renet cuts long messages into slices, each with its place and the number of all. It takes the
//! number from whichever slice of a message comes first and uses the place of every slice as an
//! index, unchecked: a peer that sends a place past the end, or two slices that disagree on their
//! number, makes it panic (`channel/slice_constructor.rs` and `channel/unreliable.rs`). It also
//! makes room for as many slices as a packet says, as far as the channel's memory goes, and for
//! reliable messages without contents as far as the machine's memory goes.
//!
//! So only what our two ends send gets through: downwards snapshots, whole or in slices, the slices
//! of one welcome, and grants; upwards small messages alone.

use std::collections::BTreeMap;

use octets::Octets;

use super::{SNAPSHOTS, WELCOME};

/// What one peer has said of its messages. Packets go through [`admit`](Self::admit) before renet
/// sees them.
#[derive(Debug)]
pub(super) struct Guard {
    /// Whether the peer sends snapshots and a welcome.
    is_receiver: bool,
    snapshots: Messages,
    welcome: Messages,
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
    /// This end is not sent such packets.
    #[error("a packet of kind {kind} on channel {channel}")]
    Unexpected { kind: u8, channel: u8 },
    /// There is one welcome.
    #[error("a second welcome, message {0}")]
    SecondWelcome(u64),
    /// Empty messages cost a sender nothing, and each takes up memory.
    #[error("{0} messages in a packet, more than {MAX_SMALL_MESSAGES}")]
    Many(u16),
    /// The packet's or the slice's header is not complete.
    #[error("the packet ends inside a header")]
    Truncated,
}

impl From<octets::BufferTooShortError> for HostilePacket {
    fn from(_: octets::BufferTooShortError) -> Self {
        Self::Truncated
    }
}

impl Guard {
    /// Before a client.
    pub(super) fn of_the_receiver() -> Self {
        Self {
            is_receiver: true,
            snapshots: Messages::default(),
            welcome: Messages::default(),
        }
    }

    /// Before a server.
    pub(super) fn of_the_sender() -> Self {
        Self {
            is_receiver: false,
            ..Self::of_the_receiver()
        }
    }

    /// Whether renet may see the packet. What is wrong inside small messages and acks, renet finds
    /// out by itself.
    pub(super) fn admit(&mut self, packet: &[u8]) -> Result<(), HostilePacket> {
        let (kind, channel) = kind_and_channel(packet).ok_or(HostilePacket::Truncated)?;
        match (kind, channel) {
            (ACK, _) => Ok(()),
            (SMALL_UNRELIABLE, _) => match small_messages(packet)? {
                count if count > MAX_SMALL_MESSAGES => Err(HostilePacket::Many(count)),
                _ => Ok(()),
            },
            (UNRELIABLE_SLICE, Some(SNAPSHOTS)) if self.is_receiver => {
                let (message, slices) = slice(packet)?;
                self.snapshots.agree(message, slices)
            }
            (RELIABLE_SLICE, Some(WELCOME)) if self.is_receiver => {
                let (message, slices) = slice(packet)?;
                if message > 0 {
                    return Err(HostilePacket::SecondWelcome(message));
                }
                self.welcome.agree(message, slices)
            }
            (_, channel) => Err(HostilePacket::Unexpected {
                kind,
                channel: channel.unwrap_or_default(),
            }),
        }
    }
}

/// What kind of packet it is, and the channel if it is for one; `None` if it ends too early.
pub(super) fn kind_and_channel(packet: &[u8]) -> Option<(u8, Option<u8>)> {
    let mut bytes = Octets::with_slice(packet);
    let kind = bytes.get_u8().ok()?;
    let _sequence = bytes.get_varint().ok()?;
    let channel = match kind {
        ACK => None,
        _ => Some(bytes.get_u8().ok()?),
    };
    Some((kind, channel))
}

/// How many messages a packet of small ones holds.
fn small_messages(packet: &[u8]) -> Result<u16, HostilePacket> {
    let mut bytes = Octets::with_slice(packet);
    let _kind = bytes.get_u8()?;
    let _sequence = bytes.get_varint()?;
    let _channel = bytes.get_u8()?;
    Ok(bytes.get_u16()?)
}

/// A slice's message, and the number of its slices.
fn slice(packet: &[u8]) -> Result<(u64, u64), HostilePacket> {
    let mut bytes = Octets::with_slice(packet);
    let _kind = bytes.get_u8()?;
    let _sequence = bytes.get_varint()?;
    let _channel = bytes.get_u8()?;
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
    Ok((message, slices))
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

// First bytes of renet's packets; 0 is of small reliable messages, which we have none of.
const SMALL_UNRELIABLE: u8 = 1;
const RELIABLE_SLICE: u8 = 2;
const UNRELIABLE_SLICE: u8 = 3;
pub(super) const ACK: u8 = 4;

/// An uncompressed snapshot of 901 cubes takes 31, and so does the welcome.
const MAX_SLICES: u64 = 64;

/// A snapshot at rest takes 6 bytes, so a packet has room for 170 of them.
const MAX_SMALL_MESSAGES: u16 = 200;

/// Messages whose slices are remembered: a minute of them, and renet gives one up after three
/// seconds.
const MAX_MESSAGES: usize = 4096;

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use octets::OctetsMut;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use renet::{RenetClient, RenetServer};

    use super::super::config;
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
        let mut client = RenetClient::new(config());
        client.set_connected();
        let all = AssertUnwindSafe(|| {
            for packet in packets {
                client.process_packet(packet);
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
            let mut guard = Guard::of_the_receiver();
            let admitted: Vec<_> = packets
                .into_iter()
                .filter(|packet| guard.admit(packet).is_ok())
                .collect();
            assert!(!renet_panics(&admitted));
        }
    }

    #[test]
    fn each_refusal_says_why() {
        let mut guard = Guard::of_the_receiver();
        let why = |guard: &mut Guard, packet: &[u8]| guard.admit(packet).unwrap_err();
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
        let error = why(&mut guard, &other_channel);
        assert_eq!(error.to_string(), "a packet of kind 3 on channel 200");
        let mut welcome = slice(5, 0, 3);
        welcome[..3].copy_from_slice(&[RELIABLE_SLICE, 1, WELCOME]);
        assert_eq!(why(&mut guard, &welcome), HostilePacket::SecondWelcome(5));
    }

    #[test]
    fn memory_is_bounded_and_what_is_forgotten_stays_out() {
        let mut guard = Guard::of_the_receiver();
        for message in 0..10_000 {
            guard.admit(&slice(message, 0, 3)).unwrap();
        }
        assert_eq!(guard.snapshots.slices.len(), MAX_MESSAGES);
        let error = guard.admit(&slice(10, 0, 9)).unwrap_err();
        assert_eq!(error, HostilePacket::TooLate { message: 10 });
    }

    #[test]
    fn nothing_but_small_messages_and_acks_goes_up() {
        let mut guard = Guard::of_the_sender();
        for packet in [
            &[SMALL_UNRELIABLE, 1, SNAPSHOTS, 0, 0][..],
            &[ACK, 1, 0, 0, 0],
        ] {
            assert_eq!(guard.admit(packet), Ok(()));
        }
        let small_reliable = [0, 1, WELCOME, 0, 0];
        for packet in [
            &[][..],
            &[ACK],
            &[255, 1, 1],
            &small_reliable,
            &slice(0, 0, 1),
        ] {
            assert!(guard.admit(packet).is_err());
        }
    }

    /// Packets of every kind whose numbers are mostly small, so that they contradict each other.
    fn random_packet(random: &mut ChaCha8Rng) -> Vec<u8> {
        let mut buffer = [0; 1400];
        let mut bytes = OctetsMut::with_slice(&mut buffer);
        bytes.put_u8(random.random_range(0..6)).unwrap();
        let mut varint = |random: &mut ChaCha8Rng| {
            let bits = random.random_range(0..62);
            let value = match random.random_range(0..8) {
                0 => random.random_range(0..=1_u64 << bits),
                _ => random.random_range(0..6),
            };
            bytes.put_varint(value).unwrap();
        };
        for _ in 0..random.random_range(0..10) {
            varint(random);
        }
        let mut length = bytes.off();
        if random.random_bool(0.5) {
            let more = random.random_range(0..=1_200);
            random.fill_bytes(&mut buffer[length..length + more]);
            length += more;
        }
        buffer[..length].to_vec()
    }

    #[test]
    fn random_packets_break_neither_end() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..500 {
            let mut client = RenetClient::new(config());
            client.set_connected();
            let mut server = RenetServer::new(config());
            server.add_connection(1);
            server.send_message(1, WELCOME, vec![1; 36_000]);
            let mut guards = [Guard::of_the_receiver(), Guard::of_the_sender()];
            for _ in 0..100 {
                let packet = random_packet(&mut random);
                if guards[0].admit(&packet).is_ok() {
                    client.process_packet(&packet);
                }
                if guards[1].admit(&packet).is_ok() {
                    server.process_packet_from(&packet, 1).unwrap();
                }
                if random.random_bool(0.3) {
                    client.update(super::super::TICK);
                    server.update(super::super::TICK);
                    client.get_packets_to_send();
                    server.get_packets_to_send(1).unwrap();
                }
            }
        }
    }
}
