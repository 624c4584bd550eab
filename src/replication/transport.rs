//! renet in one process: a server, and a client for each lane, with a link between the two.

mod slices;

use std::time::Duration;

use bevy::prelude::*;
use cubewire_link::{Conditions, Link};
use cubewire_scene::TICKS_PER_SECOND;
use renet::{ChannelConfig, ClientId, ConnectionConfig, RenetClient, RenetServer, SendType};

use super::{HEADER_BYTES, LaneMeter, LaneSettings};
use slices::SliceGuard;

/// Snapshots go down it, acks up.
pub(super) const CHANNEL: u8 = 0;

/// Room for the pieces of uncompressed snapshots, which renet holds for 3 s when one is lost.
const CHANNEL_BYTES: usize = 16 << 20;

/// renet drops what goes beyond this in one flush; two uncompressed snapshots fit.
const BYTES_PER_TICK: u64 = 160_000;

/// First byte of renet's own ack packets.
const RENET_ACK: u8 = 4;

/// The simulation's side of every lane.
#[derive(Resource, Debug)]
pub(super) struct Server {
    pub(super) renet: RenetServer,
    clients: ClientId,
}

/// The other side of one lane, and the link to it.
#[derive(Component, Debug)]
pub(super) struct Connection {
    pub(super) id: ClientId,
    pub(super) client: RenetClient,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    down_guard: SliceGuard,
    up_guard: SliceGuard,
}

fn config() -> ConnectionConfig {
    let channels = vec![ChannelConfig {
        channel_id: CHANNEL,
        max_memory_usage_bytes: CHANNEL_BYTES,
        send_type: SendType::Unreliable,
    }];
    ConnectionConfig {
        available_bytes_per_tick: BYTES_PER_TICK,
        server_channels_config: channels.clone(),
        client_channels_config: channels,
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            renet: RenetServer::new(config()),
            clients: 0,
        }
    }
}

impl Server {
    /// Admits one more client, by memory.
    pub(super) fn connect(&mut self, conditions: &Conditions, seed: u64) -> Connection {
        let id = self.clients;
        let link = |direction| Link::new(conditions.clone(), seed.wrapping_mul(2) + direction);
        self.clients += 1;
        self.renet.add_connection(id);
        let mut client = RenetClient::new(config());
        client.set_connected();
        Connection {
            id,
            client,
            down: link(0),
            up: link(1),
            down_guard: SliceGuard::default(),
            up_guard: SliceGuard::default(),
        }
    }
}

/// A lane that is gone leaves nothing on the server.
pub(super) fn disconnect(
    removed: On<Remove, Connection>,
    lanes: Query<&Connection>,
    mut server: ResMut<Server>,
) {
    if let Ok(connection) = lanes.get(removed.entity) {
        server.renet.remove_connection(connection.id);
    }
}

/// One tick, as renet counts time.
const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND as u64);

pub(super) fn to_server(
    time: Res<Time>,
    mut server: ResMut<Server>,
    mut lanes: Query<(&mut Connection, &LaneSettings, &mut LaneMeter)>,
) -> Result {
    server.renet.update(TICK);
    // Who comes and goes is known from the lanes; renet keeps its events until they are taken.
    while server.renet.get_event().is_some() {}
    for (mut connection, settings, mut meter) in &mut lanes {
        let connection = &mut *connection;
        for link in [&mut connection.down, &mut connection.up] {
            if *link.conditions() != settings.link {
                link.set_conditions(settings.link.clone());
            }
        }
        while let Some(packet) = connection.up.receive(time.elapsed()) {
            match connection.up_guard.admit(&packet) {
                Ok(()) => server.renet.process_packet_from(&packet, connection.id)?,
                Err(hostile) => meter.refuse_packet(&hostile),
            }
        }
    }
    Ok(())
}

pub(super) fn from_server(
    time: Res<Time>,
    mut server: ResMut<Server>,
    mut lanes: Query<(&mut Connection, &mut LaneMeter)>,
) -> Result {
    for (mut connection, mut meter) in &mut lanes {
        for packet in server.renet.get_packets_to_send(connection.id)? {
            let sample = meter.current();
            let bytes = packet.len() + HEADER_BYTES;
            if packet.first() == Some(&RENET_ACK) {
                sample.renet_ack_bytes += bytes;
            } else {
                sample.wire_bytes += bytes;
                sample.packets += 1;
            }
            connection.down.send(time.elapsed(), bytes, packet);
        }
    }
    Ok(())
}

pub(super) fn to_client(time: Res<Time>, mut lanes: Query<(&mut Connection, &mut LaneMeter)>) {
    for (mut connection, mut meter) in &mut lanes {
        let connection = &mut *connection;
        connection.client.update(TICK);
        while let Some(packet) = connection.down.receive(time.elapsed()) {
            match connection.down_guard.admit(&packet) {
                Ok(()) => connection.client.process_packet(&packet),
                Err(hostile) => meter.refuse_packet(&hostile),
            }
        }
        meter.link = connection.down.stats();
    }
}

pub(super) fn from_client(time: Res<Time>, mut lanes: Query<(&mut Connection, &mut LaneMeter)>) {
    for (mut connection, mut meter) in &mut lanes {
        for packet in connection.client.get_packets_to_send() {
            let bytes = packet.len() + HEADER_BYTES;
            let sample = meter.current();
            if packet.first() == Some(&RENET_ACK) {
                sample.renet_ack_bytes += bytes;
            } else {
                sample.ack_bytes += bytes;
            }
            connection.up.send(time.elapsed(), bytes, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands the client every packet of a message but one.
    fn deliver_all_but(lost: Option<usize>, server: &mut Server, to: &mut Connection) -> usize {
        let packets = server.renet.get_packets_to_send(to.id).unwrap();
        for (index, packet) in packets.iter().enumerate() {
            if Some(index) != lost {
                to.client.process_packet(packet);
            }
        }
        packets.len()
    }

    #[test]
    fn a_message_is_lost_with_one_of_its_fragments_and_the_next_one_arrives() {
        let mut server = Server::default();
        let mut connection = server.connect(&Conditions::default(), 0);
        server
            .renet
            .send_message(connection.id, CHANNEL, vec![1; 36_157]);
        assert_eq!(deliver_all_but(Some(7), &mut server, &mut connection), 31);
        assert_eq!(connection.client.receive_message(CHANNEL), None);

        server
            .renet
            .send_message(connection.id, CHANNEL, vec![2; 36_157]);
        deliver_all_but(None, &mut server, &mut connection);
        let arrived = connection.client.receive_message(CHANNEL).unwrap();
        assert_eq!(&arrived[..], &vec![2; 36_157][..]);
    }
}
