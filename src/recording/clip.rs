//! The last seconds of both halves, frozen to be filmed.
//!
//! A [`Clip`] is a copy of the [history](crate::history). Playing the same keys again would give other losses, because
//! links and baselines go on through a reset. Camera and colours are copied, too. Lanes that were removed from their
//! half in the meantime are part of the copy.

use std::ops::RangeInclusive;
use std::time::Duration;

use bevy::ecs::message::MessageUpdateSystems;
use bevy::prelude::*;
use bevy::time::common_conditions::on_real_timer;
use cubewire_codec::BodyState;
use cubewire_scene::TICKS_PER_SECOND;

use super::describe_change;
use crate::history::{FilmedTick, LaneHistory, Moment, Wanted, WorldHistory};
use crate::replication::{Lane, LaneMeter, LocalLane, METER_TICKS, Record, Sample};
use crate::simulation::OwnPlayer;
use crate::view::{
    CubeColors, Curves, Flag, Overlay, PaneContent, Side, Trails, ViewState, shown_at,
    title_of_halves,
};

/// Keeps the histories of removed lanes for a minute, for [`Clip`]s.
pub struct ClipPlugin;

impl Plugin for ClipPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RemovedLanes>().add_observer(keep).add_systems(
            First,
            forget.run_if(on_real_timer(Duration::from_secs(1))).after(MessageUpdateSystems),
        );
    }
}

#[derive(Resource, Debug, Default)]
struct RemovedLanes(Vec<ClipLane>);

/// A lane in a half, with a copy of the record of its [`LaneMeter`].
#[derive(Clone, Debug)]
struct ClipLane {
    side: Side,
    is_local: bool,
    history: LaneHistory,
    record: Record,
}

type Recorded<'a> = (&'a Side, Has<LocalLane>, &'a LaneMeter, &'a LaneHistory);

impl ClipLane {
    fn new((side, is_local, meter, history): (&Side, bool, &LaneMeter, &LaneHistory)) -> Self {
        Self { side: *side, is_local, history: history.clone(), record: meter.record.clone() }
    }

    fn covers(&self, tick: u64) -> bool {
        self.ticks().is_some_and(|ticks| ticks.contains(&tick))
    }

    fn ticks(&self) -> Option<RangeInclusive<u64>> {
        self.history.ticks(&self.record).filter(|_| !self.history.displayed.is_empty())
    }

    /// Content of the half at a tick. A viewer's lane has the stages that the server used.
    fn content(&self, tick: u64) -> Option<PaneContent> {
        let mut settings = self.history.settings_at(tick)?.clone();
        let sample = self.record.at(tick)?;
        settings.sender.stages = sample.stages;
        settings.sender.budget = sample.budget_kbps;
        settings.sender.send_interval_ticks = sample.send_interval_ticks;
        Some(PaneContent::Lane(settings))
    }

    /// Number of snapshots that had arrived by a tick, and number of ticks since the newest of them.
    fn arrivals(&self, tick: u64) -> (u64, u32) {
        let packets = self.record.samples().iter().flat_map(|sample| {
            let of_tick = sample.snapshots.iter();
            of_tick.filter_map(|packet| {
                let arrival = packet.arrival.filter(|arrival| !arrival.is_late)?;
                Some(sample.tick + u64::from(arrival.after_ticks))
            })
        });
        let arrived = packets.filter(|at| *at <= tick);
        let (count, newest) =
            arrived.fold((0, None), |(count, newest), at| (count + 1, newest.max(Some(at))));
        let first = self.record.samples().front().map_or(tick, |sample| sample.tick);
        let silent = tick - newest.unwrap_or(first).min(tick);
        (count, u32::try_from(silent).unwrap_or(u32::MAX))
    }

    /// First tick of the newest samples that have the contents of all packets.
    fn first_with_details(&self) -> u64 {
        let has_all = |sample: &&Sample| {
            let mut packets = sample.snapshots.iter();
            packets.all(|packet| packet.detail.is_some())
        };
        let with = self.record.samples().iter().rev().take_while(has_all);
        with.last().map_or(u64::MAX, |sample| sample.tick)
    }
}

fn keep(
    removed: On<Remove, LaneHistory>,
    wanted: Res<Wanted>,
    lanes: Query<Recorded<'_>>,
    mut kept: ResMut<RemovedLanes>,
) {
    if let Ok(lane) = lanes.get(removed.entity)
        && wanted.is_any()
    {
        kept.0.push(ClipLane::new(lane));
    }
}

