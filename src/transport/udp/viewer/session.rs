//! One connection, from the connect token to the disconnect.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use cubewire_codec::schema::CUBES as CUBES_SCHEMA;
use cubewire_codec::{Limits, Sequence};
use cubewire_link::{Conditions, Link};
use cubewire_protocol::netcode::{TOKEN_SECONDS, is_from_server};
use cubewire_protocol::{
    FallbackReason, MessageChannel, PROTOCOL_VERSION, Request, RequestAck, Welcome,
};
use cubewire_scene::CUBES;
use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient,
};

use super::super::{PROTOCOL_ID, Security, since_1970, token_data};
use super::ViewerSettings;
use super::error::ViewError;
use crate::replication::transport::End;
use crate::replication::{HEADER_BYTES, SenderSettings, Traffic};

pub(super) struct Session {
    settings: ViewerSettings,
    socket: UdpSocket,
    pub(super) netcode: NetcodeClient,
    pub(super) channel: MessageChannel,
    /// The simulated link downstream, in addition to the real network.
    pub(super) downstream: Link<Vec<u8>>,
    /// The simulated link upstream, in addition to the real network.
    pub(super) upstream: Link<Vec<u8>>,
    pub(super) is_welcomed: bool,
    requested: Option<Requested>,
    /// How long netcode has tried to connect, and how many times with another token.
    connecting: Duration,
    retries: u32,
    /// Time since the server's machine last reported that no process listens at the address, if nothing has arrived
    /// since.
    since_refusal: Option<Duration>,
    /// Traffic that the meter has not counted yet.
    pub(super) traffic: Traffic,
    pub(super) since_flush: Duration,
}

/// The derived implementation would show the keys.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("is_welcomed", &self.is_welcomed)
            .field("requested", &self.requested)
            .finish_non_exhaustive()
    }
}

