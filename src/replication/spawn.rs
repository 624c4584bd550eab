//! Spawns lanes and changes their settings.
//!
//! A lane has a sending half, a receiving half, or both, with the settings of each:
//!
//! | lane | sending half | simulated link | receiving half |
//! | --- | --- | --- | --- |
//! | [local](spawn_lane) | [`SenderSettings`] | [`LinkSettings`] | [`PlayoutSettings`] |
//! | [at a server](super::ServePlugin), for a remote viewer | [`SenderSettings`] | | |
//! | [at a viewer](spawn_receiving_lane) of a remote server | requested from the server | in addition to the network | [`PlayoutSettings`] |

use std::sync::{Arc, LazyLock};

use bevy::prelude::*;
use cubewire_bevy::ConnectionClock;
use cubewire_codec::Plan;
use cubewire_protocol::{ClientConnection, Contract, RateControl, ServerConnection, connect};

use super::Replica;
use super::lane::{LocalLane, Sender};
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
    let Ok((mut sender, link, playout, meter)) = lanes.get_mut(change.entity) else { return };
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

/// The protocol contract that both ends must share: the scene, and an input of the player per tick.
pub(crate) fn contract() -> Arc<Contract> {
    static CONTRACT: LazyLock<Arc<Contract>> =
        LazyLock::new(|| Arc::new(Contract::new(Plan::cubes(), String::new()).with_tick_inputs()));
    Arc::clone(&CONTRACT)
}

/// Spawns a lane with both halves in this process, at the simulation's current tick.
pub fn spawn_lane(world: &mut World, settings: LaneSettings) -> Result<Entity> {
    let now = world.resource::<Time<Fixed>>().elapsed();
    let cubes = world.resource::<CubeWorld>();
    let mut server = ServerConnection::new(contract(), RateControl::Off, now);
    let mut client = ClientConnection::new(contract()).with_engine(Replica::engine);
    connect(&mut client, &mut server, now, cubes.tick(), cubes.current())?;
    server.set_settings(settings.sender.to_wire());
    let mut replica = Replica(client);
    let delay = settings.playout.rule_delay(&settings.sender);
    replica.receiver_mut().advance_playout(now, Some(delay));
    let ends = (Sender(server), Decoded::default(), replica);
    Ok(world.spawn((LocalLane, settings, ends)).id())
}

/// Spawns a receiving half. Its [`SenderSettings`] are requested from the server. The lane is empty until the welcome, which adds
/// its [`Replica`].
pub fn spawn_receiving_lane(world: &mut World, settings: LaneSettings) -> Entity {
    world.spawn((settings, Decoded::default(), ConnectionClock::Virtual)).id()
}
