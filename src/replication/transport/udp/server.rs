//! Admits viewers: each is a lane, whose other half is in another process.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{Sequence, Snapshot};
use cubewire_link::Conditions;
use cubewire_protocol::{Grant, PROTOCOL_VERSION, Request, Welcome};
use cubewire_scene::TICKS_PER_SECOND;
use renet::{ClientId, RenetServer};
use renetcode::{
    NETCODE_MAX_PACKET_BYTES, NetcodeServer, ServerAuthentication, ServerConfig, ServerResult,
};

use super::super::guard::Guard;
use super::super::{Purpose, REQUESTS, SNAPSHOTS, SenderMail, TICK, WELCOME, config};
use super::datagram::is_fit_for_server;
use super::spread::Spread;
use super::{PROTOCOL_ID, Security, ViewerSettings, since_1970, token_version};
use crate::replication::send::{Paced, Sender};
use crate::replication::{HEADER_BYTES, LaneMeter, LaneSettings, SEND_INTERVALS, Sample};
use crate::simulation::World as CubeWorld;

/// Where viewers are admitted, and which.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen at. Port 0 lets the operating system choose one.
    pub bind: SocketAddr,
    /// Addresses that viewers dial, if it is not that one.
    pub public: Vec<SocketAddr>,
    /// Who is admitted.
    pub security: Security,
    /// Viewers at the same time, at most; 1 to [`MAX_VIEWERS`](Self::MAX_VIEWERS).
    pub max_viewers: usize,
}

impl ServerSettings {
    /// What netcode has room for.
    pub const MAX_VIEWERS: usize = 1024;
}

/// Why viewers cannot be admitted.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, not ours, or forbidden.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Without a key, nobody from outside may reach it.
    #[error("{0} can be reached from other machines: that needs a key")]
    InsecureInPublic(SocketAddr),
    /// Tokens name the address that they are good for.
    #[error("{0} is every address of this machine: say which one viewers dial with --public")]
    NoPublicAddress(SocketAddr),
}

/// What went through the socket since the start, with 28 bytes of IP and UDP headers each, as of IPv4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams that came.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Of the bytes both ways, those of no viewer's lane: handshakes, strangers, goodbyes.
    pub unassigned_bytes: u64,
    /// Datagrams from strangers that were ignored.
    pub ignored: u64,
    /// Datagrams that the operating system did not take.
    pub unsent: u64,
}

/// The server's end of every viewer's connection.
#[derive(Resource)]
pub struct UdpServer {
    socket: Socket,
    address: SocketAddr,
    netcode: NetcodeServer,
    renet: RenetServer,
    guests: BTreeMap<ClientId, Guest>,
    /// Viewers that came since the start.
    admitted: u64,
    /// Strangers that the log has told of.
    reported: HashSet<SocketAddr>,
    since_flush: Duration,
}

/// netcode's own would show the key.
impl fmt::Debug for UdpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpServer")
            .field("address", &self.address)
            .field("guests", &self.guests)
            .finish_non_exhaustive()
    }
}

/// A lane whose receiver is in another process.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct RemoteViewer {
    /// netcode's number of it.
    pub client: ClientId,
    /// Where it is.
    pub address: SocketAddr,
    /// There and back, by renet's own acks.
    pub round_trip: Duration,
    /// Part of the packets that got lost, 0 to 1, by renet's own acks.
    pub loss: f64,
}

/// One who is connected.
#[derive(Debug)]
struct Guest {
    address: SocketAddr,
    guard: Guard,
    /// The state in its welcome.
    initial: Snapshot,
    /// Its lane, once it has said what it wants, and the number of what it said last.
    lane: Option<(Entity, Sequence)>,
    connected_for: Duration,
    /// Since it was last told what it is granted, and the tick.
    since_word: Duration,
    /// It speaks another version.
    is_refused: bool,
    /// Packets of snapshots.
    spread: Spread,
    /// Packets that its lane's meter does not have yet.
    traffic: Sample,
}

#[derive(Debug)]
struct Socket {
    udp: UdpSocket,
    traffic: Traffic,
}

