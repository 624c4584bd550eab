//! Servers with several addresses, some of them without an answer.

use std::net::{Ipv6Addr, SocketAddrV6};

use cubewire_bevy::udp::resolve;

use super::*;

/// Longer than any of these tests takes in manual time.
const LONG: Duration = Duration::from_secs(1 << 20);

const KEY: Key = Key::new([7; 32]);

/// An address without a socket. The system assigns no ports below 1024.
fn nobody(host: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, host], 1))
}

fn token(addresses: &[SocketAddr], timeout: Duration) -> ConnectToken {
    KEY.token_with(addresses, 1, timeout, [0; 256]).unwrap()
}

/// A client with an unlimited supply of tokens.
fn persistent(addresses: &[SocketAddr], timeout: Duration) -> App {
    let addresses = addresses.to_vec();
    app(|app| {
        app.add_plugins((protocol, ClientPlugin, UdpClient::default()));
        let connection = UdpConnection::with_tokens(move || Ok(token(&addresses, timeout)));
        app.world_mut().spawn(connection.unwrap());
    })
}

/// A client with one token, and a [`persistent`] one.
fn clients(addresses: &[SocketAddr], timeout: Duration) -> [App; 2] {
    [connecting(token(addresses, timeout)), persistent(addresses, timeout)]
}

fn passed(app: &App) -> Duration {
    app.world().resource::<Time<Real>>().elapsed()
}

/// Server address of a client's connection.
fn address(app: &mut App) -> SocketAddr {
    let world = app.world_mut();
    let mut connections = world.query::<&UdpConnection>();
    connections.single(world).unwrap().server()
}

#[test]
fn the_next_address_is_tried_where_nothing_listens_or_nobody_answers() {
    let (server, there) = listen(KEY);
    let beside = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], there.port()));
    let refusing = [nobody(1), beside, nobody(2), there, nobody(3)];
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = [socket.local_addr().unwrap(), there];
    let once = connecting(token(&silent, Duration::from_secs(10)));
    // If no program listens, the client tries the next address immediately.
    for (clients, most) in
        [(clients(&refusing, LONG), LONG / 5), ([once, persistent(&silent, LONG)], Duration::MAX)]
    {
        for client in clients {
            let mut apps = [serving(server.clone()), client];
            run(&mut apps, |apps| count::<Connected>(&mut apps[1]) == 1);
            assert_eq!(address(&mut apps[1]), there);
            assert!(passed(&apps[1]) < most);
        }
    }
}

#[test]
fn that_nothing_listens_is_said_once_every_address_has_refused() {
    let [one, other] = [nobody(1), nobody(2)];
    let expected = format!("nothing listens at {one} or {other}");
    for client in clients(&[one, other], LONG) {
        let mut apps = [client];
        assert_eq!(ended(&mut apps, 0), expected);
        assert!(passed(&apps[0]) < LONG / 2);
    }
    // A silent address gives no error, so the client can only report a timeout.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    for addresses in [[one, silent], [silent, one]] {
        for client in clients(&addresses, Duration::from_secs(4)) {
            let reason = ended(&mut [client], 0);
            let [one, other] = addresses;
            let expected = format!("no answer from {one} or {other} for ");
            assert!(reason.starts_with(&expected), "{reason}");
        }
    }
}

#[test]
fn a_token_without_an_address_is_refused() {
    let mut token = token(&[nobody(1)], LONG);
    token.server_addresses = [None; 32];
    assert!(UdpConnection::new(token).is_err());
}

/// A link-local address of this machine, and the name and number of its interface. `None` if there is no such address.
fn link_local() -> Option<(Ipv6Addr, String, u32)> {
    // Address, number, length of the prefix, scope and flags in hexadecimal, and name.
    let interfaces = std::fs::read_to_string("/proc/net/if_inet6").ok()?;
    interfaces.lines().find_map(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let address = u128::from_str_radix(columns[0], 16).ok()?;
        let number = u32::from_str_radix(columns[1], 16).ok()?;
        let is_usable = columns[3] == "20" && columns[4] == "80";
        is_usable.then(|| (address.into(), columns[5].to_owned(), number))
    })
}

#[test]
fn a_link_local_address_has_a_zone() {
    let zoned = resolve("[fe80::1%3]:7000").unwrap();
    assert_eq!(zoned, [SocketAddrV6::new("fe80::1".parse().unwrap(), 7000, 0, 3).into()]);
    assert_eq!(resolve("127.0.0.1:7000").unwrap(), [([127, 0, 0, 1], 7000).into()]);
    assert!(resolve("[fe80::1%nowhere]:7000").is_err() && resolve("fe80::1%3").is_err());
    let Some((address, name, number)) = link_local() else {
        return println!("this machine has no link-local address");
    };
    for zone in [name, number.to_string()] {
        let there = resolve(&format!("[{address}%{zone}]:0")).unwrap();
        let server = UdpServer::listen(&*there, KEY).unwrap();
        let address = server.address();
        let mut apps = [serving(server), client(KEY, address, 1)];
        run(&mut apps, |apps| count::<Connected>(&mut apps[1]) == 1);
    }
}
