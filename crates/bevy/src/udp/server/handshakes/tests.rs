//! Handshakes without a socket.

use std::net::Ipv4Addr;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use renetcode::{ClientAuthentication, NetcodeClient};

use cubewire_protocol::netcode::sequence;

use super::*;

const SERVER: ([u8; 4], u16) = ([10, 0, 0, 1], 7000);

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 2], port))
}

fn handshakes() -> (Handshakes, Key) {
    let key = Key::random();
    (Handshakes::new(key, vec![SERVER.into()]), key)
}

fn client(key: Key) -> NetcodeClient {
    let connect_token = key.token(SocketAddr::from(SERVER), rand::random()).unwrap();
    NetcodeClient::new(since_1970(), ClientAuthentication::Secure { connect_token }).unwrap()
}

/// Returns a client's next datagram: a request, or after a challenge a response.
fn next(client: &mut NetcodeClient) -> Vec<u8> {
    let (datagram, _) = client.update(Duration::from_millis(250)).unwrap();
    datagram.to_vec()
}

/// Sends the client's request twice, and returns the challenges to the client.
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

#[track_caller]
fn assert_connected(step: Step) {
    assert!(matches!(step, Step::Connected(_)), "{step:?}");
}

#[test]
fn a_challenge_cannot_be_answered_for_another_address() {
    let (mut handshakes, key) = handshakes();
    // Both tokens belong to the attacker, who sees only datagrams to the first address.
    let (mut own, mut spoofed) = (client(key), client(key));
    challenge(&mut handshakes, &mut own, address(1));
    let victim = SocketAddr::from(([10, 0, 0, 3], 1));
    let unseen = handshakes.request(&mut next(&mut spoofed), victim, true);
    assert!(matches!(unseen, Step::Answer(_)));
    let step = handshakes.response(&mut next(&mut own), victim, true);
    assert!(matches!(step, Step::Ignored), "{step:?}");
}

#[test]
fn a_second_token_of_an_address_replaces_the_first() {
    let (mut handshakes, key) = handshakes();
    challenge(&mut handshakes, &mut client(key), address(1));
    let mut second = client(key);
    challenge(&mut handshakes, &mut second, address(1));
    assert_eq!(handshakes.pending.len(), 1);
    assert_connected(handshakes.response(&mut next(&mut second), address(1), true));
}

#[test]
fn a_token_is_of_use_to_one_address() {
    let (mut handshakes, key) = handshakes();
    let request = next(&mut client(key));
    let mut from = |port| handshakes.request(&mut request.clone(), address(port), true);
    assert!(matches!(from(1), Step::Answer(_)));
    assert!(matches!(from(2), Step::Ignored));
    assert!(matches!(from(1), Step::Answer(_)));
}

/// A socket for both families reports IPv4 addresses in their mapped form.
#[test]
fn handshakes_are_bounded_and_a_flood_displaces_itself() {
    let [plain, mapped] = [false, true].map(|is_mapped| {
        move |host: u8, port: u16| {
            let ip = Ipv4Addr::new(192, 0, 2, host);
            let ip = if is_mapped { ip.to_ipv6_mapped().into() } else { IpAddr::V4(ip) };
            SocketAddr::new(ip, port)
        }
    });
    assert_eq!(machine(&plain(1, 7)), machine(&mapped(1, 7)));
    // Addresses of one subscriber are one machine.
    let [first, second, other] = ["2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1"]
        .map(|ip| machine(&SocketAddr::new(ip.parse().unwrap(), 7)));
    assert!(first == second && second != other);
    for address in [plain, mapped] {
        let (mut handshakes, key) = handshakes();
        let bystander = address(9, 1);
        let mut newcomer = client(key);
        challenge(&mut handshakes, &mut newcomer, bystander);
        for port in 0..2 * MAX_PENDING as u16 {
            challenge(&mut handshakes, &mut client(key), address(1, port));
            handshakes.update(Duration::from_millis(1));
        }
        assert_eq!(handshakes.pending.len(), MAX_PENDING);
        assert_eq!(handshakes.abandoned, MAX_PENDING as u64 + 1);
        assert_connected(handshakes.response(&mut next(&mut newcomer), bystander, true));
        handshakes.update(MAX_PENDING_TIME);
        assert!(handshakes.pending.is_empty());
    }
}

#[test]
fn no_more_handshakes_are_begun_than_there_is_time_for() {
    let (mut handshakes, key) = handshakes();
    let mut begun = 0;
    for port in 0..400 {
        let step = handshakes.request(&mut next(&mut client(key)), address(port), true);
        begun += u32::from(matches!(step, Step::Answer(_)));
    }
    assert_eq!(f64::from(begun), MAX_BURST);
    handshakes.update(Duration::from_millis(10));
    let step = handshakes.request(&mut next(&mut client(key)), address(401), true);
    assert!(matches!(step, Step::Answer(_)), "{step:?}");
}

