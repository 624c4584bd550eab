//! What each half shows: the simulation, or a lane.

use bevy::prelude::*;

use super::ReplicaPicture;
use crate::replication::{
    Half, LaneCheck, LaneSettings, PictureError, Selected, ShadowLadder, Side, spawn_lane,
};

/// Shows this in a half. A lane that is there already gets the new settings; otherwise one is spawned.
/// The right half always has a lane, if it ever had one.
///
/// # Errors
/// If a lane cannot be set up.
pub fn show(world: &mut World, side: Side, half: Half) -> Result<()> {
    match (lane_in(world, side), half) {
        (Some(lane), Half::Lane(settings)) => {
            if let Some(mut current) = world.get_mut::<LaneSettings>(lane) {
                current.set_if_neq(settings);
            }
        }
        (None, Half::Lane(settings)) => {
            let lane = spawn_lane(world, settings)?;
            world.entity_mut(lane).insert((
                side,
                LaneCheck::default(),
                PictureError::default(),
                ReplicaPicture::default(),
            ));
            if side == Side::Right {
                select(world, side);
            }
        }
        (Some(lane), Half::Simulation) if side == Side::Left => {
            select(world, Side::Right);
            world.despawn(lane);
        }
        (_, Half::Simulation) => {}
    }
    Ok(())
}

/// Makes the lane in that half, if there is one, the one that the panel and the keys are about. The
/// shadow goes with it.
pub fn select(world: &mut World, side: Side) {
    let Some(lane) = lane_in(world, side) else {
        return;
    };
    let mut selected = world.query_filtered::<Entity, With<Selected>>();
    let before: Vec<_> = selected
        .iter(world)
        .filter(|&other| other != lane)
        .collect();
    world.entity_mut(lane).insert(Selected);
    for before in before {
        let mut before = world.entity_mut(before);
        before.remove::<Selected>();
        if let Some(shadow) = before.take::<ShadowLadder>() {
            world.entity_mut(lane).insert(shadow);
        }
    }
}

fn lane_in(world: &mut World, side: Side) -> Option<Entity> {
    let mut lanes = world.query_filtered::<(Entity, &Side), With<LaneSettings>>();
    let found = lanes.iter(world).find(|&(_, &other)| other == side);
    found.map(|(lane, _)| lane)
}
