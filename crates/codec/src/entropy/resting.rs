//! Cubes that lay still, and what comes near them.

use super::trace::Place;

/// Cubes that lay still, and how near anything has come to each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    cubes: Vec<(usize, Place)>,
    /// First of `cubes` in each cell, and the next in the same, by its place in `cubes`.
    cells: Vec<u32>,
    next: Vec<u32>,
    /// By cube: squared distance of the nearest, 1/512 m.
    nearest: Vec<i64>,
    /// How often something has come to a place.
    approached: usize,
}

/// Cubes that are looked at: more would be work that no sender may choose.
const MOST: usize = 512;

/// Nothing has come near.
pub(crate) const UNTOUCHED: usize = 15;

const NONE: u32 = u32::MAX;
/// Cells, which are wrapped around, in either direction.
const CELLS: i32 = 32;
/// 1/512 m: side of a cell.
const CELL: i32 = 512;

impl Resting {
    pub(crate) fn clear(&mut self, count: usize) {
        self.cubes.clear();
        self.next.clear();
        self.cells.clear();
        self.cells.resize((CELLS * CELLS) as usize, NONE);
        self.nearest.clear();
        self.nearest.resize(count, i64::MAX);
        self.approached = 0;
    }

    pub(crate) fn add(&mut self, cube: usize, place: Place) {
        let cell = cell(place[0] >> 9, place[1] >> 9);
        self.next.push(self.cells[cell]);
        self.cells[cell] = self.cubes.len() as u32;
        self.cubes.push((cube, place));
    }

    pub(crate) fn cube(&self, place: usize) -> Option<usize> {
        self.cubes.get(place).map(|&(cube, _)| cube)
    }

    /// Something is now at `place`: within a metre of it cubes are touched, of the player within two.
    pub(crate) fn approach(&mut self, place: Place, is_player: bool) {
        if self.approached == MOST {
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
                let mut at = self.cells[cell((place[0] >> 9) + x, (place[1] >> 9) + y)];
                while at != NONE {
                    let (cube, there) = self.cubes[at as usize];
                    let mut apart = squared(place, there);
                    if apart < limit {
                        if is_player {
                            let gap = ((apart as f32).sqrt() as i64 - margin).max(0);
                            apart = gap * gap;
                        }
                        self.nearest[cube] = self.nearest[cube].min(apart);
                    }
                    at = self.next[at as usize];
                }
            }
        }
    }

    /// How near the nearest has come, in fourteen steps of 24/512 m; [`UNTOUCHED`] if nothing has.
    pub(crate) fn nearest(&self, cube: usize) -> usize {
        match self.nearest[cube] {
            i64::MAX => UNTOUCHED,
            apart => ((apart as f32).sqrt() / 24.0).min(14.0) as usize,
        }
    }
}

/// By so much the player's side reaches farther than a cube's, 1/512 m.
const PLAYER_MARGIN: i64 = 280;

const fn cell(x: i32, y: i32) -> usize {
    (x.rem_euclid(CELLS) * CELLS + y.rem_euclid(CELLS)) as usize
}

fn squared(a: Place, b: Place) -> i64 {
    (0..3)
        .map(|axis| i64::from(a[axis]) - i64::from(b[axis]))
        .map(|difference| difference * difference)
        .sum()
}
