//! Clients and peers that send invalid messages, with the key or without.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime};

use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::ConnectionStatus;
use cubewire_bevy::renet_connection::FROM_SERVER_BYTES;
use cubewire_bevy::transport::MessageQueue;
use cubewire_bevy::udp::Key;
use cubewire_bevy::{MessageBuffer, RenetConnection};
use cubewire_codec::{Plan, Sequence, Stages, ladder};
use cubewire_protocol::{
    Ack, BaselineChoice, ClientMessage, Contract, Feedback, Hello, Request, Settings,
};
use renetcode::{ClientAuthentication, NetcodeClient};

use crate::udp::{address, agreeing, deliver, server, socket, status, step, udp, viewer};

/// A client that is driven by hand.
pub(crate) struct Rogue {
    pub(crate) socket: UdpSocket,
    netcode: NetcodeClient,
    renet: RenetConnection,
}

impl Rogue {
    /// Starts to connect with its own token.
    fn new(server: SocketAddr) -> Self {
        let socket = socket();
        socket.connect(server).unwrap();
        let (client, timeout) = (rand::random(), Duration::from_secs(5));
        let token = Key::LOOPBACK.token_with(server, client, timeout, [0; 256]);
        let connect_token = token.unwrap();
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let netcode =
            NetcodeClient::new(now, ClientAuthentication::Secure { connect_token }).unwrap();
        Self { socket, netcode, renet: RenetConnection::new(FROM_SERVER_BYTES) }
    }

    /// Ends a tick like a viewer's app.
    pub(crate) fn step(&mut self) {
        let mut buffer = [0; 1400];
        deliver();
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.netcode.process_packet(&mut buffer[..length]);
        }
        let tick = Duration::from_secs(1) / 60;
        if let Some((datagram, _)) = self.netcode.update(tick) {
            drop(self.socket.send(datagram));
        }
    }

    /// Connects and says hello with this protocol version.
    pub(crate) fn connect(
        game: &mut HeadlessGame,
        others: &mut [&mut HeadlessViewer],
        version: u16,
    ) -> Self {
        let mut rogue = Self::new(address(game));
        let before = udp(game).connected();
        for _ in 0..20 {
            rogue.step();
            step(game, others, 1);
        }
        assert_eq!(udp(game).connected(), before + 1);
        let contract = Contract::new(Plan::cubes(), String::new());
        let hello = Hello { version, ..contract.hello() };
        rogue.reliable(&ClientMessage::Hello(hello).encode());
        rogue
    }

    pub(crate) fn say(&mut self, payload: &[u8]) {
        if let Ok((_, datagram)) = self.netcode.generate_payload_packet(payload) {
            self.socket.send(datagram).unwrap();
        }
    }

    pub(crate) fn request(&mut self, request: &Request) {
        self.reliable(&ClientMessage::Request(*request).encode());
    }

    /// Acks the snapshot of a tick, and the 32 before it.
    pub(crate) fn ack(&mut self, tick: u64) {
        let ack = Ack { newest: Sequence(tick as u16), earlier: u32::MAX };
        self.unreliable(&Feedback::Ack(ack).encode());
    }

    pub(crate) fn reliable(&mut self, message: &[u8]) {
        self.send(|outgoing| outgoing.messages.push(message.to_vec()));
    }

    pub(crate) fn unreliable(&mut self, message: &[u8]) {
        self.send(|outgoing| outgoing.datagrams.push(message.to_vec()));
    }

    fn send(&mut self, push: impl FnOnce(&mut MessageQueue)) {
        let mut buffer = MessageBuffer::default();
        push(&mut buffer.outgoing);
        for payload in self.renet.flush(Duration::ZERO, &mut buffer).unwrap() {
            self.say(&payload);
        }
    }
}

/// Runs an attack on a server. Its viewer must not be affected.
pub(crate) fn attacked(attack: impl FnOnce(&mut HeadlessGame, &mut HeadlessViewer)) {
    let mut game = server(8);
    let mut bystander = viewer(&game, "changed-flags");
    step(&mut game, &mut [&mut bystander], 60);
    attack(&mut game, &mut bystander);
    step(&mut game, &mut [&mut bystander], 10);
    assert_eq!(status(&bystander), ConnectionStatus::Connected);
    assert_eq!(bystander.meter().refused + bystander.meter().totals().stalls, 0);
    let agreeing = agreeing(&game, &bystander) as u64;
    assert_eq!(agreeing, bystander.meter().received);
}

pub(crate) fn request() -> Request {
    request_for(ladder::DELTA.stages)
}

pub(crate) fn request_for(stages: Stages) -> Request {
    Request {
        number: 1,
        settings: Settings {
            stages,
            send_interval_ticks: 1,
            baseline: BaselineChoice::Newest,
            budget_kbps: None,
        },
    }
}
