//! Damages packets.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::Target;
use super::victims::Victim;

/// Bytes that the start of a packet and random packets have at most. In a large packet, few of the bits that
/// decide how it is read would otherwise be hit.
const START: usize = 64;

/// Bytes that are removed, repeated, inserted or added at once, at most.
const RUN: usize = 32;

/// Most ways of damage at once.
const MOST: usize = 3;

/// Damages packets at random.
pub(super) struct Damage<'a> {
    pub(super) random: ChaCha8Rng,
    pub(super) targets: &'a [Target],
}

impl Damage<'_> {
    /// Replaces `bytes` with the packet, damaged.
    pub(super) fn apply(&mut self, index: usize, victim: &Victim, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend(&victim.bytes);
        for _ in 0..self.random.random_range(1..=MOST) {
            self.once(index, victim, bytes);
        }
        // Some damage has no effect, such as a byte overwritten with itself.
        while *bytes == victim.bytes {
            self.once(index, victim, bytes);
        }
    }

    fn once(&mut self, index: usize, victim: &Victim, bytes: &mut Vec<u8>) {
        let random = &mut self.random;
        let length = bytes.len();
        let run = random.random_range(1..=RUN);
        match random.random_range(0..12) {
            0 => flip(random, bytes),
            1 => flip(random, &mut bytes[..length.min(START)]),
            2 => overwrite(random, bytes),
            3 => overwrite(random, &mut bytes[..length.min(START)]),
            4 => bytes.truncate(random.random_range(0..=length)),
            5 => extend(random, bytes, run),
            6 => {
                let from = random.random_range(0..=length);
                bytes.drain(from..length.min(from + run));
            }
            7 => {
                let from = random.random_range(0..=length);
                let repeated = bytes[from..length.min(from + run)].to_vec();
                bytes.splice(from..from, repeated);
            }
            8 => {
                let from = random.random_range(0..=length);
                let mut inserted = Vec::new();
                extend(random, &mut inserted, run);
                bytes.splice(from..from, inserted);
            }
            9 => self.join(index, bytes),
            10 => self.readdress(victim, bytes),
            _ => {
                bytes.truncate(random.random_range(0..=length.min(START)));
                let more = random.random_range(0..=START);
                extend(random, bytes, more);
            }
        }
    }

    /// Continues with the end of another packet, from the same offset or another. That packet is of the same rung or of
    /// any, which may join the header of one rung to the body of another.
    fn join(&mut self, index: usize, bytes: &mut Vec<u8>) {
        let Self { random, targets } = self;
        let target = match random.random() {
            true => index,
            false => random.random_range(0..targets.len()),
        };
        let victims = &targets[target].victims;
        let other = &victims[random.random_range(0..victims.len())].bytes;
        let until = match random.random() {
            true => bytes.len(),
            false => bytes.len().min(START),
        };
        let cut = random.random_range(0..=until);
        let from = match random.random() {
            true => cut.min(other.len()),
            false => random.random_range(0..=other.len()),
        };
        bytes.truncate(cut);
        bytes.extend(&other[from..]);
    }

    /// Overwrites the packet's number, or what would be the number of its baseline, mostly with one that is
    /// held.
    fn readdress(&mut self, victim: &Victim, bytes: &mut [u8]) {
        let Self { random, .. } = self;
        let number = match random.random_ratio(1, 4) || victim.held.is_empty() {
            true => random.random(),
            false => {
                victim.held[random.random_range(0..victim.held.len())]
                    .sequence()
                    .0
            }
        };
        let at_bit = match random.random() {
            true => 0,
            false => 17,
        };
        for (offset, bit) in (at_bit..at_bit + 16).enumerate() {
            if let Some(byte) = bytes.get_mut(bit / 8) {
                let mask = 0x80 >> (bit % 8);
                match number >> (15 - offset) & 1 {
                    0 => *byte &= !mask,
                    _ => *byte |= mask,
                }
            }
        }
    }
}

fn flip(random: &mut ChaCha8Rng, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        for _ in 0..random.random_range(1..=4) {
            let bit = random.random_range(0..bytes.len() * 8);
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
        }
    }
}

fn overwrite(random: &mut ChaCha8Rng, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = random.random_range(0..bytes.len());
        bytes[at] = match random.random_range(0..4) {
            0 => 0,
            1 => 0xFF,
            _ => random.random(),
        };
    }
}

/// Adds `more` bytes: zeros, ones or random ones.
fn extend(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>, more: usize) {
    let length = bytes.len();
    let kind = random.random_range(0..4);
    bytes.resize(length + more, if kind == 0 { 0xFF } else { 0 });
    if kind > 1 {
        random.fill_bytes(&mut bytes[length..]);
    }
}