fn forget(wanted: Res<Wanted>, lanes: Query<&LaneHistory>, mut kept: ResMut<RemovedLanes>) {
    if kept.0.is_empty() {
        return;
    }
    let newest = lanes.iter().filter_map(|lane| lane.displayed.last_tick());
    let oldest = newest.max().unwrap_or(0).saturating_sub(METER_TICKS as u64);
    kept.0.retain_mut(|lane| {
        lane.history.forget_before(oldest);
        wanted.is_any() && lane.ticks().is_some()
    });
}

#[derive(Clone, Debug)]
pub struct Clip {
    pub ticks: RangeInclusive<u64>,
    world: WorldHistory,
    lanes: Vec<ClipLane>,
    pub view: ViewState,
}

impl Clip {
    /// Copies the last `seconds`, up to the shown tick of the past if there is one. The copy is shorter if the halves showed
    /// less, or if colours show the bits of packets that are not recorded any more. Fails with a sentence if the right half has
    /// no history.
    pub fn of_last(seconds: u32, world: &mut World) -> Result<Self, String> {
        let mut view = ViewState::of(world);
        if view.colors == CubeColors::Wait {
            // The history has no waits.
            view.colors = CubeColors::Interaction;
        }
        let mut lanes = world.query_filtered::<Recorded<'_>, With<Lane>>();
        let mut lanes: Vec<_> = lanes.iter(world).map(ClipLane::new).collect();
        if let Some(removed) = world.get_resource::<RemovedLanes>() {
            lanes.extend(removed.0.iter().cloned());
        }
        let mut clip =
            Self { ticks: 0..=0, world: world.resource::<WorldHistory>().clone(), lanes, view };
        let right = clip.lanes.iter().filter(|lane| lane.side == Side::Right);
        let newest = right.filter_map(|lane| Some(*lane.ticks()?.end())).max();
        let moment = world.resource::<Moment>().0;
        let last = moment.or(newest).filter(|&tick| clip.is_shown(tick));
        let last = last.ok_or("No film: nothing was shown yet")?;
        let wanted = u64::from(seconds * TICKS_PER_SECOND);
        let limit = (last + 1).saturating_sub(wanted);
        let limit = limit.max(clip.first_coloured(last));
        let before = (limit..=last).rev().take_while(|&tick| clip.is_shown(tick));
        clip.ticks = before.last().unwrap_or(last)..=last;
        Ok(clip)
    }

    pub const fn length(&self) -> u64 {
        *self.ticks.end() - *self.ticks.start() + 1
    }

    /// Whether all halves of the picture are known.
    fn is_shown(&self, tick: u64) -> bool {
        let has_simulation = self.world.0.last_tick().is_some();
        let is_known = |side| {
            let lane = self.lane_at(side, tick);
            lane.is_some() || self.world.0.has(tick) || !has_simulation
        };
        self.lane_at(Side::Right, tick).is_some() && is_known(Side::Left)
    }

