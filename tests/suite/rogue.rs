//! Clients and peers that send invalid messages, with the key or without.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime};

use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire_bevy::renet_connection::FROM_SERVER_BYTES;
use cubewire_bevy::transport::MessageQueue;
use cubewire_bevy::udp::Key;
use cubewire_bevy::{MessageBuffer, RenetConnection};
use cubewire_codec::{Plan, Stages, ladder};
use cubewire_protocol::{
    BaselineChoice, ClientMessage, Contract, Feedback, Hello, Request, Settings,
};
use renetcode::{ClientAuthentication, NetcodeClient};

use crate::udp::{address, deliver, socket, step, udp};

/// A client that is driven by hand.
pub(crate) struct Rogue {
    pub(crate) socket: UdpSocket,
    netcode: NetcodeClient,
    renet: RenetConnection,
}

impl Rogue {
    pub(crate) fn new(server: SocketAddr) -> Self {
        let socket = socket();
        socket.connect(server).unwrap();
        let netcode = netcode(server);
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

    pub(crate) fn feedback(&mut self, feedback: &Feedback) {
        self.unreliable(&feedback.encode());
    }

    pub(crate) fn reliable(&mut self, message: &[u8]) {
        let messages = vec![message.to_vec()];
        self.flush(MessageQueue { messages, ..MessageQueue::default() });
    }

    pub(crate) fn unreliable(&mut self, message: &[u8]) {
        let datagrams = vec![message.to_vec()];
        self.flush(MessageQueue { datagrams, ..MessageQueue::default() });
    }

    fn flush(&mut self, outgoing: MessageQueue) {
        let mut buffer = MessageBuffer { outgoing, ..MessageBuffer::default() };
        for payload in self.renet.flush(Duration::ZERO, &mut buffer).unwrap() {
            self.say(&payload);
        }
    }
}

pub(crate) fn request() -> Request {
    Request {
        number: 1,
        settings: Settings {
            stages: ladder::DELTA.stages,
            send_interval_ticks: 1,
            baseline: BaselineChoice::Newest,
            budget_kbps: None,
        },
    }
}

/// Returns a request for these stages.
pub(crate) fn request_for(stages: Stages) -> Request {
    let mut request = request();
    request.settings.stages = stages;
    request
}

/// Returns a client with its own token.
fn netcode(server: SocketAddr) -> NetcodeClient {
    let (client, timeout) = (rand::random(), Duration::from_secs(5));
    let token = Key::LOOPBACK.token_with(server, client, timeout, [0; 256]);
    let connect_token = token.unwrap();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    NetcodeClient::new(now, ClientAuthentication::Secure { connect_token }).unwrap()
}
