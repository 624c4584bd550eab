//! A long play to viewers who come, go and change their minds, over networks that change as well.

use std::io::Write;

use bevy::prelude::*;
use cubewire_codec::{DecodeError, Stages};
use cubewire_link::PRESETS;
use cubewire_protocol::{BaselineChoice, Interpolation};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::{HeadlessGame, progress};
use crate::cli::{CommandError, SoakArgs};
use crate::replication::{
    LaneCheck, LaneMeter, LaneSettings, PlayoutChoice, SEND_INTERVALS, spawn_lane,
};
use crate::simulation::World as CubeWorld;

/// What a soak has come to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Soak {
    /// First tick, and last.
    pub first_tick: u64,
    /// See `first_tick`.
    pub last_tick: u64,
    /// Times that the sequence number began again at 0.
    pub wraps: u64,
    /// Viewers that came, and that left before the end.
    pub joined: u64,
    /// See `joined`.
    pub left: u64,
    /// Times that a viewer's stages, or anything else of its settings, changed.
    pub switches: u64,
    /// Snapshots that were sent, and decoded.
    pub sent: u64,
    /// See `sent`.
    pub decoded: u64,
    /// Decoded snapshots that were compared, cube by cube, with what was sent.
    pub compared: u64,
    /// Of these, how many differed.
    pub wrong: u64,
    /// Packets that a decoder refused, and why, the last time.
    pub refused: u64,
    /// See `refused`.
    pub last_refusal: Option<String>,
}

/// A soak that goes on tick by tick.
#[derive(Debug)]
pub struct Soaking {
    game: HeadlessGame,
    random: ChaCha8Rng,
    every: Vec<Stages>,
    /// Viewers, and the tick at which each changes its mind.
    viewers: Vec<(Entity, u64)>,
    soak: Soak,
    last_refusal: Option<DecodeError>,
}

/// Viewers at the same time, at most.
const VIEWERS: usize = 4;

/// Ticks that a viewer's settings stay as they are, at most: five seconds.
const LONGEST_TICKS: u64 = 300;

impl Soaking {
    /// Sets out from a game whose ticks count on from `first_tick`.
    #[must_use]
    pub fn new(mut game: HeadlessGame, first_tick: u64, seed: u64) -> Self {
        let world = game.app.world_mut();
        world.despawn(game.lane);
        world.resource_mut::<CubeWorld>().count_from(first_tick);
        Self {
            game,
            random: ChaCha8Rng::seed_from_u64(seed),
            every: Stages::every_legal(&[2, 9, 15]).collect(),
            viewers: Vec::new(),
            soak: Soak {
                first_tick,
                last_tick: first_tick,
                ..Soak::default()
            },
            last_refusal: None,
        }
    }

    /// Plays one tick.
    ///
    /// # Errors
    /// If a viewer cannot be admitted.
    pub fn step(&mut self) -> Result<(), CommandError> {
        let tick = self.game.cubes().tick();
        if self.viewers.len() < VIEWERS
            && (self.viewers.is_empty() || self.random.random_bool(0.01))
        {
            let settings = self.settings();
            let world = self.game.app.world_mut();
            let lane = spawn_lane(world, settings)
                .map_err(|error| CommandError::Game(error.to_string()))?;
            world.entity_mut(lane).insert(LaneCheck::default());
            let change_at = tick + self.pause();
            self.viewers.push((lane, change_at));
            self.soak.joined += 1;
        }
        for place in (0..self.viewers.len()).rev() {
            let (lane, change_at) = self.viewers[place];
            if tick < change_at {
                continue;
            }
            if self.random.random_bool(0.1) {
                self.viewers.swap_remove(place);
                self.count(lane);
                self.game.app.world_mut().despawn(lane);
                self.soak.left += 1;
            } else {
                let settings = self.settings();
                self.game.app.world_mut().entity_mut(lane).insert(settings);
                let change_at = tick + self.pause();
                self.viewers[place].1 = change_at;
                self.soak.switches += 1;
            }
        }
        self.game.step();
        let world = self.game.app.world();
        for (lane, _) in &self.viewers {
            let sample = world
                .get::<LaneMeter>(*lane)
                .and_then(|m| m.samples().back());
            self.soak.sent += sample.map_or(0, |sample| sample.snapshots as u64);
        }
        Ok(())
    }

    /// What it has come to.
    #[must_use]
    pub fn finish(mut self) -> Soak {
        for (lane, _) in std::mem::take(&mut self.viewers) {
            self.count(lane);
        }
        let last_tick = self.game.cubes().tick();
        Soak {
            last_tick,
            wraps: (last_tick >> 16) - (self.soak.first_tick >> 16),
            last_refusal: self.last_refusal.map(|refusal| refusal.to_string()),
            ..self.soak
        }
    }

    fn count(&mut self, lane: Entity) {
        let world = self.game.app.world();
        if let Some(meter) = world.get::<LaneMeter>(lane) {
            self.soak.decoded += meter.received;
            self.soak.refused += meter.refused;
            self.last_refusal = meter.last_refusal.or(self.last_refusal);
        }
        if let Some(check) = world.get::<LaneCheck>(lane) {
            self.soak.compared += check.compared;
            self.soak.wrong += check.wrong;
        }
    }

    fn pause(&mut self) -> u64 {
        self.random.random_range(1..=LONGEST_TICKS)
    }

    fn settings(&mut self) -> LaneSettings {
        let random = &mut self.random;
        LaneSettings {
            stages: pick(random, &self.every),
            baseline: pick(random, &[BaselineChoice::Newest, BaselineChoice::Smallest]),
            send_interval_ticks: pick(random, &SEND_INTERVALS),
            link_seed: random.random(),
            link: PRESETS[random.random_range(0..PRESETS.len())]
                .conditions
                .clone(),
            interpolation: pick(random, &Interpolation::ALL),
            playout: pick(random, &[PlayoutChoice::Rule, PlayoutChoice::Adaptive]),
        }
    }
}

fn pick<T: Copy>(random: &mut ChaCha8Rng, from: &[T]) -> T {
    *from
        .choose(random)
        .expect("there is something to choose from")
}

/// `cubewire soak`
///
/// # Errors
/// See [`CommandError`]; also if a snapshot was refused, or decoded to something else than what was
/// sent.
pub fn run(args: &SoakArgs, out: &mut impl Write) -> Result<(), CommandError> {
    let script = args.play.script()?;
    let (ticks, _) = args.play.ticks(script.as_ref())?;
    let game = HeadlessGame::new(script, LaneSettings::default())?;
    let mut soaking = Soaking::new(game, args.first_tick, args.seed);
    let progress = progress(ticks, "ticks");
    for _ in 0..ticks {
        soaking.step()?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    let soak = soaking.finish();
    let json = serde_json::to_string_pretty(&soak).expect("a soak is plain data");
    writeln!(out, "{json}")?;
    super::faultless(soak.wrong, soak.refused)
}
