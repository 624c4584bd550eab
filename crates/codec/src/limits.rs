//! Limits on the memory that a sender can make a receiver use.

/// Maximum age of a packet, relative to a partial baseline, to be merged with it, in ticks.
pub const MAX_MERGED: usize = 31;

/// Maximum number of bodies that the format can index: 2¹⁶.
pub const MAX_BODIES: usize = 65_536;

pub(crate) const MAX_RANGE_BITS: u8 = 18;

/// Limits that a receiver sets before it reads data from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bodies in a snapshot, `0..=65_536`. Default: [`MAX_BODIES`]. Larger values count as
    /// [`MAX_BODIES`].
    pub max_bodies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bodies: MAX_BODIES }
    }
}

impl Limits {
    /// Checks the number of bodies of a snapshot.
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

/// A snapshot has more bodies than the [`Limits`] allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bodies} bodies are more than the limit of {limit}")]
pub struct TooManyBodies {
    /// Number of bodies in the snapshot.
    pub bodies: usize,
    /// Maximum number of bodies.
    pub limit: usize,
}
