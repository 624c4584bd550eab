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
//! | `asteroids` | 250 bodies in Rapier without gravity, of a public benchmark |
//! | `ships` | 40 ships on curves, without an engine |

mod arena;
mod asteroids;
mod frame;
mod heading;
mod schema;
mod ships;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use arena::{Arena, Play};
pub(crate) use asteroids::Asteroids;
#[cfg(test)]
pub(crate) use frame::SceneBody;
pub(crate) use frame::{Scene, SceneFrame};
pub(crate) use schema::{ARENA, ASTEROIDS, SHIPS};
pub(crate) use ships::Ships;

use glam::{Quat, Vec4};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Any orientation, each as likely as others.
fn orientation(random: &mut ChaCha8Rng) -> Quat {
    loop {
        let point = Vec4::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)));
        if (0.01..1.0).contains(&point.length_squared()) {
            return Quat::from_vec4(point.normalize());
        }
    }
}
