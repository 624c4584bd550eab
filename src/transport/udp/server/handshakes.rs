//! Handshakes: from the first request of an address to its connection.
//!
//! renetcode's server keeps every handshake and every connection in one table. An unanswered request holds its
//! slot there until its token expires, an address keeps the keys of its first token for all later ones, and a
//! challenge can be answered from any address, so that a connection can be opened on behalf of another machine.
//! Here, every address has a `NetcodeServer` of its own with a single slot: its challenge is of no use
//! elsewhere, and it can be dropped at any time. A connection keeps that server.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rand::seq::IteratorRandom;
use renetcode::{
    NETCODE_USER_DATA_BYTES, NetcodeServer, ServerAuthentication, ServerConfig, ServerResult,
};

use super::super::datagram::{Token, token};
use super::super::{PROTOCOL_ID, Security, since_1970};

/// The addresses that have asked to connect and have not answered their challenge.
#[derive(Debug)]
pub(super) struct Handshakes {
    security: Security,
    public_addresses: Vec<SocketAddr>,
    /// For the next address; without a trace of others.
    spare: Option<Box<NetcodeServer>>,
    pending: HashMap<SocketAddr, Pending>,
    /// Tokens that were used last, with their addresses.
    used: HashMap<Token, SocketAddr>,
    /// These tokens, the one used first at the front.
    used_in_order: VecDeque<Token>,
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
    age: Duration,
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
    pub(super) token: Token,
    /// A datagram to send back.
    pub(super) answer: Vec<u8>,
}

