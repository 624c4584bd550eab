//! The cube demo in [Rapier](https://rapier.rs), without Bevy: builds its bodies and simulates its ticks.
//!
//! The rules are in `cubewire-scene`; this crate applies them with the physics engine. A tick is [`Sets::before`], a
//! step of Rapier, and [`Sets::after`]. In the game, the sets are in the context of `bevy_rapier3d`, and its plugin
//! steps them. A [`World`] owns and steps its own sets. Both compute bit-identical results: worlds that are built
//! alike and stepped with the same keys stay equal, and so do clones.
//!
//! This holds on the same architecture, at any optimization level. Another compiler or instruction set may round
//! differently, and because the cubes are chaotic, the results then diverge.
//!
//! ```
//! use cubewire_physics::World;
//! use cubewire_scene::{Keys, PLAYER};
//!
//! let mut world = World::new();
//! let keys = Keys { right: true, ..Keys::default() };
//! for _ in 0..120 {
//!     world.step(keys);
//! }
//! assert!(world.snapshot().bodies[PLAYER].position.x > 1.0);
//!
//! let mut clone = world.clone();
//! clone.step(keys);
//! world.step(keys);
//! assert_eq!(world.snapshot(), clone.snapshot());
//! ```

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "only this workspace uses this crate, and Rapier's sets have none"
)]

mod crowd;
mod forces;
mod hash;
mod input;
mod own;
mod pose;
mod predictor;
mod rebuild;
mod receiver_world;
mod solids;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod world;

pub use hash::state_hash;
pub use input::Input;
pub use own::{OwnState, OwnVelocity};
pub use predictor::{PredictionBase, Predictor};
pub use receiver_world::ReceiverWorld;
pub use solids::{
    GRAVITY, LOOK_AHEAD, Solid, initial_snapshot, parameters, set_rest_thresholds, solids,
};
pub use state::{WorldState, WorldStateError};
pub use step::{SceneState, Sets};
pub use world::World;
