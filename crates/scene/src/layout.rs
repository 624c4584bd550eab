//! The initial layout of the cubes.

use glam::Vec3;

use crate::DENSITY;

/// Number of cubes with one player: the player's and a grid of 30 × 30. Those of further players come after them.
pub const CUBES: usize = 901;

/// Index of the first player's cube.
pub const PLAYER: usize = 0;

/// Maximum number of players.
pub const MAX_PLAYERS: usize = 4;

/// Number of cubes with this number of players, `1..=`[`MAX_PLAYERS`].
pub const fn cubes(players: usize) -> usize {
    CUBES + players - 1
}

/// Number of players in a scene with this number of cubes, at least 1.
pub const fn players(cubes: usize) -> usize {
    (cubes + 1).saturating_sub(CUBES) + (cubes < CUBES) as usize
}

/// Index of the cube of a player, counted from 0.
pub const fn player(seat: usize) -> usize {
    if seat == 0 { PLAYER } else { CUBES + seat - 1 }
}

/// The player whose cube this is, counted from 0. `None` for a small cube.
pub const fn seat(cube: usize) -> Option<usize> {
    match cube {
        PLAYER => Some(0),
        CUBES.. => Some(cube + 1 - CUBES),
        _ => None,
    }
}

const GRID: usize = 30;

/// Initial positions of the players.
const ABOVE: [Vec3; MAX_PLAYERS] = [
    Vec3::new(0.0, 0.0, 10.0),
    Vec3::new(10.0, -10.0, 10.0),
    Vec3::new(-10.0, -10.0, 10.0),
    Vec3::new(10.0, 10.0, 10.0),
];

/// Length of a cube's edges, metres.
pub const fn side(cube: usize) -> f32 {
    if seat(cube).is_some() { 1.5 } else { 0.4 }
}

/// Mass of a cube, kilograms.
pub fn mass(cube: usize) -> f32 {
    DENSITY * side(cube).powi(3)
}

/// Centre of a cube at tick 0, when all cubes are upright and at rest. The first player is above the middle, the others above
/// corners of the grid. The small cubes stand in rows along y, a metre apart.
pub fn initial_position(cube: usize) -> Vec3 {
    if let Some(seat) = seat(cube) {
        return ABOVE[seat % MAX_PLAYERS];
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
    fn every_player_has_a_large_cube_in_its_own_place() {
        for index in 0..MAX_PLAYERS {
            let cube = player(index);
            assert_eq!(seat(cube), Some(index));
            assert_eq!(side(cube), 1.5);
            for other in 0..index {
                let way = initial_position(cube) - initial_position(player(other));
                assert!(way.length() > 10.0);
            }
        }
        assert_eq!((player(1), player(3), cubes(1), cubes(4)), (901, 903, 901, 904));
        assert_eq!([0, 5, 901, 902, 904].map(players), [1, 1, 1, 2, 4]);
        assert!((1..CUBES).all(|cube| seat(cube).is_none()));
    }

    #[test]
    fn the_player_outweighs_fifty_cubes() {
        assert!((mass(PLAYER) - 3.375).abs() < 1e-6);
        assert!((mass(1) - 0.064).abs() < 1e-6);
    }
}
