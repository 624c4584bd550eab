//! The last minute, tick by tick, for views and films of the past.
//!
//! | data | stored in | recorded |
//! | --- | --- | --- |
//! | sizes, kinds of bits, arrival of packets | [`LaneMeter`] | always |
//! | packet bytes, bits by cube and field | [`PacketDetail`](crate::replication::PacketDetail) | while it is [wanted](Wanted), in the window always |
//! | cubes of the simulation | [`WorldHistory`] | as above |
//! | displayed cubes and settings of each lane | [`LaneHistory`] | as above |
//!
//! With two lanes this takes at most 130 MiB: three times 36 MiB of [`States`](struct@States), and twice 11 MiB of
//! details. If a minute needs more, the oldest ticks are dropped.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use cubewire_codec::BodyState;

use crate::controls::Action;
use crate::replication::{
    CubeError, CubeErrors, Detailed, DisplayedState, Lane, LaneMeter, LaneSettings,
    LaneSettingsQuery, LaneSettingsQueryItem, METER_TICKS, Record, RemoteViewer,
    ReplicationSystems, SendStates, States, between,
};
use crate::simulation::CubeWorld;

#[derive(Debug)]
pub struct HistoryPlugin;

impl Plugin for HistoryPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Wanted>()
            .init_resource::<WorldHistory>()
            .init_resource::<Moment>()
            .init_resource::<Selection>()
            .add_observer(on_action)
            .add_systems(
                PreUpdate,
                (prepare, play_on.run_if(resource_exists::<CubeWorld>), stay_in_reach)
                    .chain()
                    .in_set(HistorySystems)
                    .run_if(not(resource_exists::<FilmedTick>)),
            )
            .add_systems(
                FixedUpdate,
                record
                    .after(ReplicationSystems::Observe)
                    .before(ReplicationSystems::Shadow)
                    .run_if(not(resource_exists::<FilmedTick>)),
            );
    }
}

/// Starts or ends the recording, in [`PreUpdate`]. Systems that update [`Wanted`] run before it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HistorySystems;

/// Users of the history. It is recorded while at least one is set.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The panel, which can show the past at any time.
    pub panel: bool,
    /// Colours that show the cost of each cube.
    pub colors: bool,
}

impl Wanted {
    pub const fn is_any(self) -> bool {
        self.panel || self.colors
    }
}

#[derive(Resource, Clone, Debug, Default)]
pub struct WorldHistory(pub States);

/// Displayed cubes and settings of a lane. The ticks are those in its [`LaneMeter`].
#[derive(Component, Clone, Debug, Default)]
#[require(Detailed, DisplayedState, CubeErrors, SendStates)]
pub struct LaneHistory {
    pub displayed: States,
    /// Due tick per displayed tick, oldest first: see [`DisplayedState::due_tick`].
    due_ticks: VecDeque<(u64, Option<f64>)>,
    /// Changes of the settings, oldest first, each with its first tick.
    settings: VecDeque<(u64, LaneSettings)>,
}

impl LaneHistory {
    /// Simulation tick that was due for display at `tick`. `None` if it is not known.
    pub fn due_tick(&self, tick: u64) -> Option<f64> {
        let (first, _) = self.due_ticks.front()?;
        let index = usize::try_from(tick.checked_sub(*first)?).ok()?;
        self.due_ticks.get(index)?.1
    }

    /// Settings of the lane at a tick. `None` if the tick is not recorded.
    pub fn settings_at(&self, tick: u64) -> Option<&LaneSettings> {
        let mut changes = self.settings.iter().rev();
        let (_, settings) = changes.find(|(from, _)| *from <= tick)?;
        Some(settings)
    }

    /// Drops the displayed cubes of all ticks before this one, in whole groups.
    pub(crate) fn forget_before(&mut self, tick: u64) {
        self.displayed.forget_before(tick);
        self.due_ticks.retain(|(due, _)| *due >= tick);
        self.forget_settings();
    }

    fn forget_settings(&mut self) {
        let first = self.displayed.first_tick().unwrap_or(u64::MAX);
        while self.settings.get(1).is_some_and(|(from, _)| *from <= first) {
            self.settings.pop_front();
        }
    }

    /// Range of ticks with both recorded cubes and samples in `record`.
    pub fn ticks(&self, record: &Record) -> Option<RangeInclusive<u64>> {
        let first = self.displayed.first_tick()?;
        let oldest = record.samples().front()?.tick;
        Some(first.max(oldest)..=self.displayed.last_tick()?)
    }

