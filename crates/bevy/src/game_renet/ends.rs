//! Access to the game's renet resources at both ends.

use std::collections::BTreeSet;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_renet::renet::{Bytes, ClientId};
use bevy_renet::{RenetClient, RenetServer};

use super::CHANNEL_MEMORY_BYTES;

/// The peer of a connection: a client with this id, or `None` for the server.
pub(super) type RenetPeer = Option<ClientId>;

/// The game's renet server and client, as far as they exist.
#[derive(SystemParam)]
pub(super) struct Ends<'w> {
    server: Option<ResMut<'w, RenetServer>>,
    client: Option<ResMut<'w, RenetClient>>,
}

impl Ends<'_> {
    pub(super) fn connected(&self) -> BTreeSet<RenetPeer> {
        let clients = self.server.iter().flat_map(|server| server.clients_id_iter());
        let server = self.client.as_ref().filter(|client| client.is_connected());
        clients.map(Some).chain(server.map(|_| None)).collect()
    }

    /// Returns renet's reason for a disconnect, as a sentence.
    pub(super) fn why_disconnected(&self, peer: RenetPeer) -> String {
        let reason = match (peer, &self.server, &self.client) {
            (Some(id), Some(server), _) => server.disconnect_reason(id),
            (None, _, Some(client)) => client.disconnect_reason(),
            _ => None,
        };
        reason.map_or_else(|| NO_CONNECTION.to_owned(), |reason| reason.to_string())
    }

    pub(super) fn disconnect(&mut self, peer: RenetPeer) {
        match (peer, &mut self.server, &mut self.client) {
            (Some(id), Some(server), _) => server.disconnect(id),
            (None, _, Some(client)) => client.disconnect(),
            _ => {}
        }
    }

    pub(super) fn receive(&mut self, peer: RenetPeer, channel: u8) -> Option<Bytes> {
        match peer {
            Some(id) => self.server.as_mut()?.receive_message(id, channel),
            None => self.client.as_mut()?.receive_message(channel),
        }
    }

    pub(super) fn send(&mut self, peer: RenetPeer, channel: u8, bytes: Vec<u8>) {
        match (peer, &mut self.server, &mut self.client) {
            (Some(id), Some(server), _) => server.send_message(id, channel, bytes),
            (None, _, Some(client)) => client.send_message(channel, bytes),
            _ => {}
        }
    }

    /// Returns the bytes of reliable messages that renet holds until they are acked.
    pub(super) fn unacked_bytes(&self, peer: RenetPeer, channel: u8) -> usize {
        let free = match (peer, &self.server, &self.client) {
            (Some(id), Some(server), _) => server.channel_available_memory(id, channel),
            (None, _, Some(client)) => client.channel_available_memory(channel),
            _ => CHANNEL_MEMORY_BYTES,
        };
        CHANNEL_MEMORY_BYTES.saturating_sub(free)
    }

    /// Returns the smoothed round-trip time, or `None` before the first measurement.
    pub(super) fn round_trip(&self, peer: RenetPeer) -> Option<Duration> {
        let seconds = match peer {
            Some(id) => self.server.as_ref()?.rtt(id),
            None => self.client.as_ref()?.rtt(),
        };
        let round_trip = Duration::try_from_secs_f64(seconds).ok()?;
        (!round_trip.is_zero()).then_some(round_trip)
    }
}

/// Disconnect reason if renet has neither the connection nor a reason.
pub(super) const NO_CONNECTION: &str = "the game has removed or replaced the connection";