impl Socket {
    const fn unassigned(&mut self, bytes: usize) {
        self.traffic.unassigned_bytes += bytes as u64;
    }

    /// Sends, unless the operating system has no room: as good as lost on the way.
    fn send(&mut self, bytes: &[u8], to: SocketAddr) -> usize {
        match self.udp.send_to(bytes, to) {
            Ok(_) => {
                self.traffic.sent += 1;
                self.traffic.sent_bytes += (bytes.len() + HEADER_BYTES) as u64;
                bytes.len() + HEADER_BYTES
            }
            Err(error) => {
                self.traffic.unsent += 1;
                if self.traffic.unsent == 1 {
                    warn!("cannot send to {to}, and perhaps again: {error}");
                }
                0
            }
        }
    }
}

impl UdpServer {
    /// Listens.
    ///
    /// # Errors
    /// [`ServeError`] if it cannot, or must not.
    pub fn new(settings: &ServerSettings) -> Result<Self, ServeError> {
        let bind = settings.bind;
        let is_insecure = settings.security == Security::Insecure;
        if is_insecure && !bind.ip().is_loopback() {
            return Err(ServeError::InsecureInPublic(bind));
        }
        let failed = |source| ServeError::Bind {
            address: bind,
            source,
        };
        let udp = UdpSocket::bind(bind).map_err(failed)?;
        udp.set_nonblocking(true).map_err(failed)?;
        let address = udp.local_addr().map_err(failed)?;
        let mut public_addresses = settings.public.clone();
        if public_addresses.is_empty() {
            if address.ip().is_unspecified() {
                return Err(ServeError::NoPublicAddress(bind));
            }
            public_addresses.push(address);
        }
        let netcode = NetcodeServer::new(ServerConfig {
            current_time: since_1970(),
            max_clients: settings.max_viewers.clamp(1, ServerSettings::MAX_VIEWERS),
            protocol_id: PROTOCOL_ID,
            public_addresses,
            authentication: match settings.security {
                Security::Key(_) => ServerAuthentication::Secure {
                    private_key: settings.security.private_key(),
                },
                Security::Insecure => ServerAuthentication::Unsecure,
            },
        });
        Ok(Self {
            socket: Socket {
                udp,
                traffic: Traffic::default(),
            },
            address,
            netcode,
            renet: RenetServer::new(config()),
            guests: BTreeMap::new(),
            admitted: 0,
            reported: HashSet::new(),
            since_flush: Duration::ZERO,
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What went through the socket.
    #[must_use]
    pub const fn traffic(&self) -> Traffic {
        self.socket.traffic
    }

    /// Viewers that came since the start.
    #[must_use]
    pub const fn admitted(&self) -> u64 {
        self.admitted
    }

    /// Viewers that are connected, those included that have not said yet what they want.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.guests.len()
    }

    /// Takes in what has come, as much as is taken at a time.
    fn receive(&mut self, world: &CubeWorld, commands: &mut Commands<'_, '_>) {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.udp.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    let bytes = length + HEADER_BYTES;
                    self.socket.traffic.received += 1;
                    self.socket.traffic.received_bytes += bytes as u64;
                    if !is_fit_for_server(&buffer[..length]) {
                        self.socket.unassigned(bytes);
                        self.ignore(from);
                        continue;
                    }
                    self.datagram(&mut buffer[..length], from, world, commands);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // What others did to our datagrams, not the end of the socket.
                Err(_) => {}
            }
        }
    }

