//! What cubes that were coded before in the same packet say of those that follow.

use super::expect::{Place, Turn};

/// Cubes that were coded: where they were, and how much more they moved than by going on as before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearby {
    coded: Vec<(Place, Place, Turn)>,
}

/// Means over the cubes around a place, nearer ones counting for more, and for nothing where there are
/// none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) place: Place,
    pub(crate) turn: Turn,
}

/// Cubes that are looked at for those that follow: more would be work that grows with the square of
/// their number, which no sender may choose.
const MOST: usize = 512;

/// 1/512 m: who is farther away says nothing.
const REACH: i64 = 350;
/// Weight of one in the same place.
const FULL: i64 = 1024;
/// Weight of there being nobody.
const NOBODY: i64 = 300;

impl Nearby {
    pub(crate) fn clear(&mut self) {
        self.coded.clear();
    }

    /// Adds a cube, unless there are [`MOST`] already; gives whether there was room.
    pub(crate) fn add(&mut self, place: Place, more: Place, turned: Turn) -> bool {
        let has_room = self.coded.len() < MOST;
        if has_room {
            self.coded.push((place, more, turned));
        }
        has_room
    }

    pub(crate) fn around(&self, here: Place) -> Around {
        let mut moved = [0_i64; 3];
        let mut turned = [0.0_f32; 3];
        let mut weights = 0;
        for (place, more, turn) in &self.coded {
            let apart = squared(*place, here);
            if apart >= REACH * REACH {
                continue;
            }
            let near = FULL - apart * FULL / (REACH * REACH);
            let weight = near * near / FULL;
            weights += weight;
            for axis in 0..3 {
                moved[axis] += weight * i64::from(more[axis]);
                turned[axis] += weight as f32 * turn[axis];
            }
        }
        Around {
            place: moved.map(|moved| (moved / (weights + NOBODY)) as i32),
            turn: turned.map(|turned| turned / (weights + NOBODY) as f32),
        }
    }
}

/// Cubes that lay still, and how near anything has come to each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    cubes: Vec<(usize, Place)>,
    /// First of `cubes` in each cell, and the next in the same, by its place in `cubes`.
    cells: Vec<u32>,
    next: Vec<u32>,
    /// By cube: squared distance of the nearest, 1/512 m.
    nearest: Vec<i64>,
}

/// Nothing has come near.
pub(crate) const UNTOUCHED: usize = 15;

const NONE: u32 = u32::MAX;
/// Cells of a metre's side, wrapped around so often in either direction.
const CELLS: i32 = 64;

impl Resting {
    pub(crate) fn clear(&mut self, count: usize) {
        self.cubes.clear();
        self.next.clear();
        self.cells.clear();
        self.cells.resize((CELLS * CELLS) as usize, NONE);
        self.nearest.clear();
        self.nearest.resize(count, i64::MAX);
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

    /// Something is now at `place`; the player is larger.
    pub(crate) fn approach(&mut self, place: Place, is_player: bool) {
        let (reach, margin) = if is_player {
            (2, PLAYER_MARGIN)
        } else {
            (1, 0)
        };
        for x in -reach..=reach {
            for y in -reach..=reach {
                let mut at = self.cells[cell((place[0] >> 9) + x, (place[1] >> 9) + y)];
                while at != NONE {
                    let (cube, there) = self.cubes[at as usize];
                    let mut apart = squared(place, there);
                    if is_player {
                        let gap = (apart.isqrt() - margin).max(0);
                        apart = gap * gap;
                    }
                    self.nearest[cube] = self.nearest[cube].min(apart);
                    at = self.next[at as usize];
                }
            }
        }
    }

    /// How near the nearest has come, in fourteen steps of 24/512 m; [`UNTOUCHED`] if nothing has.
    pub(crate) fn nearest(&self, cube: usize) -> usize {
        match self.nearest[cube] {
            i64::MAX => UNTOUCHED,
            apart => (apart.isqrt() / 24).min(14) as usize,
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
