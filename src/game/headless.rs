//! The game without a window, on a manual clock. Each update steps one tick.

use bevy::app::Plugins;
use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use cubewire_codec::ladder;

use super::{GameError, GamePlugin};
use crate::recording::{Script, ScriptPlayback};
use crate::replication::{
    LaneCheck, LaneMeter, LaneSettings, LiveLadder, Seat, lane_ladder, spawn_lane,
};
use crate::simulation::{CubeWorld, state_hash};
use crate::view::{Selected, Side};

/// A game without lanes.
pub struct HeadlessGame {
    pub app: App,
}

/// Plays a script with one lane per rung, otherwise with the settings of `lane`, and returns CSV.
///
/// Each row has a tick, the hash of all states up to it, and the payload bytes of each lane. The last two rows have,
/// per lane, the number of received snapshots that were compared with the sent ones, and how many differed. The result
/// is the same on every platform.
pub fn tick_by_tick(script: Script, ticks: u64, lane: &LaneSettings) -> Result<String, GameError> {
    let mut game = HeadlessGame::new(Some(script));
    let mut text = "tick,states".to_owned();
    let mut lanes = Vec::new();
    for rung in ladder::all() {
        let mut settings = lane.clone();
        settings.sender.stages = rung.stages;
        let lane = game.spawn_lane(settings)?;
        let mut entity = game.app.world_mut().entity_mut(lane);
        entity.insert(LaneCheck::default());
        lanes.push(lane);
        text.push(',');
        text.push_str(rung.name);
    }
    let mut hash = 0;
    for tick in 1..=ticks {
        game.step();
        let world = game.app.world();
        hash = state_hash(hash, game.cubes().current());
        text.push_str(&format!("\n{tick},{hash:016x}"));
        for &lane in &lanes {
            let sample = world.get::<LaneMeter>(lane).and_then(|meter| meter.samples().back());
            let sent = sample.into_iter().flat_map(|sample| &sample.snapshots);
            let bytes: usize = sent.map(|packet| packet.payload_bytes).sum();
            text.push_str(&format!(",{bytes}"));
        }
    }
    let checks = lanes.iter().filter_map(|&lane| game.app.world().get::<LaneCheck>(lane));
    let (compared, wrong): (Vec<_>, Vec<_>) =
        checks.map(|check| (check.compared, check.wrong)).unzip();
    for (name, counts) in [("compared", compared), ("wrong", wrong)] {
        text.push_str(&format!("\n{name},"));
        for count in counts {
            text.push_str(&format!(",{count}"));
        }
    }
    text.push('\n');
    Ok(text)
}

/// Finishes the app for manual updates. Systems run on one thread, because most are shorter than the handover to
/// another thread.
pub(super) fn finish(app: &mut App) {
    app.finish();
    app.cleanup();
    run_in_this_thread(app.world_mut());
}

pub(super) fn run_in_this_thread(world: &mut World) {
    for (_, schedule) in world.resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}

/// A game with one lane that compares its decoded snapshots with the sent ones.
#[derive(Deref, DerefMut)]
pub struct LaneGame {
    #[deref]
    game: HeadlessGame,
    pub lane: Entity,
}

impl HeadlessGame {
    /// Sets up the game at tick 0. `script` plays in a loop.
    pub fn new(script: Option<Script>) -> Self {
        Self::with_plugins(script, ())
    }

    pub fn with_plugins<M>(script: Option<Script>, plugins: impl Plugins<M>) -> Self {
        let players = script.as_ref().map_or(1, Script::players);
        Self::with_players(players, script, plugins)
    }

    /// Sets up the game with at least as many players as the script has.
    pub fn with_players<M>(
        players: usize,
        script: Option<Script>,
        plugins: impl Plugins<M>,
    ) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, GamePlugin))
            .add_plugins(plugins)
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
        if let Some(script) = script {
            app.insert_resource(ScriptPlayback::new(script));
        }
        app.insert_resource(CubeWorld::with_players(players));
        finish(&mut app);
        // The first update only starts the clock.
        app.update();
        Self { app }
    }

    pub fn spawn_lane(&mut self, settings: LaneSettings) -> Result<Entity, GameError> {
        Ok(spawn_lane(self.app.world_mut(), settings)?)
    }

    pub fn step(&mut self) {
        self.app.update();
    }

    pub fn cubes(&self) -> &CubeWorld {
        self.app.world().resource::<CubeWorld>()
    }
}

impl LaneGame {
    /// Sets up the game at tick 0 with a lane. `script` plays in a loop.
    pub fn new(script: Option<Script>, settings: LaneSettings) -> Result<Self, GameError> {
        Self::with_plugins(script, settings, ())
    }

    pub fn with_plugins<M>(
        script: Option<Script>,
        settings: LaneSettings,
        plugins: impl Plugins<M>,
    ) -> Result<Self, GameError> {
        Self::join(HeadlessGame::with_plugins(script, plugins), settings)
    }

    /// Adds a lane to a running game, like a viewer that joins late.
    pub fn join(mut game: HeadlessGame, settings: LaneSettings) -> Result<Self, GameError> {
        let lane = game.spawn_lane(settings)?;
        let mut entity = game.app.world_mut().entity_mut(lane);
        entity.insert((LaneCheck::default(), Side::Right, Selected, Seat(0)));
        Ok(Self { game, lane })
    }

    /// Adds a live ladder to the lane, which measures every rung, as in the window.
    pub fn add_shadow(&mut self) {
        let ladder = lane_ladder(CubeWorld::with_players(self.cubes().players()).current());
        let lane = self.lane;
        self.app.world_mut().entity_mut(lane).insert(ladder);
    }

    /// Finishes the live ladder up to the newest tick and returns it. `None` if the lane has no live ladder.
    ///
    /// # Errors
    /// If a snapshot could not be encoded.
    pub fn shadow(&mut self) -> Result<Option<Mut<'_, LiveLadder>>, GameError> {
        let lane = self.lane;
        let mut shadow = self.app.world_mut().get_mut::<LiveLadder>(lane);
        if let Some(shadow) = &mut shadow {
            shadow.finish()?;
        }
        Ok(shadow)
    }

    pub fn meter(&self) -> &LaneMeter {
        let meter = self.app.world().get::<LaneMeter>(self.lane);
        meter.expect("the lane has a meter")
    }

    /// Restarts the [totals](crate::replication::Record::totals) of the lane at the next tick.
    pub fn mark(&mut self) {
        let lane = self.lane;
        let meter = self.app.world_mut().get_mut::<LaneMeter>(lane);
        meter.expect("the lane has a meter").mark();
    }

    pub fn check(&self) -> LaneCheck {
        let check = self.app.world().get::<LaneCheck>(self.lane);
        *check.expect("the lane has a check")
    }
}
