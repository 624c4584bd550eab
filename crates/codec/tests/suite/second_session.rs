//! Sections 2, 5, 7 to 12 and 17 of `DECISIONS.md`, implemented from the text alone, like `second_decoder`: the
//! coding session over the cubes, and the adaptive state after it.
//!
//! Section numbers in comments are those of `DECISIONS.md`.

use std::collections::HashMap;

use crate::second_coder::{
    ACTIVE_CHANGES, AFTER_CLEAR, AFTER_SET, ANY_UNTOUCHED, Bins, Choice, NEXT_LARGEST,
    RESTING_CHANGES, Residual, SAME_LARGEST, SAME_ORIENTATION, SAME_POSITION, TOGGLES, Tables,
    UNTOUCHED_CHANGES,
};
use crate::second_cubes::{Cube, quantized_position};
use crate::second_kept::Kept;
use crate::second_predictor::{
    Body, Carriers, MAX_CARRIERS, Pose, Predictor, Quaternion, Vector, floats, in_range, minus,
    over, pack, plus, times, turn, turned, unpack,
};
use crate::second_scene::{Engine, Known, Scene, read_attachment, read_long_check, read_scene};
use crate::second_stages::precision;

/// The adaptive state that is kept with a snapshot (section 5).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdaptiveState {
    tables: Tables,
    predictions: Vec<PredictionHistory>,
    previous: Option<Older>,
}

/// A prediction history (section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PredictionHistory {
    is_known: bool,
    position: usize,
    orientation: usize,
    best_position: usize,
    best_orientation: usize,
}

impl PredictionHistory {
    fn known() -> Self {
        Self {
            is_known: true,
            ..Self::default()
        }
    }
}

/// A snapshot that is some ticks older than the reference.
#[derive(Clone, Debug, PartialEq)]
struct Older {
    cubes: Vec<Cube>,
    ticks: i64,
}

// Section 1.

/// *mag(n)*.
fn mag(n: i64) -> usize {
    let steps = [1, 2, 3, 4, 6, 8, 12, 18, 27, 41, 65, 101, 171, 401];
    steps.iter().filter(|step| **step <= n.abs()).count()
}

/// *signed mag(n)*.
fn signed_mag(n: i64) -> usize {
    mag(n) + if n < 0 { 15 } else { 0 }
}

