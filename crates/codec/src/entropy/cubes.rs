//! The cubes of a packet in coding order.
//!
//! The player comes first, then the active cubes, which moved on the way to the reference, by distance to the
//! player, then the resting cubes. Cubes coded earlier in the packet are context for later ones: a cube in a
//! ball moves with its neighbours, and a resting cube starts to move when another one comes near.

use super::adaptive::PredictionHistory;
use super::coder::BinCoder;
use super::history::{KinematicHistory, Position, SnapshotHistory};
use super::layout::{ACTIVE_CHANGES, ANY_UNTOUCHED, RESTING_CHANGES, TOGGLES};
use super::mixing::adapt;
use super::predictor::Predictor;
use super::residual::magnitude;
use super::resting::{Resting, UNTOUCHED, distance_squared};
use super::session::{CodingObserver, Element, Flag, NonCanonical, Session};
use crate::ledger::BitKind;
use crate::snapshot::QuantizedSnapshot;

/// Memory that is reused from packet to packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    active: Vec<bool>,
    order: Vec<(i64, usize)>,
    resting: Resting,
    untouched: Vec<usize>,
}

/// The cubes of a packet.
pub(crate) struct Cubes<'c> {
    /// The cubes to encode; none when decoding.
    pub(crate) target: Option<&'c QuantizedSnapshot>,
    /// The cubes as the decoder has them: initially the reference's.
    pub(crate) decoded: &'c mut QuantizedSnapshot,
    /// By cube: whether it differs from the reference. Input when encoding, output when decoding.
    pub(crate) changed: &'c mut [bool],
}

/// A cube and the values that its contexts are made of.
pub(super) struct CubeContext {
    pub(super) cube: usize,
    pub(super) history: KinematicHistory,
    pub(super) prediction: PredictionHistory,
    /// Magnitudes of motion.
    pub(super) long: usize,
    pub(super) short: usize,
    pub(super) long_turn: usize,
    pub(super) short_turn: usize,
    /// Class of the height of the lowest corner: 0 to 5.
    pub(super) clearance: usize,
    /// Distance to the player in eighths of a metre, at most 15.
    pub(super) distance: usize,
}

impl Scratch {
    /// Sorts the cubes into active ones, by distance to the player, and resting ones. The player, cube 0, is
    /// in neither.
    fn sort(&mut self, snapshots: &SnapshotHistory<'_>) {
        let positions = &snapshots.reference.positions;
        snapshots.flag_active(&mut self.active);
        self.order.clear();
        self.resting.clear(positions.len());
        for (cube, &position) in positions.iter().enumerate().skip(1) {
            if self.active[cube] {
                let distance = distance_squared(position, positions[0]);
                self.order.push((distance, cube));
            } else {
                self.resting.add(cube, position);
            }
        }
        self.order.sort_unstable();
    }
}

