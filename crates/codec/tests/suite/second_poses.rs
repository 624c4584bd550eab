//! Sections 11 and 12 of `DECISIONS.md`, implemented from the text alone, like `second_decoder`: how the coding session
//! codes the orientation and the position of a cube.
//!
//! Section numbers in comments are those of `DECISIONS.md`.

use crate::second_coder::{NEXT_LARGEST, Residual, SAME_LARGEST, SAME_ORIENTATION, SAME_POSITION};
use crate::second_cubes::quantized_position;
use crate::second_history::{PredictionHistory, difference, largest_mag, mag, signed_mag, sum};
use crate::second_predictor::{
    Predictor, Quaternion, Vector, floats, in_range, minus, pack, plus, times, turn, turned, unpack,
};
use crate::second_session::{REDUNDANT, Session};

impl Session<'_> {
    fn predictor(&self, n: usize) -> Predictor<'_> {
        let history = &self.histories[n];
        let (body, spin) = (&history.body, history.long_spin);
        let is_resting = n > 0 && !history.is_active;
        let simulated = self.simulated_pose(n);
        let which = (n == 0, is_resting);
        Predictor::new(body, spin, self.ticks, &self.carriers, which, simulated)
    }

    /// With variant 1.
    fn residuals_around(&self, n: usize) -> Option<[usize; 2]> {
        (self.bins.variant() == 1).then(|| self.predictor(n).residuals_around())
    }

    /// An orientation (section 11).
    pub(crate) fn orientation(&mut self, n: usize, prediction_history: &mut PredictionHistory) {
        let candidates: [Quaternion; 3] = if self.bins.variant() == 1 {
            self.predictor(n).orientations()
        } else {
            [self.histories[n].body.orientation; 3]
        };
        let history = &self.histories[n];
        let (s, lt, st) = (history.s, history.lt, history.st);
        let (c, a, q) = (history.c, history.a, history.body.orientation);
        let old = self.old_predictions[n];
        let class = 16 * (3 * c + old.best_orientation) + a;
        let errors = 3 * class;
        let (selected, secondary) = self.bins.best_candidates(errors, candidates.len());
        let blend = 4 * (3 * c + selected) + (a >> 2);
        let blended = (self.bins.variant() == 1).then(|| {
            let t = turn(candidates[selected], q);
            let ticks = self.ticks as f32;
            let to = |angles: Vector| times(minus(angles, t), 181.0);
            let differences = [
                to(turn(candidates[secondary], q)),
                to(times(history.body.spin, ticks)),
                to(times(history.long_spin, ticks)),
                to([0.0; 3]),
            ];
            let sum = self.bins.blend(blend, &differences);
            turned(candidates[selected], times(sum, 1.0 / 181.0))
        });
        let is_blended = blended.is_some() && self.bins.is_blended(blend);
        let prediction = match blended {
            Some(blended) if is_blended => blended,
            _ => candidates[selected],
        };
        let k = history.k;
        let contexts = [16 * lt + st, 16 * c + selected];
        if !self.bins.flag(SAME_ORIENTATION, &contexts) {
            let largest = self.largest(prediction, lt);
            let prediction = pack(prediction, largest);
            let secondary = pack(candidates[secondary], largest);
            let reference = pack(q, largest);
            let history_o = if old.is_known { old.orientation + 1 } else { 0 };
            let around = self.residuals_around(n).map_or(s, |[o, _]| o);
            let packed = &mut self.cubes[n].orientation;
            packed[0] = largest as i64;
            for component in 0..3 {
                let missed = prediction_history.orientation;
                let prediction = prediction[component];
                let residual = self.bins.residual(&Residual {
                    group: 0,
                    k,
                    history: history_o,
                    contexts: [
                        16 * history_o + missed,
                        8 * signed_mag(reference[component] - prediction) + k,
                        8 * signed_mag(secondary[component] - prediction) + k,
                        16 * missed + around,
                    ],
                });
                let word = prediction + residual;
                let fits = (0..=511).contains(&word);
                self.bins.require(fits, "a component out of range");
                packed[1 + component] = word.clamp(0, 511);
                prediction_history.orientation = missed.max(mag(residual));
            }
            let differs = *packed != self.reference[n].orientation;
            self.bins.require(differs, REDUNDANT);
        }
        let now = unpack(self.cubes[n].orientation);
        let error = |prediction| {
            let [x, y, z] = turn(now, prediction);
            ((x.abs() + y.abs() + z.abs()) * 181.0) as i64
        };
        let off = candidates.map(error);
        if let Some(blended) = blended {
            let off = [off[selected], error(blended)];
            self.bins.update_errors(2400 + 2 * blend, &off);
        }
        prediction_history.best_orientation = self.bins.update_errors(errors, &off);
    }

    /// *largest*, after the selected prediction (section 11).
    fn largest(&mut self, prediction: Quaternion, lt: usize) -> usize {
        let mut order = [0, 1, 2, 3];
        order.sort_by(|a: &usize, b| prediction[*b].abs().total_cmp(&prediction[*a].abs()));
        let lead = prediction[order[0]].abs() - prediction[order[1]].abs();
        let g = ((40.0 * lead) as usize).min(15);
        if self.bins.flag(SAME_LARGEST, &[16 * g + lt]) {
            order[0]
        } else if self.bins.flag(NEXT_LARGEST, &[g]) {
            order[1]
        } else if self.bins.flag(NEXT_LARGEST, &[16 + g]) {
            order[2]
        } else {
            order[3]
        }
    }

    /// A position (section 12).
    pub(crate) fn position(&mut self, n: usize, prediction_history: &mut PredictionHistory) {
        let p = self.reference[n].position;
        let packed = self.cubes[n].orientation;
        let candidates: Vec<[i64; 3]> = if self.bins.variant() == 1 {
            self.predictor(n).positions(packed).to_vec()
        } else {
            vec![p, sum(p, self.histories[n].long)]
        };
        let history = &self.histories[n];
        let (long, short) = (history.long, history.short);
        let (l, s, c, a) = (history.l, history.s, history.c, history.a);
        let old = self.old_predictions[n];
        let class = 16 * (4 * c + old.best_position) + a;
        let errors = 864 + 4 * class;
        let (selected, secondary) = self.bins.best_candidates(errors, candidates.len());
        let carried = self.bins.variant() == 1 && self.predictor(n).is_carried();
        let blend = 72 + 8 * (4 * c + selected) + 4 * usize::from(carried) + (a >> 2);
        let blended = (self.bins.variant() == 1).then(|| {
            let s = candidates[selected];
            let t = floats(difference(p, s));
            let ticks = self.ticks as f32;
            let mut differences: Vec<Vector> = candidates
                .iter()
                .map(|candidate| floats(difference(*candidate, s)))
                .collect();
            differences.push(plus(t, times(history.body.velocity, ticks)));
            differences.push(plus(t, times(floats(long), ticks / 6.0)));
            differences.push(t);
            in_range(plus(floats(s), self.bins.blend(blend, &differences)))
        });
        let prediction = match blended {
            Some(blended) if self.bins.is_blended(blend) => blended,
            _ => candidates[selected],
        };
        let k = history.k;
        let turns = usize::from(packed != self.reference[n].orientation);
        let missed_o = prediction_history.orientation;
        let contexts = [2 * (16 * s + l) + turns, 2 * (16 * missed_o + s) + turns];
        if !self.bins.flag(SAME_POSITION, &contexts) {
            let jump = largest_mag(difference(short.map(|part| 6 * part), long));
            let history_p = if old.is_known { old.position + 1 } else { 0 };
            let around = self.residuals_around(n).map_or(history_p, |[_, p]| p);
            for axis in [2, 0, 1] {
                let missed = prediction_history.position;
                let prediction = prediction[axis];
                let residual = self.bins.residual(&Residual {
                    group: 1 + axis / 2,
                    k,
                    history: history_p,
                    contexts: [
                        16 * around + missed,
                        8 * signed_mag(p[axis] - prediction) + jump.min(7),
                        8 * signed_mag(candidates[secondary][axis] - prediction) + k,
                        16 * missed + missed_o,
                    ],
                });
                let number = prediction + residual;
                let range = &quantized_position(512)[axis];
                let fits = range.contains(&number);
                self.bins.require(fits, "a position out of range");
                let number = number.clamp(*range.start(), *range.end());
                self.cubes[n].position[axis] = number;
                prediction_history.position = missed.max(mag(residual));
            }
            let differs = self.cubes[n].position != p;
            self.bins.require(differs, REDUNDANT);
        }
        let now = self.cubes[n].position;
        let error = |prediction: &[i64; 3]| {
            difference(now, *prediction)
                .iter()
                .map(|part| part.abs())
                .sum()
        };
        let off: Vec<i64> = candidates.iter().map(error).collect();
        if let Some(blended) = blended {
            let off = [off[selected], error(&blended)];
            self.bins.update_errors(2400 + 2 * blend, &off);
        }
        prediction_history.best_position = self.bins.update_errors(errors, &off);
    }
}
