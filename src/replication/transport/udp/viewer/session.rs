//! One connection, from the token to the goodbye.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use cubewire_codec::{Limits, Sequence};
use cubewire_link::{Conditions, Link};
use cubewire_protocol::{PROTOCOL_VERSION, Request, RequestAck, Welcome};
use cubewire_scene::{CUBES, TICKS_PER_SECOND};
use renet::RenetClient;
use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient,
};

use super::super::datagram::is_fit_for_viewer;
use super::super::{PROTOCOL_ID, Security, TOKEN_SECONDS, since_1970, token_data};
use super::{ViewError, ViewerSettings};
use crate::replication::transport::guard::Guard;
use crate::replication::transport::{Purpose, REQUESTS, WELCOME, config};
use crate::replication::{HEADER_BYTES, LaneSettings, Sample};

pub(super) struct Session {
    socket: UdpSocket,
    pub(super) netcode: NetcodeClient,
    pub(super) renet: RenetClient,
    guard: Guard,
    /// What the panel's network adds to the real one.
    pub(super) down: Link<Vec<u8>>,
    pub(super) up: Link<Vec<u8>>,
    pub(super) is_welcomed: bool,
    asked: Option<Asked>,
    /// Whether the server's machine said that nobody listens.
    is_unreachable: bool,
    /// Packets that the meter does not have yet.
    pub(super) traffic: Sample,
    pub(super) since_flush: Duration,
}

/// netcode's own would show the keys.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("is_welcomed", &self.is_welcomed)
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// What the server was asked for last.
#[derive(Clone, Copy, Debug)]
struct Asked {
    request: Request,
    is_granted: bool,
    /// How long ago it was last said.
    since: Duration,
}

impl Session {
    pub(super) fn new(settings: &ViewerSettings) -> Result<Self, ViewError> {
        let server = settings.server;
        if settings.security == Security::Insecure && !server.ip().is_loopback() {
            return Err(ViewError::InsecureInPublic(server));
        }
        let any = match server {
            SocketAddr::V4(_) => "0.0.0.0:0",
            SocketAddr::V6(_) => "[::]:0",
        };
        let socket = UdpSocket::bind(any).and_then(|socket| {
            // From others, nothing is let in.
            socket.connect(server)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let socket = socket.map_err(|source| ViewError::Socket { server, source })?;
        let now = since_1970();
        let no_token = |reason: String| ViewError::Token { server, reason };
        let connect_token = ConnectToken::generate(
            now,
            PROTOCOL_ID,
            TOKEN_SECONDS,
            rand::random(),
            settings
                .timeout
                .min(ViewerSettings::LONGEST_TIMEOUT)
                .as_secs()
                .max(1) as i32,
            vec![server],
            Some(&token_data(PROTOCOL_VERSION)),
            &settings.security.private_key(),
        )
        .map_err(|error| no_token(error.to_string()))?;
        let netcode = NetcodeClient::new(now, ClientAuthentication::Secure { connect_token })
            .map_err(|error| no_token(error.to_string()))?;
        let mut renet = RenetClient::new(config());
        renet.set_connected();
        let seed = netcode.client_id();
        let link = |direction| Link::new(Conditions::PERFECT, seed.wrapping_add(direction));
        Ok(Self {
            socket,
            netcode,
            renet,
            guard: Guard::of_the_receiver(),
            down: link(0),
            up: link(1),
            is_welcomed: false,
            asked: None,
            is_unreachable: false,
            traffic: Sample::default(),
            since_flush: Duration::ZERO,
        })
    }

    /// Takes in what has come from the server, and keeps the connection alive.
    pub(super) fn receive(
        &mut self,
        now: Duration,
        delta: Duration,
        server: SocketAddr,
    ) -> Result<(), ViewError> {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    self.is_unreachable = false;
                    let bytes = length + HEADER_BYTES;
                    if !is_fit_for_viewer(&buffer[..length]) {
                        self.traffic.control_bytes += bytes;
                        continue;
                    }
                    match self.netcode.process_packet(&mut buffer[..length]) {
                        Some(payload) => {
                            self.traffic.count_down(Purpose::of(payload), bytes);
                            self.down.send(now, bytes, payload.to_vec());
                        }
                        None => self.traffic.control_bytes += bytes,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.is_unreachable = true;
                }
                Err(_) => {}
            }
        }
        self.renet.update(delta);
        while let Some(packet) = self.down.receive(now) {
            if let Err(hostile) = self.guard.admit(&packet) {
                return Err(ViewError::Hostile {
                    server,
                    reason: hostile.to_string(),
                });
            }
            self.renet.process_packet(&packet);
        }
        if let Some(reason) = self.renet.disconnect_reason() {
            return Err(ViewError::Hostile {
                server,
                reason: reason.to_string(),
            });
        }
        if let Some((datagram, _)) = self.netcode.update(delta)
            && self.socket.send(datagram).is_ok()
        {
            self.traffic.control_bytes += datagram.len() + HEADER_BYTES;
        }
        Ok(())
    }

