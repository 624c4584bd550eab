//! A client connection that can follow the protocol, or send anything.

use std::collections::VecDeque;
use std::iter;
use std::mem;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cubewire_bevy::renet_connection::FROM_SERVER_BYTES;
use cubewire_bevy::transport::MessageQueue;
use cubewire_bevy::udp::Key;
use cubewire_bevy::{MessageBuffer, RenetConnection};
use cubewire_codec::{Plan, Snapshot, ladder};
use cubewire_physics::state_hash;
use cubewire_protocol::{
    BaselineChoice, ClientConnection, ClientEvent, ClientMessage, Contract, Hello,
    PROTOCOL_VERSION, PacketOutcome, Request, SessionError, Settings, playout_delay,
};
use cubewire_scene::TICK;
use rand::{Rng, RngExt};
use renetcode::{ClientAuthentication, ConnectToken, NETCODE_USER_DATA_BYTES, NetcodeClient};

use crate::socket::{STEP, Socket};

#[derive(Clone, Copy)]
pub struct Target {
    pub server: SocketAddr,
    pub key: Key,
}

impl Target {
    /// Creates a new token. Either side ends the connection after `timeout_seconds` without traffic.
    pub fn token(&self, client_id: u64, timeout_seconds: u64) -> ConnectToken {
        let data = [0; NETCODE_USER_DATA_BYTES];
        let timeout = Duration::from_secs(timeout_seconds);
        let token = self.key.token_with(self.server, client_id, timeout, data);
        token.expect("the server is on this machine")
    }
}

/// Connection timeout of an honest viewer, the same as in `cubewire view`.
pub const TIMEOUT_SECONDS: u64 = 10;

pub fn since_1970() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// A netcode client with its socket and its messages. It disconnects on drop.
pub struct Client {
    target: Target,
    pub socket: Socket,
    pub netcode: Box<NetcodeClient>,
    updated: Instant,
    /// Extra delay of received datagrams.
    pub delay: Duration,
    delayed: VecDeque<(Instant, Vec<u8>)>,
    /// Origin of the client's clock.
    pub start: Instant,
    pub connected: Option<Instant>,
    renet: RenetConnection,
    buffer: MessageBuffer,
    connection: ClientConnection,
    /// Version in the hello.
    pub version: u16,
    /// What [`ask`](Self::ask) requests.
    pub settings: Settings,
    flushed: Instant,
    /// Tick of each decoded snapshot, and its line in a digest: client id, tick and hash.
    pub seen: Vec<(u64, String)>,
    /// Number of packets and messages that could not be decoded.
    pub refused: u32,
    /// Number of answers to requests.
    pub answers: u32,
    /// Number of the last [request](Self::request).
    requested: u16,
}

impl Client {
    pub fn new(mut socket: Socket, target: Target, token: ConnectToken) -> Self {
        socket.keys += 1;
        let now = Instant::now();
        Self {
            target,
            socket,
            netcode: netcode(token),
            updated: now,
            delay: Duration::ZERO,
            delayed: VecDeque::new(),
            start: now,
            connected: None,
            renet: RenetConnection::new(FROM_SERVER_BYTES),
            buffer: MessageBuffer::default(),
            connection: ClientConnection::new(
                Contract::new(Plan::cubes(), String::new()).with_tick_inputs().into(),
            ),
            version: PROTOCOL_VERSION,
            settings: SETTINGS,
            flushed: now,
            seen: Vec::new(),
            refused: 0,
            answers: 0,
            requested: 0,
        }
    }

    /// Creates an unconnected client of an honest viewer.
    pub fn honest(socket: Socket, target: Target, random: &mut impl Rng) -> Self {
        Self::new(socket, target, target.token(random.random(), TIMEOUT_SECONDS))
    }

    /// Starts again with a new token, from the same address.
    pub fn restart(&mut self, client_id: u64) {
        self.netcode = netcode(self.target.token(client_id, TIMEOUT_SECONDS));
        self.socket.keys += 1;
        self.delayed.clear();
    }

    /// Processes up to `at_most` received datagrams and sends pending netcode packets. Returns the messages.
    pub fn step(&mut self, at_most: usize) -> MessageQueue {
        let now = Instant::now();
        for (datagram, from) in iter::from_fn(|| self.socket.receive()).take(at_most) {
            if from == self.target.server {
                self.delayed.push_back((now + self.delay, datagram));
            }
        }
        while let Some((_, mut datagram)) = self.delayed.pop_front_if(|(due, _)| *due <= now) {
            if let Some(payload) = self.netcode.process_packet(&mut datagram) {
                // An unreadable payload belongs to a connection that this end has broken.
                let _ = self.renet.receive(self.start.elapsed(), payload);
            }
        }
        self.renet.deliver(&mut self.buffer);
        self.update();
        if self.netcode.is_connected() {
            self.connected.get_or_insert(now);
            self.flush_messages();
        }
        mem::take(&mut self.buffer.incoming)
    }

