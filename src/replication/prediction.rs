//! The player's cube and the cubes near it, predicted ahead of the snapshots: the keys act at once.
//!
//! A snapshot that differs from what was predicted for its tick restarts the prediction: it is simulated again from the
//! snapshot, with the keys that the snapshot does not contain. The correction acts at once in the prediction, and fades in
//! the picture.

use std::any::Any;
use std::collections::BTreeMap;

use bevy::diagnostic::FrameCount;
use bevy::prelude::*;
use cubewire_bevy::{Clocks, ConnectionClock};
use cubewire_codec::{BodyState, Snapshot};
use cubewire_physics::{OwnState, PredictionBase, Predictor, ReceiverWorld};
use cubewire_protocol::{ClientConnection, InputReport, SnapshotReceiver};
use cubewire_scene::{Keys, PLAYER};

use super::Replica;
use super::displayed::between;
use super::inputs::keys_of;
use super::meter::LaneMeter;
use super::settings::{PlayAt, PlayoutSettings, Predict};
use crate::clock;
use crate::simulation::OwnPlayer;

/// Ticks in which a cube passes from interpolation to prediction, or back.
const BLEND_TICKS: f32 = 12.0;

/// Part of an error in the picture that is left after a tick: half of it after six.
const FADING: f32 = 0.890_899;

const NO_ERROR: (Vec3, Quat) = (Vec3::ZERO, Quat::IDENTITY);

/// Larger errors are not faded but jump, metres.
const MAX_FADED_M: f32 = 2.0;

/// Limit of the ticks that are predicted ahead: a second.
const MAX_AHEAD: usize = 60;

/// The prediction of a lane.
#[derive(Component)]
pub struct Prediction {
    /// Index of the player's cube.
    player: usize,
    predictor: Predictor,
    /// Tick of the last snapshot, and the number of the last key that it contains.
    base: Option<(u64, u64)>,
    /// Frame of the last restart: there is at most one in a frame.
    restarted: Option<u32>,
    shown: BTreeMap<usize, Shown>,
    snapshots: [Snapshot; 2],
}

/// A cube in the picture.
#[derive(Clone, Copy, Debug)]
struct Shown {
    before: BodyState,
    now: BodyState,
    /// What is left of the last corrections.
    error: (Vec3, Quat),
    /// Part of the prediction in the picture, 0 to 1. The rest is the replica without it.
    weight: f32,
}

impl Default for Prediction {
    fn default() -> Self {
        Self::of(PLAYER)
    }
}

impl Prediction {
    fn of(player: usize) -> Self {
        Self {
            player,
            predictor: Predictor::new(player),
            base: None,
            restarted: None,
            shown: BTreeMap::new(),
            snapshots: Default::default(),
        }
    }
}