/// The last request.
#[derive(Clone, Copy, Debug)]
struct Requested {
    request: Request,
    /// The newest ack of it.
    ack: Option<RequestAck>,
    /// Whether it was acked since it was last sent.
    is_acked: bool,
    /// Time since it was last sent.
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
            // A connected socket discards datagrams from other addresses.
            socket.connect(server)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let socket = socket.map_err(|source| ViewError::Socket { server, source })?;
        let netcode = netcode(settings)?;
        let seed = netcode.client_id();
        let link = |direction| Link::new(Conditions::PERFECT, seed.wrapping_add(direction));
        Ok(Self {
            settings: settings.clone(),
            socket,
            netcode,
            channel: MessageChannel::default(),
            downstream: link(0),
            upstream: link(1),
            is_welcomed: false,
            requested: None,
            connecting: Duration::ZERO,
            retries: 0,
            since_refusal: None,
            traffic: Traffic::default(),
            since_flush: Duration::ZERO,
        })
    }

    /// Processes the datagrams that have arrived, and keeps the connection alive.
    pub(super) fn receive(&mut self, now: Duration, delta: Duration) -> Result<(), ViewError> {
        self.retry(delta)?;
        if let Some(since) = &mut self.since_refusal {
            *since += delta;
        }
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    self.since_refusal = None;
                    let bytes = length + HEADER_BYTES;
                    if !is_from_server(&buffer[..length]) {
                        self.traffic.control_bytes += bytes;
                        continue;
                    }
                    match self.netcode.process_packet(&mut buffer[..length]) {
                        Some(payload) => {
                            self.traffic.count(End::Sender, payload, bytes);
                            self.downstream.send(now, bytes, payload.to_vec());
                        }
                        None => self.traffic.control_bytes += bytes,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.since_refusal = Some(Duration::ZERO);
                }
                Err(_) => {}
            }
        }
        while let Some(datagram) = self.downstream.receive(now) {
            let taken = self.channel.on_datagram(now, &datagram);
            taken.map_err(|hostile| self.hostile(&hostile))?;
        }
        if let Some((datagram, _)) = self.netcode.update(delta)
            && self.socket.send(datagram).is_ok()
        {
            self.traffic.control_bytes += datagram.len() + HEADER_BYTES;
        }
        Ok(())
    }

    /// Restarts the handshake from time to time: a server under attack may have given it up.
    fn retry(&mut self, delta: Duration) -> Result<(), ViewError> {
        if self.netcode.is_connecting() {
            self.connecting += delta;
            if self.connecting >= RETRY_INTERVAL * ((self.retries + 1) * (self.retries + 2) / 2) {
                self.retries += 1;
                self.netcode = netcode(&self.settings)?;
            }
        }
        Ok(())
    }

    /// Fails if netcode has closed the connection, or did not establish one in time.
    pub(super) fn check(&self) -> Result<(), ViewError> {
        let ViewerSettings {
            server, timeout, ..
        } = self.settings;
        let seconds = timeout.as_secs();
        let is_late = self.netcode.is_connecting() && self.connecting > timeout;
        let reason = match self.netcode.disconnect_reason() {
            None if is_late => DisconnectReason::ConnectionRequestTimedOut,
            None => return Ok(()),
            Some(reason) => reason,
        };
        Err(match reason {
            _ if self.since_refusal.is_some_and(|since| since <= RECENT) => {
                ViewError::NothingListens(server)
            }
            // Refused for a while, and then not any more.
            DisconnectReason::ConnectionTimedOut if self.since_refusal.is_some() => {
                ViewError::Restarted(server)
            }
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

    fn hostile(&self, reason: &impl ToString) -> ViewError {
        ViewError::Hostile {
            server: self.settings.server,
            reason: reason.to_string(),
        }
    }

    /// Takes the welcome, which is the first reliable message, if it has just arrived.
    pub(super) fn welcome(&mut self) -> Result<Option<Welcome>, ViewError> {
        let server = self.settings.server;
        if self.is_welcomed {
            return Ok(None);
        }
        let Some(message) = self.channel.poll_reliable() else {
            return Ok(None);
        };
        let welcome = Welcome::decode(&message, Limits::default())?;
        let cubes = welcome.initial.bodies.len();
        if let Some((theirs, ours)) = welcome.plan.schema().first_difference(&CUBES_SCHEMA) {
            return Err(ViewError::OtherScene {
                server,
                theirs,
                ours,
            });
        }
        if cubes != CUBES {
            return Err(ViewError::OtherCubes { server, cubes });
        }
        self.is_welcomed = true;
        Ok(Some(welcome))
    }

    /// Processes request acks, which are the other reliable messages, and returns the tick of the newest, unless it had to be
    /// sent again for so long that it is old.
    pub(super) fn receive_request_acks(&mut self) -> Result<Option<u64>, ViewError> {
        let mut tick = None;
        while self.is_welcomed
            && let Some(message) = self.channel.poll_reliable()
        {
            let ack = RequestAck::decode(&message);
            let ack = ack.map_err(|hostile| self.hostile(&hostile))?;
            if let Some(last) = &mut self.requested
                && ack.number == last.request.number
            {
                (last.ack, last.is_acked) = (Some(ack), true);
                tick = (last.since <= MAX_TICK_AGE).then_some(ack.tick);
            }
        }
        Ok(tick)
    }

    /// What the server sends, if that is less than what was requested.
    pub(super) fn granted(&self) -> Option<SenderSettings> {
        let Requested {
            request,
            ack: Some(ack),
            ..
        } = self.requested?
        else {
            return None;
        };
        let is_less = ack.send_interval_ticks > request.send_interval_ticks
            || ack.baseline != request.baseline
            || ack.budget_kbps != request.budget_kbps;
        is_less.then(|| SenderSettings {
            stages: request.stages,
            send_interval_ticks: ack.send_interval_ticks.into(),
            baseline: ack.baseline,
            budget: ack.budget_kbps,
        })
    }

    /// Requests the lane's sender settings when they change, and again from time to time, as each ack says what the server
    /// sends and its tick; with a fallback, stages without arithmetic coding.
    pub(super) fn request(
        &mut self,
        settings: &SenderSettings,
        fallback: Option<FallbackReason>,
        delta: Duration,
    ) {
        let last = self.requested.map(|requested| requested.request);
        let number = last.map_or(Sequence(0), |last| last.number);
        let stages = settings.stages;
        let instead = fallback.and(FallbackReason::instead_of(stages));
        let wanted = Request {
            number,
            stages: instead.unwrap_or(stages),
            send_interval_ticks: settings.send_interval_ticks.clamp(1, 255) as u8,
            baseline: settings.baseline,
            fallback: instead.and(fallback),
            budget_kbps: settings.budget,
        };
        let is_due = match &mut self.requested {
            Some(last) if last.request == wanted => {
                last.since += delta;
                last.is_acked && last.since >= REQUEST_INTERVAL
            }
            requested => {
                *requested = Some(Requested {
                    request: Request {
                        number: number.next(),
                        ..wanted
                    },
                    ack: None,
                    is_acked: false,
                    since: Duration::ZERO,
                });
                true
            }
        };
        if let Some(last) = &mut self.requested
            && is_due
        {
            (last.is_acked, last.since) = (false, Duration::ZERO);
            self.channel
                .send_reliable(&last.request.encode())
                .expect("a request is a few bytes long");
        }
    }

    /// Notifies the server that this viewer disconnects.
    pub(super) fn disconnect(&mut self) {
        if let Ok((_, datagram)) = self.netcode.disconnect() {
            // If the datagram is lost, the server times this viewer out.
            drop(self.socket.send(datagram));
        }
    }

    /// Sends acks and requests over the simulated link, and what leaves it to the server.
    pub(super) fn flush(&mut self, now: Duration, acks: impl Iterator<Item = Vec<u8>>) {
        for ack in acks {
            self.channel
                .send_unreliable(ack)
                .expect("an ack is a few bytes long");
        }
        for payload in self.channel.flush(now, usize::MAX, HEADER_BYTES) {
            let bytes = payload.len() + HEADER_BYTES;
            self.upstream.send(now, bytes, payload);
        }
        while let Some(payload) = self.upstream.receive(now) {
            if let Ok((_, datagram)) = self.netcode.generate_payload_packet(&payload)
                && self.socket.send(datagram).is_ok()
            {
                let bytes = datagram.len() + HEADER_BYTES;
                self.traffic.count(End::Receiver, &payload, bytes);
            }
        }
    }
}

/// A netcode client with a new connect token.
fn netcode(settings: &ViewerSettings) -> Result<NetcodeClient, ViewError> {
    let server = settings.server;
    let now = since_1970();
    let no_token = |reason: String| ViewError::Token { server, reason };
    let timeout = settings.timeout.min(ViewerSettings::MAX_TIMEOUT);
    let connect_token = ConnectToken::generate(
        now,
        PROTOCOL_ID,
        TOKEN_SECONDS,
        rand::random(),
        timeout.as_secs().max(1) as i32,
        vec![server],
        Some(&token_data(PROTOCOL_VERSION)),
        &settings.security.private_key(),
    )
    .map_err(|error| no_token(error.to_string()))?;
    NetcodeClient::new(now, ClientAuthentication::Secure { connect_token })
        .map_err(|error| no_token(error.to_string()))
}

/// Time after which a handshake is restarted for the first time: enough for its datagrams to be repeated several times.
/// Each one gets this much more time than the last, so that one is long enough for any network.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A refusal is repeated for every datagram that is sent, of which there are several in this time.
const RECENT: Duration = Duration::from_secs(1);

/// Datagrams processed in one frame, at most: two seconds of uncompressed snapshots.
const MAX_DATAGRAMS: usize = 4096;

/// Time from a request to the next, once it is acked.
const REQUEST_INTERVAL: Duration = Duration::from_secs(1);

/// The age at which a tick would be taken for that of a server that has paused: see
/// [`sync_tick`](cubewire_protocol::SnapshotReceiver::sync_tick).
const MAX_TICK_AGE: Duration = Duration::from_secs(1);
