//! Resting bodies, and their distances to the coded bodies.

use super::history::Position;
use crate::flags::Bits;
use crate::snapshot::PackedPosition;

/// The resting bodies in a grid, and the distance of the nearest coded body to each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    /// Linked lists of resting bodies: the first of each cell.
    cells: Vec<u32>,
    /// All bodies.
    bodies: Vec<Body>,
    /// The resting bodies that a coded one came near.
    touched: Bits,
    /// Number of coded bodies that were compared.
    approached: usize,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    packed: PackedPosition,
    /// The next in the same cell.
    next: u32,
    /// Squared distance of the nearest coded body, in (1/512 m)²; [`FAR`] if there is none.
    nearest: u32,
}

/// Bounds the work, which would otherwise grow with the square of the number of bodies that a sender chooses.
const MAX_APPROACHED: usize = 512;

/// The distance class of a body that nothing came near.
pub(crate) const UNTOUCHED: usize = 15;

const NONE: u32 = u32::MAX;
const FAR: u32 = u32::MAX;
/// Cells along each axis, a power of two; the grid wraps around.
const CELLS: i32 = 32;
const CELL_COUNT: usize = (CELLS * CELLS) as usize;
/// Side of a cell, in 1/512 m.
const CELL: i32 = 512;

impl Resting {
    /// Starts a packet. `is_active` tells which bodies are not at rest.
    pub(crate) fn reset(&mut self, positions: &[PackedPosition], is_active: &[bool]) {
        self.cells.clear();
        self.cells.resize(CELL_COUNT, NONE);
        let cells: &mut [u32; CELL_COUNT] = self.cells.first_chunk_mut().expect("it was resized");
        let bodies = positions.iter().zip(is_active).zip(0..);
        self.bodies.clear();
        self.bodies
            .extend(bodies.map(|((&packed, is_active), body)| {
                let mut next = NONE;
                if !is_active {
                    let [x, y, _] = packed.position();
                    next = std::mem::replace(&mut cells[cell(x >> 9, y >> 9)], body);
                }
                Body {
                    packed,
                    next,
                    nearest: FAR,
                }
            }));
        self.touched.clear(positions.len());
        self.approached = 0;
    }

    /// The first body from this one on that was touched.
    pub(crate) fn touched_from(&self, body: usize) -> Option<usize> {
        self.touched.next(body)
    }

    /// Adds a coded body at `position`. It touches resting bodies within one metre; the player within two.
    pub(crate) fn approach(&mut self, position: Position, is_player: bool) {
        if self.approached == MAX_APPROACHED {
            return;
        }
        self.approached += 1;
        let reach = if is_player { 2 } else { 1 };
        let limit = i64::from(reach * CELL) * i64::from(reach * CELL);
        for x in -reach..=reach {
            for y in -reach..=reach {
                let mut at = self.cells[cell((position[0] >> 9) + x, (position[1] >> 9) + y)];
                while at != NONE {
                    let body = &mut self.bodies[at as usize];
                    let distance = distance_squared(position, body.packed.position());
                    let is_near = distance < limit;
                    let mut near = if is_near { distance as u32 } else { FAR };
                    if is_player && is_near {
                        let gap = ((distance as f32).sqrt() as i64 - PLAYER_MARGIN).max(0);
                        near = (gap * gap) as u32;
                    }
                    body.nearest = body.nearest.min(near);
                    self.touched.set_if(at as usize, is_near);
                    at = body.next;
                }
            }
        }
    }

    pub(crate) fn is_touched(&self, body: usize) -> bool {
        self.touched.get(body)
    }

    /// Distance class of the nearest coded body: 0 to 14 in steps of 24/512 m, or [`UNTOUCHED`].
    pub(crate) fn nearest(&self, body: usize) -> usize {
        match self.bodies[body].nearest {
            FAR => UNTOUCHED,
            distance => ((distance as f32).sqrt() / 24.0).min(14.0) as usize,
        }
    }
}

/// How much farther the player's side reaches than a body's, in 1/512 m.
const PLAYER_MARGIN: i64 = 280;

const fn cell(x: i32, y: i32) -> usize {
    const MASK: i32 = CELLS - 1;
    ((x & MASK) * CELLS + (y & MASK)) as usize
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
    fn only_the_first_coded_bodies_are_compared_with_those_at_rest() {
        let mut resting = Resting::default();
        let far = [4 * CELL, 0, 0];
        let positions = [[0; 3], [0; 3], far].map(|position| PackedPosition::new(position, false));
        resting.reset(&positions, &[true, false, false]);
        for _ in 0..MAX_APPROACHED {
            resting.approach([0; 3], false);
        }
        assert_eq!([1, 2].map(|body| resting.nearest(body)), [0, UNTOUCHED]);
        resting.approach(far, false);
        assert_eq!(resting.nearest(2), UNTOUCHED);
        assert_eq!(
            [0, 2].map(|body| resting.touched_from(body)),
            [Some(1), None]
        );
        resting.reset(&positions, &[true, true, false]);
        resting.approach(far, false);
        assert_eq!(resting.nearest(2), 0);
    }
}
