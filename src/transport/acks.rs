//! Keeps renet's own acks small.
//!
//! renet acknowledges every packet, also those that carry acks, in a packet of its own, with every flush:
//! two ends that flush sixty times a second exchange 120 of them, and continue when there is nothing left to
//! say. Such a packet is some 8 bytes long and costs 28 more of IP and UDP headers, and those of netcode.
//! Without it renet would not know what to resend, nor measure the round trip and the loss. So
//!
//! - an end flushes only if it has something to say or to acknowledge: see [`Flush`], and
//! - an ack travels in front of another packet, in the same datagram: see [`bundle`].

use std::time::Duration;

use octets::Octets;

use super::guard::{ACK, kind_and_channel};
use super::{MAX_PAYLOAD_BYTES, WELCOME, classify};
use crate::replication::transport::Purpose;

/// Decides when one end of a connection takes packets from renet: at the next opportunity after it sent a
/// message, or received anything but an ack, and otherwise from time to time, to resend what was lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flush {
    is_due: bool,
    since: Duration,
}

impl Flush {
    /// A message has been passed to renet.
    pub(super) const fn sends(&mut self) {
        self.is_due = true;
    }

    /// A packet has arrived.
    pub(super) fn received(&mut self, packet: &[u8]) {
        self.is_due |= classify(packet) != Purpose::TransportAck;
    }

    /// Whether to flush, `passed` after the last call.
    pub(super) fn take(&mut self, passed: Duration) -> bool {
        self.since += passed;
        let is_due = self.is_due || self.since >= IDLE_INTERVAL;
        if is_due {
            *self = Self::default();
        }
        is_due
    }
}

/// Turns packets of renet into datagrams. Its ack packet, if there is one, goes in front of the smallest
/// other packet, unless that becomes too long:
///
/// ```text
/// ack packet | other packet
/// ```
///
/// An ack packet contains the number of its ranges, so nothing else marks its end. The welcome travels
/// alone: a viewer with another version of the protocol must be able to read it.
pub(super) fn bundle(mut packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let is_ack = |packet: &Vec<u8>| packet.first() == Some(&ACK);
    let Some(ack) = packets.iter().position(is_ack) else {
        return packets;
    };
    let may_follow = |packet: &[u8]| {
        let channel = kind_and_channel(packet).and_then(|(_, channel)| channel);
        channel.is_some_and(|channel| channel != WELCOME)
    };
    let others = packets.iter().enumerate();
    let others = others.filter(|(_, packet)| may_follow(packet));
    let smallest = others.min_by_key(|(_, packet)| packet.len());
    if let Some((other, packet)) = smallest
        && packets[ack].len() + packet.len() <= MAX_PAYLOAD_BYTES
    {
        let mut datagram = packets[ack].clone();
        datagram.extend_from_slice(packet);
        packets[other] = datagram;
        packets.remove(ack);
    }
    packets
}

/// The packets of a datagram that [`bundle`] made: one or two. What cannot be read is one packet.
pub(super) fn packets(datagram: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (first, rest) = match ack_length(datagram) {
        Some(length) if length < datagram.len() => datagram.split_at(length),
        _ => (datagram, &[][..]),
    };
    std::iter::once(first).chain((!rest.is_empty()).then_some(rest))
}

/// Divides the `bytes` of a datagram, headers included, among the purposes of its packets.
/// An ack in front of another packet takes no headers.
pub(super) fn attribute_bytes(
    datagram: &[u8],
    bytes: usize,
) -> impl Iterator<Item = (Purpose, usize)> {
    let headers = bytes.saturating_sub(datagram.len());
    let mut packets = packets(datagram).peekable();
    std::iter::from_fn(move || {
        let packet = packets.next()?;
        let headers = if packets.peek().is_none() { headers } else { 0 };
        Some((classify(packet), packet.len() + headers))
    })
}

/// Bytes of the ack packet at the front, as renet writes it: kind, number, and the ranges that it
/// acknowledges, of which the second number is the count after the first.
fn ack_length(datagram: &[u8]) -> Option<usize> {
    let mut bytes = Octets::with_slice(datagram);
    if bytes.get_u8().ok()? != ACK {
        return None;
    }
    let _sequence = bytes.get_varint().ok()?;
    let _newest = bytes.get_varint().ok()?;
    let _size = bytes.get_varint().ok()?;
    let more_ranges = bytes.get_varint().ok()?;
    for _ in 0..more_ranges {
        let _gap = bytes.get_varint().ok()?;
        let _size = bytes.get_varint().ok()?;
    }
    Some(bytes.off())
}