    /// Why netcode has given up, if it has.
    pub(super) fn check(&self, settings: &ViewerSettings) -> Result<(), ViewError> {
        let server = settings.server;
        let seconds = settings.timeout.as_secs();
        let Some(reason) = self.netcode.disconnect_reason() else {
            return Ok(());
        };
        Err(match reason {
            _ if self.is_unreachable => ViewError::NothingListens(server),
            DisconnectReason::ConnectionRequestTimedOut
            | DisconnectReason::ConnectionResponseTimedOut
            | DisconnectReason::ConnectTokenExpired => ViewError::NoAnswer { server, seconds },
            DisconnectReason::ConnectionTimedOut => ViewError::Lost { server, seconds },
            DisconnectReason::ConnectionDenied => ViewError::Full(server),
            DisconnectReason::DisconnectedByClient | DisconnectReason::DisconnectedByServer => {
                ViewError::Ended(server)
            }
        })
    }

    /// What the welcome says, if it has come now.
    pub(super) fn welcome(&mut self, server: SocketAddr) -> Result<Option<Welcome>, ViewError> {
        let Some(message) = self.renet.receive_message(WELCOME) else {
            return Ok(None);
        };
        let welcome = Welcome::decode(&message, Limits::default())?;
        let cubes = welcome.initial.cubes.len();
        if cubes != CUBES || u32::from(welcome.ticks_per_second) != TICKS_PER_SECOND {
            return Err(ViewError::OtherGame {
                server,
                cubes,
                ticks_per_second: welcome.ticks_per_second,
            });
        }
        self.is_welcomed = true;
        Ok(Some(welcome))
    }

    /// Takes in what the server has granted, and gives the tick that it told of last.
    pub(super) fn granted(&mut self) -> Option<u64> {
        let mut newest = None;
        while let Some(message) = self.renet.receive_message(REQUESTS) {
            if let (Ok(ack), Some(asked)) = (RequestAck::decode(&message), &mut self.asked) {
                asked.is_granted |= ack.number == asked.request.number;
                newest = Some(ack.tick);
            }
        }
        newest
    }

    /// Says what the lane's settings ask for, until the server has granted it.
    pub(super) fn ask(&mut self, settings: &LaneSettings, delta: Duration) {
        let last = self.asked.map(|asked| asked.request);
        let number = last.map_or(Sequence(0), |last| last.number);
        let stages = match settings.stages.check() {
            Ok(()) => settings.stages,
            Err(_) => last.map_or(LaneSettings::default().stages, |last| last.stages),
        };
        let wanted = Request {
            number,
            stages,
            send_interval_ticks: settings.send_interval_ticks.clamp(1, 255) as u8,
            baseline: settings.baseline,
        };
        let is_due = match &mut self.asked {
            Some(asked) if asked.request == wanted => {
                asked.since += delta;
                !asked.is_granted && asked.since >= ASK_AGAIN
            }
            _ => {
                self.asked = Some(Asked {
                    request: Request {
                        number: number.next(),
                        ..wanted
                    },
                    is_granted: false,
                    since: Duration::ZERO,
                });
                true
            }
        };
        if let Some(asked) = &mut self.asked
            && is_due
        {
            asked.since = Duration::ZERO;
            self.renet.send_message(REQUESTS, asked.request.encode());
        }
    }

    pub(super) fn say_goodbye(&mut self) {
        if let Ok((_, datagram)) = self.netcode.disconnect() {
            // Whether it arrives or not.
            drop(self.socket.send(datagram));
        }
    }

    pub(super) fn flush(&mut self, now: Duration) {
        for packet in self.renet.get_packets_to_send() {
            self.up.send(now, packet.len() + HEADER_BYTES, packet);
        }
        while let Some(packet) = self.up.receive(now) {
            if let Ok((_, datagram)) = self.netcode.generate_payload_packet(&packet)
                && self.socket.send(datagram).is_ok()
            {
                let bytes = datagram.len() + HEADER_BYTES;
                self.traffic.count_up(Purpose::of(&packet), bytes);
            }
        }
    }
}

/// Datagrams taken in at a time: a second of uncompressed snapshots.
const MAX_DATAGRAMS: usize = 4096;

/// Between two requests, as long as none is granted.
const ASK_AGAIN: Duration = Duration::from_millis(100);
