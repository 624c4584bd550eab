//! Scenes other than the cube demo's, simulated from a seed.
//!
//! A scene is a number of slots. A slot is empty, or has a body with a pose, a kind, the generation of the slot, and
//! the scene's own fields. What a frame's bits are is left to those who record it.
//!
//! | module | |
//! | --- | --- |
//! | `frame` | what a scene is after a tick |
//! | `heading` | angles of 12 bits |
//! | `slots` | births and deaths |
//! | `arena` | 2000 bodies in Rapier: clusters, walkers, blasts |
//! | `ships` | 40 ships on curves, without an engine |

mod arena;
mod frame;
mod heading;
mod ships;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use arena::{Arena, Play};
pub(crate) use frame::{FieldKind, Scene, SceneBody, SceneFrame, Value};
pub(crate) use ships::Ships;
