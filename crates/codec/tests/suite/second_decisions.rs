//! Sections 2, 5 and 7 to 12 of `DECISIONS.md`, written from the text alone, as is `second_decoder`: the
//! walk over the cubes, and what is kept of it.
//!
//! Section numbers in comments are those of `DECISIONS.md`.

use std::collections::HashMap;

use crate::second_coder::{
    ANY_UNTOUCHED, Choice, Decisions, LARGEST_IS_THE_GUESSES, LARGEST_IS_THE_NEXT, LYING_CHANGES,
    MOVED_CHANGES, Probabilities, Residual, SAME_ORIENTATION, SAME_POSITION, TOGGLES,
};
use crate::second_decoder::{Cube, Kept, QUANTIZED_POSITION, precision};
use crate::second_foresight::{
    Body, CARRIERS, Carriers, Foresight, Quaternion, Vector, floats, over, pack, plus, times, turn,
    unpack,
};

/// What is kept with a snapshot (section 5).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learned {
    probabilities: Probabilities,
    marks: Vec<Mark>,
    before: Option<Earlier>,
}

/// A mark (section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mark {
    seen: bool,
    position: usize,
    orientation: usize,
    best_position: usize,
    best_orientation: usize,
}

impl Mark {
    fn of_seen() -> Self {
        Self {
            seen: true,
            ..Self::default()
        }
    }
}

/// A snapshot that is some ticks older than the reference.
#[derive(Clone, Debug, PartialEq)]
struct Earlier {
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

/// The check (section 2).
pub(crate) fn check_number(sequence: u16, cubes: &[Cube]) -> i64 {
    let mix = |h: u64, v: u64| (h.rotate_left(29) ^ v).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut sums = [1, 2, 3, 4].map(|place| u64::from(sequence) << 3 | place);
    for (n, cube) in cubes.iter().enumerate() {
        let [x, y, z] = cube.position.map(|part| u64::from(part as u32));
        let place = x ^ y << 21 ^ z << 42 ^ u64::from(cube.interacting) << 63;
        let [largest, a, b, c] = cube.orientation.map(|word| word as u64);
        let words = c | b << 16 | a << 32 | largest << 48;
        sums[n % 4] = mix(mix(sums[n % 4], place), words);
    }
    (sums.into_iter().fold(0, mix) >> 50) as i64
}

/// The trace of a cube (section 8).
struct Trace {
    long: [i64; 3],
    short: [i64; 3],
    /// The contexts *L*, *S*, *LT*, *ST*, *C*, *A* and *I*.
    l: usize,
    s: usize,
    lt: usize,
    st: usize,
    c: usize,
    a: usize,
    i: usize,
    /// With half, p, q, velocity and spin.
    body: Body,
    long_spin: Vector,
    is_active: bool,
}

/// What is as before in every cube of a packet (section 8).
struct Past<'a> {
    cubes: &'a [Cube],
    moved: Option<&'a [bool]>,
    before: Option<Earlier>,
    earlier: [Option<Earlier>; 2],
}

impl Past<'_> {
    fn trace(&self, n: usize) -> Trace {
        let cube = &self.cubes[n];
        let (p, words) = (cube.position, cube.orientation);
        let q = unpack(words);
        let before = self.before.as_ref();
        let [first, second] = self.earlier.each_ref().map(Option::as_ref);
        let moved = |since: &Earlier| difference(p, since.cubes[n].position);
        let long = before.map_or([0; 3], |before| {
            moved(before).map(|part| part * 6 / before.ticks)
        });
        let short = first.map_or(long.map(|part| part / 6), |first| {
            moved(first).map(|part| part / first.ticks)
        });
        let change = |since: Option<&Earlier>| {
            since.map_or(0, |since| {
                let then = since.cubes[n].orientation;
                let apart = words.iter().zip(then).map(|(now, then)| (now - then).abs());
                apart.fold(0, i64::max)
            })
        };
        let speed = |since: Option<&Earlier>| {
            since.map_or([0.0; 3], |since| {
                over(floats(moved(since)), since.ticks as f32)
            })
        };
        let spin = |since: Option<&Earlier>| {
            since.map_or([0.0; 3], |since| {
                let then = unpack(since.cubes[n].orientation);
                over(turn(q, then), since.ticks as f32)
            })
        };
        let newer = first.or(before);
        let velocity = plus(speed(newer), speed(second.or(newer)));
        let body = Body {
            half: if n == 0 { 384.0 } else { 102.4 },
            place: floats(p),
            orientation: q,
            velocity: times(velocity, 0.5),
            spin: spin(newer),
        };
        let clearance = body.clearance() as i64;
        let steps = [-12, 5, 19, 59, 150].into_iter();
        let apart = squared_distance(p, self.cubes[0].position) as f32;
        let has_moved = self.moved.is_some_and(|moved| moved[n]);
        Trace {
            long,
            short,
            l: largest_mag(long),
            s: largest_mag(short),
            lt: mag(change(before)),
            st: mag(change(first)),
            c: steps.filter(|most| clearance > *most).count(),
            // 0 for cube 0, too.
            a: (apart.sqrt() / 64.0).min(15.0) as usize,
            i: usize::from(cube.interacting),
            body,
            long_spin: spin(before),
            is_active: has_moved || first.is_some_and(|first| first.cubes[n] != *cube),
        }
    }
}

