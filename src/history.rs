//! The last minute, tick by tick, for views that look back.
//!
//! | what | where | while |
//! | --- | --- | --- |
//! | sizes, kinds of bits, arrival of packets | [`LaneMeter`] | always |
//! | their bytes, bits by cube and field | [`PacketDetail`](crate::replication::PacketDetail) | something [wants](Wanted) them: always in the window |
//! | the cubes of the simulation | [`WorldHistory`] | likewise |
//! | the displayed cubes of each lane | [`LaneHistory`] | likewise |
//!
//! All of it takes at most 64 MiB with two lanes: three times 14 MiB of [`States`](struct@States), twice 11 MiB of details.
//! Where that is not enough for a minute, the oldest ticks are dropped.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use bevy::prelude::*;
use cubewire_codec::BodyState;

use crate::controls::Action;
use crate::replication::{
    CubeError, CubeErrors, Detailed, DisplayedState, Lane, LaneMeter, METER_TICKS, Peer,
    ReplicationSystems, Standings, States, between,
};
use crate::simulation::CubeWorld;

/// Records the history while something wants it.
#[derive(Debug)]
pub struct HistoryPlugin;

impl Plugin for HistoryPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Wanted>()
            .init_resource::<WorldHistory>()
            .init_resource::<Moment>()
            .init_resource::<Selection>()
            .add_observer(on_action)
            .configure_sets(
                PreUpdate,
                (HistorySystems::ViewWants, HistorySystems::Prepare).chain(),
            )
            .add_systems(
                PreUpdate,
                (
                    prepare,
                    play_on.run_if(resource_exists::<CubeWorld>),
                    stay_in_reach,
                )
                    .chain()
                    .in_set(HistorySystems::Prepare),
            )
            .add_systems(
                FixedUpdate,
                record
                    .in_set(HistorySystems::Record)
                    .after(ReplicationSystems::Observe)
                    .before(ReplicationSystems::Shadow),
            );
    }
}

/// The phases of the history: in [`PreUpdate`], in this order, and one in [`FixedUpdate`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistorySystems {
    /// The view sets what it wants, in [`Wanted`].
    ViewWants,
    /// Recording starts or ends.
    Prepare,
    /// A tick is recorded, after [`ReplicationSystems::Observe`].
    Record,
}

/// What wants the history. While anything does, it is recorded.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The panel, with which one can look back at any time.
    pub panel: bool,
    /// The cost of each cube, as its colour.
    pub colors: bool,
}

impl Wanted {
    /// Whether anything does.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.panel || self.colors
    }
}

/// The cubes of the simulation.
#[derive(Resource, Debug, Default)]
pub struct WorldHistory(pub States);

/// The displayed cubes of a lane. The ticks are those of its meter.
#[derive(Component, Debug, Default)]
#[require(Detailed, DisplayedState, CubeErrors, Standings)]
pub struct LaneHistory {
    /// The cubes.
    pub displayed: States,
    /// By tick, oldest first: see [`DisplayedState::due_tick`].
    due_ticks: VecDeque<(u64, Option<f64>)>,
}

impl LaneHistory {
    /// The tick of the simulation that was due for display at `tick`; none if that is not known.
    #[must_use]
    pub fn due_tick(&self, tick: u64) -> Option<f64> {
        let (first, _) = self.due_ticks.front()?;
        let index = usize::try_from(tick.checked_sub(*first)?).ok()?;
        let (found, due) = self.due_ticks.get(index)?;
        due.filter(|_| *found == tick)
    }

    /// The ticks that are recorded with what was sent in them, from the oldest to the newest.
    #[must_use]
    pub fn ticks(&self, meter: &LaneMeter) -> Option<RangeInclusive<u64>> {
        let first = self.displayed.first_tick()?;
        let oldest = meter.samples().front()?.tick;
        Some(first.max(oldest)..=self.displayed.last_tick()?)
    }

