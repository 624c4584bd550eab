//! The check of a packet. It fails if the two sides have different initial states, trained models or adaptive states.

use crate::hash::mix;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;

/// Bits of the check. With a header that names a baseline by age, they fill whole bytes.
pub(crate) const CHECK_BITS: u32 = 14;

/// Hash of all bodies. It is the sum of one hash per body, so it can be updated for the changed bodies alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SnapshotHash(u64);

impl SnapshotHash {
    pub(crate) fn new(snapshot: &QuantizedSnapshot) -> Self {
        let hashes = (0..snapshot.len()).map(|body| hash(snapshot, body));
        Self(hashes.fold(0, u64::wrapping_add))
    }

    pub(crate) fn replace(
        &mut self,
        body: usize,
        old: &QuantizedSnapshot,
        new: &QuantizedSnapshot,
    ) {
        self.0 = self.0.wrapping_sub(hash(old, body)).wrapping_add(hash(new, body));
    }

    /// A check of 32 bits, of the bodies without the sequence.
    pub(crate) const fn long_check(self) -> u32 {
        fold(self.0) as u32
    }

    /// Whether the hash has this check and, if the packet has one, this longer check.
    pub(crate) fn matches(self, sequence: Sequence, check: u32, long_check: Option<u32>) -> bool {
        self.check(sequence) == check && long_check.is_none_or(|long| long == self.long_check())
    }

    pub(crate) fn check(self, sequence: Sequence) -> u32 {
        let hash = fold(mix(sequence.0.into(), self.0));
        (hash >> (64 - CHECK_BITS)) as u32
    }
}

fn hash(snapshot: &QuantizedSnapshot, body: usize) -> u64 {
    let packed = snapshot.packed_positions[body];
    let [x, y, z] = packed.position().map(|axis| u64::from(axis.cast_unsigned()));
    let position = x ^ y << 21 ^ z << 42 ^ u64::from(packed.is_interacting()) << 63;
    let mut hash = mix(mix(body as u64, position), snapshot.smallest_three(body).to_word());
    if snapshot.plan().has_slots() {
        hash = mix(hash, snapshot.life_word(body).0.into());
        let words = snapshot.words_of(body).iter();
        hash = words.fold(hash, |hash, &word| mix(hash, word.into()));
    }
    // Folded twice: after one fold, slight differences between the orientations of two bodies would often cancel in
    // the sum.
    fold(fold(hash))
}

/// Mixes the upper half into every bit. The operation does not commute with sums or rotations.
const fn fold(hash: u64) -> u64 {
    mix(0, hash ^ hash >> 32)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::ladder::ARITHMETIC;
    use crate::plan::Plan;
    use crate::quantize::SmallestThree;
    use crate::snapshot::Fields;

    const BODIES: usize = 40;

    fn snapshot(random: &mut ChaCha8Rng) -> QuantizedSnapshot {
        let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), ARITHMETIC.stages.precision());
        snapshot.clear_slots(BODIES);
        for slot in 0..BODIES {
            let fields = Fields {
                position: [0, 1, 2].map(|_| random.random_range(0..10_000)),
                smallest_three: SmallestThree {
                    largest: random.random_range(0..4),
                    components: [0, 1, 2].map(|_| random.random_range(1..511)),
                },
                interacting: slot % 2 == 0,
                ..Fields::default()
            };
            snapshot.set_fields(slot, &fields);
        }
        snapshot
    }

    /// Wrong bodies are often close to the right ones, so the test uses slight changes.
    #[test]
    fn slight_changes_of_one_body_or_two_pass_once_in_16384_times() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let right = snapshot(&mut random);
        let right_hash = SnapshotHash::new(&right);
        const TRIALS: u32 = 20_000;
        for count in [1, 2] {
            let mut passes = 0;
            let [mut same_low, mut same_high] = [0; 2];
            for _ in 0..TRIALS {
                let mut wrong = right.clone();
                for _ in 0..count {
                    let body = random.random_range(0..BODIES);
                    let mut fields = wrong.fields(body);
                    if random.random_range(0..3) == 0 {
                        fields.position[random.random_range(0..3)] += random.random_range(1..=30);
                    } else {
                        let component = random.random_range(0..2);
                        fields.smallest_three.components[component] ^= random.random_range(1..=15);
                    }
                    wrong.set_fields(body, &fields);
                }
                if wrong == right {
                    continue;
                }
                let mut hash = right_hash;
                for body in (0..BODIES).filter(|&body| wrong.differs(&right, body)) {
                    hash.replace(body, &right, &wrong);
                }
                assert_eq!(hash, SnapshotHash::new(&wrong));
                let differing = hash.long_check() ^ right_hash.long_check();
                same_low += u32::from(differing & 0xFFFF == 0);
                same_high += u32::from(differing >> 16 == 0);
                // 100 of the 65 536 sequences.
                passes += (0..100)
                    .map(Sequence)
                    .filter(|&sequence| hash.check(sequence) == right_hash.check(sequence))
                    .count();
            }
            let expected = f64::from(TRIALS) * 100.0 / f64::from(1 << CHECK_BITS);
            assert!((passes as f64) < 1.5 * expected, "{passes} of {expected}");
            // Each half of the longer check misses one change in 65 536.
            assert!(same_low <= 4 && same_high <= 4, "{same_low} {same_high}");
        }
    }
}
