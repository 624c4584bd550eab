//! States of every cube in each tick of the last minute, in bounded memory.
//!
//! Ticks are stored in groups of one second. The first tick of a group stores every cube, the others only the cubes that
//! changed. The oldest group is dropped as a whole.

use std::collections::VecDeque;
use std::sync::Arc;

use cubewire_codec::BodyState;
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::METER_TICKS;

const GROUP_TICKS: usize = TICKS_PER_SECOND as usize;

/// Maximum memory in bytes: enough for a minute with 300 cubes moving in every tick. These take about 10 kB a tick.
const MAX_BYTES: usize = 36 << 20;

/// Recorded states of the simulation or of a displayed replica. A clone shares the memory of full groups.
#[derive(Clone, Debug, Default)]
pub struct States {
    groups: VecDeque<Arc<Group>>,
    /// States at the newest tick.
    newest: Vec<BodyState>,
}

impl States {
    /// Number of cubes at the newest tick.
    pub const fn cubes(&self) -> usize {
        self.newest.len()
    }
}

#[derive(Clone, Debug)]
struct Group {
    first_tick: u64,
    /// Changed cubes of each tick.
    ticks: Vec<Box<[Change]>>,
}

/// The displayed part of one cube's state.
#[derive(Clone, Copy, Debug)]
struct Change {
    position: [f32; 3],
    orientation: [f32; 4],
    cube: u16,
    interacting: bool,
}

impl Change {
    fn new(cube: usize, state: &BodyState) -> Self {
        Self {
            position: state.position.to_array(),
            orientation: state.orientation.to_array(),
            cube: cube as u16,
            interacting: state.interacting,
        }
    }

    fn apply(&self, cubes: &mut [BodyState]) {
        if let Some(state) = cubes.get_mut(usize::from(self.cube)) {
            state.position = self.position.into();
            state.orientation = bevy::math::Quat::from_array(self.orientation);
            state.interacting = self.interacting;
        }
    }
}

impl Group {
    fn bytes(&self) -> usize {
        let changes: usize = self.ticks.iter().map(|changes| size_of_val(&**changes)).sum();
        size_of::<Self>() + self.ticks.capacity() * size_of::<Box<[Change]>>() + changes
    }
}

impl States {
    /// Adds a tick. A gap in the ticks, or another number of cubes, drops all earlier ticks. Velocities are not stored.
    pub fn record(&mut self, tick: u64, cubes: &[BodyState]) {
        let follows = self.last_tick().is_some_and(|last| last + 1 == tick);
        if !follows || self.newest.len() != cubes.len() {
            *self = Self::default();
        }
        let is_full = |group: &Arc<Group>| group.ticks.len() == GROUP_TICKS;
        if self.groups.back().is_none_or(is_full) {
            self.groups.push_back(Arc::new(Group { first_tick: tick, ticks: Vec::new() }));
            // Without a state to compare with, the first tick of the group stores every cube.
            self.newest.clear();
        }
        let changes = cubes.iter().enumerate().filter(|(cube, state)| {
            !self.newest.get(*cube).is_some_and(|old| {
                old.position == state.position
                    && old.orientation == state.orientation
                    && old.interacting == state.interacting
            })
        });
        let changes = changes.map(|(cube, state)| Change::new(cube, state)).collect();
        if let Some(group) = self.groups.back_mut() {
            Arc::make_mut(group).ticks.push(changes);
        }
        self.newest.clear();
        self.newest.extend_from_slice(cubes);
        while self.groups.len() > 1
            && (self.memory_bytes() > MAX_BYTES
                || self.groups.len() > METER_TICKS / GROUP_TICKS + 1)
        {
            self.groups.pop_front();
        }
    }

    /// Drops all groups that end before a tick.
    pub(crate) fn forget_before(&mut self, tick: u64) {
        let is_over =
            |group: &mut Arc<Group>| group.first_tick + (group.ticks.len() as u64) <= tick;
        while self.groups.pop_front_if(is_over).is_some() {}
    }

    /// Replaces `cubes` with the states at a tick, with zero velocities. Returns false if the tick is not stored.
    pub fn read(&self, tick: u64, cubes: &mut Vec<BodyState>) -> bool {
        let Some(ticks) = self.group_until(tick) else { return false };
        cubes.clear();
        cubes.resize(self.newest.len(), BodyState::default());
        for change in ticks.iter().flatten() {
            change.apply(cubes);
        }
        true
    }

