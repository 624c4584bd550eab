//! Datagrams without the key.

use std::thread;
use std::time::Instant;

use rand::{Rng, RngExt};

use super::Field;
use crate::client::since_1970;
use crate::socket::{Pace, STEP, Socket};

/// Sends what `craft` makes, a fraction of it from the address of the honest viewer.
pub fn send(
    field: &mut Field,
    until: Instant,
    as_viewer: f64,
    craft: fn(&mut Field) -> Option<Vec<u8>>,
) {
    let mut peers: Vec<Socket> = (0..64).map(|_| field.peer()).collect();
    let mut pace = Pace::new(field.rate);
    let server = field.target.server;
    while Instant::now() < until {
        thread::sleep(STEP);
        for _ in 0..pace.due(Instant::now()) {
            let Some(datagram) = craft(field) else {
                continue;
            };
            if field.random.random_bool(as_viewer) {
                field.tally.send(&field.as_viewer, &datagram, server);
                continue;
            }
            let index = field.random.random_range(0..peers.len());
            peers[index].send(&datagram, server);
            if field.random.random_ratio(1, DATAGRAMS_PER_ADDRESS) {
                peers[index] = field.peer();
            }
        }
    }
}

/// Mean number of datagrams from an address until it is replaced.
const DATAGRAMS_PER_ADDRESS: u32 = 20;

/// Returns random bytes. Half of the datagrams have the first byte and the length of a netcode kind.
pub fn garbage(field: &mut Field) -> Option<Vec<u8>> {
    let random = &mut field.random;
    let mut bytes = vec![0; random.random_range(0..=1500)];
    random.fill_bytes(&mut bytes);
    if random.random_bool(0.5) {
        let kind = random.random_range(0..LENGTHS.len());
        if kind == 0 && random.random_bool(0.5) {
            return Some(fake_request(random));
        }
        let sequence_bytes = random.random_range(0..=9_usize);
        bytes.resize(LENGTHS[kind] + sequence_bytes, 7);
        bytes[0] = (sequence_bytes << 4 | kind) as u8;
    }
    Some(bytes)
}

/// Returns a datagram that looks like a connection request until it is decrypted.
pub fn fake_request(random: &mut impl Rng) -> Vec<u8> {
    let mut bytes = vec![0; LENGTHS[0]];
    random.fill_bytes(&mut bytes);
    bytes[..HEAD.len()].copy_from_slice(&HEAD);
    let expiry = since_1970().as_secs() + random.random_range(0..120);
    bytes[22..30].copy_from_slice(&expiry.to_le_bytes());
    bytes
}

/// Lengths of netcode datagrams in bytes without the sequence number: request, denied, challenge, response,
/// keep-alive, payload and disconnect.
const LENGTHS: [usize; 7] = [1078, 17, 325, 325, 25, 217, 17];

/// Start of a request: version and protocol.
const HEAD: [u8; 22] = *b"\0NETCODE 1.02\0eriwebuc";

/// Returns a captured datagram.
pub fn replayed(field: &mut Field) -> Option<Vec<u8>> {
    field.captured.any(&mut field.random)
}

/// Returns a captured datagram with a few random changes.
pub fn mutated(field: &mut Field) -> Option<Vec<u8>> {
    let mut datagram = field.captured.any(&mut field.random)?;
    let other = field.captured.any(&mut field.random)?;
    for _ in 0..field.random.random_range(1..4) {
        damage(&mut datagram, &other, &mut field.random);
    }
    Some(datagram)
}

/// Changes a datagram at random. `other` may become its end.
fn damage(datagram: &mut Vec<u8>, other: &[u8], random: &mut impl Rng) {
    if datagram.is_empty() {
        return;
    }
    let offset = random.random_range(0..datagram.len());
    match random.random_range(0..6) {
        0 | 1 => datagram[offset] ^= 1 << random.random_range(0..8),
        2 => datagram.truncate(offset),
        3 => datagram[0] = random.random(),
        4 => {
            datagram.truncate(offset);
            datagram.extend(&other[offset.min(other.len())..]);
        }
        _ => {
            let more = datagram.len() + random.random_range(0..200);
            datagram.resize(more.min(1400), random.random());
        }
    }
}
