//! Validates packets before they reach renet 2.0.1, and rejects those that Cubewire never sends.
//!
//! renet splits long messages into slices, each with its index and the slice count. It takes the count
//! from the first slice of a message that arrives and uses the index of every slice unchecked: an index
//! out of range, or two slices with different counts, makes it panic (`channel/slice_constructor.rs` and
//! `channel/unreliable.rs`). It also allocates as many slices as a packet claims, up to the channel's
//! memory limit; for empty reliable messages there is no limit at all.
//!
//! So the guard admits only what the two ends of Cubewire send. Downstream: snapshots, whole or in
//! slices, the slices of one welcome, and request acks. Upstream: small messages.

use std::collections::BTreeMap;

use octets::Octets;

use super::{SNAPSHOTS, WELCOME};

/// Validates the packets of one peer. Each goes through [`admit`](Self::admit) before it is passed to
/// renet.
#[derive(Debug)]
pub(super) struct Guard {
    /// Whether this end is a client: then the peer sends snapshots and a welcome.
    is_client: bool,
    snapshots: Messages,
    welcome: Messages,
}

/// The slice counts of messages, by message number.
#[derive(Debug, Default)]
struct Messages {
    slices: BTreeMap<u64, u64>,
    /// The newest message that was evicted. Slices of it and of older messages are rejected.
    forgotten: Option<u64>,
}

/// A packet that a correct peer never sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum MalformedPacket {
    /// No slices, or more than the longest message has.
    #[error("message {message} has {slices} slices, outside 1..={MAX_SLICES}")]
    SliceCount { message: u64, slices: u64 },
    /// The index of a slice is not less than the slice count.
    #[error("slice {slice} of message {message} is outside its {slices}")]
    SliceIndex {
        message: u64,
        slice: u64,
        slices: u64,
    },
    /// Two slices of a message have different slice counts.
    #[error("message {message} has {first} slices and {slices} slices")]
    SliceCountMismatch {
        message: u64,
        first: u64,
        slices: u64,
    },
    /// A message so old that renet has received it or given it up.
    #[error("message {message} comes too late")]
    TooLate { message: u64 },
    /// A packet of a kind or on a channel that this end does not accept.
    #[error("a packet of kind {kind} on channel {channel}")]
    Unexpected { kind: u8, channel: u8 },
    /// The welcome is sent once, as message 0.
    #[error("a second welcome, message {0}")]
    SecondWelcome(u64),
    /// Too many small messages: an empty one costs its sender nothing, but each takes memory here.
    #[error("{0} messages in a packet, more than {MAX_SMALL_MESSAGES}")]
    TooManyMessages(u16),
    /// The packet's or the slice's header is not complete.
    #[error("the packet ends inside a header")]
    Truncated,
}

impl From<octets::BufferTooShortError> for MalformedPacket {
    fn from(_: octets::BufferTooShortError) -> Self {
        Self::Truncated
    }
}

impl Guard {
    /// For packets that a client receives.
    pub(super) fn for_client() -> Self {
        Self {
            is_client: true,
            snapshots: Messages::default(),
            welcome: Messages::default(),
        }
    }

    /// For packets that a server receives.
    pub(super) fn for_server() -> Self {
        Self {
            is_client: false,
            ..Self::for_client()
        }
    }

    /// Checks a packet before it is passed to renet. The contents of small messages and acks are not
    /// checked: renet validates those itself.
    ///
    /// # Errors
    /// [`MalformedPacket`]; the packet must then not be passed on.
    pub(super) fn admit(&mut self, packet: &[u8]) -> Result<(), MalformedPacket> {
        let (kind, channel) = kind_and_channel(packet).ok_or(MalformedPacket::Truncated)?;
        match (kind, channel) {
            (ACK, _) => Ok(()),
            (SMALL_UNRELIABLE, _) => match small_messages(packet)? {
                count if count > MAX_SMALL_MESSAGES => Err(MalformedPacket::TooManyMessages(count)),
                _ => Ok(()),
            },
            (UNRELIABLE_SLICE, Some(SNAPSHOTS)) if self.is_client => {
                let (message, slices) = slice(packet)?;
                self.snapshots.check(message, slices)
            }
            (RELIABLE_SLICE, Some(WELCOME)) if self.is_client => {
                let (message, slices) = slice(packet)?;
                if message > 0 {
                    return Err(MalformedPacket::SecondWelcome(message));
                }
                self.welcome.check(message, slices)
            }
            (_, channel) => Err(MalformedPacket::Unexpected {
                kind,
                channel: channel.unwrap_or_default(),
            }),
        }
    }
}

/// A packet's kind, and its channel unless it is an ack; `None` if the packet is truncated.
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

/// The number of messages in a packet of small messages.
fn small_messages(packet: &[u8]) -> Result<u16, MalformedPacket> {
    let mut bytes = Octets::with_slice(packet);
    let _kind = bytes.get_u8()?;
    let _sequence = bytes.get_varint()?;
    let _channel = bytes.get_u8()?;
    Ok(bytes.get_u16()?)
}