    /// Follows the protocol like an honest viewer: requests the settings, decodes snapshots and acks them every tick.
    pub fn view(&mut self) {
        let now = self.start.elapsed();
        let queue = self.step(usize::MAX);
        for message in queue.messages {
            match self.connection.on_message(now, &message) {
                Ok(ClientEvent::Answer) => self.answers += 1,
                Ok(ClientEvent::Welcome { .. } | ClientEvent::Tick(_))
                | Err(SessionError::Refused(_)) => {}
                Ok(ClientEvent::Message(_)) | Err(_) => self.refused += 1,
            }
        }
        for packet in queue.datagrams {
            self.decode(&packet, now);
        }
        if self.flushed.elapsed() < TICK {
            return;
        }
        self.flushed = Instant::now();
        self.buffer.outgoing.datagrams.extend(self.connection.datagrams());
        if self.connection.is_welcomed() {
            self.ask();
        }
        self.flush();
    }

    fn decode(&mut self, packet: &[u8], now: Duration) {
        let Some(receiver) = self.connection.receiver_mut() else {
            return;
        };
        match receiver.on_packet(now, packet) {
            Ok(PacketOutcome::Decoded { tick, .. }) => {
                let mut snapshot = Snapshot::default();
                let held = receiver.get(tick).expect("it has just been decoded");
                held.snapshot().dequantize(&mut snapshot);
                let (id, hash) = (self.netcode.client_id(), state_hash(0, &snapshot));
                self.seen.push((tick, format!("{id},{tick},{hash:016x}")));
                receiver.advance_playout(now, Some(playout_delay(60)));
            }
            Ok(_) => {}
            Err(_) => self.refused += 1,
        }
    }

    /// Sends pending netcode packets without reading.
    pub fn update(&mut self) {
        let now = Instant::now();
        let passed = now - mem::replace(&mut self.updated, now);
        if let Some((datagram, _)) = self.netcode.update(passed) {
            self.socket.send(datagram, self.target.server);
        }
    }

    /// Connects as `cubewire view` does: retries with another token after a second, then after two, and so on. Returns
    /// the time until the connection, or `None` if it is refused or takes longer than `patience`.
    pub fn connect(&mut self, patience: Duration, random: &mut impl Rng) -> Option<Duration> {
        let start = Instant::now();
        let (mut attempt, mut seconds) = (start, 1);
        while start.elapsed() < patience && !self.netcode.is_disconnected() {
            thread::sleep(STEP);
            self.step(usize::MAX);
            if self.netcode.is_connected() {
                return Some(start.elapsed());
            }
            if attempt.elapsed() >= Duration::from_secs(seconds) {
                self.restart(random.random());
                (attempt, seconds) = (Instant::now(), seconds + 1);
            }
        }
        None
    }

    /// Sends a payload if the connection is established.
    pub fn say(&mut self, payload: &[u8]) {
        if let Ok((_, datagram)) = self.netcode.generate_payload_packet(payload) {
            self.socket.send(datagram, self.target.server);
        }
    }

    /// Requests the settings, if they were not requested before.
    pub fn ask(&mut self) {
        if self.connection.requested() != Some(self.settings) {
            self.connection.request(self.settings);
        }
        self.flush_messages();
    }

    fn flush_messages(&mut self) {
        while let Some(message) = self.connection.poll_message() {
            let version = self.version;
            match ClientMessage::decode(&message) {
                Some(ClientMessage::Hello(hello)) => {
                    self.reliable(&ClientMessage::Hello(Hello { version, ..hello }).encode());
                }
                _ => self.reliable(&message),
            }
        }
    }

    /// Requests settings, even if they were requested before. The server answers each request.
    pub fn request(&mut self, settings: Settings) {
        self.requested = self.requested.wrapping_add(1);
        let request = Request { number: self.requested, settings };
        self.reliable(&ClientMessage::Request(request).encode());
    }

    pub fn reliable(&mut self, message: &[u8]) {
        self.buffer.outgoing.messages.push(message.to_vec());
        self.flush();
    }

    pub fn unreliable(&mut self, message: Vec<u8>) {
        self.buffer.outgoing.datagrams.push(message);
        self.flush();
    }

    /// Sends the queued messages. Messages stay queued if megabytes are unacked.
    fn flush(&mut self) {
        let payloads = self.renet.flush(self.start.elapsed(), &mut self.buffer);
        for payload in payloads.unwrap_or_default() {
            self.say(&payload);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.netcode.is_connected()
            && let Ok((_, datagram)) = self.netcode.disconnect()
        {
            self.socket.send(datagram, self.target.server);
        }
    }
}

/// Settings of an honest viewer: a snapshot every tick, small enough for one datagram.
pub const SETTINGS: Settings = Settings {
    stages: ladder::CHANGED_FLAGS.stages,
    send_interval_ticks: 1,
    baseline: BaselineChoice::Newest,
    budget_kbps: None,
};

fn netcode(connect_token: ConnectToken) -> Box<NetcodeClient> {
    let authentication = ClientAuthentication::Secure { connect_token };
    let netcode = NetcodeClient::new(since_1970(), authentication);
    Box::new(netcode.expect("tokens are valid"))
}
