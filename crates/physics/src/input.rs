//! The input of a world in one tick, as one byte per player.

use cubewire_scene::{Keys, MAX_PLAYERS};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Input {
    pub resets: bool,
    /// Whether the engine's sets are [rebuilt](crate::Sets::rebuild) before the tick, after a reset if there are
    /// both. From then on the world equals one that was [restored](crate::World::restored) from its state.
    pub rebuilds: bool,
    /// By player.
    pub keys: [Keys; MAX_PLAYERS],
}

const RESETS: u8 = 1 << 7;
const REBUILDS: u8 = 1 << 6;

impl Input {
    /// The input of a tick in which only this player holds keys.
    pub fn of(player: usize, keys: Keys) -> Self {
        let mut input = Self::default();
        input.keys[player] = keys;
        input
    }

    /// Packs the input into a byte per player. The bits for the scene are in the first one, and 0 in the others:
    ///
    /// ```text
    ///      7        6        5      4     3     2     1      0
    /// +--------+----------+--------+------+------+----+-------+------+
    /// | resets | rebuilds | gather | blow | down | up | right | left |
    /// +--------+----------+--------+------+------+----+-------+------+
    /// ```
    pub fn to_bytes(self) -> [u8; MAX_PLAYERS] {
        let mut bytes = self.keys.map(Keys::to_byte);
        bytes[0] |= if self.resets { RESETS } else { 0 } | if self.rebuilds { REBUILDS } else { 0 };
        bytes
    }

    /// Unpacks the bytes of one to four players. `None` for another number, and if a bit is set that is always 0.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&first, others) = bytes.split_first()?;
        if others.len() >= MAX_PLAYERS || others.iter().any(|byte| byte & (RESETS | REBUILDS) > 0) {
            return None;
        }
        let mut keys = [Keys::default(); MAX_PLAYERS];
        for (keys, &byte) in keys.iter_mut().zip(bytes) {
            *keys = Keys::from_byte(byte);
        }
        Some(Self { resets: first & RESETS > 0, rebuilds: first & REBUILDS > 0, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_legal_input_has_its_bytes() {
        for byte in 0..=u8::MAX {
            let input = Input::from_bytes(&[byte]).unwrap();
            assert_eq!(input.to_bytes(), [byte, 0, 0, 0]);
            let second = Input::from_bytes(&[0, byte, 7]);
            let is_legal = byte < REBUILDS;
            assert_eq!(second.map(Input::to_bytes), is_legal.then_some([0, byte, 7, 0]));
        }
        assert_eq!([&[][..], &[0; 5]].map(Input::from_bytes), [None; 2]);
    }

    #[test]
    fn the_bits_are_in_order() {
        let keys = Keys { right: true, gather: true, ..Keys::default() };
        assert_eq!(Input::of(1, keys).to_bytes(), [0, 0b0010_0010, 0, 0]);
        let [resets, rebuilds] =
            [0b1000_0000, 0b0100_0000].map(|byte| Input::from_bytes(&[byte]).unwrap());
        assert!(resets.resets && !resets.rebuilds && rebuilds.rebuilds && !rebuilds.resets);
    }
}