    /// The errors of the cubes displayed at a tick; empty where that tick is not recorded.
    #[must_use]
    pub fn errors_at(&self, tick: u64, world: &WorldHistory) -> Vec<CubeError> {
        let mut shown = Vec::new();
        match self.simulated_at(tick, world) {
            Some(simulated) if self.displayed.read(tick, &mut shown) => {
                let cubes = shown.iter().zip(&simulated);
                cubes
                    .map(|(shown, cube)| CubeError::new(shown, cube))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The cubes of the simulation at what was due for display at a tick; none where that is not recorded.
    #[must_use]
    pub fn simulated_at(&self, tick: u64, world: &WorldHistory) -> Option<Vec<BodyState>> {
        let due = self.due_tick(tick)?.clamp(0.0, tick as f64);
        let before = due.floor() as u64;
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let is_there =
            world.0.read(before, &mut from) && world.0.read((before + 1).min(tick), &mut to);
        let fraction = due.fract() as f32;
        let cubes = from.iter().zip(&to);
        is_there.then(|| {
            cubes
                .map(|(from, to)| between(from, to, fraction))
                .collect()
        })
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

/// The cube that views and panel are about.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The index of the selected cube.
    pub cube: Option<usize>,
    /// The index of the cube under the pointer, in a view or as bits in the panel.
    pub hovered: Option<usize>,
    /// Whether the cameras follow the selected cube.
    pub follows: bool,
}

/// The tick of the past that is shown; none while the present is.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment(pub Option<u64>);

/// Returns to the present with a step, a reset, or, where the server has the clock, with Pause.
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

/// The past is shown only while the game is paused.
fn play_on(clock: Res<Time<Virtual>>, mut moment: ResMut<Moment>) {
    if !clock.is_paused() {
        moment.set_if_neq(Moment(None));
    }
}

/// Where the server has the clock, the past goes on without us: the oldest tick that is recorded is shown at
/// least.
fn stay_in_reach(lanes: Query<(&LaneHistory, &LaneMeter)>, mut moment: ResMut<Moment>) {
    let ticks = lanes.iter().filter_map(|(lane, meter)| lane.ticks(meter));
    let first = ticks.map(|ticks| *ticks.start()).min();
    if let (Some(tick), Some(first)) = (moment.0, first)
        && tick < first
    {
        *moment = Moment(Some(first));
    }
}

/// Starts to record, or drops everything.
fn prepare(
    wanted: Res<Wanted>,
    mut commands: Commands,
    mut world: ResMut<WorldHistory>,
    mut moment: ResMut<Moment>,
    lanes: Query<(Entity, Has<LaneHistory>, Has<Peer>), With<Lane>>,
) {
    let is_wanted = wanted.is_any();
    for (lane, has_history, is_of_viewer) in &lanes {
        // A server has any number of viewers.
        let is_recorded = is_wanted && !is_of_viewer;
        if is_recorded && !has_history {
            commands.entity(lane).try_insert(LaneHistory::default());
        } else if !is_recorded && has_history {
            commands
                .entity(lane)
                .try_remove::<(LaneHistory, Detailed, CubeErrors, Standings)>();
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
    mut lanes: Query<(&LaneMeter, &DisplayedState, &mut LaneHistory)>,
) {
    if !wanted.is_any() {
        return;
    }
    if let Some(cubes) = cubes {
        world.0.record(cubes.tick(), &cubes.current().bodies);
    }
    for (meter, displayed, mut history) in &mut lanes {
        if let Some(sample) = meter.samples().back() {
            history.record(sample.tick, displayed);
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
        let displayed = DisplayedState {
            cubes: vec![BodyState::default(); 3],
            ..DisplayedState::default()
        };
        for tick in 100..110 {
            history.record(tick, &displayed);
        }
        let meter = LaneMeter::from_samples((95..110).map(|tick| Sample {
            tick,
            ..Sample::default()
        }));
        let mut world = World::new();
        world.spawn((history, meter));
        for (moment, expected) in [
            (None, None),
            (Some(5), Some(100)),
            (Some(100), Some(100)),
            (Some(107), Some(107)),
        ] {
            world.insert_resource(Moment(moment));
            world.run_system_once(stay_in_reach).unwrap();
            assert_eq!(world.resource::<Moment>().0, expected);
        }
    }
}
