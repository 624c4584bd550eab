//! The hash of snapshots and fingerprints.

pub(crate) const fn mix(hash: u64, value: u64) -> u64 {
    // 2⁶⁴ divided by the golden ratio.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    (hash.rotate_left(29) ^ value).wrapping_mul(FACTOR)
}
