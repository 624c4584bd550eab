//! Connects clients, keeps their connections alive, and disconnects them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bevy_ecs::prelude::*;
use cubewire_protocol::netcode::{is_from_client, is_request};
use renetcode::{NETCODE_MAX_PACKET_BYTES, NetcodeServer, ServerResult};

use super::super::{MAX_DATAGRAMS, overhead_bytes, since_1970};
use super::handshakes::{Admitted, Step};
use super::{ClientAddress, ClientId, Handle, TokenData, UdpHost};
use crate::renet_connection::{FROM_CLIENT_BYTES, RenetConnection};
use crate::traffic::{Traffic, header_bytes};
use crate::transport::{Client, MessageBuffer};

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u64,
    /// In order of connection.
    pub(super) number: u64,
    /// The client's own netcode server: see [`handshakes`](super::handshakes).
    pub(super) netcode: Box<NetcodeServer>,
    pub(super) renet: RenetConnection,
    /// Whether a message or a datagram has arrived.
    pub(super) has_spoken: bool,
    /// Whether the client is only sent its last messages.
    pub(super) is_leaving: bool,
    pub(super) traffic: Traffic,
    /// Disconnect reason, once known.
    pub(super) ended: Option<String>,
}

impl UdpHost {
    /// Processes received datagrams, up to [`MAX_DATAGRAMS`].
    pub(super) fn read(&mut self, commands: &mut Commands<'_, '_>) {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.receive(&mut buffer) {
                Ok((length, from)) => {
                    let bytes = length + header_bytes(from.ip());
                    if !is_from_client(&buffer[..length], since_1970()) {
                        self.socket.unassigned(bytes);
                        self.ignore(from);
                        continue;
                    }
                    self.datagram(&mut buffer[..length], from, commands);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // ICMP errors caused by datagrams sent earlier; the socket still works.
                Err(_) => {}
            }
        }
    }

    fn datagram(&mut self, datagram: &mut [u8], from: SocketAddr, commands: &mut Commands<'_, '_>) {
        let bytes = datagram.len() + header_bytes(from.ip());
        let known = self.clients.get(&from).map(|known| known.has_spoken);
        let has_room = self.clients.len() < self.max_clients;
        let step = match known {
            // netcode would take an unauthenticated request as a sign of life. Only a client that has not sent any
            // message or datagram yet may start again.
            Some(true) if is_request(datagram) => Step::Ignored,
            Some(false) if is_request(datagram) => self.handshakes.request(datagram, from, true),
            None if is_request(datagram) => self.handshakes.request(datagram, from, has_room),
            _ => self.handshakes.response(datagram, from, has_room || known.is_some()),
        };
        match step {
            Step::Answer(answer) => {
                let answer = self.socket.send(&answer, from);
                self.socket.unassigned(bytes + answer);
            }
            Step::Connected(connected) => {
                let answer = self.socket.send(&connected.answer, from);
                self.socket.unassigned(bytes + answer);
                self.remove(from, "it connected again");
                self.admit(connected, from, commands);
            }
            Step::Ignored => match self.clients.get_mut(&from) {
                Some(client) if is_request(datagram) => {
                    client.traffic.received.control_bytes += bytes as u64;
                }
                Some(_) => self.client_datagram(datagram, from),
                None => {
                    self.socket.unassigned(bytes);
                    self.ignore(from);
                }
            },
        }
    }

    /// Processes a datagram from a client's address. The address may be spoofed.
    fn client_datagram(&mut self, datagram: &mut [u8], from: SocketAddr) {
        let bytes = datagram.len() + header_bytes(from.ip());
        let Some(client) = self.clients.get_mut(&from) else {
            return;
        };
        let received = &mut client.traffic.received;
        match client.netcode.process_packet(from, datagram) {
            ServerResult::Payload { payload, .. } => {
                received.count(payload, bytes);
                if let Err(hostile) = client.renet.receive(self.now, payload) {
                    self.remove(from, &hostile);
                }
            }
            ServerResult::ClientDisconnected { .. } => {
                self.socket.unassigned(bytes);
                self.remove(from, "it has closed the connection");
            }
            _ => received.control_bytes += bytes as u64,
        }
    }

