//! Predicts the cubes near a player ahead of a received snapshot, from their velocities and the player's keys. Or predicts the
//! whole scene ahead of a world that both ends simulate.

use std::collections::VecDeque;

use cubewire_codec::{BodyState, Snapshot};
use cubewire_scene::{
    self as scene, Keys, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, REST_SECONDS, TICKS_PER_SECOND,
};
use glam::Vec3;
use rapier3d::prelude::Pose;

use crate::crowd::is_crowded;
use crate::input::Input;
use crate::own::{OwnState, OwnVelocity};
use crate::receiver_world::ReceiverWorld;
use crate::state::{ExactBody, STEPS, WorldState};
use crate::world::World;

/// A received snapshot to predict from.
#[derive(Clone, Copy, Debug)]
pub struct PredictionBase<'a> {
    /// The server's tick.
    pub tick: u64,
    pub snapshot: &'a Snapshot,
    /// An earlier snapshot and its tick. Velocities of other cubes are differences from it.
    pub earlier: (u64, &'a Snapshot),
    pub own: OwnState,
}

/// The cubes near a player, ahead of the received snapshots.
///
/// One world is at the tick of the last snapshot, and another one ahead of it. Both keep contacts and their impulses, so that a
/// correction changes nothing but what it corrects.
pub struct Predictor {
    player: usize,
    /// The world at the last snapshot, and its tick. `None` before the first one, and if cubes overlap so much that simulating them
    /// would take too long.
    confirmed: Option<(u64, World)>,
    ahead: Option<World>,
    tick: u64,
    /// The cubes near the player at the last snapshot.
    near: Vec<usize>,
    /// What the prediction of the whole scene assumes. `None` if a part is predicted.
    whole: Option<Whole>,
    /// The server's tick at the start of the scene, which hovering depends on. 0 until an exact state tells it.
    start: u64,
}

#[derive(Default)]
struct Whole {
    /// Tick of the world that was compared last.
    tick: u64,
    /// The inputs of that tick, which the other players are assumed to keep.
    last: Input,
    /// The assumed inputs of the ticks after it, up to the newest prediction.
    assumed: VecDeque<Input>,
}

/// Largest difference of a predicted pose from the snapshot's that counts as none: a quantization step, metres and radians.
const SAME_METRES: f32 = 1.0 / 512.0;
const SAME_RADIANS: f32 = 0.006;

/// The same for other cubes than the player's.
const NEAR_METRES: f32 = 0.005;
const NEAR_RADIANS: f32 = 0.02;

/// Cubes are simulated if they are at most this far from where the player can be, metres. Then they stay until one that is this
/// near is missing.
const REACH: [f32; 2] = [2.0, 4.0];

/// Maximum number of simulated cubes besides the player's: twice as many as a ball has.
const MAX_OTHERS: usize = 160;

/// Maximum number of simulated cubes, with those that are no longer near.
const MAX_KEPT: usize = 200;

/// Time for which the player keeps its velocity in [`REACH`], seconds.
const AHEAD_SECONDS: f32 = 0.25;

impl Predictor {
    pub const fn new(player: usize) -> Self {
        Self {
            player,
            confirmed: None,
            ahead: None,
            tick: 0,
            near: Vec::new(),
            whole: None,
            start: 0,
        }
    }

    /// The server's tick of the newest prediction.
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Whether the snapshot has what was predicted for a cube.
    fn is_confirmed(&self, base: &PredictionBase<'_>, cube: usize, predicted: &ExactBody) -> bool {
        let received = &base.snapshot.bodies[cube];
        match &base.own {
            OwnState::Exact(body, velocity, _) if cube == self.player => {
                is_exactly(predicted, body, velocity)
            }
            OwnState::Rounded(velocity) if cube == self.player => {
                let near = |a: Vec3, b: Vec3| (a - b).abs().max_element() <= 1.5 / STEPS;
                near(predicted.linear_velocity, velocity.linear)
                    && near(predicted.angular_velocity, velocity.angular)
                    && is_within(predicted, received, SAME_METRES, SAME_RADIANS)
            }
            _ => is_within(predicted, received, NEAR_METRES, NEAR_RADIANS),
        }
    }

