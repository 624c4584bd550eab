//! The player's input.

/// The keys held during one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Keys {
    /// Rolls towards −x.
    pub left: bool,
    /// Rolls towards +x.
    pub right: bool,
    /// Rolls towards +y, away from the camera.
    pub up: bool,
    /// Rolls towards −y.
    pub down: bool,
    /// Hovers, and blows cubes away from below.
    pub blow: bool,
    /// Katamari: pulls cubes in.
    pub gather: bool,
}

impl Keys {
    /// Returns the keys that are held in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            left: self.left || other.left,
            right: self.right || other.right,
            up: self.up || other.up,
            down: self.down || other.down,
            blow: self.blow || other.blow,
            gather: self.gather || other.gather,
        }
    }

    /// Packs the keys into a byte, from the lowest bit: left, right, up, down, blow, gather.
    pub fn to_byte(self) -> u8 {
        let keys = [self.left, self.right, self.up, self.down, self.blow, self.gather];
        (0..).zip(keys).fold(0, |byte, (bit, key)| byte | u8::from(key) << bit)
    }

    /// Unpacks a byte of [`to_byte`](Self::to_byte). The highest two bits are ignored.
    pub const fn from_byte(byte: u8) -> Self {
        let [left, right, up, down, blow, gather] =
            [byte & 1 > 0, byte & 2 > 0, byte & 4 > 0, byte & 8 > 0, byte & 16 > 0, byte & 32 > 0];
        Self { left, right, up, down, blow, gather }
    }

    /// Returns keys that roll the player to and fro, for tests and benchmarks.
    pub const fn rolling(tick: u64, gather: bool) -> Self {
        let (right, up) = (tick % 100 < 50, tick % 160 < 80);
        Self { right, left: !right, up, down: !up, blow: false, gather }
    }

    /// Direction of the arrow keys in x and y, each −1, 0 or 1. Opposite keys cancel out.
    pub fn direction(self) -> [f32; 2] {
        let axis = |minus: bool, plus: bool| f32::from(i8::from(plus) - i8::from(minus));
        [axis(self.left, self.right), axis(self.down, self.up)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_keys_cancel_out() {
        let keys = Keys { left: true, right: true, up: true, ..Keys::default() };
        assert_eq!(keys.direction(), [0.0, 1.0]);
    }
}