    /// First tick at which the costs that the colours show are known.
    fn first_coloured(&self, last: u64) -> u64 {
        match self.view.colors {
            CubeColors::Bits | CubeColors::Form => {
                // Only the newest packets of the lanes that are still there have details.
                let lanes = Side::ALL.map(|side| self.lane_at(side, last));
                let lanes = lanes.into_iter().flatten();
                lanes.map(|(_, lane)| lane.first_with_details()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Lane that a half showed at a tick, and its index. `None` for the simulation.
    fn lane_at(&self, side: Side, tick: u64) -> Option<(usize, &ClipLane)> {
        let mut lanes = self.lanes.iter().enumerate();
        lanes.find(|(_, lane)| lane.side == side && lane.covers(tick))
    }

    fn content(&self, side: Side, tick: u64) -> PaneContent {
        let lane = self.lane_at(side, tick);
        let content = lane.and_then(|(_, lane)| lane.content(tick));
        content.unwrap_or(PaneContent::Simulation)
    }

    /// Cubes of both halves at a tick. Empty for a half without cubes.
    fn cubes(&self, tick: u64) -> [Vec<BodyState>; Side::ALL.len()] {
        let lanes = Side::ALL.map(|side| self.lane_at(side, tick).map(|(_, lane)| &lane.history));
        Side::ALL.map(|side| {
            let shown = shown_at(tick, side, self.view.mode, &self.world, lanes);
            shown.unwrap_or_default()
        })
    }

    pub fn title(&self) -> &'static str {
        // A viewer has no simulation to show.
        let simulates = self.world.0.last_tick().is_some();
        let is_lane = self.ticks.clone().map(|tick| self.lane_at(Side::Left, tick).is_some());
        title_of_halves(is_lane.filter(|is_lane| *is_lane || simulates))
    }

    /// The graph, still without measurements. Only local lanes know their errors.
    pub fn curves(&self) -> Curves {
        let ticks = *self.ticks.start() + 1..=*self.ticks.end();
        let changes = ticks.flat_map(|tick| Side::ALL.map(|side| self.change(side, tick)));
        let flags: Vec<_> = changes.flatten().collect();
        let ticks = [*self.ticks.start()].into_iter().chain(flags.iter().map(|flag| flag.tick));
        let contents = ticks.flat_map(|tick| {
            Side::ALL.map(|side| {
                let local = self.lane_at(side, tick).is_some_and(|(_, lane)| lane.is_local);
                local.then(|| self.content(side, tick))
            })
        });
        let contents: Vec<_> = contents.flatten().collect();
        Curves::new(contents.iter().filter_map(PaneContent::lane), flags)
    }

    fn change(&self, side: Side, tick: u64) -> Option<Flag> {
        let [before, now] = [tick - 1, tick].map(|tick| self.content(side, tick));
        let title = describe_change(&before, &now)?;
        Some(Flag { tick, part: Some(side as usize), title })
    }

    /// Sets up an app without a game to show this clip.
    pub fn set_up(&self, world: &mut World) {
        self.view.apply(world);
        world.insert_resource(self.world.clone());
    }

    /// Shows a tick of this clip. The ticks before it must have been shown.
    pub fn show(&self, tick: u64, world: &mut World) {
        if self.view.has_trails {
            let ([left, right], own) = (self.cubes(tick), *world.resource::<OwnPlayer>());
            world.resource_mut::<Trails>().add_tick([&left, &right], own);
        }
        world.insert_resource(FilmedTick(tick));
        for side in Side::ALL {
            self.show_lane(side, tick, world);
            let change = (tick > *self.ticks.start()).then(|| self.change(side, tick));
            if let Some(change) = change.flatten()
                && world.contains_resource::<Overlay>()
            {
                let now = world.resource::<Time<Fixed>>().elapsed();
                let mut overlay = world.resource_mut::<Overlay>();
                overlay.announce(side, change.title, now);
            }
        }
    }

    fn show_lane(&self, side: Side, tick: u64, world: &mut World) {
        let wanted = self.lane_at(side, tick);
        let mut halves = world.query::<(Entity, &Side, &Filmed)>();
        let shown = halves.iter(world).find(|(_, of, _)| **of == side);
        let mut shown = shown.map(|(entity, _, filmed)| (entity, filmed.0));
        if let Some((entity, index)) = shown
            && wanted.is_none_or(|(wanted, _)| wanted != index)
        {
            world.despawn(entity);
            shown = None;
        }
        let Some((index, lane)) = wanted else { return };
        let (Some(PaneContent::Lane(settings)), Some(sample)) =
            (lane.content(tick), lane.record.at(tick))
        else {
            return;
        };
        let entity = shown.map(|(entity, _)| entity).unwrap_or_else(|| {
            let before = lane.record.samples().iter().take_while(|sample| sample.tick < tick);
            let record = Record::from_samples(before.cloned());
            let meter = LaneMeter { record, ..LaneMeter::default() };
            world.spawn((Lane, Filmed(index), side, meter, lane.history.clone())).id()
        });
        let mut entity = world.entity_mut(entity);
        entity.insert(settings);
        if lane.is_local {
            entity.insert(LocalLane);
        }
        if let Some(mut meter) = entity.get_mut::<LaneMeter>() {
            (meter.received, meter.silent_ticks) = lane.arrivals(tick);
            meter.begin(sample.clone());
        }
    }
}

/// Index of a lane in the clip that an app shows.
#[derive(Component, Clone, Copy, Debug)]
struct Filmed(usize);
