//! Detects snapshots with too many overlapping cubes. Simulating them would take seconds.

use cubewire_scene::PLAYER;
use glam::Vec3;

/// Two cubes are close if their centres are nearer than this, metres: three quarters of the length of an edge.
const CLOSE: f32 = 0.3;

/// Maximum number of close pairs. A ball of eighty cubes has 0; all cubes at one point have 404,550.
const MAX_CLOSE_PAIRS: usize = 200;

/// Whether more cubes overlap than in any simulation. `positions` are all cubes, or a part of them. A receiver should not build a
/// world from them: with all cubes at one point, a tick takes too much time and memory.
pub(crate) fn is_crowded(positions: impl Iterator<Item = Vec3>) -> bool {
    close_pairs(positions, MAX_CLOSE_PAIRS) > MAX_CLOSE_PAIRS
}

/// Number of close pairs of cubes, without the first one. Stops counting beyond `most`.
fn close_pairs(positions: impl Iterator<Item = Vec3>, most: usize) -> usize {
    let mut by_x: Vec<_> = positions.skip(PLAYER + 1).collect();
    by_x.sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
    let mut pairs = 0;
    for (index, here) in by_x.iter().enumerate() {
        let others = by_x[index + 1..].iter();
        let near = others.take_while(|there| there.x - here.x < CLOSE);
        pairs += near.filter(|there| there.distance_squared(*here) < CLOSE * CLOSE).count();
        if pairs > most {
            break;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use cubewire_scene::{CUBES, Keys};

    use super::*;
    use crate::World;

    #[test]
    fn a_ball_that_hits_the_grid_is_far_from_crowded() {
        let mut world = World::new();
        let mut most = 0;
        for tick in 0..1800 {
            world.step(Keys {
                blow: tick % 600 >= 550,
                ..Keys::rolling(tick / 2, tick % 600 < 550)
            });
            let positions = world.snapshot().bodies.into_iter().map(|cube| cube.position);
            most = most.max(close_pairs(positions, usize::MAX));
        }
        assert!(most < MAX_CLOSE_PAIRS / 10, "{most}");
    }

    #[test]
    fn cubes_at_one_point_are_crowded() {
        assert!(is_crowded((0..CUBES).map(|_| Vec3::Z)));
        // Sixteen heaps are, too.
        assert!(is_crowded((0..CUBES).map(|cube| Vec3::X * (cube % 16) as f32)));
    }
}
