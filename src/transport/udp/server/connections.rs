//! Connects clients, keeps their connections alive, and disconnects them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{Fingerprint, Plan};
use cubewire_protocol::netcode::{is_from_client, is_request};
use cubewire_protocol::{MessageChannel, PROTOCOL_VERSION, Welcome};
use renetcode::{NETCODE_MAX_PACKET_BYTES, NetcodeServer, ServerResult};

use super::super::pacer::Pacer;
use super::super::viewer::ViewerSettings;
use super::super::{since_1970, token_version};
use super::handshakes::{Connected, Step};
use super::{Client, UdpServer};
use crate::replication::transport::End;
use crate::replication::{HEADER_BYTES, Traffic};
use crate::simulation::CubeWorld;

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
                    if !is_from_client(&buffer[..length], since_1970()) {
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
        let mut clients = self.clients.iter();
        let known = clients.find(|(_, client)| client.address == from);
        let known = known.map(|(&id, client)| (id, client.lane.is_some()));
        let has_room = self.clients.len() < self.max_viewers;
        let step = match known {
            // netcode would take an unauthenticated request for a sign of life. Only a viewer that has never asked for
            // anything may start again.
            Some((_, true)) if is_request(datagram) => Step::Ignored,
            Some((_, false)) if is_request(datagram) => {
                self.handshakes.request(datagram, from, true)
            }
            None if is_request(datagram) => self.handshakes.request(datagram, from, has_room),
            _ => {
                let has_room = has_room || known.is_some();
                self.handshakes.response(datagram, from, has_room)
            }
        };
        match (step, known) {
            (Step::Answer(answer), _) => {
                let answer = self.socket.send(&answer, from);
                self.socket.unassigned(bytes + answer);
            }
            (Step::Connected(connected), _) => {
                let answer = self.socket.send(&connected.answer, from);
                self.socket.unassigned(bytes + answer);
                if let Some((id, ..)) = known {
                    self.remove(id, "it connected again", commands);
                }
                self.admit(connected, from, world);
            }
            (Step::Ignored, Some((id, ..))) if !is_request(datagram) => {
                self.client_datagram(id, datagram, commands);
            }
            (Step::Ignored, Some((id, ..))) => {
                if let Some(client) = self.clients.get_mut(&id) {
                    client.traffic.control_bytes += bytes;
                }
            }
            (Step::Ignored, None) => {
                self.socket.unassigned(bytes);
                self.ignore(from);
            }
        }
    }

    /// Processes a datagram from the address of a client, which may not be its own.
    fn client_datagram(&mut self, id: u64, datagram: &mut [u8], commands: &mut Commands<'_, '_>) {
        let bytes = datagram.len() + HEADER_BYTES;
        let Some(client) = self.clients.get_mut(&id) else {
            return;
        };
        match client.netcode.process_packet(client.address, datagram) {
            ServerResult::Payload { payload, .. } => {
                client.traffic.count(End::Receiver, payload, bytes);
                if let Err(hostile) = client.channel.on_datagram(self.now, payload) {
                    self.remove(id, &hostile.to_string(), commands);
                }
            }
            ServerResult::ClientDisconnected { .. } => {
                client.traffic.control_bytes += bytes;
                self.remove(id, "it left", commands);
            }
            _ => client.traffic.control_bytes += bytes,
        }
    }

    fn ignore(&mut self, from: SocketAddr) {
        self.socket.traffic.ignored += 1;
        self.reports.unauthenticated(from);
    }

    /// The welcome says what the world is, and what codes it.
    fn admit(&mut self, connected: Connected, address: SocketAddr, world: &CubeWorld) {
        let Connected {
            mut netcode,
            id,
            user_data,
            ..
        } = connected;
        if self.clients.contains_key(&id) {
            // Numbers are random: who has one twice does not mean well.
            self.reports.trouble(&format!(
                "viewer {address} is refused: another has its number"
            ));
            return self.dismiss(&mut netcode, id, address);
        }
        let welcome = Welcome {
            plan: Plan::cubes(),
            tick: world.tick(),
            fingerprint: Fingerprint::shipped(),
            initial: world.current().clone(),
        };
        let message = welcome
            .encode()
            .expect("the simulation's states are finite");
        let mut channel = MessageChannel::default();
        channel
            .send_reliable(&message)
            .expect("the demo's welcome is no longer than a message may be");
        let version = token_version(&user_data);
        let client = Client {
            address,
            netcode,
            channel,
            initial: welcome.initial,
            lane: None,
            fallback: None,
            since: self.now,
            awaits_ack: false,
            is_refused: version != PROTOCOL_VERSION,
            refused_acks: 0,
            pacer: Pacer::default(),
            traffic: Traffic::default(),
            kbps: [None; 2],
        };
        if client.is_refused {
            // The welcome carries the version of this program.
            self.reports.trouble(&format!(
                "viewer {address} is refused: it has version {version} of the protocol, and this \
                 program has version {PROTOCOL_VERSION}"
            ));
        } else {
            self.admitted += 1;
            self.reports
                .viewer(&format!("viewer {address} has connected"));
        }
        self.clients.insert(id, client);
    }

    /// Tells a client that it is disconnected, unless it disconnected itself.
    fn dismiss(&mut self, netcode: &mut NetcodeServer, id: u64, address: SocketAddr) {
        if let ServerResult::ClientDisconnected {
            payload: Some(payload),
            ..
        } = netcode.disconnect(id)
        {
            let bytes = self.socket.send(payload, address);
            self.socket.unassigned(bytes);
        }
    }

    /// Disconnects a client, logs the reason, and notifies the client unless it disconnected itself.
    pub(super) fn remove(&mut self, id: u64, why: &str, commands: &mut Commands<'_, '_>) {
        let Some(mut client) = self.clients.remove(&id) else {
            return;
        };
        let address = client.address;
        self.dismiss(&mut client.netcode, id, address);
        self.reports
            .viewer(&format!("viewer {address} is disconnected: {why}"));
        self.socket.unassigned(client.traffic.total_bytes());
        if let Some((lane, _)) = client.lane {
            commands.entity(lane).despawn();
        }
    }

    /// Keeps connections alive, and removes those that timed out or failed.
    pub(super) fn keep_alive(&mut self, commands: &mut Commands<'_, '_>) {
        let mut leaving = Vec::new();
        for (&id, client) in &mut self.clients {
            let why = match client.netcode.update_client(id) {
                ServerResult::PacketToSend { payload, .. } => {
                    client.traffic.control_bytes += self.socket.send(payload, client.address);
                    client.why_remove(id, self.now)
                }
                ServerResult::ClientDisconnected { payload, .. } => {
                    if let Some(payload) = payload {
                        client.traffic.control_bytes += self.socket.send(payload, client.address);
                    }
                    Some(TIMED_OUT.to_owned())
                }
                _ => client.why_remove(id, self.now),
            };
            if let Some(why) = why {
                leaving.push((id, why));
            }
        }
        for (id, why) in leaving {
            self.remove(id, &why, commands);
        }
    }
}

