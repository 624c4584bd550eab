//! Handshakes, from an address's first request to its connection.
//!
//! renetcode's server keeps all handshakes and connections in one table. This has three weaknesses. An unanswered
//! request occupies a slot until its token expires. An address keeps the keys of its first token for all later ones. A
//! challenge can be answered from any address, so an attacker can open a connection on behalf of another machine. Here,
//! every address gets a separate `NetcodeServer` with a single slot. Its challenge is worthless elsewhere, and it can
//! be dropped at any time. The connection keeps using that server.
//!
//! renetcode also numbers the packets of a handshake and of its connection separately, both from zero, and encrypts
//! both with the token's key. Here, no nonce is used for two different packets under one key. A token is answered once,
//! by one server. A repeated request gets the first answer's datagram again, with number 0. A connection begins with
//! number 1.

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

/// Addresses that have requested a connection and not answered their challenge.
#[derive(Debug)]
pub(super) struct Handshakes {
    key: Key,
    public_addresses: Vec<SocketAddr>,
    /// An unused server for the next address, without state of other clients.
    spare: Option<Box<NetcodeServer>>,
    pending: HashMap<SocketAddr, Pending>,
    /// Answered tokens that may still be valid.
    used: HashMap<Token, Used>,
    /// The same tokens with the time to forget them, in ascending order.
    forgotten_at: VecDeque<(Duration, Token)>,
    now: Duration,
    /// Number of handshakes that may be started now.
    allowance: f64,
    /// Number of handshakes abandoned since the start, because they timed out or were displaced.
    pub(super) abandoned: u64,
}

#[derive(Debug)]
struct Pending {
    netcode: Box<NetcodeServer>,
    token: Token,
    /// The first request. A later denial is sent as the reply to it.
    request: Vec<u8>,
    /// The datagram that answered it.
    challenge: Vec<u8>,
    age: Duration,
}

/// A token after its key has encrypted a packet.
#[derive(Debug)]
struct Used {
    /// Sender of the token.
    address: SocketAddr,
    /// The datagram that denied the connection, if it was denied.
    denial: Option<Vec<u8>>,
}

/// Result of processing a datagram.
#[derive(Debug)]
pub(super) enum Step {
    /// The datagram does not belong to a handshake.
    Ignored,
    /// Send this datagram back.
    Answer(Vec<u8>),
    /// The address is connected.
    Connected(Admitted),
}

#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) netcode: Box<NetcodeServer>,
    pub(super) id: u64,
    pub(super) user_data: Box<[u8; NETCODE_USER_DATA_BYTES]>,
    /// The datagram to send back.
    pub(super) answer: Vec<u8>,
}

impl Handshakes {
    pub(super) fn new(key: Key, mut public_addresses: Vec<SocketAddr>) -> Self {
        // The addresses in a token have no zone.
        for address in &mut public_addresses {
            if let SocketAddr::V6(address) = address {
                address.set_scope_id(0);
            }
        }
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

    /// Advances the time, and abandons handshakes that take too long.
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
        self.allowance = (self.allowance + delta.as_secs_f64() * MAX_PER_SECOND).min(MAX_BURST);
    }

    /// Processes a connection request. Without room for another client, the answer is a denial.
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
            log::trace!("connection request from {from} dropped: too many");
            return Step::Ignored;
        }
        let first = request.to_vec();
        let mut netcode = self.next_server(usize::from(has_room));
        if !has_room {
            // renetcode sends packet 0 without a sequence, and its client rejects a denial without one as too short.
            // This call uses up number 0.
            let _ = netcode.process_packet(from, &mut first.clone());
        }
        let Some(answer) = reply(netcode.process_packet(from, request)) else {
            self.spare = Some(netcode);
            return Step::Ignored;
        };
        self.allowance -= 1.0;
        if !has_room {
            log::debug!("connection request from {from} denied: the server is full");
        }
        let denial = (!has_room).then(|| answer.clone());
        self.used.insert(token, Used { address: from, denial });
        self.forgotten_at.push_back((self.now + MAX_TOKEN_LIFETIME, token));
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

    /// Processes any other datagram from an address that may have requested a connection.
    pub(super) fn response(
        &mut self,
        datagram: &mut [u8],
        from: SocketAddr,
        has_room: bool,
    ) -> Step {
        let Some(pending) = self.pending.get_mut(&from) else {
            return Step::Ignored;
        };
        // The datagram that comes with this result has number 0, which the challenge has used, so it is not sent.
        let ServerResult::ClientConnected { client_id: id, user_data, .. } =
            pending.netcode.process_packet(from, datagram)
        else {
            return Step::Ignored;
        };
        let Some(Pending { mut netcode, token, mut request, .. }) = self.pending.remove(&from)
        else {
            return Step::Ignored;
        };
        if !has_room {
            // Denied by the same server, because its packet numbers continue.
            netcode.disconnect(id);
            netcode.set_max_clients(0);
            let denial = reply(netcode.process_packet(from, &mut request));
            if let Some(used) = self.used.get_mut(&token) {
                used.denial.clone_from(&denial);
            }
            return denial.map_or(Step::Ignored, Step::Answer);
        }
        // Makes the server send its next keep-alive packet now.
        netcode.update(KEEP_ALIVE_INTERVAL);
        match reply(netcode.update_client(id)) {
            Some(answer) => Step::Connected(Admitted { netcode, id, user_data, answer }),
            None => Step::Ignored,
        }
    }

    /// Returns a server with 0 or 1 slots, and the current time.
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
        netcode.update(now.saturating_sub(netcode.current_time()));
        netcode.set_max_clients(slots);
        netcode
    }

    /// If [`MAX_PENDING`] is reached, drops a random handshake of the machine that has the most. A machine that floods
    /// the server therefore mainly displaces itself. In a flood from many machines, which displaces everyone, some
    /// handshakes survive long enough to complete.
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
        self.pending.remove(&heaviest[(random % heaviest.len() as u64) as usize]);
        self.abandoned += 1;
    }
}

/// Returns the datagram to send back.
fn reply(result: ServerResult<'_, '_>) -> Option<Vec<u8>> {
    match result {
        ServerResult::PacketToSend { payload, .. } => Some(payload.to_vec()),
        _ => None,
    }
}

/// Returns the address that identifies a machine: the IPv4 address, also if mapped to IPv6, or the /64 prefix of an
/// IPv6 address, because a subscriber has 2⁶⁴ addresses.
fn machine(address: &SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) >> 64 << 64).into()),
    }
}

/// Limit of pending handshakes. Each takes 150 kB, mostly renetcode's table of tokens.
const MAX_PENDING: usize = 256;

/// A handshake that takes longer is abandoned. Enough for several round trips with losses.
const MAX_PENDING_TIME: Duration = Duration::from_secs(5);

/// Limit of handshakes started per second: a tenth of a core's time. Requests without a valid token do not count,
/// because detecting them is cheaper.
const MAX_PER_SECOND: f64 = 2000.0;

/// Limit of handshakes started at once.
const MAX_BURST: f64 = 300.0;

/// How long a used token is remembered. [`is_from_client`](cubewire_protocol::netcode::is_from_client) accepts no token
/// that is valid for longer. With [`MAX_PER_SECOND`], that is 250 000 tokens, or 30 MB.
const MAX_TOKEN_LIFETIME: Duration = Duration::from_secs(2 * TOKEN_SECONDS + 1);

/// netcode sends a keep-alive packet after this time.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_millis(250);
