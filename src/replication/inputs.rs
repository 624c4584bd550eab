//! Where the player plays: at the simulation, or at the other end of a lane, from where the keys travel to it.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_physics::OwnState;
use cubewire_protocol::ClientConnection;
use cubewire_scene::Keys;

use super::lane::Sender;
use super::seats::Seat;
use super::settings::{PlayAt, PlayoutSettings};
use crate::simulation::PlayerKeys;

/// Pushes the inputs that are due at the client's end of a lane.
pub(super) fn push(client: &mut ClientConnection, now: Duration, keys: Keys) {
    for _ in 0..client.tick_inputs_due(now) {
        client.push_tick_input(now, vec![keys.to_byte()]);
    }
}

/// The keys of a pushed input.
pub(super) fn keys_of(input: &[u8]) -> Keys {
    input.first().copied().map_or_else(Keys::default, Keys::from_byte)
}

/// Ticks from one exact state in the reports to the next.
const EXACT_EVERY: u64 = 30;

/// The data about the player's cube in a report. An exact state takes five times as many bytes as velocities, which are enough
/// for most corrections.
pub(super) fn report(own: &OwnState, tick: u64) -> Vec<u8> {
    match tick.is_multiple_of(EXACT_EVERY) {
        true => own.to_bytes(),
        false => OwnState::Rounded(own.velocity()).to_bytes(),
    }
}

/// Takes the keys of this tick from every lane. A player that plays at the client of a lane with its seat uses these.
pub(super) fn take(
    mut keys: ResMut<PlayerKeys>,
    mut lanes: Query<(&mut Sender, Option<&PlayoutSettings>, Option<&Seat>)>,
) {
    for (mut sender, settings, seat) in &mut lanes {
        let input = sender.0.take_tick_input();
        // A remote viewer has a seat only while it plays.
        if let Some(&Seat(player)) = seat
            && settings.is_none_or(|settings| settings.play_at == PlayAt::Client)
        {
            keys.0[player] = input.map(keys_of).unwrap_or_default();
        }
    }
}
