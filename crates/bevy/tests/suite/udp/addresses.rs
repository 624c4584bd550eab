//! Servers with several addresses, some of them without an answer.

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
