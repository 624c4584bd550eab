//! Who comes, stays and goes.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::{PROTOCOL_VERSION, Welcome};
use cubewire_scene::TICKS_PER_SECOND;
use renet::ClientId;
use renetcode::{NETCODE_MAX_PACKET_BYTES, ServerResult};

use super::super::datagram::is_fit_for_server;
use super::super::spread::Spread;
use super::super::{ViewerSettings, token_version};
use super::{Guest, UdpServer};
use crate::replication::transport::guard::Guard;
use crate::replication::transport::{Purpose, WELCOME};
use crate::replication::{HEADER_BYTES, Sample};
use crate::simulation::World as CubeWorld;

impl UdpServer {
    /// Takes in what has come, as much as is taken at a time.
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
                // What others did to our datagrams, not the end of the socket.
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
        let mut guests = self.guests.values_mut();
        let known = guests.find(|guest| guest.address == from);
        match self.netcode.process_packet(from, datagram) {
            ServerResult::Payload { client_id, payload } => {
                let Some(guest) = known else {
                    return;
                };
                guest.traffic.count_up(Purpose::of(payload), bytes);
                match guest.guard.admit(payload) {
                    // It is connected, so renet knows it.
                    Ok(()) => drop(self.renet.process_packet_from(payload, client_id)),
                    Err(hostile) => self.leave(client_id, &hostile.to_string(), commands),
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
                if self.guests.contains_key(&client_id) {
                    self.leave(client_id, "another has come by the same number", commands);
                } else {
                    self.admit(client_id, addr, token_version(&user_data), world);
                }
            }
            ServerResult::ClientDisconnected { client_id, .. } => {
                self.socket.unassigned(bytes);
                self.leave(client_id, "it has gone", commands);
            }
            ServerResult::PacketToSend { addr, payload } => {
                let answer = self.socket.send(payload, addr);
                self.socket.unassigned(bytes + answer);
            }
            ServerResult::None => match known {
                Some(guest) => guest.traffic.control_bytes += bytes,
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
                "ignored a datagram from {from}, and perhaps more: it is of another program, was \
                 made with another key or for another address, or is of a viewer that is gone"
            );
        }
    }

    fn admit(&mut self, client: ClientId, address: SocketAddr, version: u16, world: &CubeWorld) {
        let welcome = Welcome {
            ticks_per_second: TICKS_PER_SECOND as u16,
            tick: world.tick(),
            initial: world.current().clone(),
        };
        let message = welcome
            .encode()
            .expect("the simulation's states are finite");
        self.renet.add_connection(client);
        self.renet.send_message(client, WELCOME, message);
        let guest = Guest {
            address,
            guard: Guard::of_the_sender(),
            initial: welcome.initial,
            lane: None,
            connected_for: Duration::ZERO,
            since_word: Duration::ZERO,
            is_refused: version != PROTOCOL_VERSION,
            spread: Spread::default(),
            traffic: Sample::default(),
        };
        if guest.is_refused {
            // The welcome tells it the version that is wanted here.
            warn!(
                "viewer {address} is refused: it speaks version {version} of the protocol, and this \
                 program version {PROTOCOL_VERSION}"
            );
        } else {
            self.admitted += 1;
            info!("viewer {address} has come");
        }
        self.guests.insert(client, guest);
    }

    /// Lets one go, whatever the reason, and tells it unless it went by itself.
    pub(super) fn leave(&mut self, client: ClientId, why: &str, commands: &mut Commands<'_, '_>) {
        // netcode can be made to hold two by one number.
        while let ServerResult::ClientDisconnected { addr, payload, .. } =
            self.netcode.disconnect(client)
        {
            if let Some(payload) = payload {
                let goodbye = self.socket.send(payload, addr);
                self.socket.unassigned(goodbye);
            }
        }
        self.renet.remove_connection(client);
        if let Some(guest) = self.guests.remove(&client) {
            info!("viewer {} has left: {why}", guest.address);
            let traffic = &guest.traffic;
            let bytes = traffic.wire_bytes
                + traffic.ack_bytes
                + traffic.renet_ack_bytes
                + traffic.control_bytes;
            self.socket.unassigned(bytes);
            if let Some((lane, _)) = guest.lane {
                commands.entity(lane).despawn();
            }
        }
    }

    /// Keeps connections alive, and lets those go that are not.
    pub(super) fn keep_up(&mut self, commands: &mut Commands<'_, '_>) {
        for client in self.netcode.clients_id() {
            if !self.guests.contains_key(&client) {
                self.leave(client, "", commands);
                continue;
            }
            match self.netcode.update_client(client) {
                ServerResult::PacketToSend { addr, payload } => {
                    let bytes = self.socket.send(payload, addr);
                    if let Some(guest) = self.guests.get_mut(&client) {
                        guest.traffic.control_bytes += bytes;
                    }
                }
                ServerResult::ClientDisconnected { addr, payload, .. } => {
                    if let Some(payload) = payload {
                        let goodbye = self.socket.send(payload, addr);
                        self.socket.unassigned(goodbye);
                    }
                    self.leave(client, "nothing came from it any more", commands);
                }
                _ => {}
            }
        }
        while self.renet.get_event().is_some() {}
        let leaving: Vec<_> = self
            .guests
            .iter()
            .filter_map(|(&client, guest)| {
                let silent = self.netcode.time_since_last_received_packet(client);
                let broken = self.renet.disconnect_reason(client);
                let why = if let Some(reason) = broken {
                    reason.to_string()
                } else if silent.is_some_and(|silent| silent > LONGEST_SILENCE) {
                    "nothing came from it any more".to_owned()
                } else if guest.lane.is_none() && guest.connected_for > LONGEST_SILENCE {
                    let why = if guest.is_refused {
                        "it was refused"
                    } else {
                        "it never said what it wants"
                    };
                    why.to_owned()
                } else {
                    return None;
                };
                Some((client, why))
            })
            .collect();
        for (client, why) in leaving {
            self.leave(client, &why, commands);
        }
    }
}

/// Datagrams taken in at a time: more than all viewers send in a frame, and a flood does not hold up
/// the game.
const MAX_DATAGRAMS: usize = 4096;

/// Strangers that the log tells of.
const MAX_REPORTED: usize = 64;

/// Who says nothing for so long is gone, whatever its token says.
const LONGEST_SILENCE: Duration = ViewerSettings::LONGEST_TIMEOUT;
