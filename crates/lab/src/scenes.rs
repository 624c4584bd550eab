//! Scenes other than the cube demo's, simulated from a seed.
//!
//! A scene is a number of slots. A slot is empty, or has a body with a pose, a kind, the generation of the slot, and
//! the scene's own fields. `record` writes its frames to a file.
//!
//! | module | |
//! | --- | --- |
//! | `frame` | what a scene is after a tick |
//! | `schema` | what both ends know of it before |
//! | `heading` | angles of 12 bits |
//! | `slots` | births and deaths |
//! | `arena` | 2000 bodies in Rapier: clusters, walkers, blasts |
//! | `ships` | 40 ships on curves, without an engine |

mod arena;
mod frame;
mod heading;
mod schema;
mod ships;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use arena::{Arena, Play};
#[cfg(test)]
pub(crate) use frame::SceneBody;
pub(crate) use frame::{Scene, SceneFrame};
pub(crate) use schema::{ARENA, SHIPS};
pub(crate) use ships::Ships;
