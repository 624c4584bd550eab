//! Scenes other than the cube demo, simulated from a seed.
//!
//! A scene has a fixed number of slots. A slot is empty or holds a body with a pose, a kind, the slot's generation
//! and the fields of the scene's schema. `record` writes the frames to a file.
//!
//! | module | |
//! | --- | --- |
//! | `frame` | the state of a scene after a tick |
//! | `schema` | the scenes' schemas |
//! | `heading` | 12-bit angles |
//! | `slots` | allocation of slots |
//! | `arena` | 2000 bodies in Rapier: clusters, walkers, blasts |
//! | `asteroids` | 250 bodies in Rapier without gravity, from a public benchmark |

mod arena;
mod asteroids;
mod frame;
mod heading;
mod schema;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use arena::{Arena, Play};
pub(crate) use asteroids::Asteroids;
pub(crate) use frame::{Scene, SceneFrame};
pub(crate) use schema::{ARENA, ASTEROIDS};

use glam::{Quat, Vec4};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Returns a uniformly distributed orientation.
fn orientation(random: &mut ChaCha8Rng) -> Quat {
    loop {
        let point = Vec4::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)));
        if (0.01..1.0).contains(&point.length_squared()) {
            return Quat::from_vec4(point.normalize());
        }
    }
}
