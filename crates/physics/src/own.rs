//! The state of a player's cube that a server tells to its player, and its bytes.

use cubewire_codec::BodyState;
use cubewire_scene::{MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, WALL};
use glam::{Quat, Vec3};
use rapier3d::prelude::RigidBodySet;

use crate::state::STEPS;
use crate::step::SceneState;

/// The state of a player's cube, as a server tells it to its player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnState {
    /// The velocities. The pose is that of the snapshot.
    Rounded(OwnVelocity),
    /// Everything in floats, and the ticks since the start of the scene. Until the cube touches another one, all that is predicted
    /// from it comes true.
    Exact(BodyState, OwnVelocity, u32),
}

/// Velocities of a player's cube.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnVelocity {
    /// Metres per second.
    pub linear: Vec3,
    /// About world axes, radians per second.
    pub angular: Vec3,
}

/// Bits of a component of each velocity.
const BITS: [u32; 2] = [12, 11];

/// Bytes of both velocities, and of an exact state.
const ROUNDED_BYTES: usize = (3 * (BITS[0] + BITS[1])).div_ceil(8) as usize;
const EXACT_BYTES: usize = size_of::<u32>() + 13 * size_of::<f32>();

impl OwnState {
    pub const fn velocity(&self) -> OwnVelocity {
        let (Self::Rounded(velocity) | Self::Exact(_, velocity, _)) = *self;
        velocity
    }

    /// Writes the state. Velocities without a pose are integers of 12 and 11 bits in steps of 1/64, from the lowest bit on, and
    /// no bytes if they are zero. An exact state is the ticks, position, both velocities and orientation, little endian.
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Rounded(velocity) => velocity.to_bytes(),
            Self::Exact(body, velocity, ticks) => {
                let vectors = [body.position, velocity.linear, velocity.angular];
                let vectors = vectors.map(|vector| vector.to_array());
                let floats =
                    vectors.as_flattened().iter().copied().chain(body.orientation.to_array());
                let floats = floats.flat_map(|float| float.to_le_bytes());
                ticks.to_le_bytes().into_iter().chain(floats).collect()
            }
        }
    }

    /// Reads [bytes](Self::to_bytes). `None` if they have another length, or if a float is outside the limits of the scene.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != EXACT_BYTES {
            return OwnVelocity::from_bytes(bytes).map(Self::Rounded);
        }
        let (ticks, floats) = bytes.split_first_chunk()?;
        let floats = floats.as_chunks().0.iter().map(|&float| f32::from_le_bytes(float));
        let floats: Vec<f32> = floats.collect();
        let vector = |at: usize| Vec3::from_slice(&floats[at..at + 3]);
        let [position, linear, angular] = [0, 3, 6].map(vector);
        let orientation = Quat::from_slice(&floats[9..]);
        let is_legal = floats.iter().all(|float| float.is_finite())
            && position.abs().max_element() <= WALL
            && linear.length() <= 2.0 * MAX_LINEAR_SPEED
            && angular.length() <= 2.0 * MAX_ANGULAR_SPEED
            && (orientation.length() - 1.0).abs() < 0.01;
        let body = BodyState { position, orientation, ..BodyState::default() };
        let velocity = OwnVelocity { linear, angular };
        is_legal.then(|| Self::Exact(body, velocity, u32::from_le_bytes(*ticks)))
    }
}

impl OwnVelocity {
    fn to_bytes(self) -> Vec<u8> {
        let mut packed = 0_u128;
        let mut at = 0;
        for (velocity, bits) in [self.linear, self.angular].into_iter().zip(BITS) {
            let most = (1 << (bits - 1)) - 1;
            for speed in velocity.to_array() {
                let steps = ((speed * STEPS).round() as i32).clamp(-most - 1, most);
                packed |= (steps as u128 & ((1 << bits) - 1)) << at;
                at += bits;
            }
        }
        if packed == 0 { Vec::new() } else { packed.to_le_bytes()[..ROUNDED_BYTES].to_vec() }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let bytes: [u8; ROUNDED_BYTES] = bytes.try_into().ok()?;
        let mut all = [0; 16];
        all[..ROUNDED_BYTES].copy_from_slice(&bytes);
        let packed = u128::from_le_bytes(all);
        let mut at = 0;
        let [linear, angular] = BITS.map(|bits| {
            Vec3::from_array([(); 3].map(|()| {
                // The sign is extended from the highest bit.
                let steps = (packed >> at) as i32;
                at += bits;
                (steps << (32 - bits) >> (32 - bits)) as f32 / STEPS
            }))
        });
        Some(Self { linear, angular })
    }
}

impl SceneState {
    /// The exact state of a cube.
    pub fn own(&self, bodies: &RigidBodySet, cube: usize) -> OwnState {
        let body = self.body(bodies, cube);
        let velocity = OwnVelocity { linear: body.linear_velocity, angular: body.angular_velocity };
        OwnState::Exact(body.cube(), velocity, self.ticks() as u32)
    }
}
