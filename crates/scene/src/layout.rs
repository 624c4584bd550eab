//! The initial layout of the cubes.

use glam::Vec3;

use crate::DENSITY;

/// Number of cubes: the player and a grid of 30 × 30.
pub const CUBES: usize = 901;

/// Index of the player's cube.
pub const PLAYER: usize = 0;

const GRID: usize = 30;

/// Length of a cube's edges, metres.
pub const fn side(cube: usize) -> f32 {
    if cube == PLAYER { 1.5 } else { 0.4 }
}

/// Mass of a cube, kilograms.
pub fn mass(cube: usize) -> f32 {
    DENSITY * side(cube).powi(3)
}

/// Centre of a cube at tick 0, when all cubes are upright and at rest. The player is above the middle.
/// The others stand in rows along y, a metre apart.
pub fn initial_position(cube: usize) -> Vec3 {
    if cube == PLAYER {
        return Vec3::new(0.0, 0.0, 10.0);
    }
    let (row, column) = ((cube - 1) / GRID, (cube - 1) % GRID);
    Vec3::new(row as f32 - 14.5, column as f32 - 14.5, side(cube) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_centred_and_stands_on_the_floor() {
        assert_eq!(initial_position(1), Vec3::new(-14.5, -14.5, 0.2));
        assert_eq!(initial_position(2), Vec3::new(-14.5, -13.5, 0.2));
        assert_eq!(initial_position(900), Vec3::new(14.5, 14.5, 0.2));
        let sum: Vec3 = (1..CUBES).map(initial_position).sum();
        assert!((sum / 900.0 - Vec3::new(0.0, 0.0, 0.2)).length() < 1e-4);
    }

    #[test]
    fn the_player_outweighs_fifty_cubes() {
        assert!((mass(PLAYER) - 3.375).abs() < 1e-6);
        assert!((mass(1) - 0.064).abs() < 1e-6);
    }
}