    fn datagram(
        &mut self,
        datagram: &mut [u8],
        from: SocketAddr,
        world: &CubeWorld,
        commands: &mut Commands<'_, '_>,
    ) {
        let bytes = datagram.len() + HEADER_BYTES;
        let mut guests = self.guests.values_mut();
        let known = guests.find(|guest| guest.address == from);
        match self.netcode.process_packet(from, datagram) {
            ServerResult::Payload { client_id, payload } => {
                let Some(guest) = known else {
                    return;
                };
                guest.traffic.count_up(Purpose::of(payload), bytes);
                match guest.guard.admit(payload) {
                    // It is connected, so renet knows it.
                    Ok(()) => drop(self.renet.process_packet_from(payload, client_id)),
                    Err(hostile) => self.leave(client_id, &hostile.to_string(), commands),
                }
            }
            ServerResult::ClientConnected {
                client_id,
                addr,
                user_data,
                payload,
            } => {
                let answer = self.socket.send(payload, addr);
                self.socket.unassigned(bytes + answer);
                if self.guests.contains_key(&client_id) {
                    self.leave(client_id, "another has come by the same number", commands);
                } else {
                    self.admit(client_id, addr, token_version(&user_data), world);
                }
            }
            ServerResult::ClientDisconnected { client_id, .. } => {
                self.socket.unassigned(bytes);
                self.leave(client_id, "it has gone", commands);
            }
            ServerResult::PacketToSend { addr, payload } => {
                let answer = self.socket.send(payload, addr);
                self.socket.unassigned(bytes + answer);
            }
            ServerResult::None => match known {
                Some(guest) => guest.traffic.control_bytes += bytes,
                None => {
                    self.socket.unassigned(bytes);
                    self.ignore(from);
                }
            },
        }
    }

    fn ignore(&mut self, from: SocketAddr) {
        self.socket.traffic.ignored += 1;
        if self.reported.len() < MAX_REPORTED && self.reported.insert(from) {
            warn!(
                "ignored a datagram from {from}, and perhaps more: it is of another program, was \
                 made with another key or for another address, or is of a viewer that is gone"
            );
        }
    }

    fn admit(&mut self, client: ClientId, address: SocketAddr, version: u16, world: &CubeWorld) {
        let welcome = Welcome {
            ticks_per_second: TICKS_PER_SECOND as u16,
            tick: world.tick(),
            initial: world.current().clone(),
        };
        let message = welcome
            .encode()
            .expect("the simulation's states are finite");
        self.renet.add_connection(client);
        self.renet.send_message(client, WELCOME, message);
        let guest = Guest {
            address,
            guard: Guard::of_the_sender(),
            initial: welcome.initial,
            lane: None,
            connected_for: Duration::ZERO,
            since_word: Duration::ZERO,
            is_refused: version != PROTOCOL_VERSION,
            spread: Spread::default(),
            traffic: Sample::default(),
        };
        if guest.is_refused {
            // The welcome tells it the version that is wanted here.
            warn!(
                "viewer {address} is refused: it speaks version {version} of the protocol, and this \
                 program version {PROTOCOL_VERSION}"
            );
        } else {
            self.admitted += 1;
            info!("viewer {address} has come");
        }
        self.guests.insert(client, guest);
    }

    /// Lets one go, whatever the reason, and tells it unless it went by itself.
    fn leave(&mut self, client: ClientId, why: &str, commands: &mut Commands<'_, '_>) {
        // netcode can be made to hold two by one number.
        while let ServerResult::ClientDisconnected { addr, payload, .. } =
            self.netcode.disconnect(client)
        {
            if let Some(payload) = payload {
                let goodbye = self.socket.send(payload, addr);
                self.socket.unassigned(goodbye);
            }
        }
        self.renet.remove_connection(client);
        if let Some(guest) = self.guests.remove(&client) {
            info!("viewer {} has left: {why}", guest.address);
            let traffic = &guest.traffic;
            let bytes = traffic.wire_bytes
                + traffic.ack_bytes
                + traffic.renet_ack_bytes
                + traffic.control_bytes;
            self.socket.unassigned(bytes);
            if let Some((lane, _)) = guest.lane {
                commands.entity(lane).despawn();
            }
        }
    }

