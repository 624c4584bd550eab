//! Hash of snapshots, to compare runs.

use cubewire_codec::Snapshot;

/// Extends a hash (FNV-1a) with every bit of a snapshot. Start with 0.
pub fn state_hash(hash: u64, snapshot: &Snapshot) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut hash = hash ^ OFFSET;
    let mut add = |word: u32| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    };
    for cube in &snapshot.bodies {
        let floats = [
            &cube.position.to_array()[..],
            &cube.orientation.to_array(),
            &cube.linear_velocity.to_array(),
        ];
        floats.into_iter().flatten().for_each(|value| add(value.to_bits()));
        add(u32::from(cube.interacting));
    }
    hash
}