/// A slice's message number, and the slice count of the message.
fn slice(packet: &[u8]) -> Result<(u64, u64), MalformedPacket> {
    let mut bytes = Octets::with_slice(packet);
    let _kind = bytes.get_u8()?;
    let _sequence = bytes.get_varint()?;
    let _channel = bytes.get_u8()?;
    let message = bytes.get_varint()?;
    let slice = bytes.get_varint()?;
    let slices = bytes.get_varint()?;
    if !(1..=MAX_SLICES).contains(&slices) {
        return Err(MalformedPacket::SliceCount { message, slices });
    }
    if slice >= slices {
        return Err(MalformedPacket::SliceIndex {
            message,
            slice,
            slices,
        });
    }
    Ok((message, slices))
}

impl Messages {
    /// Checks that the slices of a message agree on their count.
    fn check(&mut self, message: u64, slices: u64) -> Result<(), MalformedPacket> {
        if self.forgotten.is_some_and(|forgotten| message <= forgotten) {
            return Err(MalformedPacket::TooLate { message });
        }
        let first = *self.slices.entry(message).or_insert(slices);
        if first != slices {
            return Err(MalformedPacket::SliceCountMismatch {
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

// Kinds of renet's packets: their first byte. Kind 0, small reliable messages, is never sent here.
const SMALL_UNRELIABLE: u8 = 1;
const RELIABLE_SLICE: u8 = 2;
const UNRELIABLE_SLICE: u8 = 3;
pub(super) const ACK: u8 = 4;

/// Slices of a message, at most. An uncompressed snapshot of 901 cubes has 31, and so has the welcome.
const MAX_SLICES: u64 = 64;

/// Small messages in a packet, at most. A snapshot at rest takes 5 bytes and one for its length, so a packet holds up to
/// 200.
const MAX_SMALL_MESSAGES: u16 = 256;

/// Messages whose slice counts are kept: a minute of snapshots. renet gives up an incomplete message
/// after three seconds.
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
    fn packets_that_make_renet_panic_are_rejected() {
        let past_the_end = vec![slice(1, 9, 3)];
        let inconsistent = vec![slice(1, 0, 3), slice(1, 7, 9)];
        for packets in [past_the_end, inconsistent] {
            // Once renet checks this itself, this module can be removed.
            assert!(renet_panics(&packets));
            let mut guard = Guard::for_client();
            let admitted: Vec<_> = packets
                .into_iter()
                .filter(|packet| guard.admit(packet).is_ok())
                .collect();
            assert!(!renet_panics(&admitted));
        }
    }

    #[test]
    fn each_rejection_states_its_reason() {
        let mut guard = Guard::for_client();
        let why = |guard: &mut Guard, packet: &[u8]| guard.admit(packet).unwrap_err();
        let error = why(&mut guard, &slice(5, 0, 1_000_000));
        assert_eq!(
            error.to_string(),
            "message 5 has 1000000 slices, outside 1..=64"
        );
        let error = why(&mut guard, &slice(5, 0, 0));
        assert_eq!(
            error,
            MalformedPacket::SliceCount {
                message: 5,
                slices: 0
            }
        );
        guard.admit(&slice(5, 0, 3)).unwrap();
        let error = why(&mut guard, &slice(5, 1, 4));
        assert_eq!(error.to_string(), "message 5 has 3 slices and 4 slices");
        let error = why(&mut guard, &slice(5, 0, 3)[..4]);
        assert_eq!(error, MalformedPacket::Truncated);
        let mut other_channel = slice(5, 0, 3);
        other_channel[2] = 200;
        let error = why(&mut guard, &other_channel);
        assert_eq!(error.to_string(), "a packet of kind 3 on channel 200");
        let mut welcome = slice(5, 0, 3);
        welcome[..3].copy_from_slice(&[RELIABLE_SLICE, 1, WELCOME]);
        assert_eq!(why(&mut guard, &welcome), MalformedPacket::SecondWelcome(5));
    }

    #[test]
    fn memory_is_bounded_and_evicted_messages_are_rejected() {
        let mut guard = Guard::for_client();
        for message in 0..10_000 {
            guard.admit(&slice(message, 0, 3)).unwrap();
        }
        assert_eq!(guard.snapshots.slices.len(), MAX_MESSAGES);
        let error = guard.admit(&slice(10, 0, 9)).unwrap_err();
        assert_eq!(error, MalformedPacket::TooLate { message: 10 });
    }

    #[test]
    fn a_server_admits_only_small_messages_and_acks() {
        let mut guard = Guard::for_server();
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

    /// A packet of any kind. Its numbers are mostly small, so that packets contradict each other.
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
    fn random_packets_make_neither_end_panic() {
        let given = std::env::var("CUBEWIRE_SEED");
        let seed = given.map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
        println!("CUBEWIRE_SEED={seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..500 {
            let mut client = RenetClient::new(config());
            client.set_connected();
            let mut server = RenetServer::new(config());
            server.add_connection(1);
            server.send_message(1, WELCOME, vec![1; 36_000]);
            let mut guards = [Guard::for_client(), Guard::for_server()];
            for _ in 0..100 {
                let packet = random_packet(&mut random);
                if guards[0].admit(&packet).is_ok() {
                    client.process_packet(&packet);
                }
                if guards[1].admit(&packet).is_ok() {
                    server.process_packet_from(&packet, 1).unwrap();
                }
                if random.random_bool(0.3) {
                    client.update(cubewire_scene::TICK);
                    server.update(cubewire_scene::TICK);
                    client.get_packets_to_send();
                    server.get_packets_to_send(1).unwrap();
                }
            }
        }
    }
}
