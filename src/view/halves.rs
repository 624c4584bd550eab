//! What each half shows: the simulation, or a lane.

use bevy::prelude::*;

use super::ReplicaPicture;
use crate::replication::{
    Half, LaneCheck, LaneSettings, PictureError, Selected, ShadowLadder, Side, spawn_lane,
};

/// Shows this in a half. A lane that is there already gets the new settings, unless they have another
/// seed; otherwise one is spawned.
/// The right half always has a lane, if it ever had one.
///
/// # Errors
/// If a lane cannot be set up.
pub fn show(world: &mut World, side: Side, half: Half) -> Result<()> {
    match (lane_in(world, side), half) {
        (Some(lane), Half::Lane(settings)) => {
            let current = world.get::<LaneSettings>(lane);
            if current.is_none_or(|current| current.link_seed == settings.link_seed) {
                if let Some(mut current) = world.get_mut::<LaneSettings>(lane) {
                    current.set_if_neq(settings);
                }
            } else {
                // A link draws from its seed from its first packet on.
                let was_selected = world.entity(lane).contains::<Selected>();
                let shadow = world.entity_mut(lane).take::<ShadowLadder>();
                world.despawn(lane);
                let lane = spawn(world, side, settings)?;
                let mut lane = world.entity_mut(lane);
                if was_selected {
                    lane.insert(Selected);
                }
                if let Some(shadow) = shadow {
                    lane.insert(shadow);
                }
            }
        }
        (None, Half::Lane(settings)) => {
            spawn(world, side, settings)?;
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

fn spawn(world: &mut World, side: Side, settings: LaneSettings) -> Result<Entity> {
    let lane = spawn_lane(world, settings)?;
    world.entity_mut(lane).insert((
        side,
        LaneCheck::default(),
        PictureError::default(),
        ReplicaPicture::default(),
    ));
    Ok(lane)
}

/// The lane that is shown in that half.
pub(crate) fn lane_in(world: &mut World, side: Side) -> Option<Entity> {
    let mut lanes = world.query_filtered::<(Entity, &Side), With<LaneSettings>>();
    let found = lanes.iter(world).find(|&(_, &other)| other == side);
    found.map(|(lane, _)| lane)
}