    /// Simulates up to the tick of a snapshot, with the keys of the ticks since the last one, and corrects the cubes that are not as
    /// received. Returns whether one was. Then the prediction has to [start again](Self::restart).
    pub fn confirm(
        &mut self,
        base: &PredictionBase<'_>,
        keys: impl ExactSizeIterator<Item = Keys>,
    ) -> bool {
        self.whole = None;
        let near = self.near(base);
        let (before, start) = (self.confirmed.take(), self.start);
        if let OwnState::Exact(.., ticks) = base.own {
            self.start = base.tick.saturating_sub(ticks.into());
        }
        let is_near = |cube: usize| near.iter().any(|&(_, other)| other == cube);
        let missing = |world: &World| {
            let is_missing = |&(_, cube): &(f32, usize)| !world.scene.numbers.contains(&cube);
            near.iter().copied().filter(is_missing).collect::<Vec<_>>()
        };
        let is_missing_near =
            |world: &World| missing(world).first().is_some_and(|&(metres, _)| metres < REACH[0]);
        let before = before.filter(|(tick, world)| {
            let cubes = world.scene.numbers.iter();
            start == self.start
                && tick + keys.len() as u64 == base.tick
                && (!is_missing_near(world) || cubes.len() + missing(world).len() <= MAX_KEPT)
                && !is_crowded(cubes.map(|&cube| base.snapshot.bodies[cube].position))
        });
        let mut is_corrected = before.is_none();
        let world = match before {
            Some((_, mut world)) => {
                keys.for_each(|keys| world.advance(self.input(keys)));
                for index in 0..world.scene.numbers.len() {
                    let cube = world.scene.numbers[index];
                    if !self.is_confirmed(base, cube, &world.body(index)) {
                        world.place(index, &self.received(base, cube));
                        // Others are not shown until they are near again.
                        is_corrected |= cube == self.player || is_near(cube);
                    }
                }
                if is_missing_near(&world) {
                    for (_, cube) in missing(&world) {
                        world.add(cube, &self.received(base, cube));
                    }
                    is_corrected = true;
                }
                Some(world)
            }
            None => self.part(base, near.iter().map(|&(_, cube)| cube)),
        };
        self.confirmed = world.map(|world| (base.tick, world));
        self.near = near.into_iter().map(|(_, cube)| cube).collect();
        is_corrected
    }

    /// Compares the inputs of the newest world that both ends have simulated with the assumed ones. `keys` are the player's that
    /// it does not contain. Returns whether an assumption was wrong. Then the prediction has to [start again](Self::restart).
    pub fn confirm_world(&mut self, simulated: &ReceiverWorld, keys: &[Keys]) -> bool {
        self.confirmed = None;
        let (seat, is_first) = (self.seat(), self.whole.is_none());
        let whole = self.whole.get_or_insert_default();
        let Some((tick, last)) =
            simulated.tick().and_then(|tick| Some((tick, simulated.input(tick)?)))
        else {
            return true;
        };
        let assumed = &mut whole.assumed;
        let since = tick.checked_sub(whole.tick).map_or(usize::MAX, |since| since as usize);
        let is_right = !is_first
            && (since..=since.saturating_add(keys.len())).contains(&assumed.len())
            && (whole.tick + 1..=tick)
                .zip(&*assumed)
                .all(|(tick, input)| simulated.input(tick) == Some(*input))
            && assumed.iter().skip(since).zip(keys).all(|(input, keys)| input.keys[seat] == *keys);
        assumed.drain(..since.min(assumed.len()));
        whole.tick = tick;
        whole.last = Input { keys: last.keys, ..Input::default() };
        !is_right
    }

    /// The cubes near the player's way, and their distances from it, the nearest first.
    fn near(&self, base: &PredictionBase<'_>) -> Vec<(f32, usize)> {
        let all = &base.snapshot.bodies;
        let from = all[self.player].position;
        let to = from + base.own.velocity().linear * AHEAD_SECONDS;
        let others = (0..all.len()).filter(|&cube| cube != self.player);
        let others = others.map(|cube| (distance(all[cube].position, from, to), cube));
        let mut others: Vec<_> = others.filter(|&(metres, _)| metres < REACH[1]).collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        others.truncate(MAX_OTHERS);
        others
    }

    /// A new world of the player's cube and these others.
    fn part(
        &self,
        base: &PredictionBase<'_>,
        others: impl Iterator<Item = usize>,
    ) -> Option<World> {
        let numbers: Vec<_> = [self.player].into_iter().chain(others).collect();
        let positions = numbers.iter().map(|&cube| base.snapshot.bodies[cube].position);
        if is_crowded(positions) {
            return None;
        }
        let bodies = numbers.iter().map(|&cube| self.received(base, cube)).collect();
        Some(World::of_part(
            &numbers,
            &WorldState { ticks: base.tick.saturating_sub(self.start), bodies },
        ))
    }

    /// Starts again from the last snapshot, or from the newest `simulated` world if the whole scene is predicted.
    pub fn restart(&mut self, simulated: Option<&ReceiverWorld>) {
        if let Some(whole) = &mut self.whole {
            whole.assumed.clear();
            let newest = simulated.and_then(ReceiverWorld::newest);
            self.tick = whole.tick;
            self.ahead = newest.map(|(_, world)| world.clone());
            return;
        }
        let confirmed = self.confirmed.as_ref();
        (self.tick, self.ahead) =
            confirmed.map_or((self.tick, None), |(tick, world)| (*tick, Some(world.clone())));
    }

