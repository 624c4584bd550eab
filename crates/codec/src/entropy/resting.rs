//! Resting cubes, and their distances to the coded cubes.

use super::history::Position;

/// The resting cubes in a grid, and the distance of the nearest coded cube to each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    cubes: Vec<(u32, Position)>,
    /// Linked lists through `cubes`, by index: the first of each cell, and the next in the same cell.
    cells: Vec<u32>,
    next: Vec<u32>,
    /// By cube: squared distance of the nearest, in (1/512 m)²; [`FAR`] if there is none.
    nearest: Vec<u32>,
    /// Number of coded cubes that were compared.
    approached: usize,
}

/// Bounds the work, which would otherwise grow with the square of the number of cubes that a sender chooses.
const MAX_APPROACHED: usize = 512;

/// The distance class of a cube that nothing came near.
pub(crate) const UNTOUCHED: usize = 15;

const NONE: u32 = u32::MAX;
const FAR: u32 = u32::MAX;
/// Cells along each axis; the grid wraps around.
const CELLS: i32 = 32;
/// Side of a cell, in 1/512 m.
const CELL: i32 = 512;

impl Resting {
    pub(crate) fn clear(&mut self, count: usize) {
        self.cubes.clear();
        self.next.clear();
        self.cells.clear();
        self.cells.resize((CELLS * CELLS) as usize, NONE);
        self.nearest.clear();
        self.nearest.resize(count, FAR);
        self.approached = 0;
    }

    pub(crate) fn add(&mut self, cube: usize, position: Position) {
        let cell = cell(position[0] >> 9, position[1] >> 9);
        self.next.push(self.cells[cell]);
        self.cells[cell] = self.cubes.len() as u32;
        self.cubes.push((cube as u32, position));
    }

    pub(crate) fn cube(&self, index: usize) -> Option<usize> {
        self.cubes.get(index).map(|&(cube, _)| cube as usize)
    }

    /// Adds a coded cube at `position`. It touches resting cubes within one metre; the player within two.
    pub(crate) fn approach(&mut self, position: Position, is_player: bool) {
        if self.approached == MAX_APPROACHED {
            return;
        }
        self.approached += 1;
        let (reach, margin) = if is_player {
            (2, PLAYER_MARGIN)
        } else {
            (1, 0)
        };
        let limit = i64::from(reach * CELL) * i64::from(reach * CELL);
        for x in -reach..=reach {
            for y in -reach..=reach {
                let mut at = self.cells[cell((position[0] >> 9) + x, (position[1] >> 9) + y)];
                while at != NONE {
                    let (cube, resting) = self.cubes[at as usize];
                    let mut distance = distance_squared(position, resting);
                    if distance < limit {
                        if is_player {
                            let gap = ((distance as f32).sqrt() as i64 - margin).max(0);
                            distance = gap * gap;
                        }
                        let nearest = &mut self.nearest[cube as usize];
                        *nearest = (*nearest).min(distance as u32);
                    }
                    at = self.next[at as usize];
                }
            }
        }
    }

    /// Distance class of the nearest coded cube: 0 to 14 in steps of 24/512 m, or [`UNTOUCHED`].
    pub(crate) fn nearest(&self, cube: usize) -> usize {
        match self.nearest[cube] {
            FAR => UNTOUCHED,
            distance => ((distance as f32).sqrt() / 24.0).min(14.0) as usize,
        }
    }
}

/// How much farther the player's side reaches than a cube's, in 1/512 m.
const PLAYER_MARGIN: i64 = 280;

const fn cell(x: i32, y: i32) -> usize {
    (x.rem_euclid(CELLS) * CELLS + y.rem_euclid(CELLS)) as usize
}

/// In (1/512 m)².
pub(crate) fn distance_squared(a: Position, b: Position) -> i64 {
    (0..3)
        .map(|axis| i64::from(a[axis]) - i64::from(b[axis]))
        .map(|difference| difference * difference)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_coded_cubes_are_compared_with_those_at_rest() {
        let mut resting = Resting::default();
        resting.clear(3);
        resting.add(1, [0; 3]);
        resting.add(2, [4 * CELL, 0, 0]);
        for _ in 0..MAX_APPROACHED {
            resting.approach([0; 3], false);
        }
        assert_eq!([1, 2].map(|cube| resting.nearest(cube)), [0, UNTOUCHED]);
        resting.approach([4 * CELL, 0, 0], false);
        assert_eq!(resting.nearest(2), UNTOUCHED);
        resting.clear(3);
        resting.add(2, [4 * CELL, 0, 0]);
        resting.approach([4 * CELL, 0, 0], false);
        assert_eq!(resting.nearest(2), 0);
    }
}