    fn ignore(&mut self, from: SocketAddr) {
        self.socket.traffic.ignored += 1;
        self.reports.unauthenticated(from);
    }

    fn admit(&mut self, connected: Admitted, address: SocketAddr, commands: &mut Commands<'_, '_>) {
        let Admitted { mut netcode, id, user_data, .. } = connected;
        let before = self.clients.iter().find(|(_, client)| client.id == id);
        if let Some((&before, client)) = before {
            let silence = client.netcode.time_since_last_received_packet(id);
            if !client.is_leaving && silence.is_none_or(|silence| silence < MIN_SILENCE) {
                self.reports.client(&format!("client {address} is refused: its number is in use"));
                return self.dismiss(&mut netcode, id, address);
            }
            self.remove(before, "it has connected again from elsewhere");
        }
        self.reports.client(&format!("client {address} has connected"));
        self.admitted += 1;
        commands.spawn((
            Client,
            Handle { address, number: self.admitted },
            ClientId(id),
            ClientAddress(address),
            TokenData(user_data),
            MessageBuffer::new(overhead_bytes(address.ip())),
        ));
        let client = Connection {
            id,
            number: self.admitted,
            netcode,
            renet: RenetConnection::new(FROM_CLIENT_BYTES),
            has_spoken: false,
            is_leaving: false,
            traffic: Traffic::default(),
            ended: None,
        };
        self.clients.insert(address, client);
    }

    /// Sends a disconnect to a client, unless the client has disconnected.
    fn dismiss(&mut self, netcode: &mut NetcodeServer, id: u64, address: SocketAddr) {
        if let ServerResult::ClientDisconnected { payload: Some(payload), .. } =
            netcode.disconnect(id)
        {
            let bytes = self.socket.send(payload, address);
            self.socket.unassigned(bytes);
        }
    }

    /// Disconnects a client, if it exists, and logs the reason.
    pub(super) fn forget(&mut self, address: SocketAddr, why: &str) -> Option<Connection> {
        let mut client = self.clients.remove(&address)?;
        self.dismiss(&mut client.netcode, client.id, address);
        // A client that was refused disconnects because of that, so the earlier reason is the right one.
        let why = client.ended.as_deref().unwrap_or(why);
        self.reports.client(&format!("client {address} is disconnected: {why}"));
        Some(client)
    }

    /// Disconnects a client, if it exists. Its entity is despawned after the received messages were processed.
    pub(super) fn remove(&mut self, address: SocketAddr, why: &str) {
        if let Some(client) = self.forget(address, why) {
            let handle = Handle { address, number: client.number };
            self.ended.insert(handle, (client, why.to_owned()));
        }
    }

    /// Keeps connections alive, and removes the ones that timed out.
    pub(super) fn keep_alive(&mut self, delta: Duration) {
        let mut silent = Vec::new();
        for (&address, client) in &mut self.clients {
            client.netcode.update(delta);
            let last = client.netcode.time_since_last_received_packet(client.id);
            let mut is_silent = last.is_some_and(|last| last > MAX_SILENCE);
            let payload = match client.netcode.update_client(client.id) {
                ServerResult::PacketToSend { payload, .. } => Some(payload),
                ServerResult::ClientDisconnected { payload, .. } => {
                    is_silent = true;
                    payload
                }
                _ => None,
            };
            if let Some(payload) = payload {
                let bytes = self.socket.send(payload, address);
                client.traffic.sent.control_bytes += bytes as u64;
            }
            if is_silent {
                silent.push(address);
            }
        }
        for address in silent {
            self.remove(address, "no packets were received from it");
        }
    }
}

/// Clients send at least ten times a second, so one that is silent for longer has crashed, and another may connect with
/// its id.
const MIN_SILENCE: Duration = Duration::from_secs(1);

/// Limit of a client's silence, whatever timeout its token sets.
const MAX_SILENCE: Duration = Duration::from_secs(30);
