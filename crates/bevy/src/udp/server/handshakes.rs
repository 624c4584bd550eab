//! Handshakes: from the first request of an address to its connection.
//!
//! renetcode's server keeps every handshake and every connection in one table. An unanswered request holds its
//! slot there until its token expires, an address keeps the keys of its first token for all later ones, and a
//! challenge can be answered from any address, so that a connection can be opened on behalf of another machine.
//! Here, every address has a `NetcodeServer` of its own with a single slot: its challenge is of no use
//! elsewhere, and it can be dropped at any time. A connection keeps that server.
//!
//! renetcode also numbers the packets of a handshake and those of its connection from zero, each by itself, and encrypts
//! both with the token's key. Here no number is used for two packets under one key: a token is answered by one server
//! only, once; a repeated request gets the datagram of the first again, whose number is 0; a connection begins with 1.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use cubewire_protocol::netcode::{TOKEN_SECONDS, Token, token};
use renetcode::{
    NETCODE_USER_DATA_BYTES, NetcodeServer, ServerAuthentication, ServerConfig, ServerResult,
};

use super::super::{Key, PROTOCOL_ID, since_1970};

/// The addresses that have asked to connect and have not answered their challenge.
#[derive(Debug)]
pub(super) struct Handshakes {
    key: Key,
    public_addresses: Vec<SocketAddr>,
    /// For the next address; without a trace of others.
    spare: Option<Box<NetcodeServer>>,
    pending: HashMap<SocketAddr, Pending>,
    /// Tokens that have been answered and may still be valid.
    used: HashMap<Token, Used>,
    /// These tokens, and when each is forgotten; the next one at the front.
    forgotten_at: VecDeque<(Duration, Token)>,
    /// Time since the start.
    now: Duration,
    /// How many handshakes may be begun at present.
    allowance: f64,
    /// Handshakes that were given up since the start: those that were not completed in time, and those that
    /// had to make room.
    pub(super) abandoned: u64,
}

#[derive(Debug)]
struct Pending {
    netcode: Box<NetcodeServer>,
    token: Token,
    /// The first request: what is refused later is refused in reply to it.
    request: Vec<u8>,
    /// What it was answered with.
    challenge: Vec<u8>,
    age: Duration,
}

/// A token whose key has encrypted something.
#[derive(Debug)]
struct Used {
    /// Who has sent it.
    address: SocketAddr,
    /// The datagram that has refused the connection, if it was refused.
    denial: Option<Vec<u8>>,
}

/// What follows from a datagram.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing: it belongs to no handshake.
    Ignored,
    /// A datagram to send back.
    Answer(Vec<u8>),
    /// The address is connected.
    Connected(Connected),
}

/// A completed handshake.
#[derive(Debug)]
pub(super) struct Connected {
    /// The server of this connection.
    pub(super) netcode: Box<NetcodeServer>,
    /// The client's number, which it chose.
    pub(super) id: u64,
    pub(super) user_data: Box<[u8; NETCODE_USER_DATA_BYTES]>,
    /// A datagram to send back.
    pub(super) answer: Vec<u8>,
}

impl Handshakes {
    pub(super) fn new(key: Key, public_addresses: Vec<SocketAddr>) -> Self {
        Self {
            key,
            public_addresses,
            spare: None,
            pending: HashMap::new(),
            used: HashMap::new(),
            forgotten_at: VecDeque::new(),
            now: Duration::ZERO,
            allowance: MAX_BURST,
            abandoned: 0,
        }
    }

    /// Advances the time, and gives up the handshakes that have taken too long.
    pub(super) fn update(&mut self, delta: Duration) {
        let before = self.pending.len();
        self.pending.retain(|_, pending| {
            pending.age += delta;
            pending.netcode.update(delta);
            pending.age < MAX_PENDING_TIME
        });
        self.abandoned += (before - self.pending.len()) as u64;
        self.now += delta;
        while let Some((_, token)) = self.forgotten_at.pop_front_if(|(at, _)| *at <= self.now) {
            self.used.remove(&token);
        }
        let more = delta.as_secs_f64() * MAX_PER_SECOND;
        self.allowance = (self.allowance + more).min(MAX_BURST);
    }

    /// Processes a connection request. If there is no room for another client, the answer says so.
    pub(super) fn request(&mut self, request: &mut [u8], from: SocketAddr, has_room: bool) -> Step {
        let Some((token, _)) = token(request) else {
            return Step::Ignored;
        };
        if let Some(used) = self.used.get(&token) {
            let pending = self.pending.get(&from);
            let challenge = pending.filter(|pending| pending.token == token);
            return match (challenge, &used.denial) {
                (Some(pending), _) => Step::Answer(pending.challenge.clone()),
                (None, Some(denial)) if used.address == from => Step::Answer(denial.clone()),
                (None, _) => Step::Ignored,
            };
        }
        if self.allowance < 1.0 {
            return Step::Ignored;
        }
        let first = request.to_vec();
        let mut netcode = self.next_server(usize::from(has_room));
        if !has_room {
            // renetcode's packet 0 has no number, and a denial without one is too short for its client.
            let _ = netcode.process_packet(from, &mut first.clone());
        }
        let Some(answer) = reply(netcode.process_packet(from, request)) else {
            self.spare = Some(netcode);
            return Step::Ignored;
        };
        self.allowance -= 1.0;
        let denial = (!has_room).then(|| answer.clone());
        let used = Used {
            address: from,
            denial,
        };
        self.used.insert(token, used);
        self.forgotten_at
            .push_back((self.now + MAX_TOKEN_LIFETIME, token));
        if has_room {
            self.make_room(from);
            let pending = Pending {
                netcode,
                token,
                request: first,
                challenge: answer.clone(),
                age: Duration::ZERO,
            };
            self.pending.insert(from, pending);
        }
        Step::Answer(answer)
    }

