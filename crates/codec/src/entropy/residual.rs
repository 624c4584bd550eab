//! A signed number as decisions.
//!
//! ```text
//! digits, as three decisions of a tree; from seven on, whether there is one more | negative? |
//! first digit after the leading 1 | second | others, evenly
//! ```
//!
//! Zero has no digits and no sign.

use super::layout::NODES;

/// The walk's ways to decide one node, of the number that is being coded, and an even one.
pub(crate) trait Decide {
    fn node(&mut self, node: usize, bit: bool) -> bool;
    fn even(&mut self, bit: bool) -> bool;
}

const NEGATIVE: usize = 0;
/// By the path from 1 on.
const TREE: usize = 0;
const MORE: usize = 8;
const FIRST: usize = 16;
const SECOND: usize = 27;

/// Decisions of the tree.
const TREE_DEPTH: u32 = 3;

/// The last leaf: so many digits or more.
const MANY_DIGITS: u32 = (1 << TREE_DEPTH) - 1;

/// Digit counts above it have leading digits in common.
const COUNTED: u32 = 12;

/// No number that is coded has more: differences of positions have 19.
const MOST_DIGITS: u32 = 20;

/// Codes `value`, or reads one in its place.
pub(crate) fn code(decide: &mut impl Decide, value: i32) -> i32 {
    let size = value.unsigned_abs();
    let wanted = u32::BITS - size.leading_zeros();
    let leaf = wanted.min(MANY_DIGITS);
    let mut path = 1;
    for place in (0..TREE_DEPTH).rev() {
        let bit = decide.node(TREE + path as usize, leaf >> place & 1 == 1);
        path = path << 1 | u32::from(bit);
    }
    let mut digits = path - (1 << TREE_DEPTH);
    if digits == 0 {
        return 0;
    }
    while (MANY_DIGITS..MOST_DIGITS).contains(&digits) {
        let node = MORE + (digits - MANY_DIGITS).min(7) as usize;
        if !decide.node(node, digits < wanted) {
            break;
        }
        digits += 1;
    }
    let negative = decide.node(NEGATIVE, value < 0);
    let mut number = 1;
    for place in (0..digits - 1).rev() {
        let bit = size >> place & 1 == 1;
        let counted = digits.min(COUNTED) as usize;
        let bit = match digits - 2 - place {
            0 => decide.node(FIRST + counted - 2, bit),
            1 => decide.node(SECOND + 2 * (counted - 3) + (number as usize & 1), bit),
            _ => decide.even(bit),
        };
        number = number << 1 | u32::from(bit);
    }
    let number = number.cast_signed();
    if negative { -number } else { number }
}

const _: () = assert!(SECOND + 2 * (COUNTED as usize - 3) + 2 <= NODES);

/// How large a number is, in fifteen steps that grow.
pub(crate) fn magnitude(value: i32) -> usize {
    const STEPS: [u32; 14] = [1, 2, 3, 4, 6, 8, 12, 18, 27, 41, 65, 101, 171, 401];
    STEPS.partition_point(|&step| step <= value.unsigned_abs())
}

/// The same with its sign: below 32.
pub(crate) fn signed_magnitude(value: i32) -> usize {
    let sign = if value < 0 { 15 } else { 0 };
    sign + magnitude(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers decisions, and makes the same ones again.
    #[derive(Default)]
    struct Tape {
        bits: std::collections::VecDeque<(usize, bool)>,
        replays: bool,
    }

    impl Decide for Tape {
        fn node(&mut self, node: usize, bit: bool) -> bool {
            assert!(node < NODES);
            if self.replays {
                let (expected, bit) = self.bits.pop_front().unwrap();
                assert_eq!(node, expected);
                return bit;
            }
            self.bits.push_back((node, bit));
            bit
        }

        fn even(&mut self, bit: bool) -> bool {
            self.node(NODES - 1, bit)
        }
    }

    #[test]
    fn numbers_come_back() {
        let ends = [-262_143, -131_072, 131_071, 262_143];
        for value in (-5000..=5000).chain(ends) {
            let mut tape = Tape::default();
            assert_eq!(code(&mut tape, value), value);
            tape.replays = true;
            assert_eq!(code(&mut tape, 0), value);
            assert!(tape.bits.is_empty());
        }
    }

    #[test]
    fn a_number_without_end_ends() {
        struct Always;
        impl Decide for Always {
            fn node(&mut self, _: usize, _: bool) -> bool {
                true
            }
            fn even(&mut self, _: bool) -> bool {
                true
            }
        }
        assert_eq!(code(&mut Always, 0), -((1 << 20) - 1));
    }

    #[test]
    fn magnitudes_grow() {
        let steps: Vec<_> = [0, 1, 2, 3, 5, 7, 11, 17, 26, 40, 64, 100, 170, 400, 401]
            .map(magnitude)
            .to_vec();
        assert_eq!(steps, (0..15).collect::<Vec<_>>());
        assert_eq!(signed_magnitude(-401), 29);
    }
}
