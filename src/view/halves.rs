//! Changes the content of a half: the simulation or a lane.

use bevy::ecs::system::SystemState;
use bevy::prelude::*;

use super::cubes::DisplayedTicks;
use super::side::{Halves, PaneContent, Selected, Side};
use crate::replication::{
    Ablation, ChangeLane, Compared, Lane, LaneCheck, LaneSettings, LinkSettings, LiveLadder, Seat,
    spawn_lane,
};

/// Selects the lane in this half, if there is one, and moves the shadow ladder to it.
pub fn select_half(world: &mut World, side: Side) {
    if let Some(lane) = lane_in(world, side) {
        select(world, lane);
    }
}

/// Shows the simulation or a lane in a half. An existing lane gets the new settings, and is replaced if the link's seed
/// differs. Only the left half can show the simulation. The right half keeps its lane.
pub fn show(world: &mut World, side: Side, content: PaneContent) -> Result<()> {
    match (lane_in(world, side), content) {
        (Some(entity), PaneContent::Lane(settings)) => {
            let link = world.get::<LinkSettings>(entity);
            if link.is_none_or(|link| link.seed == settings.link.seed) {
                world.trigger(ChangeLane { entity, settings });
            } else {
                // The link has drawn random numbers since its first packet, so a new seed needs a new lane.
                let new = spawn(world, side, settings)?;
                if world.entity(entity).contains::<Selected>() {
                    select(world, new);
                }
                world.despawn(entity);
            }
        }
        (None, PaneContent::Lane(settings)) => {
            let lane = spawn(world, side, settings)?;
            if side == Side::Right {
                select(world, lane);
            }
        }
        (Some(lane), PaneContent::Simulation) if side == Side::Left => {
            if let Some(right) = lane_in(world, Side::Right) {
                select(world, right);
            }
            world.despawn(lane);
        }
        (_, PaneContent::Simulation) => {}
    }
    Ok(())
}

fn select(world: &mut World, lane: Entity) {
    let mut selected = world.query_filtered::<Entity, With<Selected>>();
    let others: Vec<_> = selected.iter(world).filter(|&other| other != lane).collect();
    world.entity_mut(lane).insert(Selected);
    for other in others {
        let mut other = world.entity_mut(other);
        // The ablation is of the other lane.
        other.remove::<(Selected, Ablation)>();
        if let Some(ladder) = other.take::<LiveLadder>() {
            world.entity_mut(lane).insert(ladder);
        }
    }
}

fn spawn(world: &mut World, side: Side, settings: LaneSettings) -> Result<Entity> {
    let lane = spawn_lane(world, settings)?;
    world.entity_mut(lane).insert((
        side,
        LaneCheck::default(),
        Compared,
        DisplayedTicks::default(),
    ));
    if side == Side::Right {
        world.entity_mut(lane).insert(Seat(0));
    }
    Ok(lane)
}

pub fn content(world: &mut World, side: Side) -> PaneContent {
    let mut halves = SystemState::<Halves<'_, '_>>::new(world);
    halves.get(world).expect("a query is always there").content(side)
}

pub fn lane_in(world: &mut World, side: Side) -> Option<Entity> {
    let mut lanes = world.query_filtered::<(Entity, &Side), With<Lane>>();
    lanes.iter(world).find(|&(_, &other)| other == side).map(|(lane, _)| lane)
}
