//! Bounds on what a receiver holds, which a sender cannot exceed.

/// The largest number of cubes that the format can index: 2¹⁶.
pub const MAX_CUBES: usize = 65_536;

/// Maximum bits of a range.
pub(crate) const MAX_RANGE_BITS: u8 = 18;

/// Bounds that a receiver sets before it reads anything from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most cubes in a snapshot, `0..=65_536`. Default: [`MAX_CUBES`]. A larger value counts as
    /// [`MAX_CUBES`].
    pub max_cubes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_cubes: MAX_CUBES,
        }
    }
}

impl Limits {
    /// Checks whether a snapshot of this many cubes is allowed.
    ///
    /// # Errors
    /// [`TooManyCubes`] if `cubes` is above the limit.
    pub fn check(&self, cubes: usize) -> Result<(), TooManyCubes> {
        let limit = self.max_cubes.min(MAX_CUBES);
        if cubes > limit {
            return Err(TooManyCubes { cubes, limit });
        }
        Ok(())
    }
}

/// A snapshot holds more cubes than the [`Limits`] allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cubes} cubes are more than the limit of {limit}")]
pub struct TooManyCubes {
    /// Cubes in the snapshot.
    pub cubes: usize,
    /// Cubes allowed.
    pub limit: usize,
}