/// How often an end flushes that has nothing to say. Less than the time after which renet resends.
const IDLE_INTERVAL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use cubewire_scene::TICK;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use renet::{RenetClient, RenetServer};

    use super::super::{SNAPSHOTS, config};
    use super::*;

    /// Datagrams from a server that has received every packet of a client except some.
    fn datagrams(lost: impl Fn(usize) -> bool, message_bytes: usize) -> Vec<Vec<u8>> {
        let (mut server, mut client) = (RenetServer::new(config()), RenetClient::new(config()));
        server.add_connection(1);
        client.set_connected();
        for sent in 0..200 {
            client.send_message(SNAPSHOTS, vec![7; 3]);
            for packet in client.get_packets_to_send() {
                if !lost(sent) {
                    server.process_packet_from(&packet, 1).unwrap();
                }
            }
        }
        server.send_message(1, SNAPSHOTS, vec![9; message_bytes]);
        bundle(server.get_packets_to_send(1).unwrap())
    }

    fn lengths(datagram: &[u8]) -> Vec<usize> {
        packets(datagram).map(<[u8]>::len).collect()
    }

    #[test]
    fn an_ack_travels_with_a_message_and_both_arrive() {
        for lost in [|_| false, |sent| sent % 3 == 0] {
            let datagrams = datagrams(lost, 100);
            assert_eq!(datagrams.len(), 1);
            let [ack, message] = lengths(&datagrams[0])[..] else {
                panic!("two packets");
            };
            assert_eq!(ack + message, datagrams[0].len());
            let shares: Vec<_> = attribute_bytes(&datagrams[0], datagrams[0].len() + 28).collect();
            let expected = [
                (Purpose::TransportAck, ack),
                (Purpose::Snapshots, message + 28),
            ];
            assert_eq!(shares, expected);
            let mut client = RenetClient::new(config());
            client.set_connected();
            for packet in packets(&datagrams[0]) {
                client.process_packet(packet);
            }
            let arrived = client.receive_message(SNAPSHOTS).unwrap();
            assert_eq!(arrived, vec![9; 100]);
            assert_eq!(client.disconnect_reason(), None);
        }
    }

    #[test]
    fn an_ack_goes_alone_if_there_is_nothing_else_or_no_room() {
        let alone = bundle(vec![vec![ACK, 1, 5, 0, 0]]);
        assert_eq!(lengths(&alone[0]), [5]);
        // 64 ranges, and a packet of nearly 1200 bytes.
        let datagrams = datagrams(|sent| sent % 3 == 0, 1190);
        assert_eq!(datagrams.len(), 2);
        assert!(
            datagrams
                .iter()
                .all(|datagram| lengths(datagram).len() == 1)
        );
        // The last of the fragments has room.
        let datagrams = self::datagrams(|sent| sent % 3 == 0, 2500);
        let counts: Vec<_> = datagrams.iter().map(|one| lengths(one).len()).collect();
        assert_eq!(counts, [1, 1, 2]);
    }

    #[test]
    fn whatever_cannot_be_read_is_one_packet() {
        for datagram in [
            &[][..],
            &[ACK],
            &[ACK, 1, 5, 0, 9, 1, 1],
            &[ACK, 1, 5, 0, 0xFF, 0xFF, 0xFF, 0xFF],
            &[1, 1, 0, 0, 0],
        ] {
            assert_eq!(packets(datagram).collect::<Vec<_>>(), [datagram]);
        }
    }

    #[test]
    fn of_random_bytes_none_gets_lost() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..10_000 {
            let mut datagram = vec![0; random.random_range(0..40)];
            random.fill_bytes(&mut datagram);
            if let Some(kind) = datagram.first_mut() {
                *kind = ACK;
            }
            assert_eq!(packets(&datagram).collect::<Vec<_>>().concat(), datagram);
            let bytes = attribute_bytes(&datagram, datagram.len() + 28);
            let sum: usize = bytes.map(|(_, bytes)| bytes).sum();
            assert_eq!(sum, datagram.len() + 28);
        }
    }

    #[test]
    fn acks_of_acks_are_not_sent_at_once() {
        let mut flush = Flush::default();
        assert!(!flush.take(TICK));
        flush.received(&[ACK, 1, 5, 0, 0]);
        assert!(!flush.take(TICK));
        flush.received(&[1, 1, SNAPSHOTS, 0, 0]);
        assert!(flush.take(TICK));
        assert!(!flush.take(TICK));
        flush.sends();
        assert!(flush.take(TICK));
        let idle = (0..60).filter(|_| flush.take(TICK)).count();
        assert!((8..=10).contains(&idle), "{idle}");
    }
}
