//! Wrapping sequence numbers.

use std::fmt;

/// Sequence number of a snapshot: the sender's tick modulo 2¹⁶.
///
/// The [schema](crate::schema::Schema::ticks_per_second) sets the tick rate. At 60 ticks per second, a sender of 30
/// snapshots per second uses every second number. The difference between two numbers is a time, which
/// [prediction](crate::predict) needs. There is no `Ord`, because an order
/// that wraps is not transitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(pub u16);

impl Sequence {
    /// The number of the next tick.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Ticks from `earlier` to `self`, modulo 2¹⁶. 0 for equal numbers, 65 535 if `earlier` is
    /// a tick later than `self`.
    pub const fn ticks_since(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Whether `self` is after `other`, in the shorter direction around. If the numbers are exactly half
    /// the range apart, neither is newer.
    pub const fn is_newer_than(self, other: Self) -> bool {
        let ticks = self.ticks_since(other);
        ticks != 0 && ticks < 0x8000
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_ends_at_half_the_range_and_goes_on_at_the_wrap() {
        for here in [Sequence(1000), Sequence(u16::MAX)] {
            assert_eq!(here.next().ticks_since(here), 1);
            for (ahead, newer) in [
                (0, false),
                (1, true),
                (0x7fff, true),
                (0x8000, false),
                (0x8001, false),
                (0xffff, false),
            ] {
                let other = Sequence(here.0.wrapping_add(ahead));
                assert_eq!(other.is_newer_than(here), newer, "{ahead} ahead");
            }
        }
        assert_eq!(Sequence(u16::MAX).next(), Sequence(0));
    }
}