fn difference(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn sum(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn squared_distance(a: [i64; 3], b: [i64; 3]) -> i64 {
    difference(a, b).iter().map(|part| part * part).sum()
}

fn mix(h: u64, v: u64) -> u64 {
    (h.rotate_left(29) ^ v).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn fold(h: u64) -> u64 {
    mix(0, h ^ h >> 32)
}

/// The check (section 2).
pub(crate) fn check_number(sequence: u16, cubes: &[Cube]) -> i64 {
    (fold(mix(sequence.into(), sum_of_hashes(cubes))) >> 50) as i64
}

fn sum_of_hashes(cubes: &[Cube]) -> u64 {
    let hashes = cubes.iter().enumerate().map(|(n, cube)| {
        let [x, y, z] = cube.position.map(|part| u64::from(part as u32));
        let place = x ^ y << 21 ^ z << 42 ^ u64::from(cube.interacting) << 63;
        let [largest, a, b, c] = cube.orientation.map(|word| word as u64);
        let packed = c | b << 16 | a << 32 | largest << 48;
        fold(fold(mix(mix(n as u64, place), packed)))
    });
    hashes.fold(0, u64::wrapping_add)
}

/// The kinematic history of a cube (section 8).
struct History {
    long: [i64; 3],
    short: [i64; 3],
    /// The contexts *L*, *S*, *LT*, *ST*, *C*, *A*, *K* and *I*.
    l: usize,
    s: usize,
    lt: usize,
    st: usize,
    c: usize,
    a: usize,
    k: usize,
    i: usize,
    /// With half, p, q, velocity and spin.
    body: Body,
    long_spin: Vector,
    is_active: bool,
}

/// The snapshots that a packet is relative to (section 8).
struct Past<'a> {
    cubes: &'a [Cube],
    moved: Option<&'a [bool]>,
    previous: Option<Older>,
    additional: [Option<Older>; 2],
    simulated: Option<&'a [Cube]>,
}

impl Past<'_> {
    fn history(&self, n: usize) -> History {
        let cube = &self.cubes[n];
        let (p, packed) = (cube.position, cube.orientation);
        let q = unpack(packed);
        let previous = self.previous.as_ref();
        let [first, second] = self.additional.each_ref().map(Option::as_ref);
        let moved = |since: &Older| difference(p, since.cubes[n].position);
        let long = previous.map_or([0; 3], |previous| {
            moved(previous).map(|part| part * 6 / previous.ticks)
        });
        let short = first.map_or(long.map(|part| part / 6), |first| {
            moved(first).map(|part| part / first.ticks)
        });
        let change = |since: Option<&Older>| {
            since.map_or(0, |since| {
                let then = since.cubes[n].orientation;
                let distance = packed
                    .iter()
                    .zip(then)
                    .map(|(now, then)| (now - then).abs());
                distance.fold(0, i64::max)
            })
        };
        let speed = |since: Option<&Older>| {
            since.map_or([0.0; 3], |since| {
                over(floats(moved(since)), since.ticks as f32)
            })
        };
        let spin = |since: Option<&Older>| {
            since.map_or([0.0; 3], |since| {
                let then = unpack(since.cubes[n].orientation);
                over(turn(q, then), since.ticks as f32)
            })
        };
        let newer = first.or(previous);
        let has_moved = self.moved.is_some_and(|moved| moved[n]);
        let is_active = has_moved
            || first.is_some_and(|first| first.cubes[n] != *cube)
            || self.simulated.is_some_and(|cubes| cubes[n] != *cube);
        let unless_resting = |motion: Vector| match n == 0 || is_active {
            true => motion,
            false => [0.0; 3],
        };
        let velocity = plus(speed(newer), speed(second.or(newer)));
        let body = Body {
            half: if n == 0 { 384.0 } else { 102.4 },
            position: floats(p),
            orientation: q,
            velocity: unless_resting(times(velocity, 0.5)),
            spin: unless_resting(spin(newer)),
        };
        let clearance = body.clearance() as i64;
        let steps = [-12, 5, 19, 59, 150].into_iter();
        let distance = squared_distance(p, self.cubes[0].position) as f32;
        let c = steps.filter(|most| clearance > *most).count();
        // 0 for cube 0, too.
        let a = (distance.sqrt() / 64.0).min(15.0) as usize;
        History {
            long,
            short,
            l: largest_mag(long),
            s: largest_mag(short),
            lt: mag(change(previous)),
            st: mag(change(first)),
            c,
            a,
            k: if c <= 4 { c } else { 5 + (a >> 2).min(2) },
            i: usize::from(cube.interacting),
            body,
            long_spin: unless_resting(spin(previous)),
            is_active,
        }
    }
}

fn largest_mag(vector: [i64; 3]) -> usize {
    let largest = vector.iter().map(|part| part.abs()).fold(0, i64::max);
    mag(largest.min(1 << 20))
}

fn pose(cube: &Cube) -> Pose {
    (cube.position, cube.orientation)
}

/// Section 16.
const REDUNDANT: &str = "there is a shorter form";

/// The coding session (section 9).
struct Session<'a> {
    bins: Bins<'a>,
    ticks: i64,
    reference: &'a [Cube],
    /// What was simulated (section 17).
    simulated: Option<Vec<Cube>>,
    old_predictions: Vec<PredictionHistory>,
    histories: Vec<History>,
    /// The square of the least distance at which a cube was touched.
    touched: Vec<Option<i64>>,
    touching: usize,
    /// Cubes that changed.
    changes: usize,
    carriers: Carriers,
    cubes: Vec<Cube>,
    predictions: Vec<PredictionHistory>,
}

