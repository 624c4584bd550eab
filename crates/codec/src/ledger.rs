//! Counts the bits of a packet by purpose.

use std::fmt;

/// What a bit of a packet is for. Bits that select the form of a field count as that field's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitKind {
    /// Sequence, baseline, stages.
    Header,
    /// Which cubes are in the packet.
    Selection,
    /// Whether a cube is interacting.
    Interacting,
    /// Which fields of a cube changed.
    Flags,
    /// Positions.
    Position,
    /// Orientations.
    Orientation,
    /// Linear velocities.
    Velocity,
    /// The check of arithmetically coded packets, and the coder's overhead to end in whole bytes.
    Check,
    /// Zeros up to a whole byte.
    Padding,
}

impl BitKind {
    /// Every kind, in the order of a packet.
    pub const ALL: [Self; 9] = [
        Self::Header,
        Self::Selection,
        Self::Interacting,
        Self::Flags,
        Self::Position,
        Self::Orientation,
        Self::Velocity,
        Self::Check,
        Self::Padding,
    ];

    /// The name in legends and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Selection => "selection",
            Self::Interacting => "interacting",
            Self::Flags => "flags",
            Self::Position => "position",
            Self::Orientation => "orientation",
            Self::Velocity => "velocity",
            Self::Check => "check",
            Self::Padding => "padding",
        }
    }
}

impl fmt::Display for BitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bits of a packet by kind and, optionally, by cube.
///
/// Entries are bits, and their sum is the size of the packet. They are whole numbers unless the packet is
/// arithmetically coded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitLedger {
    kinds: [f64; BitKind::ALL.len()],
    cubes: Option<Vec<f64>>,
}

impl BitLedger {
    /// A ledger by kind only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A ledger by kind and by cube. Costs one more addition per field.
    #[must_use]
    pub fn with_cubes() -> Self {
        Self {
            cubes: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Bits of one kind.
    #[must_use]
    pub const fn kind(&self, kind: BitKind) -> f64 {
        self.kinds[kind as usize]
    }

    /// Bits of each cube, by index, in a ledger made by [`BitLedger::with_cubes`].
    #[must_use]
    pub fn cubes(&self) -> Option<&[f64]> {
        self.cubes.as_deref()
    }

    /// Bits of the packet.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinds.iter().sum()
    }

    /// Bits of everything but the header and the padding.
    #[must_use]
    pub fn body(&self) -> f64 {
        self.total() - self.kind(BitKind::Header) - self.kind(BitKind::Padding)
    }

    /// Clears the ledger, for a packet of `cubes` cubes.
    pub fn reset(&mut self, cubes: usize) {
        self.kinds = Default::default();
        if let Some(entries) = &mut self.cubes {
            entries.clear();
            entries.resize(cubes, 0.0);
        }
    }

    /// Adds another ledger to this one, for a total over several packets. Cubes that only one of them has
    /// count as 0 in the other; a ledger without cubes stays without.
    pub fn add(&mut self, other: &Self) {
        for (entry, more) in self.kinds.iter_mut().zip(other.kinds) {
            *entry += more;
        }
        if let (Some(entries), Some(more)) = (&mut self.cubes, &other.cubes) {
            entries.resize(entries.len().max(more.len()), 0.0);
            for (entry, more) in entries.iter_mut().zip(more) {
                *entry += more;
            }
        }
    }

    pub(crate) fn record(&mut self, kind: BitKind, cube: Option<usize>, bits: f64) {
        self.kinds[kind as usize] += bits;
        if let (Some(entries), Some(cube)) = (&mut self.cubes, cube) {
            entries[cube] += bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_cubes_add_up() {
        let mut ledger = BitLedger::with_cubes();
        ledger.reset(3);
        ledger.record(BitKind::Header, None, 34.0);
        ledger.record(BitKind::Position, Some(2), 12.0);
        ledger.record(BitKind::Flags, Some(2), 2.0);
        assert_eq!(ledger.total(), 48.0);
        assert_eq!(ledger.kind(BitKind::Position), 12.0);
        assert_eq!(ledger.cubes(), Some(&[0.0, 0.0, 14.0][..]));

        let mut sum = BitLedger::with_cubes();
        sum.add(&ledger);
        sum.add(&ledger);
        assert_eq!(sum.total(), 96.0);
        assert_eq!(sum.cubes(), Some(&[0.0, 0.0, 28.0][..]));
    }

    #[test]
    fn kinds_are_listed_in_the_order_of_their_values() {
        for (place, kind) in BitKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