    /// The changes of a tick and of the earlier ticks in its group.
    fn group_until(&self, tick: u64) -> Option<&[Box<[Change]>]> {
        let after = self.groups.partition_point(|group| group.first_tick <= tick);
        let group = self.groups.get(after.checked_sub(1)?)?;
        group.ticks.get(..=usize::try_from(tick - group.first_tick).ok()?)
    }

    pub fn has(&self, tick: u64) -> bool {
        let first = self.first_tick();
        first.is_some_and(|first| tick >= first) && self.last_tick() >= Some(tick)
    }

    pub const fn is_empty(&self) -> bool {
        self.newest.is_empty()
    }

    pub fn first_tick(&self) -> Option<u64> {
        self.groups.front().map(|group| group.first_tick)
    }

    pub fn last_tick(&self) -> Option<u64> {
        let group = self.groups.back()?;
        Some(group.first_tick + group.ticks.len() as u64 - 1)
    }

    pub fn memory_bytes(&self) -> usize {
        self.groups.iter().map(|group| group.bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::{Quat, vec3};

    use super::*;

    fn cubes(tick: u64, count: usize, moving: usize) -> Vec<BodyState> {
        let cube = |cube: usize| BodyState {
            position: match cube < moving {
                true => vec3(cube as f32, tick as f32, 0.5),
                false => vec3(cube as f32, 0.0, 0.5),
            },
            orientation: Quat::from_rotation_z(0.1),
            interacting: cube as u64 == tick % 7,
            ..BodyState::default()
        };
        (0..count).map(cube).collect()
    }

    #[test]
    fn every_tick_of_the_last_minute_comes_back() {
        let mut states = States::default();
        let mut copy = states.clone();
        let last = 5_000;
        for tick in 0..=last {
            states.record(tick, &cubes(tick, 20, 5));
            if tick == 89 {
                copy = states.clone();
            }
        }
        let first = states.first_tick().unwrap();
        assert!(last - first >= METER_TICKS as u64, "{first}");
        assert!(last - first < (METER_TICKS + 2 * GROUP_TICKS) as u64);
        let mut read = Vec::new();
        for tick in first..=last {
            assert!(states.read(tick, &mut read));
            assert_eq!(read, cubes(tick, 20, 5));
        }
        assert!(!states.read(first - 1, &mut read));
        assert!(!states.read(last + 1, &mut read));
        // A copy keeps its ticks, although its last group was not full.
        assert_eq!(copy.last_tick(), Some(89));
        for tick in 0..90 {
            assert!(copy.read(tick, &mut read));
            assert_eq!(read, cubes(tick, 20, 5));
        }
    }

    #[test]
    fn memory_is_bounded_and_the_newest_ticks_stay() {
        let mut states = States::default();
        for tick in 0..2_000 {
            states.record(tick, &cubes(tick, 901, 901));
            let largest_group = GROUP_TICKS * 902 * size_of::<Change>();
            assert!(states.memory_bytes() <= MAX_BYTES + largest_group);
        }
        let mut read = Vec::new();
        assert!(states.read(1_999, &mut read));
        assert_eq!(read, cubes(1_999, 901, 901));
    }

    #[test]
    fn a_minute_with_300_moving_cubes_fits() {
        let mut states = States::default();
        let last = 2 * METER_TICKS as u64;
        for tick in 0..=last {
            states.record(tick, &cubes(tick, 901, 300));
        }
        let ticks = last + 1 - states.first_tick().unwrap();
        assert!(ticks >= METER_TICKS as u64, "{ticks}");
        let bytes = states.memory_bytes() as u64 / ticks;
        assert!((9_600..10_400).contains(&bytes), "{bytes} bytes per tick");
        states.forget_before(last - 59);
        assert!(last + 1 - states.first_tick().unwrap() <= 60 + GROUP_TICKS as u64);
    }

    #[test]
    fn a_gap_starts_again() {
        let mut states = States::default();
        states.record(7, &cubes(7, 3, 1));
        states.record(9, &cubes(9, 3, 1));
        assert_eq!(states.first_tick(), Some(9));
        states.record(10, &cubes(10, 4, 1));
        assert_eq!(states.first_tick(), Some(10));
    }
}
