//! `cubewire soak`: a long run with viewers that join, leave and change their settings, over networks that
//! change as well.

use std::io::Write;

use bevy::prelude::*;
use clap::Args;
use cubewire_codec::{DecodeError, Stages};
use cubewire_link::PRESETS;
use cubewire_protocol::{BaselineChoice, Interpolation};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::CommandError;
use super::args::{PlayArgs, number_within, whole_number};
use crate::game::GameError;
use crate::game::desktop::stop;
use crate::game::headless::HeadlessGame;
use crate::replication::{
    ChangeLane, LaneCheck, LaneMeter, LaneSettings, LinkSettings, PlayoutDelay, PlayoutSettings,
    SEND_INTERVALS, SenderSettings,
};
use crate::simulation::CubeWorld;

/// `cubewire soak`
#[derive(Clone, Debug, Args)]
pub struct SoakArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Number of the first tick; sequence numbers wrap around every 65536 ticks
    #[arg(long, value_name = "TICK", default_value_t = 65_000, value_parser = first_tick, allow_hyphen_values = true)]
    pub first_tick: u64,
    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = whole_number, allow_hyphen_values = true)]
    pub seed: u64,
}

/// Results of a soak test.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Soak {
    /// First tick, and last.
    pub first_tick: u64,
    /// See `first_tick`.
    pub last_tick: u64,
    /// Times that the sequence number wrapped.
    pub wraps: u64,
    /// Viewers that joined, and that left before the end.
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
    /// Packets that a decoder rejected, and the reason for the last one.
    pub refused: u64,
    /// See `refused`.
    pub last_refusal: Option<String>,
}

/// A soak test, tick by tick.
#[derive(Debug)]
pub struct SoakTest {
    game: HeadlessGame,
    random: ChaCha8Rng,
    every: Vec<Stages>,
    /// Viewers, and the tick at which each changes its settings.
    viewers: Vec<(Entity, u64)>,
    soak: Soak,
    last_refusal: Option<DecodeError>,
}

/// Viewers at the same time, at most.
const VIEWERS: usize = 4;

/// Ticks between two changes of a viewer's settings, at most: five seconds.
const MAX_TICKS: u64 = 300;

impl SoakTest {
    /// Starts from a game without lanes, whose ticks count from `first_tick`.
    #[must_use]
    pub fn new(mut game: HeadlessGame, first_tick: u64, seed: u64) -> Self {
        let mut cubes = game.app.world_mut().resource_mut::<CubeWorld>();
        cubes.count_from(first_tick);
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
    pub fn step(&mut self) -> Result<(), GameError> {
        let tick = self.game.cubes().tick();
        if self.viewers.len() < VIEWERS
            && (self.viewers.is_empty() || self.random.random_bool(0.01))
        {
            let settings = self.settings();
            let lane = self.game.spawn_lane(settings)?;
            let mut entity = self.game.app.world_mut().entity_mut(lane);
            entity.insert(LaneCheck::default());
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
                let entity = lane;
                self.game
                    .app
                    .world_mut()
                    .trigger(ChangeLane { entity, settings });
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
            self.soak.sent += sample.map_or(0, |sample| sample.snapshots.len() as u64);
        }
        Ok(())
    }

    /// The results so far.
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
        self.random.random_range(1..=MAX_TICKS)
    }

    fn settings(&mut self) -> LaneSettings {
        let random = &mut self.random;
        let stages = pick(random, &self.every);
        let baseline = pick(random, &[BaselineChoice::Newest, BaselineChoice::Smallest]);
        let send_interval_ticks = pick(random, &SEND_INTERVALS);
        let seed = random.random();
        let preset = &PRESETS[random.random_range(0..PRESETS.len())];
        LaneSettings {
            sender: SenderSettings {
                stages,
                baseline,
                send_interval_ticks,
            },
            link: LinkSettings {
                conditions: preset.conditions.clone(),
                seed,
            },
            playout: PlayoutSettings {
                interpolation: pick(random, &Interpolation::ALL),
                delay: pick(random, &[PlayoutDelay::Rule, PlayoutDelay::Adaptive]),
            },
        }
    }
}

fn pick<T: Copy>(random: &mut ChaCha8Rng, from: &[T]) -> T {
    *from.choose(random).expect("there is at least one choice")
}

/// No game lasts as long: it would take millions of years to get there.
fn first_tick(text: &str) -> Result<u64, String> {
    number_within(text, 0..=1 << 56)
}

impl SoakArgs {
    /// Plays, compares and prints.
    ///
    /// # Errors
    /// See [`CommandError`]; also if a snapshot was refused, or decoded to something other than what was
    /// sent.
    pub fn run(&self, out: &mut impl Write) -> Result<(), CommandError> {
        let script = self.play.script()?;
        let (ticks, _) = self.play.ticks(script.as_ref())?;
        let mut test = SoakTest::new(HeadlessGame::new(script), self.first_tick, self.seed);
        stop::play(ticks, |_| test.step())?;
        let soak = test.finish();
        let json = serde_json::to_string_pretty(&soak).expect("a soak is plain data");
        writeln!(out, "{json}")?;
        CommandError::check_faultless(soak.wrong, soak.refused)
    }
}