impl Client {
    /// Why the client cannot stay connected, if it cannot.
    fn why_remove(&self, id: u64, now: Duration) -> Option<String> {
        let silent = self.netcode.time_since_last_received_packet(id);
        if self.channel.backlog_bytes() > MAX_BACKLOG_BYTES {
            Some("too much waits for it to say that it has arrived".to_owned())
        } else if silent.is_some_and(|silent| silent > MAX_SILENCE) {
            Some(TIMED_OUT.to_owned())
        } else if self.refused_acks > MAX_REFUSED_ACKS {
            Some("it acks what was never sent".to_owned())
        } else if self.lane.is_none() && now > self.since + MAX_IDLE {
            let why = if self.is_refused {
                "it was refused"
            } else {
                "it never requested anything"
            };
            Some(why.to_owned())
        } else {
            None
        }
    }
}

/// Datagrams processed in one frame, at most: more than all viewers send in that time, yet few enough
/// that a flood does not stall the game.
const MAX_DATAGRAMS: usize = 4096;

/// A client that is silent for longer is removed, whatever timeout its token specifies.
const MAX_SILENCE: Duration = ViewerSettings::MAX_TIMEOUT;

/// A client that has requested nothing is removed: with the welcome on a bad network, a viewer takes a few seconds.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// What waits for a client to acknowledge it, at most: the welcome is a sixth of this.
const MAX_BACKLOG_BYTES: usize = 256 << 10;

/// Invalid acks after which a client is removed. A viewer sends none.
const MAX_REFUSED_ACKS: u64 = 16;

const TIMED_OUT: &str = "nothing was received from it any more";