type PredictedLane<'a> =
    (&'a PlayoutSettings, &'a Replica, &'a ConnectionClock, &'a mut Prediction, &'a mut LaneMeter);

/// Predicts the newest tick, after the keys of this tick were pushed.
pub(super) fn predict(
    clocks: Clocks,
    frame: Option<Res<FrameCount>>,
    own: Res<OwnPlayer>,
    mut lanes: Query<PredictedLane<'_>>,
) {
    let frame = frame.map(|frame| frame.0);
    for (settings, replica, clock, mut prediction, mut meter) in &mut lanes {
        let started = clock::now();
        if prediction.player != own.cube() {
            *prediction = Prediction::of(own.cube());
        }
        let is_ahead = settings.predict != Predict::None
            && settings.play_at == PlayAt::Client
            && prediction.update(&replica.0, settings.predict, frame, &mut meter).is_some();
        if !is_ahead {
            prediction.base = None;
            if prediction.shown.is_empty() {
                continue;
            }
        }
        prediction.show(is_ahead);
        let sample = meter.current();
        sample.predicting = started.elapsed();
        if is_ahead {
            sample.input_age = replica.0.newest_input_age(clocks.now(clock));
        }
    }
}

impl Prediction {
    /// Predicts the tick in which the server uses the newest key. `None` if the client does not play.
    fn update(
        &mut self,
        client: &ClientConnection,
        predict: Predict,
        frame: Option<u32>,
        meter: &mut LaneMeter,
    ) -> Option<()> {
        let newest = client.receiver()?.newest()?;
        let report = client.input_report(newest).filter(|report| report.tick == newest);
        let before = self.base;
        if let Some(report) = report.filter(|_| before.is_none_or(|(base, _)| base != newest))
            && (frame.is_none() || self.restarted != frame)
        {
            let simulated = simulated(client, newest).filter(|_| predict == Predict::World);
            let keys = keys_after(client, report.used)?;
            let is_corrected = match simulated {
                Some(simulated) => self.predictor.confirm_world(simulated, &keys),
                None => self.confirm(client, report)?,
            };
            self.base = Some((newest, report.used));
            let lead = |(tick, used): (u64, u64)| tick.wrapping_sub(used);
            if is_corrected || before.map(lead) != self.base.map(lead) {
                self.restarted = frame;
                let sample = meter.current();
                sample.corrected_ticks = keys.len() as u32;
                sample.correction_m = self.restart(simulated, &keys).filter(|_| before.is_some());
            }
        }
        let (tick, used) = self.base?;
        let keys = keys_after(client, used)?;
        let target = tick + keys.len() as u64;
        while self.predictor.tick() < target {
            let ahead = (target - self.predictor.tick()) as usize;
            self.predictor.advance(keys[keys.len().checked_sub(ahead)?]);
        }
        Some(())
    }

    /// Compares what was predicted with the snapshot of a report. Returns whether a cube was corrected, or `None` if the snapshot
    /// cannot be used.
    fn confirm(&mut self, client: &ClientConnection, report: &InputReport) -> Option<bool> {
        let own = OwnState::from_bytes(&report.own)?;
        let then = self.read(client.receiver()?, report.tick)?;
        let [now, earlier] = &self.snapshots;
        let earlier = (then, earlier);
        let base = PredictionBase { tick: report.tick, snapshot: now, earlier, own };
        // The keys that the server has used since the last snapshot, if it used one in each tick.
        let since = self.base.map_or(0, |(_, used)| report.used.saturating_sub(used));
        let since = usize::try_from(since).ok().filter(|&since| since <= MAX_AHEAD);
        let since = since.unwrap_or(0);
        let known = client.tick_inputs_after(report.used - since as u64);
        let known: Vec<_> = known.take(since).map(keys_of).collect();
        Some(self.predictor.confirm(&base, known.into_iter()))
    }

    /// Starts again from the last snapshot with these keys. Adds the differences to the errors in the picture. Returns that of the
    /// player's cube in metres, unless the prediction does not reach the tick that was predicted before.
    fn restart(&mut self, simulated: Option<&ReceiverWorld>, keys: &[Keys]) -> Option<f32> {
        let cubes = self.predictor.cubes().map(|(cube, state, _)| (cube, state));
        let (until, before) = (self.predictor.tick(), cubes.collect::<BTreeMap<_, _>>());
        self.predictor.restart(simulated);
        let mut own = None;
        let target = self.predictor.tick() + keys.len() as u64;
        // If more or fewer ticks are predicted than before, the picture goes on from where it is.
        let is_level = (until..=until + 1).contains(&target);
        let compared = if is_level { until } else { target };
        for &keys in keys {
            self.predictor.advance(keys);
            if self.predictor.tick() == compared {
                own = self.add_errors(is_level.then_some(&before));
            }
        }
        own
    }

    /// Adds the differences of the predicted cubes from what was predicted `before` to their errors, or replaces the errors by the
    /// differences from the picture. Returns the difference of the player's cube from `before` in metres.
    fn add_errors(&mut self, before: Option<&BTreeMap<usize, BodyState>>) -> Option<f32> {
        let mut own = None;
        for (cube, now, _) in self.predictor.cubes() {
            let Some(shown) = self.shown.get_mut(&cube) else { continue };
            let old = before.map_or(Some(&shown.now), |before| before.get(&cube));
            let Some(old) = old else { continue };
            let off = old.position - now.position;
            let turn = old.orientation * now.orientation.inverse();
            if before.is_some() && cube == self.player {
                own = Some(off.length());
            }
            let rest = if before.is_some() { shown.error } else { NO_ERROR };
            shown.error = match (rest.0 + off).length() > MAX_FADED_M {
                true => NO_ERROR,
                false => (rest.0 + off, (rest.1 * turn).normalize()),
            };
        }
        own
    }

    /// Reads the snapshot of a tick, and an earlier one. Returns the tick of that one.
    fn read(&mut self, receiver: &SnapshotReceiver, tick: u64) -> Option<u64> {
        let now = receiver.get(tick)?.snapshot();
        let mut earlier = EARLIER_TICKS.iter().filter_map(|ago| {
            let then = tick.checked_sub(*ago)?;
            Some((then, receiver.get(then)?.snapshot()))
        });
        let (then, earlier) =
            earlier.find(|(_, earlier)| earlier.len() == now.len() && self.player < now.len())?;
        now.dequantize(&mut self.snapshots[0]);
        earlier.dequantize(&mut self.snapshots[1]);
        Some(then)
    }

    /// Updates the picture by a tick.
    fn show(&mut self, is_ahead: bool) {
        for shown in self.shown.values_mut() {
            shown.before = shown.now;
            let (off, turn) = shown.error;
            shown.error = (off * FADING, Quat::IDENTITY.slerp(turn, FADING));
            shown.weight -= 1.0 / BLEND_TICKS;
        }
        let cubes = self.predictor.cubes().filter(|&(_, _, moves)| is_ahead && moves);
        for (cube, state, _) in cubes {
            let shown = self.shown.entry(cube).or_insert(Shown {
                before: state,
                now: state,
                error: NO_ERROR,
                weight: 0.0,
            });
            let (off, turn) = shown.error;
            shown.now = BodyState {
                position: state.position + off,
                orientation: turn * state.orientation,
                ..state
            };
            shown.weight = (shown.weight + 2.0 / BLEND_TICKS).min(1.0);
        }
        self.shown.retain(|_, shown| shown.weight > 0.0);
    }

    /// Returns a cube in the picture. `replica` is the cube without prediction, `fraction` the part of a tick since the last one.
    pub(crate) fn shown(&self, cube: usize, replica: BodyState, fraction: f32) -> BodyState {
        let Some(shown) = self.shown.get(&cube) else { return replica };
        let predicted = between(&shown.before, &shown.now, fraction);
        BodyState {
            position: replica.position.lerp(predicted.position, shown.weight),
            orientation: replica.orientation.slerp(predicted.orientation, shown.weight),
            ..replica
        }
    }

    /// Whether a cube is predicted in the picture.
    pub(crate) fn shows(&self, cube: usize) -> bool {
        self.shown.contains_key(&cube)
    }

    /// Number of predicted cubes in the picture.
    pub fn cubes(&self) -> usize {
        self.shown.len()
    }
}

/// The world that the client has simulated up to its newest snapshot. `None` if that was not simulated.
fn simulated(client: &ClientConnection, newest: u64) -> Option<&ReceiverWorld> {
    let engine: &dyn Any = client.receiver()?.engine();
    let world = engine.downcast_ref::<ReceiverWorld>()?;
    (world.tick() == Some(newest)).then_some(world)
}

/// The keys after this number. `None` if they are too many to predict.
fn keys_after(client: &ClientConnection, number: u64) -> Option<Vec<Keys>> {
    let keys: Vec<_> = client.tick_inputs_after(number).map(keys_of).collect();
    (keys.len() <= MAX_AHEAD).then_some(keys)
}

/// Distances of the snapshots whose difference gives the velocities of other cubes, ticks, the best first. Rounding is a larger
/// part of the difference over one tick, and the velocities are older over several.
const EARLIER_TICKS: [u64; 8] = [2, 3, 1, 4, 5, 6, 9, 12];
