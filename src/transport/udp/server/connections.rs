//! Connects clients, keeps their connections alive, and disconnects them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::{PROTOCOL_VERSION, Welcome};
use cubewire_scene::TICKS_PER_SECOND;
use renet::ClientId;
use renetcode::{NETCODE_MAX_PACKET_BYTES, ServerResult};

use super::super::datagram::is_fit_for_server;
use super::super::pacer::Pacer;
use super::super::{ViewerSettings, token_version};
use super::{Client, UdpServer};
use crate::replication::{HEADER_BYTES, Traffic};
use crate::simulation::CubeWorld;
use crate::transport::WELCOME;
use crate::transport::acks::{Flush, packets, shares};
use crate::transport::guard::Guard;

impl UdpServer {
    /// Processes the datagrams that have arrived, up to [`MAX_DATAGRAMS`].
    pub(super) fn receive(&mut self, world: &CubeWorld, commands: &mut Commands<'_, '_>) {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.udp.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    let bytes = length + HEADER_BYTES;
                    self.socket.traffic.received += 1;
                    self.socket.traffic.received_bytes += bytes as u64;
                    if !is_fit_for_server(&buffer[..length]) {
                        self.socket.unassigned(bytes);
                        self.ignore(from);
                        continue;
                    }
                    self.datagram(&mut buffer[..length], from, world, commands);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // ICMP errors caused by datagrams sent earlier; the socket still works.
                Err(_) => {}
            }
        }
    }

    fn datagram(
        &mut self,
        datagram: &mut [u8],
        from: SocketAddr,
        world: &CubeWorld,
        commands: &mut Commands<'_, '_>,
    ) {
        let bytes = datagram.len() + HEADER_BYTES;
        let mut clients = self.clients.values_mut();
        let known = clients.find(|client| client.address == from);
        match self.netcode.process_packet(from, datagram) {
            ServerResult::Payload { client_id, payload } => {
                let Some(client) = known else {
                    return;
                };
                for (purpose, bytes) in shares(payload, bytes) {
                    client.traffic.count_upstream(purpose, bytes);
                }
                for packet in packets(payload) {
                    if let Err(hostile) = client.guard.admit(packet) {
                        self.remove(client_id, &hostile.to_string(), commands);
                        return;
                    }
                    client.renet_flush.received(packet);
                    // The client is connected, so renet knows its id.
                    drop(self.renet.process_packet_from(packet, client_id));
                }
            }
            ServerResult::ClientConnected {
                client_id,
                addr,
                user_data,
                payload,
            } => {
                let answer = self.socket.send(payload, addr);
                self.socket.unassigned(bytes + answer);
                if self.clients.contains_key(&client_id) {
                    self.remove(
                        client_id,
                        "another connected with the same number",
                        commands,
                    );
                } else {
                    self.admit(client_id, addr, token_version(&user_data), world);
                }
            }
            ServerResult::ClientDisconnected { client_id, .. } => {
                self.socket.unassigned(bytes);
                self.remove(client_id, "it left, or was silent", commands);
            }
            ServerResult::PacketToSend { addr, payload } => {
                let answer = self.socket.send(payload, addr);
                self.socket.unassigned(bytes + answer);
            }
            ServerResult::None => match known {
                Some(client) => client.traffic.control_bytes += bytes,
                None => {
                    self.socket.unassigned(bytes);
                    self.ignore(from);
                }
            },
        }
    }

    fn ignore(&mut self, from: SocketAddr) {
        self.socket.traffic.ignored += 1;
        if self.reported.len() < MAX_REPORTED && self.reported.insert(from) {
            warn!(
                "ignored a datagram from {from}; further ones are not logged: it comes from another \
                 program, or from a viewer that has another key, connects to another address, or \
                 was disconnected"
            );
        }
    }

    fn admit(&mut self, id: ClientId, address: SocketAddr, version: u16, world: &CubeWorld) {
        let welcome = Welcome {
            ticks_per_second: TICKS_PER_SECOND as u16,
            tick: world.tick(),
            initial: world.current().clone(),
        };
        let message = welcome
            .encode()
            .expect("the simulation's states are finite");
        self.renet.add_connection(id);
        self.renet.send_message(id, WELCOME, message);
        let mut client = Client {
            address,
            guard: Guard::for_server(),
            initial: welcome.initial,
            lane: None,
            connected_for: Duration::ZERO,
            since_ack: Duration::ZERO,
            is_refused: version != PROTOCOL_VERSION,
            pacer: Pacer::default(),
            traffic: Traffic::default(),
            renet_flush: Flush::default(),
        };
        client.renet_flush.sends();
        if client.is_refused {
            // The welcome carries the version of this program.
            warn!(
                "viewer {address} is refused: it has version {version} of the protocol, and this \
                 program has version {PROTOCOL_VERSION}"
            );
        } else {
            self.admitted += 1;
            info!("viewer {address} has connected");
        }
        self.clients.insert(id, client);
    }

    /// Disconnects a client, logs the reason, and notifies the client unless it disconnected itself.
    pub(super) fn remove(&mut self, id: ClientId, why: &str, commands: &mut Commands<'_, '_>) {
        // netcode may hold two connections with the same id.
        while let ServerResult::ClientDisconnected { addr, payload, .. } =
            self.netcode.disconnect(id)
        {
            if let Some(payload) = payload {
                let bytes = self.socket.send(payload, addr);
                self.socket.unassigned(bytes);
            }
        }
        self.renet.remove_connection(id);
        if let Some(client) = self.clients.remove(&id) {
            info!("viewer {} is disconnected: {why}", client.address);
            self.socket.unassigned(client.traffic.total_bytes());
            if let Some((lane, _)) = client.lane {
                commands.entity(lane).despawn();
            }
        }
    }

    /// Keeps connections alive, and removes those that timed out or failed.
    pub(super) fn keep_alive(&mut self, commands: &mut Commands<'_, '_>) {
        for id in self.netcode.clients_id() {
            if !self.clients.contains_key(&id) {
                self.remove(id, "", commands);
                continue;
            }
            match self.netcode.update_client(id) {
                ServerResult::PacketToSend { addr, payload } => {
                    let bytes = self.socket.send(payload, addr);
                    if let Some(client) = self.clients.get_mut(&id) {
                        client.traffic.control_bytes += bytes;
                    }
                }
                ServerResult::ClientDisconnected { addr, payload, .. } => {
                    if let Some(payload) = payload {
                        let bytes = self.socket.send(payload, addr);
                        self.socket.unassigned(bytes);
                    }
                    self.remove(id, TIMED_OUT, commands);
                }
                _ => {}
            }
        }
        while self.renet.get_event().is_some() {}
        let leaving: Vec<_> = self
            .clients
            .iter()
            .filter_map(|(&id, client)| {
                let silent = self.netcode.time_since_last_received_packet(id);
                let broken = self.renet.disconnect_reason(id);
                let why = if let Some(reason) = broken {
                    reason.to_string()
                } else if silent.is_some_and(|silent| silent > MAX_SILENCE) {
                    TIMED_OUT.to_owned()
                } else if client.lane.is_none() && client.connected_for > MAX_SILENCE {
                    let why = if client.is_refused {
                        "it was refused"
                    } else {
                        "it never requested anything"
                    };
                    why.to_owned()
                } else {
                    return None;
                };
                Some((id, why))
            })
            .collect();
        for (id, why) in leaving {
            self.remove(id, &why, commands);
        }
    }
}

/// Datagrams processed in one frame, at most: more than all viewers send in that time, yet few enough
/// that a flood does not stall the game.
const MAX_DATAGRAMS: usize = 4096;

/// Unknown senders that are logged, at most.
const MAX_REPORTED: usize = 64;

/// A client that is silent for longer is removed, whatever timeout its token specifies.
const MAX_SILENCE: Duration = ViewerSettings::MAX_TIMEOUT;

const TIMED_OUT: &str = "nothing was received from it any more";
