//! Sections 9 and 10 of `DECISIONS.md`, implemented from the text alone, like `second_decoder`: the coding session over
//! the cubes, and what it codes of one cube.
//!
//! Section numbers in comments are those of `DECISIONS.md`.

use crate::second_coder::{
    ACTIVE_CHANGES, AFTER_CLEAR, AFTER_SET, ANY_UNTOUCHED, Bins, RESTING_CHANGES, TOGGLES,
    UNTOUCHED_CHANGES,
};
use crate::second_cubes::Cube;
use crate::second_history::{History, PredictionHistory, squared_distance};
use crate::second_predictor::{Carriers, MAX_CARRIERS, Pose};

fn pose(cube: &Cube) -> Pose {
    (cube.position, cube.orientation)
}

/// Section 16.
pub(crate) const REDUNDANT: &str = "there is a shorter form";

/// The coding session (section 9).
pub(crate) struct Session<'a> {
    pub(crate) bins: Bins<'a>,
    pub(crate) ticks: i64,
    pub(crate) reference: &'a [Cube],
    /// What was simulated (section 17).
    pub(crate) simulated: Option<Vec<Cube>>,
    pub(crate) old_predictions: Vec<PredictionHistory>,
    pub(crate) histories: Vec<History>,
    /// The square of the least distance at which a cube was touched.
    pub(crate) touched: Vec<Option<i64>>,
    pub(crate) touching: usize,
    /// Cubes that changed.
    pub(crate) changes: usize,
    pub(crate) carriers: Carriers,
    pub(crate) cubes: Vec<Cube>,
    pub(crate) predictions: Vec<PredictionHistory>,
}

impl Session<'_> {
    pub(crate) fn code(&mut self) {
        self.cube(0);
        let all = 1..self.reference.len();
        let (mut active, others): (Vec<usize>, Vec<usize>) =
            all.partition(|n| self.histories[*n].is_active);
        let first = self.reference[0].position;
        active.sort_by_key(|n| squared_distance(self.reference[*n].position, first));
        for n in active {
            self.cube(n);
        }
        let mut untouched = Vec::new();
        for n in others {
            if self.touched[n].is_some() {
                self.cube(n);
            } else {
                untouched.push(n);
            }
        }
        if self.bins.unmixed(ANY_UNTOUCHED) {
            let count = self.changes;
            self.groups(&untouched);
            self.bins.require(self.changes > count, REDUNDANT);
        }
    }

    /// The groups of step 4 (section 9).
    fn groups(&mut self, untouched: &[usize]) {
        let mut group = Vec::new();
        let mut flag = AFTER_CLEAR;
        for (place, n) in untouched.iter().enumerate() {
            if self.touched[*n].is_some() {
                self.cube(*n);
            } else {
                group.push(*n);
            }
            let is_last = place + 1 == untouched.len();
            if group.len() == 16 || (is_last && !group.is_empty()) {
                let any = self.bins.unmixed(flag);
                let count = self.changes;
                for n in group.drain(..).filter(|_| any) {
                    self.cube(n);
                }
                self.bins.require(self.changes > count || !any, REDUNDANT);
                flag = if any { AFTER_SET } else { AFTER_CLEAR };
            }
        }
    }

    /// *T* (section 9).
    fn touch_context(&self, n: usize) -> usize {
        self.touched[n].map_or(15, |squared| {
            ((squared as f32).sqrt() / 24.0).min(14.0) as usize
        })
    }

    /// A cube that has changed touches others (section 9).
    fn touch(&mut self, n: usize) {
        if self.touching == MAX_CARRIERS {
            return;
        }
        self.touching += 1;
        let limit = if n == 0 { 1024 } else { 512 };
        for other in 1..self.reference.len() {
            let from = self.reference[other].position;
            let mut squared = squared_distance(from, self.cubes[n].position);
            if self.histories[other].is_active || squared >= limit * limit {
                continue;
            }
            if n == 0 {
                let distance = ((squared as f32).sqrt() as i64 - 280).max(0);
                squared = distance * distance;
            }
            let least = self.touched[other].map_or(squared, |least| least.min(squared));
            self.touched[other] = Some(least);
        }
    }

    /// One cube (section 10).
    fn cube(&mut self, n: usize) {
        let history = &self.histories[n];
        let (l, s, lt, st) = (history.l, history.s, history.lt, history.st);
        let (a, i) = (history.a, history.i);
        let is_active = history.is_active || n == 0;
        let t = if is_active { 15 } else { self.touch_context(n) };
        let changes = if is_active {
            let contexts = [16 * l + lt, 2 * (16 * s + st) + i];
            self.bins.flag(ACTIVE_CHANGES, &contexts)
        } else if t == 15 {
            self.bins.unmixed(UNTOUCHED_CHANGES)
        } else {
            self.bins.flag(RESTING_CHANGES, &[2 * t + i])
        };
        if !changes {
            return;
        }
        let contexts = [16 * (16 * i + t) + l, 16 * i + a];
        let unchanged = std::mem::replace(&mut self.cubes[n], self.reference[n].clone());
        self.cubes[n].interacting ^= self.bins.flag(TOGGLES, &contexts);
        let mut prediction_history = PredictionHistory::known();
        self.orientation(n, &mut prediction_history);
        self.position(n, &mut prediction_history);
        self.bins.require(self.cubes[n] != unchanged, REDUNDANT);
        self.changes += 1;
        let residuals = [prediction_history.orientation, prediction_history.position];
        self.predictions[n] = prediction_history;
        self.touch(n);
        let from = self.simulated_pose(n);
        let from = from.unwrap_or_else(|| pose(&self.reference[n]));
        self.carriers
            .add(n == 0, from, pose(&self.cubes[n]), residuals);
    }

    pub(crate) fn simulated_pose(&self, n: usize) -> Option<Pose> {
        self.simulated.as_ref().map(|cubes| pose(&cubes[n]))
    }
}
