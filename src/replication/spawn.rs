//! Spawns lanes and changes their settings.
//!
//! A lane has a sending half, a receiving half, or both, with the settings of each:
//!
//! | lane | sending half | simulated link | receiving half |
//! | --- | --- | --- | --- |
//! | [local](spawn_lane) | [`SenderSettings`] | [`LinkSettings`] | [`PlayoutSettings`] |
//! | [at a server](super::ServePlugin), for a remote viewer | [`SenderSettings`] | | |
//! | [at a viewer](spawn_receiving_lane) of a remote server | requested from the server | in addition to the network | [`PlayoutSettings`] |

use std::array;
use std::sync::{Arc, LazyLock};

use bevy::prelude::*;
use cubewire_bevy::ConnectionClock;
use cubewire_codec::Plan;
use cubewire_protocol::{ClientConnection, Contract, RateControl, ServerConnection, connect};
use cubewire_scene::MAX_PLAYERS;

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

/// The protocol contract of a scene with this number of players, and an input of a player per tick. Both ends must share it,
/// except for the number.
pub(crate) fn contract(players: usize) -> Arc<Contract> {
    static CONTRACTS: LazyLock<[Arc<Contract>; MAX_PLAYERS]> = LazyLock::new(|| {
        array::from_fn(|index| {
            let plan = Plan::cubes().with_seats(index as u8 + 1);
            let plan = plan.expect("a scene can have that many players");
            Arc::new(Contract::new(plan, String::new()).with_tick_inputs())
        })
    });
    Arc::clone(&CONTRACTS[players - 1])
}

/// Spawns a lane with both halves in this process, at the simulation's current tick.
pub fn spawn_lane(world: &mut World, settings: LaneSettings) -> Result<Entity> {
    let now = world.resource::<Time<Fixed>>().elapsed();
    let cubes = world.resource::<CubeWorld>();
    let contract = contract(cubes.players());
    let mut server = ServerConnection::new(Arc::clone(&contract), RateControl::Off, now);
    let mut client = ClientConnection::new(contract).with_engine(Replica::engine);
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
