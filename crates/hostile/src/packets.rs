//! Packets of renet 2.0, written by hand, so that they can say anything.

use octets::{Octets, OctetsMut};

/// Channel of snapshots downstream and acks upstream.
pub(crate) const SNAPSHOTS: u8 = 0;
/// Channel of the welcome.
pub(crate) const WELCOME: u8 = 1;
/// Channel of requests upstream and their acks downstream.
pub(crate) const REQUESTS: u8 = 2;

const SMALL_UNRELIABLE: u8 = 1;
const ACK: u8 = 4;

/// A packet with one small unreliable message, which the packet's header says are `count`.
pub(crate) fn message(sequence: u64, channel: u8, count: u16, message: &[u8]) -> Vec<u8> {
    written(|bytes| {
        bytes.put_u8(SMALL_UNRELIABLE)?;
        bytes.put_varint(sequence)?;
        bytes.put_u8(channel)?;
        bytes.put_u16(count)?;
        bytes.put_varint(message.len() as u64)?;
        bytes.put_bytes(message)
    })
}

/// An ack of the packets `0..=newest`.
pub(crate) fn ack(sequence: u64, newest: u64) -> Vec<u8> {
    written(|bytes| {
        bytes.put_u8(ACK)?;
        for number in [sequence, newest, newest, 0] {
            bytes.put_varint(number)?;
        }
        Ok(())
    })
}

/// A packet of any kind, that starts with any numbers.
pub(crate) fn packet(kind: u8, sequence: u64, channel: u8, numbers: &[u64]) -> Vec<u8> {
    written(|bytes| {
        bytes.put_u8(kind)?;
        bytes.put_varint(sequence)?;
        bytes.put_u8(channel)?;
        for &number in numbers {
            bytes.put_varint(number)?;
        }
        Ok(())
    })
}

fn written(
    write: impl FnOnce(&mut OctetsMut<'_>) -> Result<(), octets::BufferTooShortError>,
) -> Vec<u8> {
    let mut buffer = [0; MAX_PAYLOAD_BYTES];
    let mut bytes = OctetsMut::with_slice(&mut buffer);
    write(&mut bytes).expect("packets are shorter than a payload may be");
    let length = bytes.off();
    buffer[..length].to_vec()
}

/// What netcode has room for.
const MAX_PAYLOAD_BYTES: usize = 1300;

/// The packets of a datagram of the server: one, or an ack in front of another.
pub(crate) fn split(payload: &[u8]) -> (&[u8], &[u8]) {
    match ack_length(payload) {
        Ok(length) => payload.split_at(length),
        Err(_) => (payload, &[]),
    }
}

fn ack_length(payload: &[u8]) -> Result<usize, octets::BufferTooShortError> {
    let mut bytes = Octets::with_slice(payload);
    if bytes.get_u8()? != ACK {
        return Ok(payload.len());
    }
    let _sequence = bytes.get_varint()?;
    let _newest = bytes.get_varint()?;
    let _size = bytes.get_varint()?;
    for _ in 0..bytes.get_varint()? {
        let _gap = bytes.get_varint()?;
        let _size = bytes.get_varint()?;
    }
    Ok(bytes.off())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_as_renet_reads_them() {
        assert_eq!(
            message(5, REQUESTS, 1, b"ab"),
            [1, 5, 2, 0, 1, 2, b'a', b'b']
        );
        assert_eq!(ack(5, 9), [4, 5, 9, 9, 0]);
        assert_eq!(packet(3, 1, 0, &[7, 64]), [3, 1, 0, 7, 0x40, 64]);
    }

    #[test]
    fn an_ack_is_split_from_what_follows_it() {
        let other = message(5, REQUESTS, 1, b"ab");
        let both = [ack(5, 900), other.clone()].concat();
        assert_eq!(split(&both), (&ack(5, 900)[..], &other[..]));
        assert_eq!(split(&other), (&other[..], &[][..]));
        assert_eq!(split(&[4, 5]), (&[4, 5][..], &[][..]));
    }
}
