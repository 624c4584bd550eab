//! Where the player plays: at the simulation, or at the other end of a lane, from where the keys travel to it.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::ClientConnection;
use cubewire_scene::Keys;

use super::lane::{LocalLane, Sender};
use crate::simulation::PlayerKeys;

/// The end to which the keys of the player in this process go.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum PlayAt {
    /// The keys move the simulation's cube at once.
    #[default]
    Simulation,
    /// The keys travel with the acks of each lane, and move the cube when those of the lane with a [`Seat`] arrive.
    Client,
}

/// Pushes the inputs that are due at the client's end of a lane.
pub(super) fn push(client: &mut ClientConnection, now: Duration, keys: Keys) {
    for _ in 0..client.tick_inputs_due(now) {
        client.push_tick_input(now, vec![keys.to_byte()]);
    }
}

/// The seat of the player whose inputs a lane carries, counted from 0.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat(pub u8);

/// Takes the keys of this tick from every lane. If the player plays at the client, those of its seat's lane are used.
pub(super) fn take(
    play_at: Res<PlayAt>,
    mut keys: ResMut<PlayerKeys>,
    mut lanes: Query<(&mut Sender, Has<Seat>), With<LocalLane>>,
) {
    if *play_at == PlayAt::Client {
        keys.0 = Keys::default();
    }
    for (mut sender, has_seat) in &mut lanes {
        let input = sender.0.take_tick_input().and_then(|input| input.first().copied());
        if let (PlayAt::Client, true, Some(byte)) = (*play_at, has_seat, input) {
            keys.0 = Keys::from_byte(byte);
        }
    }
}