impl<B: BinCoder, O: CodingObserver> Session<'_, B, O> {
    /// Codes every cube.
    pub(crate) fn cubes<P: Predictor>(
        &mut self,
        predictor: &mut P,
        scratch: &mut Scratch,
        mut cubes: Cubes<'_>,
    ) -> Result<(), NonCanonical> {
        if self.snapshots.reference.is_empty() {
            return Ok(());
        }
        scratch.sort(&self.snapshots);
        let Scratch {
            order,
            resting,
            untouched,
            ..
        } = scratch;
        self.cube(0, Some(0), predictor, resting, &mut cubes)?;
        for &(distance, cube) in &*order {
            self.cube(cube, Some(distance), predictor, resting, &mut cubes)?;
        }
        untouched.clear();
        let mut index = 0;
        while let Some(cube) = resting.cube(index) {
            index += 1;
            if resting.nearest(cube) == UNTOUCHED {
                untouched.push(cube);
            } else {
                self.cube(cube, None, predictor, resting, &mut cubes)?;
            }
        }
        let any = Flag {
            kind: BitKind::Selection,
            cube: None,
            group: ANY_UNTOUCHED,
            contexts: [],
            adaptive: 0,
        };
        let changes = untouched.iter().any(|&cube| cubes.changed[cube]);
        if self.flag(any, changes) {
            for &cube in &*untouched {
                self.cube(cube, None, predictor, resting, &mut cubes)?;
            }
            if !untouched.iter().any(|&cube| cubes.changed[cube]) {
                return Err(NonCanonical::Redundant);
            }
        }
        Ok(())
    }

    /// Codes one cube; `active` is the squared distance to the player of an active one.
    fn cube<P: Predictor>(
        &mut self,
        cube: usize,
        active: Option<i64>,
        predictor: &mut P,
        resting: &mut Resting,
        cubes: &mut Cubes<'_>,
    ) -> Result<(), NonCanonical> {
        let changes = std::mem::take(&mut cubes.changed[cube]);
        let nearest = resting.nearest(cube);
        if active.is_none() && !self.resting_changes(cube, nearest, changes) {
            return Ok(());
        }
        let context = self.context(cube, active);
        if active.is_some() && !self.active_changes(&context, changes) {
            return Ok(());
        }
        let position = self.changed_cube(&context, nearest, predictor, cubes)?;
        resting.approach(position, cube == 0);
        cubes.changed[cube] = true;
        Ok(())
    }

    fn context(&self, cube: usize, active: Option<i64>) -> CubeContext {
        let positions = &self.snapshots.reference.positions;
        let distance = active.unwrap_or_else(|| distance_squared(positions[cube], positions[0]));
        let history = self.snapshots.of(cube);
        CubeContext {
            cube,
            prediction: self.state.prediction(cube),
            long: largest(history.long),
            short: largest(history.short),
            long_turn: magnitude(history.long_turn),
            short_turn: magnitude(history.short_turn),
            clearance: clearance_class(history.clearance()),
            distance: ((distance as f32).sqrt() / 64.0).min(15.0) as usize,
            history,
        }
    }

    fn resting_changes(&mut self, cube: usize, nearest: usize, value: bool) -> bool {
        let kind = BitKind::Selection;
        let is_set = usize::from(self.snapshots.reference.interacting[cube]);
        if nearest == UNTOUCHED {
            // There are hundreds of these and hardly any changes: no mixing, to save time.
            let adaptive = &mut self.next.adaptive[RESTING_CHANGES.adaptive(UNTOUCHED)];
            let one = u32::from(*adaptive);
            let value = self.bins.bin(value, one);
            adapt(adaptive, value);
            let cube = Some(cube);
            self.observer.coded(Element { kind, cube }, &[], value, one);
            return value;
        }
        let flag = Flag {
            kind,
            cube: Some(cube),
            group: RESTING_CHANGES,
            contexts: [nearest * 2 + is_set],
            adaptive: nearest,
        };
        self.flag(flag, value)
    }

    fn active_changes(&mut self, context: &CubeContext, value: bool) -> bool {
        let is_set = usize::from(self.snapshots.reference.interacting[context.cube]);
        let flag = Flag {
            kind: BitKind::Selection,
            cube: Some(context.cube),
            group: ACTIVE_CHANGES,
            contexts: [
                context.long * 16 + context.long_turn,
                (context.short * 16 + context.short_turn) * 2 + is_set,
            ],
            adaptive: context.long,
        };
        self.flag(flag, value)
    }

    /// Codes whether *interacting* toggles.
    fn toggles(&mut self, context: &CubeContext, nearest: usize, value: bool) -> bool {
        let is_set = usize::from(self.snapshots.reference.interacting[context.cube]);
        let flag = Flag {
            kind: BitKind::Interacting,
            cube: Some(context.cube),
            group: TOGGLES,
            contexts: [
                (is_set * 16 + nearest) * 16 + context.long,
                is_set * 16 + context.distance,
            ],
            adaptive: is_set,
        };
        self.flag(flag, value)
    }

    /// Codes the fields of a changed cube, and returns its position.
    fn changed_cube<P: Predictor>(
        &mut self,
        context: &CubeContext,
        nearest: usize,
        predictor: &mut P,
        cubes: &mut Cubes<'_>,
    ) -> Result<Position, NonCanonical> {
        let CubeContext { cube, history, .. } = *context;
        let target = cubes.target;
        let interacting = self.snapshots.reference.interacting[cube];
        let toggles = target.is_some_and(|target| target.interacting[cube] != interacting);
        let toggles = self.toggles(context, nearest, toggles);
        cubes.decoded.interacting[cube] = interacting ^ toggles;

        let packed = target.map(|target| target.smallest_three(cube));
        let orientation = self.orientation(context, predictor, packed)?;
        cubes.decoded.set_smallest_three(cube, orientation.value);
        let position = target.map(|target| target.positions[cube]);
        let position = self.position(context, predictor, orientation, position)?;
        cubes.decoded.positions[cube] = position.value;
        if !toggles && orientation.value == history.packed && position.value == history.position {
            return Err(NonCanonical::Redundant);
        }
        self.next.predictions[cube] = PredictionHistory {
            is_known: true,
            position: position.residual as u8,
            orientation: orientation.residual as u8,
            best_orientation: orientation.best as u8,
            best_position: position.best as u8,
        };
        predictor.update(&history, orientation.value, position.value);
        Ok(position.value)
    }
}

/// Magnitude of the largest component.
pub(super) fn largest(vector: Position) -> usize {
    let largest = vector.into_iter().map(i32::unsigned_abs).max();
    magnitude(largest.map_or(0, |largest| largest.min(1 << 20) as i32))
}

fn clearance_class(clearance: i32) -> usize {
    match clearance {
        ..=-12 => 0,
        -11..=5 => 1,
        6..=19 => 2,
        20..=59 => 3,
        60..=150 => 4,
        151.. => 5,
    }
}
