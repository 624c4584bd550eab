//! One connection, for those who say what they like over it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cubewire_bevy::mailbox::Mail;
use cubewire_bevy::pipe::FROM_SERVER_BYTES;
use cubewire_bevy::udp::Key;
use cubewire_bevy::{Mailbox, Pipe};
use cubewire_codec::{Limits, Plan};
use cubewire_protocol::{
    ClientMessage, ClientSession, Contract, Feedback, Heard, Request, ServerMessage, Settings,
};
use renetcode::{ClientAuthentication, ConnectToken, NETCODE_USER_DATA_BYTES, NetcodeClient};

use crate::wire::{MAX_DATAGRAM_BYTES, STEP, Wire};

/// The server, and the key to it.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) server: SocketAddr,
    pub(crate) key: Key,
}

impl Target {
    /// A new token. Without traffic for `timeout_seconds`, either side ends the connection.
    pub(crate) fn token(&self, client_id: u64, timeout_seconds: u64) -> ConnectToken {
        let data = [0; NETCODE_USER_DATA_BYTES];
        let timeout = Duration::from_secs(timeout_seconds);
        let token = self.key.token_with(self.server, client_id, timeout, data);
        token.expect("the server is on this machine")
    }
}

pub(crate) fn since_1970() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default()
}

/// A client of netcode with its socket, and the messages in its datagrams.
pub(crate) struct Caller {
    pub(crate) wire: Wire,
    netcode: Box<NetcodeClient>,
    server: SocketAddr,
    updated: Instant,
    /// How much later datagrams are taken than they arrive.
    pub(crate) delay: Duration,
    delayed: VecDeque<(Instant, Vec<u8>)>,
    pipe: Pipe,
    mailbox: Mailbox,
    start: Instant,
    contract: Contract,
    session: ClientSession,
}

impl Caller {
    pub(crate) fn new(mut wire: Wire, connect_token: ConnectToken) -> Self {
        wire.keys += 1;
        let server = connect_token.server_addresses[0].expect("tokens name the server");
        let authentication = ClientAuthentication::Secure { connect_token };
        let netcode = NetcodeClient::new(since_1970(), authentication);
        Self {
            wire,
            netcode: Box::new(netcode.expect("tokens are valid")),
            server,
            updated: Instant::now(),
            delay: Duration::ZERO,
            delayed: VecDeque::new(),
            pipe: Pipe::new(FROM_SERVER_BYTES),
            mailbox: Mailbox::default(),
            start: Instant::now(),
            contract: Contract::new(Plan::cubes(), String::new()),
            session: ClientSession::default(),
        }
    }

    /// Takes up to `at_most` datagrams that have arrived, sends what netcode has to send, and returns the
    /// messages.
    pub(crate) fn step(&mut self, at_most: usize) -> Mail {
        let now = Instant::now();
        let mut buffer = [0; MAX_DATAGRAM_BYTES];
        for _ in 0..at_most {
            let Some((datagram, from)) = self.wire.receive(&mut buffer) else {
                break;
            };
            if from == self.server {
                self.delayed
                    .push_back((now + self.delay, datagram.to_vec()));
            }
        }
        while let Some((_, mut datagram)) = self.delayed.pop_front_if(|(due, _)| *due <= now) {
            let Some(payload) = self.netcode.process_packet(&mut datagram) else {
                continue;
            };
            // One that cannot be read is of a connection that this end has spoilt.
            let _ = self.pipe.receive(self.start.elapsed(), payload);
        }
        self.pipe.deliver(&mut self.mailbox);
        self.update();
        if self.is_connected()
            && let Some(hello) = self
                .session
                .hello(&self.contract)
                .map(|hello| hello.encode())
        {
            self.reliable(&hello);
        }
        std::mem::take(&mut self.mailbox.incoming)
    }

    /// Sends what netcode has to send, and reads nothing.
    pub(crate) fn update(&mut self) {
        let now = Instant::now();
        let passed = now - std::mem::replace(&mut self.updated, now);
        if let Some((datagram, _)) = self.netcode.update(passed) {
            self.wire.send(datagram, self.server);
        }
    }

    /// Passes netcode a datagram that came another way.
    pub(crate) fn hear(&mut self, datagram: &[u8]) {
        self.netcode.process_packet(&mut datagram.to_vec());
    }

    /// Steps until there is a connection, and returns how long that took; `None` if it is refused, or takes
    /// longer than `patience`.
    pub(crate) fn connect(&mut self, patience: Duration) -> Option<Duration> {
        let start = Instant::now();
        while start.elapsed() < patience && !self.is_over() {
            self.step(usize::MAX);
            if self.is_connected() {
                return Some(start.elapsed());
            }
            thread::sleep(STEP);
        }
        None
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.netcode.is_connected()
    }

    /// Why the connection has ended, if it has.
    pub(crate) fn end(&self) -> Option<String> {
        let reason = self.netcode.disconnect_reason();
        reason.map(|reason| reason.to_string())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.netcode.is_disconnected()
    }

    /// Sends a payload, if there is a connection.
    pub(crate) fn say(&mut self, payload: &[u8]) {
        if let Ok((_, datagram)) = self.netcode.generate_payload_packet(payload) {
            self.wire.send(datagram, self.server);
        }
    }

    /// Sends a request, or sends it again.
    pub(crate) fn request(&mut self, request: &Request) {
        self.reliable(&ClientMessage::Request(*request).encode());
    }

    /// Sends a request for settings that differ from the last ones.
    pub(crate) fn ask(&mut self, settings: Settings) {
        if let Some(request) = self.session.request(settings) {
            self.reliable(&request.encode());
        }
    }

    /// Takes a message of the server. None if it is not one that a server sends.
    pub(crate) fn take(&mut self, message: &[u8]) -> Option<Heard> {
        let message = ServerMessage::decode(message)?;
        let heard = self
            .session
            .on_message(&self.contract, message, Limits::default());
        heard.ok()
    }

    /// Sends acks.
    pub(crate) fn feedback(&mut self, feedback: &Feedback) {
        self.unreliable(feedback.encode());
    }

    /// Sends a reliable message.
    pub(crate) fn reliable(&mut self, message: &[u8]) {
        self.mailbox.outgoing.messages.push(message.to_vec());
        self.flush();
    }

    /// Sends an unreliable message.
    pub(crate) fn unreliable(&mut self, message: Vec<u8>) {
        self.mailbox.outgoing.datagrams.push(message);
        self.flush();
    }

    /// Sends what the mailbox has to send, unless the server has not taken megabytes of it.
    pub(crate) fn flush(&mut self) {
        let payloads = self.pipe.flush(self.start.elapsed(), &mut self.mailbox);
        for payload in payloads.unwrap_or_default() {
            self.say(&payload);
        }
    }

    /// Ends the connection, and returns the socket.
    pub(crate) fn leave(mut self) -> Wire {
        if self.is_connected()
            && let Ok((_, datagram)) = self.netcode.disconnect()
        {
            self.wire.send(datagram, self.server);
        }
        self.wire
    }
}