    /// Keeps connections alive, and lets those go that are not.
    fn keep_up(&mut self, commands: &mut Commands<'_, '_>) {
        for client in self.netcode.clients_id() {
            if !self.guests.contains_key(&client) {
                self.leave(client, "", commands);
                continue;
            }
            match self.netcode.update_client(client) {
                ServerResult::PacketToSend { addr, payload } => {
                    let bytes = self.socket.send(payload, addr);
                    if let Some(guest) = self.guests.get_mut(&client) {
                        guest.traffic.control_bytes += bytes;
                    }
                }
                ServerResult::ClientDisconnected { addr, payload, .. } => {
                    if let Some(payload) = payload {
                        let goodbye = self.socket.send(payload, addr);
                        self.socket.unassigned(goodbye);
                    }
                    self.leave(client, "nothing came from it any more", commands);
                }
                _ => {}
            }
        }
        while self.renet.get_event().is_some() {}
        let leaving: Vec<_> = self
            .guests
            .iter()
            .filter_map(|(&client, guest)| {
                let silent = self.netcode.time_since_last_received_packet(client);
                let broken = self.renet.disconnect_reason(client);
                let why = if let Some(reason) = broken {
                    reason.to_string()
                } else if silent.is_some_and(|silent| silent > LONGEST_SILENCE) {
                    "nothing came from it any more".to_owned()
                } else if guest.lane.is_none() && guest.connected_for > LONGEST_SILENCE {
                    let why = if guest.is_refused {
                        "it was refused"
                    } else {
                        "it never said what it wants"
                    };
                    why.to_owned()
                } else {
                    return None;
                };
                Some((client, why))
            })
            .collect();
        for (client, why) in leaving {
            self.leave(client, &why, commands);
        }
    }
}

type Lanes<'world, 'state, 'a> =
    Query<'world, 'state, (&'a mut SenderMail, &'a mut LaneSettings), With<RemoteViewer>>;

pub(in crate::replication) fn receive(
    time: Res<Time<Real>>,
    world: Res<CubeWorld>,
    mut server: ResMut<UdpServer>,
    mut lanes: Lanes<'_, '_, '_>,
    mut commands: Commands,
) {
    let server = &mut *server;
    server.netcode.update(time.delta());
    server.renet.update(time.delta());
    server.since_flush += time.delta();
    for guest in server.guests.values_mut() {
        guest.connected_for += time.delta();
    }
    server.receive(&world, &mut commands);
    server.keep_up(&mut commands);

    let mut unwelcome = Vec::new();
    for (&client, guest) in &mut server.guests {
        while let Some(message) = server.renet.receive_message(client, REQUESTS) {
            match Request::decode(&message) {
                _ if guest.is_refused => {}
                Ok(request) if is_supported(&request) => {
                    if grant(client, guest, request, &mut lanes, &mut commands) {
                        guest.since_word = LONGEST_WORDLESS;
                    }
                }
                Ok(request) => {
                    let ticks = request.send_interval_ticks;
                    let why = format!("a snapshot every {ticks} ticks is not offered");
                    unwelcome.push((client, why));
                    break;
                }
                Err(error) => {
                    unwelcome.push((client, error.to_string()));
                    break;
                }
            }
        }
        guest.since_word += time.delta();
        if let Some((_, number)) = guest.lane
            && guest.since_word >= LONGEST_WORDLESS
        {
            guest.since_word = Duration::ZERO;
            let tick = world.tick();
            let grant = Grant { number, tick }.encode();
            server.renet.send_message(client, REQUESTS, grant);
        }
        let lane = guest.lane.and_then(|(lane, _)| lanes.get_mut(lane).ok());
        let mut mail = lane.map(|(mail, _)| mail);
        while let Some(message) = server.renet.receive_message(client, SNAPSHOTS) {
            if let Some(mail) = &mut mail {
                mail.0.deliver(message);
            }
        }
    }
    for (client, why) in unwelcome {
        server.leave(client, &why, &mut commands);
    }
}

fn is_supported(request: &Request) -> bool {
    SEND_INTERVALS.contains(&request.send_interval_ticks.into())
}