#[test]
fn who_comes_when_there_is_no_room_is_told_so() {
    let (mut handshakes, key) = handshakes();
    for late in [false, true] {
        let mut client = client(key);
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
fn a_token_is_of_no_use_once_its_handshake_or_its_connection_is_over() {
    let (mut handshakes, key) = handshakes();
    let [mut late, mut left] = [(); 2].map(|()| client(key));
    let requests = [&mut late, &mut left].map(next);
    for (port, request) in (1..).zip(&requests) {
        let step = handshakes.request(&mut request.clone(), address(port), true);
        let Step::Answer(mut challenge) = step else {
            panic!("{step:?}");
        };
        left.process_packet(&mut challenge);
    }
    assert_connected(handshakes.response(&mut next(&mut left), address(2), true));
    handshakes.update(MAX_PENDING_TIME);
    for (port, mut request) in (1..).zip(requests) {
        let step = handshakes.request(&mut request, address(port), true);
        assert!(matches!(step, Step::Ignored), "{step:?}");
    }
    handshakes.update(MAX_TOKEN_LIFETIME);
    assert!(handshakes.used.is_empty() && handshakes.forgotten_at.is_empty());
}

/// A client, its first request, and its connection if it has one.
struct TestClient {
    client: NetcodeClient,
    request: Vec<u8>,
    address: SocketAddr,
    connected: Option<Admitted>,
    /// Received datagrams by packet number.
    sent: HashMap<u64, Vec<u8>>,
}

impl TestClient {
    /// Checks that a repeated packet number comes with the same datagram.
    fn take(&mut self, datagram: &[u8]) {
        let number = sequence(datagram).unwrap();
        let before = self.sent.insert(number, datagram.to_vec());
        assert!(before.is_none_or(|before| before == datagram), "{number}");
        self.client.process_packet(&mut datagram.to_vec());
    }

    /// Performs a random action of the client or its server.
    fn step(&mut self, handshakes: &mut Handshakes, random: &mut ChaCha8Rng) -> Step {
        let (from, has_room) = (self.address, random.random_bool(0.9));
        let turn = random.random_range(0..4);
        let Some(connected) = &mut self.connected else {
            return match self.client.update(KEEP_ALIVE_INTERVAL) {
                Some((datagram, _)) if turn > 0 && datagram[0] != 0 => {
                    handshakes.response(&mut datagram.to_vec(), from, has_room)
                }
                _ => handshakes.request(&mut self.request.clone(), from, has_room),
            };
        };
        let (netcode, id) = (&mut connected.netcode, connected.id);
        let sent = match turn {
            0 => return handshakes.request(&mut self.request.clone(), from, has_room),
            1 => {
                let payload = netcode.generate_payload_packet(id, b"payload").unwrap();
                return Step::Answer(payload.1.to_vec());
            }
            2 => {
                netcode.update(KEEP_ALIVE_INTERVAL);
                netcode.update_client(id)
            }
            _ if random.random_bool(0.1) => netcode.disconnect(id),
            _ => return Step::Ignored,
        };
        match sent {
            // It disconnects, or the server has timed it out.
            ServerResult::ClientDisconnected { payload, .. } => {
                let goodbye = payload.unwrap().to_vec();
                self.connected = None;
                Step::Answer(goodbye)
            }
            alive => reply(alive).map_or(Step::Ignored, Step::Answer),
        }
    }
}

/// Requests, repeats, responses and denials in random order, with tokens that are used again after their connection.
#[test]
fn no_number_is_used_for_two_datagrams_under_one_key() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let (mut handshakes, key) = handshakes();
    let mut peers: Vec<TestClient> = Vec::new();
    let (mut connections, mut denials, mut time) = (0, 0, Duration::ZERO);
    for _ in 0..20_000 {
        if peers.len() < 200 && random.random_bool(0.02) {
            let mut client = client(key);
            peers.push(TestClient {
                request: next(&mut client),
                client,
                address: address(random.random_range(0..50)),
                connected: None,
                sent: HashMap::new(),
            });
        }
        // Tokens expire by the real clock. With more simulated time, used tokens would be forgotten while still valid.
        let delta = Duration::from_millis(random.random_range(0..20));
        if time + delta < Duration::from_secs(TOKEN_SECONDS) {
            time += delta;
            handshakes.update(delta);
        }
        let count = peers.len();
        let Some(peer) = peers.get_mut(random.random_range(0..count.max(1))) else {
            continue;
        };
        match peer.step(&mut handshakes, &mut random) {
            Step::Ignored => {}
            Step::Answer(answer) => {
                peer.take(&answer);
                denials += u32::from(answer[0] & 0x0F == 1);
            }
            Step::Connected(connected) => {
                peer.take(&connected.answer);
                peer.connected = Some(connected);
                connections += 1;
            }
        }
    }
    assert!(connections > 30 && denials > 10, "{connections}, {denials}");
    let numbers: usize = peers.iter().map(|peer| peer.sent.len()).sum();
    assert!(numbers > 1_000, "{numbers} numbers of {} keys", peers.len());
}

#[test]
fn unauthenticated_peers_leave_no_trace() {
    let (mut handshakes, _) = handshakes();
    let request = next(&mut client(Key::random()));
    for port in 0..100 {
        let step = handshakes.request(&mut request.clone(), address(port), true);
        assert!(matches!(step, Step::Ignored));
    }
    assert!(handshakes.pending.is_empty() && handshakes.used.is_empty());
}
