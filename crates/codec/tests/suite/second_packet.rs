//! Sections 2, 5, 7 and 17 of `DECISIONS.md`, implemented from the text alone, like `second_decoder`: the check, the
//! additional references and the scene of a packet, and the adaptive state before and after it.
//!
//! Section numbers in comments are those of `DECISIONS.md`.

use std::collections::HashMap;

use crate::second_coder::{Bins, Choice, Tables};
use crate::second_cubes::Cube;
use crate::second_history::{AdaptiveState, Older, Past, PredictionHistory};
use crate::second_kept::Kept;
use crate::second_predictor::Carriers;
use crate::second_scene::{Engine, Known, Scene, read_attachment, read_long_check, read_scene};
use crate::second_session::{REDUNDANT, Session};
use crate::second_stages::precision;

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
