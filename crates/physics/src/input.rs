//! The input of a world in one tick, as one byte.

use cubewire_scene::Keys;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Input {
    pub resets: bool,
    /// Whether the engine's sets are [rebuilt](crate::Sets::rebuild) before the tick, after a reset if there are
    /// both. From then on the world equals one that was [restored](crate::World::restored) from its state.
    pub rebuilds: bool,
    pub keys: Keys,
}

impl Input {
    /// Packs the input into a byte:
    ///
    /// ```text
    ///      7        6        5      4     3     2     1      0
    /// +--------+----------+--------+------+------+----+-------+------+
    /// | resets | rebuilds | gather | blow | down | up | right | left |
    /// +--------+----------+--------+------+------+----+-------+------+
    /// ```
    pub fn to_byte(self) -> u8 {
        self.keys.to_byte() | u8::from(self.rebuilds) << 6 | u8::from(self.resets) << 7
    }

    /// Unpacks a byte of [`to_byte`](Self::to_byte). Every byte is valid.
    pub const fn from_byte(byte: u8) -> Self {
        Self { resets: byte & 1 << 7 > 0, rebuilds: byte & 1 << 6 > 0, keys: Keys::from_byte(byte) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_one_input() {
        for byte in 0..=u8::MAX {
            assert_eq!(Input::from_byte(byte).to_byte(), byte);
        }
    }

    #[test]
    fn the_bits_are_in_order() {
        let keys = Keys { right: true, gather: true, ..Keys::default() };
        let input = Input { keys, ..Input::default() };
        assert_eq!(input.to_byte(), 0b0010_0010);
        let [resets, rebuilds] = [0b1000_0000, 0b0100_0000].map(Input::from_byte);
        assert!(resets.resets && !resets.rebuilds && rebuilds.rebuilds && !rebuilds.resets);
    }
}