impl Session<'_> {
    fn code(&mut self) {
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

    fn simulated_pose(&self, n: usize) -> Option<Pose> {
        self.simulated.as_ref().map(|cubes| pose(&cubes[n]))
    }

    /// An orientation (section 11).
    fn orientation(&mut self, n: usize, prediction_history: &mut PredictionHistory) {
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
    fn position(&mut self, n: usize, prediction_history: &mut PredictionHistory) {
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

/// A packet up to its bins. `cubes` are the reference's.
pub(crate) struct Packet<'a> {
    pub(crate) variant: usize,
    pub(crate) sequence: u16,
    pub(crate) cubes: &'a [Cube],
    pub(crate) baseline: Option<&'a Kept>,
    pub(crate) held: &'a HashMap<u16, Kept>,
    /// If the scene is simulated.
    pub(crate) engine: Option<Engine<'a>>,
}

/// What the bins of a packet say.
pub(crate) struct Read {
    pub(crate) cubes: Vec<Cube>,
    pub(crate) state: AdaptiveState,
    pub(crate) scene: Option<Scene>,
    pub(crate) attachment: Vec<u8>,
}

impl<'a> Packet<'a> {
    /// Reads the bins: the cubes, and what they teach.
    pub(crate) fn read(&self, bytes: &'a [u8]) -> Result<Read, String> {
        let (session, scene, attachment) = self.session(|state| Bins::decode(bytes, state));
        let state = AdaptiveState {
            tables: session.bins.end()?,
            predictions: session.predictions,
            previous: self.ticks().filter(|ticks| *ticks > 0).map(|ticks| Older {
                cubes: self.cubes.to_vec(),
                ticks: ticks.min(64),
            }),
        };
        Ok(Read {
            cubes: session.cubes,
            state,
            scene,
            attachment,
        })
    }

    /// Takes the bins by choice: their bytes and the cubes, whether or not they are refused.
    pub(crate) fn choose(&self, choice: Choice<'a>) -> (Vec<u8>, Vec<Cube>) {
        let (session, ..) = self.session(|state| Bins::choose(choice, state));
        (session.bins.encoded(), session.cubes)
    }

    fn session(
        &self,
        bins: impl FnOnce(Tables) -> Bins<'a>,
    ) -> (Session<'a>, Option<Scene>, Vec<u8>) {
        // Section 5.
        let known = self.baseline.and_then(|kept| kept.state.as_ref());
        let known = known.filter(|known| known.tables.variant == self.variant);
        let unknown = vec![PredictionHistory::default(); self.cubes.len()];
        let (tables, old_predictions, previous) = match known.cloned() {
            Some(known) => (known.tables, known.predictions, known.previous),
            None => (Tables::initial(self.variant), unknown.clone(), None),
        };
        let mut bins = bins(tables);
        // Section 17.
        let (mut scene, mut attachment) = (None, Vec::new());
        let (mut simulated, mut is_right) = (None, false);
        if let Some(engine) = self.engine {
            scene = read_scene(&mut bins, &self.known_scene());
            attachment = read_attachment(&mut bins);
            if let Some(scene) = &scene {
                simulated = engine(scene);
                bins.require(simulated.is_some(), "there is no such world");
                is_right = scene.is_exact() || bins.bypass() == 1;
            }
        }
        let additional = match self.baseline {
            Some(baseline) if self.variant == 1 && !is_right => {
                self.additional(&mut bins, baseline)
            }
            _ => [None, None],
        };
        let cubes = self.cubes;
        let past = Past {
            cubes,
            moved: self.baseline.map(|kept| &kept.moved[..]),
            previous,
            additional,
            simulated: simulated.as_deref(),
        };
        let mut session = Session {
            bins,
            ticks: self.ticks().map_or(6, |ticks| ticks.clamp(1, 64)),
            reference: cubes,
            old_predictions,
            histories: (0..cubes.len()).map(|n| past.history(n)).collect(),
            touched: vec![None; cubes.len()],
            touching: 0,
            changes: 0,
            carriers: Carriers::new(
                simulated
                    .as_deref()
                    .unwrap_or(cubes)
                    .first()
                    .map_or([0; 3], |cube| cube.position),
            ),
            cubes: simulated.clone().unwrap_or_else(|| cubes.to_vec()),
            predictions: unknown,
            simulated,
        };
        if !is_right {
            if !cubes.is_empty() {
                session.code();
            }
            let some = scene.is_none() || session.changes > 0;
            session.bins.require(some, REDUNDANT);
        }
        if scene.is_some() && self.sequence.is_multiple_of(60) {
            let expected = fold(sum_of_hashes(&session.cubes)) as u32;
            read_long_check(&mut session.bins, expected);
        }
        (session, scene, attachment)
    }

    fn known_scene(&self) -> Known {
        let scene = self.baseline.and_then(|kept| kept.scene.as_ref());
        let last = scene.and_then(|scene| scene.inputs.last());
        Known {
            ticks: self.ticks(),
            input: last.copied().unwrap_or(0),
        }
    }

    /// The ticks since the baseline.
    fn ticks(&self) -> Option<i64> {
        let since = |kept: &Kept| i64::from(self.sequence.wrapping_sub(kept.sequence));
        self.baseline.map(since)
    }

    /// The additional baselines (section 7).
    fn additional(&self, bins: &mut Bins, baseline: &Kept) -> [Option<Older>; 2] {
        let older = if bins.fixed(61440) {
            [1, 2]
        } else if bins.bypass() == 1 {
            [0, 0]
        } else {
            let older = [(); 2].map(|()| (0..4).fold(0, |number, _| 2 * number + bins.bypass()));
            bins.require(older != [1, 2] && older != [0, 0], REDUNDANT);
            older
        };
        older.map(|ticks| {
            let name = baseline.sequence.wrapping_sub(ticks as u16);
            let fits = |kept: &&Kept| {
                precision(kept.stages) == precision(baseline.stages)
                    && kept.cubes.len() == baseline.cubes.len()
            };
            let kept = self.held.get(&name).filter(fits).filter(|_| ticks > 0);
            let is_there = ticks == 0 || kept.is_some();
            bins.require(
                is_there,
                "an additional reference is not held, or does not fit",
            );
            let cubes = kept?.cubes.clone();
            Some(Older { cubes, ticks })
        })
    }
}
