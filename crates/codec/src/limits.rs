//! Bounds on what a receiver holds, which a sender cannot exceed.

/// Most ticks before the named packet that a mask reaches.
pub const MAX_MERGED: usize = 31;

/// The largest number of bodies that the format can index: 2¹⁶.
pub const MAX_BODIES: usize = 65_536;

/// Maximum bits of a range.
pub(crate) const MAX_RANGE_BITS: u8 = 18;

/// Bounds that a receiver sets before it reads anything from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bodies in a snapshot, `0..=65_536`. Default: [`MAX_BODIES`]. A larger value counts as
    /// [`MAX_BODIES`].
    pub max_bodies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bodies: MAX_BODIES,
        }
    }
}

impl Limits {
    /// Checks whether a snapshot of this many bodies is allowed.
    ///
    /// # Errors
    /// [`TooManyBodies`] if `bodies` is above the limit.
    pub fn check(&self, bodies: usize) -> Result<(), TooManyBodies> {
        let limit = self.max_bodies.min(MAX_BODIES);
        if bodies > limit {
            return Err(TooManyBodies { bodies, limit });
        }
        Ok(())
    }
}

/// A snapshot holds more bodies than the [`Limits`] allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bodies} bodies are more than the limit of {limit}")]
pub struct TooManyBodies {
    /// Bodies in the snapshot.
    pub bodies: usize,
    /// Bodies allowed.
    pub limit: usize,
}
