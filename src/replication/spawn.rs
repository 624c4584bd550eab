//! Spawns lanes and changes their settings.
//!
//! A lane has a sending half, a receiving half, or both, with the settings of each:
//!
//! | lane | sending half | simulated link | receiving half |
//! | --- | --- | --- | --- |
//! | [local](spawn_lane) | [`SenderSettings`] | [`LinkSettings`] | [`PlayoutSettings`] |
//! | [at a server](sending_half), for a remote viewer | [`SenderSettings`] | | |
//! | [at a viewer](spawn_receiving_lane) of a remote server | requested from the server | in addition to the network | [`PlayoutSettings`] |

use bevy::prelude::*;
use cubewire_codec::{InitialStateError, Plan, Snapshot};
use cubewire_protocol::{SendBudget, Welcome};
use cubewire_scene::TICKS_PER_SECOND;

use super::Replica;
use super::budget::LaneCost;
use super::lane::{LaneBudget, LocalLane, Sender};
use super::meter::LaneMeter;
use super::receive::Decoded;
use super::settings::{LaneSettings, LinkSettings, PlayoutSettings, SenderSettings};
use crate::simulation::CubeWorld;

/// Changes the settings of a lane from the next snapshot on. Everything that changes a lane triggers this event: panel, keys,
/// tour, scripts, films and viewers.
#[derive(EntityEvent, Clone, Debug)]
pub struct ChangeLane {
    pub entity: Entity,
    /// The new settings. Settings of a half that the lane lacks are ignored.
    pub settings: LaneSettings,
}

type ChangedLane<'a> = (
    &'a mut SenderSettings,
    Option<&'a mut LinkSettings>,
    Option<&'a mut PlayoutSettings>,
    Option<&'a mut LaneMeter>,
);

pub(crate) fn change(change: On<ChangeLane>, mut lanes: Query<ChangedLane<'_>>) {
    let Ok((mut sender, link, playout, meter)) = lanes.get_mut(change.entity) else {
        return;
    };
    let settings = change.settings.clone();
    if let Some(mut meter) = meter
        && !sender.is_sent_like(&settings.sender)
    {
        meter.switch();
    }
    sender.set_if_neq(settings.sender);
    if let Some(mut link) = link {
        link.set_if_neq(settings.link);
    }
    if let Some(mut playout) = playout {
        playout.set_if_neq(settings.playout);
    }
}

/// Spawns a lane with both halves in this process, at the simulation's current tick.
pub fn spawn_lane(world: &mut World, settings: LaneSettings) -> Result<Entity> {
    let now = world.resource::<Time<Fixed>>().elapsed();
    let cubes = world.resource::<CubeWorld>();
    let welcome =
        Welcome { plan: Plan::cubes(), tick: cubes.tick(), initial: cubes.current().clone() };
    let sender = Sender::new(welcome.initial.clone())?;
    let delay = settings.playout.rule_delay(&settings.sender);
    let receiving = (Decoded::default(), Replica::simulating(welcome, delay, now)?);
    let lane = world.spawn((LocalLane, settings, sender, receiving));
    Ok(lane.id())
}

/// Returns the components of a sending half for a remote viewer that has received `initial`. Its rate adapts to the network.
pub fn sending_half(
    initial: Snapshot,
    settings: SenderSettings,
) -> Result<impl Bundle, InitialStateError> {
    let sender = Sender::new(initial)?;
    Ok((
        settings,
        sender,
        LaneBudget(SendBudget::adaptive(TICKS_PER_SECOND as u16)),
        LaneCost::default(),
    ))
}

/// Spawns a receiving half. Its [`SenderSettings`] are requested from the server. The lane is empty until
/// [`Welcomed`](super::Welcomed) adds its [`Replica`].
pub fn spawn_receiving_lane(world: &mut World, settings: LaneSettings) -> Entity {
    world.spawn((settings, Decoded::default())).id()
}