    /// Processes any other datagram from an address that may have asked to connect.
    pub(super) fn response(
        &mut self,
        datagram: &mut [u8],
        from: SocketAddr,
        has_room: bool,
    ) -> Step {
        let Some(pending) = self.pending.get_mut(&from) else {
            return Step::Ignored;
        };
        // The datagram that comes with it has number 0, which the challenge has used.
        let ServerResult::ClientConnected {
            client_id: id,
            user_data,
            ..
        } = pending.netcode.process_packet(from, datagram)
        else {
            return Step::Ignored;
        };
        let Some(Pending {
            mut netcode,
            token,
            mut request,
            ..
        }) = self.pending.remove(&from)
        else {
            return Step::Ignored;
        };
        if !has_room {
            // By the same server, whose packets are numbered on.
            netcode.disconnect(id);
            netcode.set_max_clients(0);
            let denial = reply(netcode.process_packet(from, &mut request));
            if let Some(used) = self.used.get_mut(&token) {
                used.denial.clone_from(&denial);
            }
            return denial.map_or(Step::Ignored, Step::Answer);
        }
        // It sends the next one when it is due.
        netcode.update(KEEP_ALIVE_INTERVAL);
        match reply(netcode.update_client(id)) {
            Some(answer) => Step::Connected(Connected {
                netcode,
                id,
                user_data,
                answer,
            }),
            None => Step::Ignored,
        }
    }

    /// A server with this number of slots, 0 or 1, and the current time.
    fn next_server(&mut self, slots: usize) -> Box<NetcodeServer> {
        let now = since_1970();
        let mut netcode = self.spare.take().unwrap_or_else(|| {
            Box::new(NetcodeServer::new(ServerConfig {
                current_time: now,
                max_clients: 1,
                protocol_id: PROTOCOL_ID,
                public_addresses: self.public_addresses.clone(),
                authentication: match self.key {
                    Key::LOOPBACK => ServerAuthentication::Unsecure,
                    Key(private_key) => ServerAuthentication::Secure { private_key },
                },
            }))
        });
        let passed = now.saturating_sub(netcode.current_time());
        netcode.update(passed);
        netcode.set_max_clients(slots);
        netcode
    }

    /// If all slots are taken, frees one: a random one of the machine that holds the most. So a machine that
    /// floods the server mainly displaces itself; and of a flood from many machines, which displaces all, some
    /// handshakes survive long enough to be completed.
    fn make_room(&mut self, newcomer: SocketAddr) {
        if self.pending.len() < MAX_PENDING || self.pending.contains_key(&newcomer) {
            return;
        }
        let mut held: HashMap<IpAddr, usize> = HashMap::new();
        for address in self.pending.keys() {
            *held.entry(machine(address)).or_default() += 1;
        }
        let most = held.values().max().copied().unwrap_or_default();
        let is_heaviest = |address: &&SocketAddr| held.get(&machine(address)) == Some(&most);
        let heaviest: Vec<_> = self.pending.keys().filter(is_heaviest).copied().collect();
        let random = u64::from_le_bytes(renetcode::generate_random_bytes());
        self.pending
            .remove(&heaviest[(random % heaviest.len() as u64) as usize]);
        self.abandoned += 1;
    }
}

/// The datagram to send back.
fn reply(result: ServerResult<'_, '_>) -> Option<Vec<u8>> {
    match result {
        ServerResult::PacketToSend { payload, .. } => Some(payload.to_vec()),
        _ => None,
    }
}

/// What counts as one machine: an IPv4 address, also if it is mapped to IPv6, or the network part of an IPv6 address, of
/// which every subscriber has 2⁶⁴ addresses.
fn machine(address: &SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) >> 64 << 64).into()),
    }
}

/// Handshakes at a time. Each takes 150 kB, most of it renetcode's table of tokens.
const MAX_PENDING: usize = 256;

/// A handshake that takes longer is given up: several round trips, with losses.
const MAX_PENDING_TIME: Duration = Duration::from_secs(5);

/// Handshakes that are begun in a second, at most, and at once: as many as take a tenth of a core. Requests without a
/// valid token do not count: they are recognized in less.
const MAX_PER_SECOND: f64 = 2000.0;
const MAX_BURST: f64 = 300.0;

/// How long a token is remembered after its use. [`is_from_client`](cubewire_protocol::netcode::is_from_client)
/// accepts none that is valid for longer. With [`MAX_PER_SECOND`], that is a quarter of a million tokens, or 30 MB.
const MAX_TOKEN_LIFETIME: Duration = Duration::from_secs(2 * TOKEN_SECONDS + 1);

/// After this time netcode keeps a connection alive.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_millis(250);
