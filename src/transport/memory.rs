//! renet in one process: a server, and a client for each lane, with a simulated link between the two.

use bevy::prelude::*;
use cubewire_link::{Link, LinkStats};
use cubewire_scene::TICK;
use renet::{ClientId, RenetClient, RenetServer};

use super::acks::{Flush, attribute_bytes, bundle, packets};
use super::guard::Guard;
use super::{SNAPSHOTS, config};
use crate::replication::transport::{End, ReceiverMail, SenderMail, TransportSystems};
use crate::replication::{HEADER_BYTES, LaneMeter, LinkSettings, LocalLane};

/// Connects every [`LocalLane`], over the link that its [`LinkSettings`] describe. Packets travel by the
/// simulation's clock.
#[derive(Debug)]
pub struct MemoryTransportPlugin;

impl Plugin for MemoryTransportPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Server>()
            .add_observer(connect)
            .add_observer(disconnect)
            .add_systems(
                FixedUpdate,
                (
                    server_receive.in_set(TransportSystems::Receive(End::Sender)),
                    server_flush.in_set(TransportSystems::Flush(End::Sender)),
                    client_receive.in_set(TransportSystems::Receive(End::Receiver)),
                    client_flush.in_set(TransportSystems::Flush(End::Receiver)),
                ),
            );
    }
}

/// The simulation's end of every lane.
#[derive(Resource, Debug)]
struct Server {
    renet: RenetServer,
    clients: ClientId,
}

/// The other end of one lane, and the link to it.
#[derive(Component, Debug)]
struct Connection {
    id: ClientId,
    client: RenetClient,
    downstream: Link<Vec<u8>>,
    upstream: Link<Vec<u8>>,
    client_guard: Guard,
    server_guard: Guard,
    client_flush: Flush,
    server_flush: Flush,
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
    /// Admits one more client.
    fn connect(&mut self, settings: &LinkSettings) -> Connection {
        let id = self.clients;
        let seed = settings.seed.wrapping_mul(2);
        let link = |direction| Link::new(settings.conditions.clone(), seed + direction);
        self.clients += 1;
        self.renet.add_connection(id);
        let mut client = RenetClient::new(config());
        client.set_connected();
        Connection {
            id,
            client,
            downstream: link(0),
            upstream: link(1),
            client_guard: Guard::for_client(),
            server_guard: Guard::for_server(),
            client_flush: Flush::default(),
            server_flush: Flush::default(),
        }
    }
}

fn connect(
    added: On<Add, LocalLane>,
    lanes: Query<&LinkSettings>,
    mut server: ResMut<Server>,
    mut commands: Commands,
) -> Result {
    let connection = server.connect(lanes.get(added.entity)?);
    commands.entity(added.entity).insert(connection);
    Ok(())
}

/// A lane that is gone leaves nothing on the server.
fn disconnect(
    removed: On<Remove, Connection>,
    lanes: Query<&Connection>,
    mut server: ResMut<Server>,
) {
    if let Ok(connection) = lanes.get(removed.entity) {
        server.renet.remove_connection(connection.id);
    }
}

type ServerEnd<'a> = (
    &'a mut Connection,
    &'a mut SenderMail,
    &'a LinkSettings,
    &'a mut LaneMeter,
);

/// Delivers acks to the senders.
fn server_receive(
    time: Res<Time>,
    mut server: ResMut<Server>,
    mut lanes: Query<ServerEnd<'_>>,
) -> Result {
    server.renet.update(TICK);
    // Connections are known from the lanes; renet keeps its events until they are taken.
    while server.renet.get_event().is_some() {}
    for (mut connection, mut mail, settings, mut meter) in &mut lanes {
        let connection = &mut *connection;
        for link in [&mut connection.downstream, &mut connection.upstream] {
            if *link.conditions() != settings.conditions {
                link.set_conditions(settings.conditions.clone());
            }
        }
        while let Some(datagram) = connection.upstream.receive(time.elapsed()) {
            for packet in packets(&datagram) {
                match connection.server_guard.admit(packet) {
                    Ok(()) => server.renet.process_packet_from(packet, connection.id)?,
                    Err(hostile) => meter.refuse_packet(&hostile),
                }
                connection.server_flush.received(packet);
            }
        }
        while let Some(message) = server.renet.receive_message(connection.id, SNAPSHOTS) {
            mail.0.deliver(message);
        }
    }
    Ok(())
}

/// Sends snapshots.
fn server_flush(
    time: Res<Time>,
    mut server: ResMut<Server>,
    mut lanes: Query<(&mut Connection, &mut SenderMail, &mut LaneMeter)>,
) -> Result {
    for (mut connection, mut mail, mut meter) in &mut lanes {
        for message in mail.0.outgoing.drain(..) {
            server.renet.send_message(connection.id, SNAPSHOTS, message);
            connection.server_flush.sends();
        }
        if !connection.server_flush.take(TICK) {
            continue;
        }
        for datagram in bundle(server.renet.get_packets_to_send(connection.id)?) {
            let bytes = datagram.len() + HEADER_BYTES;
            let traffic = &mut meter.current().traffic;
            for (purpose, bytes) in attribute_bytes(&datagram, bytes) {
                traffic.count_downstream(purpose, bytes);
            }
            connection.downstream.send(time.elapsed(), bytes, datagram);
        }
    }
    Ok(())
}

/// Delivers snapshots to the receivers.
fn client_receive(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut ReceiverMail, &mut LaneMeter)>,
) {
    for (mut connection, mut mail, mut meter) in &mut lanes {
        let connection = &mut *connection;
        connection.client.update(TICK);
        while let Some(datagram) = connection.downstream.receive(time.elapsed()) {
            for packet in packets(&datagram) {
                match connection.client_guard.admit(packet) {
                    Ok(()) => connection.client.process_packet(packet),
                    Err(hostile) => meter.refuse_packet(&hostile),
                }
                connection.client_flush.received(packet);
            }
        }
        while let Some(message) = connection.client.receive_message(SNAPSHOTS) {
            mail.0.deliver(message);
        }
        let (link, before) = (connection.downstream.stats(), meter.link);
        let lost = |link: LinkStats| link.lost + link.queue_dropped;
        meter.current().lost = lost(link).saturating_sub(lost(before)) as usize;
        meter.link = link;
    }
}

/// Sends acks.
fn client_flush(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut ReceiverMail, &mut LaneMeter)>,
) {
    for (mut connection, mut mail, mut meter) in &mut lanes {
        for message in mail.0.outgoing.drain(..) {
            connection.client.send_message(SNAPSHOTS, message);
            connection.client_flush.sends();
        }
        if !connection.client_flush.take(TICK) {
            continue;
        }
        for datagram in bundle(connection.client.get_packets_to_send()) {
            let bytes = datagram.len() + HEADER_BYTES;
            let traffic = &mut meter.current().traffic;
            for (purpose, bytes) in attribute_bytes(&datagram, bytes) {
                traffic.count_upstream(purpose, bytes);
            }
            connection.upstream.send(time.elapsed(), bytes, datagram);
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
        let mut connection = server.connect(&LinkSettings::PERFECT);
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
