//! Random bytes, and netcode datagrams of every kind with random contents.

use std::io;
use std::time::Instant;

use rand::{Rng, RngExt};

use super::{Field, Outcome, is_over};

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut peers = field.peers(PEERS)?;
    let mut outcome = Outcome::default();
    let mut pace = field.pace();
    let mut changes = 0_u64;
    let server = field.target.server;
    while !is_over(until) {
        for _ in 0..pace.wait() {
            let datagram = datagram(&mut field.random);
            if field.random.random_ratio(1, 8) {
                field.as_viewer.send(&datagram, server);
                continue;
            }
            let index = field.random.random_range(0..PEERS);
            peers[index].send(&datagram, server);
            if field.random.random_ratio(1, 20) {
                peers[index].drain();
                let next = field.peer()?;
                outcome.tally += std::mem::replace(&mut peers[index], next).tally;
                changes += 1;
            }
        }
    }
    outcome.close(peers);
    outcome.record_answers(field);
    outcome.tally += std::mem::take(&mut field.as_viewer.tally);
    outcome.note += &format!(", from {} addresses", changes + PEERS as u64);
    Ok(outcome)
}

const PEERS: usize = 64;

/// Returns random bytes. Half of the datagrams have the first byte and the length of a netcode kind.
pub(super) fn datagram(random: &mut impl Rng) -> Vec<u8> {
    let mut bytes = vec![0; random.random_range(0..=1500)];
    random.fill_bytes(&mut bytes);
    if random.random_bool(0.5) {
        let kind = random.random_range(0..LENGTHS.len());
        let sequence_bytes = random.random_range(0..=9_usize);
        bytes.resize(LENGTHS[kind] + sequence_bytes, 7);
        bytes[0] = (sequence_bytes << 4 | kind) as u8;
        if kind == 0 && random.random_bool(0.5) {
            bytes.resize(LENGTHS[0], 7);
            bytes[..HEAD.len()].copy_from_slice(&HEAD);
            let expiry = crate::caller::since_1970().as_secs() + random.random_range(0..120);
            bytes[22..30].copy_from_slice(&expiry.to_le_bytes());
        }
    }
    bytes
}

/// Lengths of netcode datagrams in bytes without the sequence number: request, denied, challenge, response,
/// keep-alive, payload and disconnect.
const LENGTHS: [usize; 7] = [1078, 17, 325, 325, 25, 217, 17];

/// Start of a request: version and protocol.
pub(super) const HEAD: [u8; 22] = *b"\0NETCODE 1.02\0eriwebuc";