/// Does what a viewer asks for, unless that is not possible yet; the first time, gives it a lane.
fn grant(
    client: ClientId,
    guest: &mut Guest,
    request: Request,
    lanes: &mut Lanes<'_, '_, '_>,
    commands: &mut Commands<'_, '_>,
) -> bool {
    let asked = |settings: LaneSettings| LaneSettings {
        stages: request.stages,
        send_interval_ticks: request.send_interval_ticks.into(),
        baseline: request.baseline,
        ..settings
    };
    match &mut guest.lane {
        Some((lane, number)) => {
            // Not there before the end of the frame in which it was spawned.
            let Ok((_, mut settings)) = lanes.get_mut(*lane) else {
                return false;
            };
            if request.number.is_newer_than(*number) {
                *number = request.number;
                *settings = asked(settings.clone());
            }
        }
        None => {
            // What lies between the two is a real network.
            let settings = asked(LaneSettings {
                link: Conditions::PERFECT,
                ..LaneSettings::default()
            });
            let sender = Sender::new(guest.initial.clone(), settings.stages)
                .expect("the welcome has been encoded from the same state");
            let viewer = RemoteViewer {
                client,
                address: guest.address,
                round_trip: Duration::ZERO,
                loss: 0.0,
            };
            let lane = commands.spawn((
                settings,
                sender,
                SenderMail::default(),
                LaneMeter::default(),
                Paced::default(),
                viewer,
            ));
            guest.lane = Some((lane.id(), request.number));
        }
    }
    true
}

/// Sends what waits, once a tick.
pub(in crate::replication) fn flush(
    mut server: ResMut<UdpServer>,
    mut lanes: Query<(&mut SenderMail, &Paced, &mut LaneMeter, &mut RemoteViewer)>,
) {
    let server = &mut *server;
    let waiting = lanes.iter().any(|(mail, ..)| !mail.0.outgoing.is_empty());
    if !waiting && server.since_flush < TICK {
        return;
    }
    let ticks = server.since_flush.div_duration_f64(TICK).round().max(1.0) as u32;
    server.since_flush = Duration::ZERO;
    for (&client, guest) in &mut server.guests {
        let mut lane = guest.lane.and_then(|(lane, _)| lanes.get_mut(lane).ok());
        if let Some((mail, ..)) = &mut lane {
            for message in mail.0.outgoing.drain(..) {
                server.renet.send_message(client, SNAPSHOTS, message);
            }
        }
        let interval = lane
            .as_ref()
            .map_or(1, |(_, paced, ..)| paced.0.interval_ticks());
        let packets = server.renet.get_packets_to_send(client).unwrap_or_default();
        let (snapshots, others): (Vec<_>, Vec<_>) = packets
            .into_iter()
            .partition(|packet| Purpose::of(packet) == Purpose::Snapshots);
        guest.spread.put(snapshots, interval);
        for packet in others.into_iter().chain(guest.spread.take(ticks)) {
            if let Ok((to, datagram)) = server.netcode.generate_payload_packet(client, &packet) {
                let bytes = server.socket.send(datagram, to);
                guest.traffic.count_down(Purpose::of(&packet), bytes);
            }
        }
        if let Some((_, _, meter, viewer)) = &mut lane {
            let traffic = std::mem::take(&mut guest.traffic);
            meter.current().add_traffic(&traffic);
            viewer.round_trip = Duration::from_secs_f64(server.renet.rtt(client).max(0.0));
            viewer.loss = server.renet.packet_loss(client);
        }
    }
}

/// Tells the viewers that the program ends.
pub(in crate::replication) fn close(mut server: ResMut<UdpServer>, mut commands: Commands) {
    let clients: Vec<_> = server.guests.keys().copied().collect();
    for client in clients {
        server.leave(client, "the server ends", &mut commands);
    }
}

/// Datagrams taken in at a time: more than all viewers send in a frame, and a flood does not hold up
/// the game.
const MAX_DATAGRAMS: usize = 4096;

/// Strangers that the log tells of.
const MAX_REPORTED: usize = 64;

/// Who says nothing for so long is gone, whatever its token says.
const LONGEST_SILENCE: Duration = ViewerSettings::LONGEST_TIMEOUT;

/// How often a viewer is told the tick, so that it knows it after a pause of any length.
const LONGEST_WORDLESS: Duration = Duration::from_secs(1);