    /// The state of a cube as received, with velocities from the difference to the earlier snapshot.
    fn received(&self, base: &PredictionBase<'_>, cube: usize) -> ExactBody {
        let (then, earlier) = base.earlier;
        let seconds = base.tick.saturating_sub(then).max(1) as f32 / TICKS_PER_SECOND as f32;
        let (now, before) = (&base.snapshot.bodies[cube], &earlier.bodies[cube]);
        let is_own = cube == self.player;
        let moved = now.position != before.position || now.orientation != before.orientation;
        let velocity = match (is_own, moved) {
            (true, _) => base.own.velocity(),
            (false, true) => difference(before, now, seconds),
            (false, false) => OwnVelocity::default(),
        };
        let moves = moved || velocity != OwnVelocity::default();
        let pose = match &base.own {
            OwnState::Exact(body, ..) if is_own => body,
            _ => now,
        };
        ExactBody {
            position: pose.position,
            orientation: pose.orientation,
            linear_velocity: velocity.linear,
            angular_velocity: velocity.angular,
            sleeping: !moves,
            seconds_still: if moves { 0.0 } else { REST_SECONDS },
            interacting: now.interacting,
            rest_ticks: 0,
        }
    }

    /// Predicts the next tick with these keys.
    pub fn advance(&mut self, keys: Keys) {
        self.tick += 1;
        let (mut input, seat) = (self.input(keys), self.seat());
        if let Some(whole) = &mut self.whole {
            input = whole.last;
            input.keys[seat] = keys;
            whole.assumed.push_back(input);
        }
        if let Some(world) = &mut self.ahead {
            world.advance(input);
        }
    }

    /// The keys of other players are not known.
    fn input(&self, keys: Keys) -> Input {
        Input::of(self.seat(), keys)
    }

    fn seat(&self) -> usize {
        scene::seat(self.player).unwrap_or_default()
    }

    /// The simulated cubes after the newest tick, and whether each is shown: the player's, and those that move near it or in the
    /// whole scene.
    pub fn cubes(&self) -> impl Iterator<Item = (usize, BodyState, bool)> {
        self.ahead.iter().flat_map(|world| {
            world.scene.numbers.iter().enumerate().map(|(index, &cube)| {
                let body = world.body(index);
                let is_near = self.whole.is_some() || self.near.contains(&cube);
                (cube, body.cube(), cube == self.player || is_near && !body.sleeping)
            })
        })
    }
}

fn is_within(predicted: &ExactBody, received: &BodyState, metres: f32, radians: f32) -> bool {
    predicted.position.distance(received.position) <= metres
        && predicted.orientation.angle_between(received.orientation) <= radians
}

fn is_exactly(predicted: &ExactBody, body: &BodyState, velocity: &OwnVelocity) -> bool {
    predicted.position == body.position
        && predicted.orientation == body.orientation
        && predicted.linear_velocity == velocity.linear
        && predicted.angular_velocity == velocity.angular
}

/// Distance of a point from the way between two others.
fn distance(point: Vec3, from: Vec3, to: Vec3) -> f32 {
    let way = to - from;
    let along = (point - from).dot(way) / way.length_squared().max(1e-6);
    point.distance(from + way * along.clamp(0.0, 1.0))
}

/// The mean velocities between two states.
fn difference(before: &BodyState, now: &BodyState, seconds: f32) -> OwnVelocity {
    let linear = (now.position - before.position) / seconds;
    let turn = now.orientation * before.orientation.inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let angular = turn.to_scaled_axis() / seconds;
    OwnVelocity {
        linear: linear.clamp_length_max(MAX_LINEAR_SPEED),
        angular: angular.clamp_length_max(MAX_ANGULAR_SPEED),
    }
}

impl World {
    fn body(&self, index: usize) -> ExactBody {
        self.scene.body(&self.sets.bodies, index)
    }

    /// Moves a cube.
    fn place(&mut self, index: usize, state: &ExactBody) {
        let body = &mut self.sets.bodies[self.scene.handles[index]];
        body.set_position(Pose::from_parts(state.position, state.orientation), false);
        body.set_linvel(state.linear_velocity, false);
        body.set_angvel(state.angular_velocity, false);
        match state.sleeping {
            // It falls asleep after the next tick unless it is touched.
            true => body.activation_mut().time_since_can_sleep = REST_SECONDS,
            false => body.wake_up(true),
        }
    }
}