impl Handshakes {
    pub(super) fn new(security: Security, public_addresses: Vec<SocketAddr>) -> Self {
        Self {
            security,
            public_addresses,
            spare: None,
            pending: HashMap::new(),
            used: HashMap::new(),
            used_in_order: VecDeque::new(),
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
        let more = delta.as_secs_f64() * MAX_PER_SECOND;
        self.allowance = (self.allowance + more).min(MAX_BURST);
    }

    /// Processes a connection request. If there is no room for another viewer, the answer says so.
    pub(super) fn request(&mut self, request: &mut [u8], from: SocketAddr, has_room: bool) -> Step {
        let Some((token, _)) = token(request) else {
            return Step::Ignored;
        };
        if self
            .used
            .get(&token)
            .is_some_and(|address| *address != from)
        {
            return Step::Ignored;
        }
        if let Some(pending) = self.pending.get_mut(&from)
            && pending.token == token
        {
            return reply(pending.netcode.process_packet(from, request));
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
        let step = reply(netcode.process_packet(from, request));
        if matches!(step, Step::Ignored) || !has_room {
            self.spare = Some(netcode);
        } else {
            self.make_room(from);
            let pending = Pending {
                netcode,
                token,
                request: first,
                age: Duration::ZERO,
            };
            self.pending.insert(from, pending);
        }
        if matches!(step, Step::Answer(_)) {
            self.allowance -= 1.0;
            self.record_use(token, from);
        }
        step
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
        let (id, user_data, answer) = match pending.netcode.process_packet(from, datagram) {
            ServerResult::ClientConnected {
                client_id,
                user_data,
                payload,
                ..
            } => (client_id, user_data, payload.to_vec()),
            _ => return Step::Ignored,
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
            return reply(netcode.process_packet(from, &mut request));
        }
        Step::Connected(Connected {
            netcode,
            id,
            user_data,
            token,
            answer,
        })
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
                authentication: match self.security {
                    Security::Key(_) => ServerAuthentication::Secure {
                        private_key: self.security.private_key(),
                    },
                    Security::Insecure => ServerAuthentication::Unsecure,
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
        let mut held: HashMap<u64, usize> = HashMap::new();
        for address in self.pending.keys() {
            *held.entry(address_prefix(address)).or_default() += 1;
        }
        let most = held.values().max().copied().unwrap_or_default();
        let heaviest = |address: &&SocketAddr| held.get(&address_prefix(address)) == Some(&most);
        let displaced = self
            .pending
            .keys()
            .filter(heaviest)
            .choose(&mut rand::rng());
        if let Some(displaced) = displaced.copied() {
            self.pending.remove(&displaced);
            self.abandoned += 1;
        }
    }

    /// Keeps a token to its address. Of too many, the one that was used first is forgotten.
    fn record_use(&mut self, token: Token, address: SocketAddr) {
        if self.used.insert(token, address).is_some() {
            return;
        }
        self.used_in_order.push_back(token);
        if self.used_in_order.len() > MAX_USED_TOKENS
            && let Some(first) = self.used_in_order.pop_front()
        {
            self.used.remove(&first);
        }
    }
}

fn reply(result: ServerResult<'_, '_>) -> Step {
    match result {
        ServerResult::PacketToSend { payload, .. } => Step::Answer(payload.to_vec()),
        _ => Step::Ignored,
    }
}

/// What counts as one machine: an IPv4 address, or the network part of an IPv6 address, of which every
/// subscriber has 2⁶⁴ addresses.
fn address_prefix(address: &SocketAddr) -> u64 {
    match address.ip() {
        IpAddr::V4(ip) => u64::from(u32::from(ip)),
        IpAddr::V6(ip) => (u128::from(ip) >> 64) as u64,
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

/// Used tokens that are remembered.
const MAX_USED_TOKENS: usize = 4096;

#[cfg(test)]
mod tests {
    use renetcode::{ClientAuthentication, ConnectToken, NetcodeClient};

    use super::super::super::{Key, token_data};
    use super::*;

    const SERVER: ([u8; 4], u16) = ([10, 0, 0, 1], 7000);

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 2], port))
    }

    fn handshakes() -> (Handshakes, Security) {
        let security = Security::Key(Key::random());
        (Handshakes::new(security, vec![SERVER.into()]), security)
    }

    fn client(security: Security) -> NetcodeClient {
        let now = since_1970();
        let connect_token = ConnectToken::generate(
            now,
            PROTOCOL_ID,
            60,
            rand::random(),
            5,
            vec![SERVER.into()],
            Some(&token_data(1)),
            &security.private_key(),
        )
        .unwrap();
        NetcodeClient::new(now, ClientAuthentication::Secure { connect_token }).unwrap()
    }

    /// The next datagram of a client: a request, or after a challenge a response.
    fn next(client: &mut NetcodeClient) -> Vec<u8> {
        let (datagram, _) = client.update(Duration::from_millis(250)).unwrap();
        datagram.to_vec()
    }

    /// Sends the client's request, twice, and the challenges back.
    fn challenge(handshakes: &mut Handshakes, client: &mut NetcodeClient, from: SocketAddr) {
        let request = next(client);
        for _ in 0..2 {
            let Step::Answer(mut challenge) = handshakes.request(&mut request.clone(), from, true)
            else {
                panic!("no challenge");
            };
            assert!(client.process_packet(&mut challenge).is_none());
        }
    }

    #[test]
    fn who_answers_the_challenge_is_connected() {
        let (mut handshakes, security) = handshakes();
        let mut client = client(security);
        challenge(&mut handshakes, &mut client, address(1));
        assert_eq!(handshakes.pending.len(), 1);
        let step = handshakes.response(&mut next(&mut client), address(1), true);
        let Step::Connected(mut connected) = step else {
            panic!("{step:?}");
        };
        assert_eq!(connected.id, client.client_id());
        client.process_packet(&mut connected.answer);
        assert!(client.is_connected());
        assert!(handshakes.pending.is_empty());
    }

    #[test]
    fn a_challenge_cannot_be_answered_for_another_address() {
        let (mut handshakes, security) = handshakes();
        // Both tokens are of the attacker, who sees what is sent to the first address only.
        let (mut own, mut spoofed) = (client(security), client(security));
        challenge(&mut handshakes, &mut own, address(1));
        let victim = SocketAddr::from(([10, 0, 0, 3], 1));
        let unseen = handshakes.request(&mut next(&mut spoofed), victim, true);
        assert!(matches!(unseen, Step::Answer(_)));
        let step = handshakes.response(&mut next(&mut own), victim, true);
        assert!(matches!(step, Step::Ignored), "{step:?}");
    }

    #[test]
    fn a_second_token_of_an_address_replaces_the_first() {
        let (mut handshakes, security) = handshakes();
        challenge(&mut handshakes, &mut client(security), address(1));
        let mut second = client(security);
        challenge(&mut handshakes, &mut second, address(1));
        assert_eq!(handshakes.pending.len(), 1);
        let step = handshakes.response(&mut next(&mut second), address(1), true);
        assert!(matches!(step, Step::Connected(_)), "{step:?}");
    }

    #[test]
    fn a_token_is_of_use_to_one_address() {
        let (mut handshakes, security) = handshakes();
        let request = next(&mut client(security));
        let mut from = |port| handshakes.request(&mut request.clone(), address(port), true);
        assert!(matches!(from(1), Step::Answer(_)));
        assert!(matches!(from(2), Step::Ignored));
        assert!(matches!(from(1), Step::Answer(_)));
    }

    #[test]
    fn handshakes_are_bounded_and_a_flood_displaces_itself() {
        let (mut handshakes, security) = handshakes();
        let bystander = SocketAddr::from(([10, 0, 0, 9], 1));
        let mut newcomer = client(security);
        challenge(&mut handshakes, &mut newcomer, bystander);
        for port in 0..2 * MAX_PENDING as u16 {
            challenge(&mut handshakes, &mut client(security), address(port));
            handshakes.update(Duration::from_millis(1));
        }
        assert_eq!(handshakes.pending.len(), MAX_PENDING);
        assert_eq!(handshakes.abandoned, MAX_PENDING as u64 + 1);
        let step = handshakes.response(&mut next(&mut newcomer), bystander, true);
        assert!(matches!(step, Step::Connected(_)), "{step:?}");
        handshakes.update(MAX_PENDING_TIME);
        assert!(handshakes.pending.is_empty());
    }

    #[test]
    fn no_more_handshakes_are_begun_than_there_is_time_for() {
        let (mut handshakes, security) = handshakes();
        let mut begun = 0;
        for port in 0..400 {
            let request = &mut next(&mut client(security));
            let step = handshakes.request(request, address(port), true);
            begun += u32::from(matches!(step, Step::Answer(_)));
        }
        assert_eq!(f64::from(begun), MAX_BURST);
        handshakes.update(Duration::from_millis(10));
        let request = &mut next(&mut client(security));
        let step = handshakes.request(request, address(401), true);
        assert!(matches!(step, Step::Answer(_)), "{step:?}");
    }

    #[test]
    fn who_comes_when_there_is_no_room_is_told_so() {
        let (mut handshakes, security) = handshakes();
        for late in [false, true] {
            let mut client = client(security);
            let step = if late {
                challenge(&mut handshakes, &mut client, address(1));
                handshakes.response(&mut next(&mut client), address(1), false)
            } else {
                handshakes.request(&mut next(&mut client), address(1), false)
            };
            let Step::Answer(mut denial) = step else {
                panic!("{step:?}");
            };
            client.process_packet(&mut denial);
            let reason = client.disconnect_reason();
            assert_eq!(reason, Some(renetcode::DisconnectReason::ConnectionDenied));
            assert!(handshakes.pending.is_empty());
        }
    }

    #[test]
    fn unauthenticated_peers_leave_no_trace() {
        let (mut handshakes, _) = handshakes();
        let request = next(&mut client(Security::Key(Key::random())));
        for port in 0..100 {
            let step = handshakes.request(&mut request.clone(), address(port), true);
            assert!(matches!(step, Step::Ignored));
        }
        assert!(handshakes.pending.is_empty() && handshakes.used.is_empty());
    }
}