fn largest_mag(vector: [i64; 3]) -> usize {
    let largest = vector.iter().map(|part| part.abs()).fold(0, i64::max);
    mag(largest.min(1 << 20))
}

/// Section 16.
const REDUNDANT: &str = "fewer decisions could say it";

/// The walk over the cubes (section 9).
struct Walk<'a> {
    decisions: Decisions<'a>,
    ticks: i64,
    reference: &'a [Cube],
    old_marks: Vec<Mark>,
    traces: Vec<Trace>,
    /// The square of the least distance at which a cube was touched.
    touched: Vec<Option<i64>>,
    touching: usize,
    /// Cubes that changed.
    changes: usize,
    carriers: Carriers,
    cubes: Vec<Cube>,
    marks: Vec<Mark>,
}

impl Walk<'_> {
    fn walk(&mut self) {
        self.cube(0);
        let all = 1..self.reference.len();
        let (mut active, others): (Vec<usize>, Vec<usize>) =
            all.partition(|n| self.traces[*n].is_active);
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
        if self.decisions.site(ANY_UNTOUCHED, 0, &[]) {
            let count = self.changes;
            for n in untouched {
                self.cube(n);
            }
            self.decisions.require(self.changes > count, REDUNDANT);
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
        if self.touching == CARRIERS {
            return;
        }
        self.touching += 1;
        let limit = if n == 0 { 1024 } else { 512 };
        for other in 1..self.reference.len() {
            let from = self.reference[other].position;
            let mut squared = squared_distance(from, self.cubes[n].position);
            if self.traces[other].is_active || squared >= limit * limit {
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
        let trace = &self.traces[n];
        let (l, s, lt, st) = (trace.l, trace.s, trace.lt, trace.st);
        let (a, i) = (trace.a, trace.i);
        let is_active = trace.is_active || n == 0;
        let t = if is_active { 15 } else { self.touch_context(n) };
        let changes = if is_active {
            let contexts = [16 * l + lt, 2 * (16 * s + st) + i];
            self.decisions.site(MOVED_CHANGES, l, &contexts)
        } else if t == 15 {
            self.decisions.untouched_changes()
        } else {
            self.decisions.site(LYING_CHANGES, t, &[2 * t + i])
        };
        if !changes {
            return;
        }
        let contexts = [16 * (16 * i + t) + l, 16 * i + a];
        self.cubes[n].interacting ^= self.decisions.site(TOGGLES, i, &contexts);
        let mut mark = Mark::of_seen();
        self.orientation(n, &mut mark);
        self.position(n, &mut mark);
        let differs = self.cubes[n] != self.reference[n];
        self.decisions.require(differs, REDUNDANT);
        self.changes += 1;
        self.marks[n] = mark;
        self.touch(n);
        let place = |cube: &Cube| (cube.position, cube.orientation);
        let (from, to) = (place(&self.reference[n]), place(&self.cubes[n]));
        self.carriers.add(n == 0, from, to);
    }

    fn foresight(&self, n: usize) -> Foresight<'_> {
        let trace = &self.traces[n];
        let (body, spin) = (&trace.body, trace.long_spin);
        Foresight::new(body, spin, self.ticks, &self.carriers, n == 0)
    }

    /// An orientation (section 11).
    fn orientation(&mut self, n: usize, mark: &mut Mark) {
        let guesses: [Quaternion; 2] = if self.decisions.way() == 1 {
            self.foresight(n).orientations()
        } else {
            [self.traces[n].body.orientation; 2]
        };
        let trace = &self.traces[n];
        let (s, lt, st) = (trace.s, trace.lt, trace.st);
        let (c, a, q) = (trace.c, trace.a, trace.body.orientation);
        let old = self.old_marks[n];
        let class = 16 * (2 * c + old.best_orientation) + a;
        let errors = 4 * class;
        let (chosen, other) = self.decisions.best_guesses(errors, guesses.len());
        let contexts = [16 * lt + st, 16 * c + chosen];
        if !self.decisions.site(SAME_ORIENTATION, c, &contexts) {
            let largest = self.largest(guesses[chosen], lt);
            let guess = pack(guesses[chosen], largest);
            let hint = pack(guesses[other], largest);
            let still = pack(q, largest);
            let mark_o = if old.seen { old.orientation + 1 } else { 0 };
            let words = &mut self.cubes[n].orientation;
            words[0] = largest as i64;
            for component in 0..3 {
                let missed = mark.orientation;
                let guess = guess[component];
                let residual = self.decisions.residual(&Residual {
                    component,
                    adaptive: missed,
                    contexts: [
                        16 * mark_o + missed,
                        8 * signed_mag(still[component] - guess) + c,
                        8 * signed_mag(hint[component] - guess) + c,
                        16 * missed + s,
                    ],
                });
                let word = guess + residual;
                let fits = (0..=511).contains(&word);
                self.decisions.require(fits, "a component out of range");
                words[1 + component] = word.clamp(0, 511);
                mark.orientation = missed.max(mag(residual));
            }
            let differs = *words != self.reference[n].orientation;
            self.decisions.require(differs, REDUNDANT);
        }
        let now = unpack(self.cubes[n].orientation);
        let off = guesses.map(|guess| {
            let [x, y, z] = turn(now, guess);
            ((x.abs() + y.abs() + z.abs()) * 181.0) as i64
        });
        mark.best_orientation = self.decisions.learn_errors(errors, &off);
    }

    /// *largest*, after the chosen guess (section 11).
    fn largest(&mut self, guess: Quaternion, lt: usize) -> usize {
        let mut order = [0, 1, 2, 3];
        order.sort_by(|a: &usize, b| guess[*b].abs().total_cmp(&guess[*a].abs()));
        let lead = guess[order[0]].abs() - guess[order[1]].abs();
        let g = ((40.0 * lead) as usize).min(15);
        if self
            .decisions
            .site(LARGEST_IS_THE_GUESSES, g, &[16 * g + lt])
        {
            order[0]
        } else if self.decisions.site(LARGEST_IS_THE_NEXT, 0, &[g]) {
            order[1]
        } else if self.decisions.site(LARGEST_IS_THE_NEXT, 1, &[16 + g]) {
            order[2]
        } else {
            order[3]
        }
    }

    /// A position (section 12).
    fn position(&mut self, n: usize, mark: &mut Mark) {
        let p = self.reference[n].position;
        let words = self.cubes[n].orientation;
        let guesses: Vec<[i64; 3]> = if self.decisions.way() == 1 {
            self.foresight(n).positions(words).to_vec()
        } else {
            vec![p, sum(p, self.traces[n].long)]
        };
        let trace = &self.traces[n];
        let (long, short) = (trace.long, trace.short);
        let (l, s, c, a) = (trace.l, trace.s, trace.c, trace.a);
        let old = self.old_marks[n];
        let class = 16 * (4 * c + old.best_position) + a;
        let errors = 4 * (512 + class);
        let (chosen, other) = self.decisions.best_guesses(errors, guesses.len());
        let turns = usize::from(words != self.reference[n].orientation);
        let missed_o = mark.orientation;
        let contexts = [2 * (16 * s + l) + turns, 2 * (16 * missed_o + s) + turns];
        if !self.decisions.site(SAME_POSITION, c, &contexts) {
            let jump = largest_mag(difference(short.map(|part| 6 * part), long));
            let mark_p = if old.seen { old.position + 1 } else { 0 };
            for axis in [2, 0, 1] {
                let missed = mark.position;
                let guess = guesses[chosen][axis];
                let residual = self.decisions.residual(&Residual {
                    component: 3 + axis,
                    adaptive: missed,
                    contexts: [
                        16 * mark_p + missed,
                        8 * signed_mag(p[axis] - guess) + jump.min(7),
                        8 * signed_mag(guesses[other][axis] - guess) + c,
                        16 * missed + missed_o,
                    ],
                });
                let number = guess + residual;
                let range = &QUANTIZED_POSITION[axis];
                let fits = range.contains(&number);
                self.decisions.require(fits, "a position out of range");
                let number = number.clamp(*range.start(), *range.end());
                self.cubes[n].position[axis] = number;
                mark.position = missed.max(mag(residual));
            }
            let differs = self.cubes[n].position != p;
            self.decisions.require(differs, REDUNDANT);
        }
        let now = self.cubes[n].position;
        let off: Vec<i64> = guesses
            .iter()
            .map(|guess| difference(now, *guess).iter().map(|part| part.abs()).sum())
            .collect();
        mark.best_position = self.decisions.learn_errors(errors, &off);
    }
}

/// A packet up to its decisions. `cubes` are the reference's.
pub(crate) struct Packet<'a> {
    pub(crate) way: usize,
    pub(crate) sequence: u16,
    pub(crate) cubes: &'a [Cube],
    pub(crate) baseline: Option<&'a Kept>,
    pub(crate) held: &'a HashMap<u16, Kept>,
}

