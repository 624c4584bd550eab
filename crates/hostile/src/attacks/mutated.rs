//! Captured datagrams with random changes.

use std::io;
use std::time::Instant;

use rand::{Rng, RngExt};

use super::{Field, Outcome};

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    field.send_captured(until, 0.25, |field, datagram| {
        let other = field.captured.any(&mut field.random)?;
        Some(mutate(datagram, &other, &mut field.random))
    })
}

fn mutate(mut datagram: Vec<u8>, other: &[u8], random: &mut impl Rng) -> Vec<u8> {
    for _ in 0..random.random_range(1..4) {
        if datagram.is_empty() {
            break;
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
    datagram
}
