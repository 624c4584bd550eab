//! Packets between two ends that simulate the same scene: [`Delta::ArithmeticSimulated`].
//!
//! While the receiver's world equals the sender's, a packet carries the [inputs](Simulated::inputs) of all seats in the ticks
//! since a world that the receiver has (the [`Origin`]), and a check of the snapshot that both ends simulate.
//! Otherwise the snapshot is coded like [`Delta::ArithmeticPredicted`]. Both packets can carry a chunk of a state,
//! from which a receiver restores the sender's world.
//!
//! This crate contains no physics engine. The encoder gets the inputs from the caller. The decoder
//! [returns](crate::BegunPacket::inputs) them, and then gets the snapshot that the caller simulated.
//!
//! [`Delta::ArithmeticSimulated`]: crate::stages::Delta::ArithmeticSimulated
//! [`Delta::ArithmeticPredicted`]: crate::stages::Delta::ArithmeticPredicted

use crate::schema::Schema;

/// Maximum number of ticks in a packet. It bounds the work that a packet can cause.
pub const MAX_SIMULATED_TICKS: usize = 255;

pub(crate) const MAX_SEATS: usize = Schema::MAX_SEATS as usize;

/// Maximum length of a [state chunk](Simulated::state_chunk) in bytes.
pub const MAX_STATE_CHUNK_BYTES: usize = 1023;

/// World that a simulation starts from. The number is its age: the ticks from there to the packet's snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The receiver's world at that tick.
    Continued(u8),
    /// The world before the scene's first tick.
    FromSceneStart(u8),
    /// A world restored from a state that was sent in chunks.
    Restored(u8),
}

impl Origin {
    /// Ticks from the origin to the snapshot.
    pub const fn age(self) -> u8 {
        let (Self::Continued(age) | Self::FromSceneStart(age) | Self::Restored(age)) = self;
        age
    }
}

/// Data of a simulated scene in a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulated<'a> {
    /// Inputs to simulate the snapshot from. `None` if the packet carries bodies.
    pub inputs: Option<&'a Inputs>,
    /// Part of a state for the receiver to restore a world, at most [`MAX_STATE_CHUNK_BYTES`] bytes. May be empty.
    pub state_chunk: &'a [u8],
}

/// Inputs of a scene, one byte per seat and tick, and the world to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    pub(crate) origin: Origin,
    pub(crate) seats: u8,
    pub(crate) bytes: [u8; MAX_SEATS * MAX_SIMULATED_TICKS],
}

impl Inputs {
    /// Creates inputs from the tick after the origin to the packet's tick: for each tick, a byte of each
    /// [seat](Schema::seats). `None` if there are no inputs, or if their number differs from the origin's age.
    pub fn new(origin: Origin, inputs: &[u8]) -> Option<Self> {
        let seats = inputs.len().checked_div(origin.age().into())?;
        let is_counted = seats * usize::from(origin.age()) == inputs.len();
        if !is_counted || !(1..=MAX_SEATS).contains(&seats) {
            return None;
        }
        let mut all = Self::blank(origin, seats as u8);
        all.bytes[..inputs.len()].copy_from_slice(inputs);
        Some(all)
    }

    pub(crate) const fn blank(origin: Origin, seats: u8) -> Self {
        Self { origin, seats, bytes: [0; MAX_SEATS * MAX_SIMULATED_TICKS] }
    }

    /// The world to start from.
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Number of seats, 1 to [`Schema::MAX_SEATS`].
    pub const fn seats(&self) -> usize {
        self.seats as usize
    }

    /// Inputs from the tick after the origin to the packet's tick, as in [`new`](Self::new).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.seats() * usize::from(self.origin.age())]
    }

    pub(crate) fn ticks_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let seats = self.seats();
        self.bytes.chunks_mut(seats).take(self.origin.age().into())
    }

    /// Inputs of the packet's tick, 0 for seats that the scene does not have.
    pub(crate) fn last(&self) -> [u8; MAX_SEATS] {
        let mut last = [0; MAX_SEATS];
        let bytes = self.bytes();
        last[..self.seats()].copy_from_slice(&bytes[bytes.len() - self.seats()..]);
        last
    }
}