impl<'a> Packet<'a> {
    /// Reads the decisions: the cubes, and what they teach.
    pub(crate) fn read(&self, bytes: &'a [u8]) -> Result<(Vec<Cube>, Learned), String> {
        let walk = self.walk(|learned| Decisions::read(bytes, learned));
        let learned = Learned {
            probabilities: walk.decisions.end()?,
            marks: walk.marks,
            before: self
                .ticks()
                .filter(|ticks| *ticks > 0)
                .map(|ticks| Earlier {
                    cubes: self.cubes.to_vec(),
                    ticks: ticks.min(64),
                }),
        };
        Ok((walk.cubes, learned))
    }

    /// Takes the decisions by choice: their bytes and the cubes, whether or not they are refused.
    pub(crate) fn choose(&self, choice: Choice<'a>) -> (Vec<u8>, Vec<Cube>) {
        let walk = self.walk(|learned| Decisions::choose(choice, learned));
        (walk.decisions.written(), walk.cubes)
    }

    fn walk(&self, decisions: impl FnOnce(Probabilities) -> Decisions<'a>) -> Walk<'a> {
        // Section 5.
        let known = self.baseline.and_then(|kept| kept.learned.as_ref());
        let known = known.filter(|known| known.probabilities.way == self.way);
        let unmarked = vec![Mark::default(); self.cubes.len()];
        let (probabilities, old_marks, before) = match known.cloned() {
            Some(known) => (known.probabilities, known.marks, known.before),
            None => (Probabilities::of_prior(self.way), unmarked.clone(), None),
        };
        let mut decisions = decisions(probabilities);
        let earlier = match self.baseline {
            Some(baseline) if self.way == 1 => self.earlier(&mut decisions, baseline),
            _ => [None, None],
        };
        let cubes = self.cubes;
        let past = Past {
            cubes,
            moved: self.baseline.map(|kept| &kept.moved[..]),
            before,
            earlier,
        };
        let mut walk = Walk {
            decisions,
            ticks: self.ticks().map_or(6, |ticks| ticks.clamp(1, 64)),
            reference: cubes,
            old_marks,
            traces: (0..cubes.len()).map(|n| past.trace(n)).collect(),
            touched: vec![None; cubes.len()],
            touching: 0,
            changes: 0,
            carriers: Carriers::new(cubes.first().map_or([0; 3], |cube| cube.position)),
            cubes: cubes.to_vec(),
            marks: unmarked,
        };
        if !cubes.is_empty() {
            walk.walk();
        }
        walk
    }

    /// The ticks since the baseline.
    fn ticks(&self) -> Option<i64> {
        let since = |kept: &Kept| i64::from(self.sequence.wrapping_sub(kept.sequence));
        self.baseline.map(since)
    }

    /// The earlier baselines (section 7).
    fn earlier(&self, decisions: &mut Decisions, baseline: &Kept) -> [Option<Earlier>; 2] {
        let older = if decisions.fixed(61440) {
            [1, 2]
        } else if decisions.even() == 1 {
            [0, 0]
        } else {
            let older = [(); 2].map(|()| (0..4).fold(0, |number, _| 2 * number + decisions.even()));
            decisions.require(older != [1, 2] && older != [0, 0], REDUNDANT);
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
            decisions.require(is_there, "an earlier baseline is not held, or does not fit");
            let cubes = kept?.cubes.clone();
            Some(Earlier { cubes, ticks })
        })
    }
}