    /// Errors of the cubes displayed at a tick. Empty if the tick is not recorded.
    pub fn errors_at(&self, tick: u64, world: &WorldHistory) -> Vec<CubeError> {
        let mut shown = Vec::new();
        match self.simulated_at(tick, world) {
            Some(simulated) if self.displayed.read(tick, &mut shown) => {
                let cubes = shown.iter().zip(&simulated);
                cubes.map(|(shown, cube)| CubeError::new(shown, cube)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Simulated cubes at the tick that was due for display at `tick`. `None` if it is not recorded.
    pub fn simulated_at(&self, tick: u64, world: &WorldHistory) -> Option<Vec<BodyState>> {
        let due = self.due_tick(tick)?.clamp(0.0, tick as f64);
        let before = due.floor() as u64;
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let is_there =
            world.0.read(before, &mut from) && world.0.read((before + 1).min(tick), &mut to);
        let fraction = due.fract() as f32;
        let cubes = from.iter().zip(&to);
        is_there.then(|| cubes.map(|(from, to)| between(from, to, fraction)).collect())
    }

    fn record_settings(&mut self, tick: u64, settings: &LaneSettingsQueryItem<'_, '_>) {
        let settings = settings.get();
        if self.settings.back().is_none_or(|(_, last)| *last != settings) {
            self.settings.push_back((tick, settings));
        }
        self.forget_settings();
    }

    fn record(&mut self, tick: u64, displayed: &DisplayedState) {
        self.displayed.record(tick, &displayed.cubes);
        let last = self.due_ticks.back().map(|(last, _)| last + 1);
        if last.is_some_and(|next| next != tick) {
            self.due_ticks.clear();
        }
        if self.due_ticks.len() == 2 * METER_TICKS {
            self.due_ticks.pop_front();
        }
        self.due_ticks.push_back((tick, displayed.due_tick));
    }
}

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub cube: Option<usize>,
    /// Index of the cube under the pointer, in a view or in the panel's bits.
    pub hovered: Option<usize>,
    pub follows: bool,
}

/// Past tick that is shown. `None` while the present is shown.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment(pub Option<u64>);

/// Tick of the history that an app without a game films. Cubes and their errors are drawn as they were at this tick.
/// Everything else is drawn as in the present, which a [`Moment`] would change.
#[derive(Resource, Clone, Copy, Debug)]
pub struct FilmedTick(pub u64);

/// The simulation's history, and the tick of it that the cubes show.
#[derive(SystemParam, Debug)]
pub struct ShownPast<'w> {
    pub world: Res<'w, WorldHistory>,
    moment: Res<'w, Moment>,
    filmed: Option<Res<'w, FilmedTick>>,
}

impl ShownPast<'_> {
    pub fn tick(&self) -> Option<u64> {
        self.moment.0.or_else(|| self.filmed.as_ref().map(|filmed| filmed.0))
    }
}

/// Returns to the present on a step or a reset, and on a pause if the clock belongs to a server.
fn on_action(action: On<Action>, cubes: Option<Res<CubeWorld>>, mut moment: ResMut<Moment>) {
    let returns = match *action {
        Action::Step | Action::Reset => true,
        Action::Pause => cubes.is_none(),
        _ => false,
    };
    if returns {
        moment.set_if_neq(Moment(None));
    }
}

fn play_on(clock: Res<Time<Virtual>>, mut moment: ResMut<Moment>) {
    if !clock.is_paused() {
        moment.set_if_neq(Moment(None));
    }
}

/// Moves the shown tick forward if it is no longer recorded. A server's clock does not stop for this viewer.
fn stay_in_reach(lanes: Query<(&LaneHistory, &LaneMeter)>, mut moment: ResMut<Moment>) {
    let ticks = lanes.iter().filter_map(|(lane, meter)| lane.ticks(meter));
    let first = ticks.map(|ticks| *ticks.start()).min();
    if let (Some(tick), Some(first)) = (moment.0, first)
        && tick < first
    {
        *moment = Moment(Some(first));
    }
}

fn prepare(
    wanted: Res<Wanted>,
    mut commands: Commands,
    mut world: ResMut<WorldHistory>,
    mut moment: ResMut<Moment>,
    lanes: Query<(Entity, Has<LaneHistory>, Has<RemoteViewer>), With<Lane>>,
) {
    let is_wanted = wanted.is_any();
    for (lane, has_history, is_of_viewer) in &lanes {
        // A server can have many viewers, so their lanes are not recorded.
        let is_recorded = is_wanted && !is_of_viewer;
        if is_recorded && !has_history {
            commands.entity(lane).try_insert(LaneHistory::default());
        } else if !is_recorded && has_history {
            commands.entity(lane).try_remove::<(LaneHistory, Detailed, CubeErrors, SendStates)>();
        }
    }
    if !is_wanted && world.0.memory_bytes() > 0 {
        *world = WorldHistory::default();
        *moment = Moment(None);
    }
}

fn record(
    wanted: Res<Wanted>,
    cubes: Option<Res<CubeWorld>>,
    mut world: ResMut<WorldHistory>,
    mut lanes: Query<(&LaneMeter, &DisplayedState, LaneSettingsQuery, &mut LaneHistory)>,
) {
    if !wanted.is_any() {
        return;
    }
    if let Some(cubes) = cubes {
        world.0.record(cubes.tick(), &cubes.current().bodies);
    }
    for (meter, displayed, settings, mut history) in &mut lanes {
        if let Some(sample) = meter.samples().back() {
            history.record(sample.tick, displayed);
            history.record_settings(sample.tick, &settings);
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;

    use super::*;
    use crate::replication::Sample;

    #[test]
    fn the_moment_stays_in_the_recorded_past() {
        let mut history = LaneHistory::default();
        let displayed =
            DisplayedState { cubes: vec![BodyState::default(); 3], ..DisplayedState::default() };
        for tick in 100..110 {
            history.record(tick, &displayed);
        }
        let meter =
            LaneMeter::from_samples((95..110).map(|tick| Sample { tick, ..Sample::default() }));
        let mut world = World::new();
        world.spawn((history, meter));
        for (moment, expected) in
            [(None, None), (Some(5), Some(100)), (Some(100), Some(100)), (Some(107), Some(107))]
        {
            world.insert_resource(Moment(moment));
            world.run_system_once(stay_in_reach).unwrap();
            assert_eq!(world.resource::<Moment>().0, expected);
        }
    }
}
