//! Packets between two ends that simulate the same scene: [`Delta::ArithmeticSimulated`].
//!
//! As long as the receiver's world is the sender's, a packet carries the [inputs](Simulated::inputs) of the ticks since
//! a world that the receiver has, says which world that is (the [`Origin`]), and has a check of the snapshot that both
//! ends simulate. Otherwise the snapshot is coded as in [`Delta::ArithmeticPredicted`]. Either carries a chunk of a
//! state from which a receiver can restore the sender's world.
//!
//! This crate knows no physics engine. An encoder is given the inputs; a decoder
//! [returns](crate::BegunPacket::inputs) them, and is given what the caller simulates with them.
//!
//! [`Delta::ArithmeticSimulated`]: crate::stages::Delta::ArithmeticSimulated
//! [`Delta::ArithmeticPredicted`]: crate::stages::Delta::ArithmeticPredicted

/// Ticks for which a packet has inputs, at most. With it, the work that a packet can cause is bounded.
pub const MAX_SIMULATED_TICKS: usize = 255;

/// Bytes of a [state chunk](Simulated::state_chunk), at most.
pub const MAX_STATE_CHUNK_BYTES: usize = 1023;

/// The world that a simulation starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The receiver's own world, that many ticks before the packet's snapshot.
    Continued(u8),
    /// The world before the scene's first tick.
    FromSceneStart(u8),
    /// A world that was restored from a state that the receiver was sent.
    Restored(u8),
}

impl Origin {
    /// Ticks from there to the snapshot.
    #[must_use]
    pub const fn age(self) -> u8 {
        let (Self::Continued(age) | Self::FromSceneStart(age) | Self::Restored(age)) = self;
        age
    }
}

/// What a packet of a simulated scene says besides a snapshot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulated<'a> {
    /// The inputs from which the receiver simulates the snapshot; none if the packet carries its bodies.
    pub inputs: Option<&'a Inputs>,
    /// Part of a state from which the receiver can restore a world, [`MAX_STATE_CHUNK_BYTES`] at most.
    pub state_chunk: &'a [u8],
}

/// What moved a scene, a byte a tick, and the world that it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    pub(crate) origin: Origin,
    pub(crate) bytes: [u8; MAX_SIMULATED_TICKS],
}

impl Inputs {
    /// `inputs` are those from the tick after the origin to the packet's. `None` if they are not as many as the origin's
    /// age, or none.
    #[must_use]
    pub fn new(origin: Origin, inputs: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_SIMULATED_TICKS];
        let is_counted = !inputs.is_empty() && inputs.len() == usize::from(origin.age());
        is_counted.then(|| {
            bytes[..inputs.len()].copy_from_slice(inputs);
            Self { origin, bytes }
        })
    }

    /// The world that they start from.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// The inputs, from the tick after the origin to the packet's: 1 to [`MAX_SIMULATED_TICKS`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.origin.age())]
    }

    /// The input of the packet's tick.
    pub(crate) fn last(&self) -> u8 {
        self.bytes().last().copied().unwrap_or(0)
    }
}
