//! renet in one process: a server, and a client for each lane, with a link between the two.

use bevy::prelude::*;
use cubewire_link::{Conditions, Link};
use renet::{ClientId, RenetClient, RenetServer};

use super::guard::Guard;
use super::{Purpose, ReceiverMail, SNAPSHOTS, SenderMail, TICK, config};
use crate::replication::{HEADER_BYTES, LaneMeter, LaneSettings};

/// The simulation's side of every lane.
#[derive(Resource, Debug)]
pub(in crate::replication) struct Server {
    renet: RenetServer,
    clients: ClientId,
}

/// The other side of one lane, and the link to it.
#[derive(Component, Debug)]
pub(in crate::replication) struct Connection {
    id: ClientId,
    client: RenetClient,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    down_guard: Guard,
    up_guard: Guard,
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
    pub(in crate::replication) fn connect(
        &mut self,
        conditions: &Conditions,
        seed: u64,
    ) -> Connection {
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
            down_guard: Guard::of_the_receiver(),
            up_guard: Guard::of_the_sender(),
        }
    }
}

/// A lane that is gone leaves nothing on the server.
pub(in crate::replication) fn disconnect(
    removed: On<Remove, Connection>,
    lanes: Query<&Connection>,
    mut server: ResMut<Server>,
) {
    if let Ok(connection) = lanes.get(removed.entity) {
        server.renet.remove_connection(connection.id);
    }
}

type SenderEnd<'a> = (
    &'a mut Connection,
    &'a mut SenderMail,
    &'a LaneSettings,
    &'a mut LaneMeter,
);

pub(in crate::replication) fn to_server(
    time: Res<Time>,
    mut server: ResMut<Server>,
    mut lanes: Query<SenderEnd<'_>>,
) -> Result {
    server.renet.update(TICK);
    // Who comes and goes is known from the lanes; renet keeps its events until they are taken.
    while server.renet.get_event().is_some() {}
    for (mut connection, mut mail, settings, mut meter) in &mut lanes {
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
        while let Some(message) = server.renet.receive_message(connection.id, SNAPSHOTS) {
            mail.0.deliver(message);
        }
    }
    Ok(())
}

pub(in crate::replication) fn from_server(
    time: Res<Time>,
    mut server: ResMut<Server>,
    mut lanes: Query<(&mut Connection, &mut SenderMail, &mut LaneMeter)>,
) -> Result {
    for (mut connection, mut mail, mut meter) in &mut lanes {
        for message in mail.0.outgoing.drain(..) {
            server.renet.send_message(connection.id, SNAPSHOTS, message);
        }
        for packet in server.renet.get_packets_to_send(connection.id)? {
            let bytes = packet.len() + HEADER_BYTES;
            meter.current().count_down(Purpose::of(&packet), bytes);
            connection.down.send(time.elapsed(), bytes, packet);
        }
    }
    Ok(())
}

pub(in crate::replication) fn to_client(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut ReceiverMail, &mut LaneMeter)>,
) {
    for (mut connection, mut mail, mut meter) in &mut lanes {
        let connection = &mut *connection;
        connection.client.update(TICK);
        while let Some(packet) = connection.down.receive(time.elapsed()) {
            match connection.down_guard.admit(&packet) {
                Ok(()) => connection.client.process_packet(&packet),
                Err(hostile) => meter.refuse_packet(&hostile),
            }
        }
        while let Some(message) = connection.client.receive_message(SNAPSHOTS) {
            mail.0.deliver(message);
        }
        meter.link = connection.down.stats();
    }
}

pub(in crate::replication) fn from_client(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut ReceiverMail, &mut LaneMeter)>,
) {
    for (mut connection, mut mail, mut meter) in &mut lanes {
        for message in mail.0.outgoing.drain(..) {
            connection.client.send_message(SNAPSHOTS, message);
        }
        for packet in connection.client.get_packets_to_send() {
            let bytes = packet.len() + HEADER_BYTES;
            meter.current().count_up(Purpose::of(&packet), bytes);
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
            .send_message(connection.id, SNAPSHOTS, vec![1; 36_157]);
        assert_eq!(deliver_all_but(Some(7), &mut server, &mut connection), 31);
        assert_eq!(connection.client.receive_message(SNAPSHOTS), None);

        server
            .renet
            .send_message(connection.id, SNAPSHOTS, vec![2; 36_157]);
        deliver_all_but(None, &mut server, &mut connection);
        let arrived = connection.client.receive_message(SNAPSHOTS).unwrap();
        assert_eq!(&arrived[..], &vec![2; 36_157][..]);
    }
}
