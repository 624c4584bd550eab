//! Serves viewers: each connection becomes a lane with its receiving half in another process. Local lanes are not affected.

use std::time::Duration;

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_bevy::transport::SLICE_BYTES;
use cubewire_bevy::udp::{ClientAddress, ClientId, UdpHost, UdpServer};
use cubewire_bevy::{
    CubewireSystems, Disconnected, MessageBuffer, SocketTraffic, Traffic, disconnect,
};
use cubewire_codec::Snapshot;
use cubewire_protocol::{
    ClientMessage, Contract, FallbackReason, ServerEvent, ServerMessage, ServerSession, Settings,
    one_line,
};
use serde::{Serialize, Serializer};

use super::{contract, from_wire, to_wire};
use crate::replication::transport::{End, TransportSystems, bound};
use crate::replication::{
    ChangeLane, LaneBudget, LaneCost, LaneMeter, LaneSettings, RemoteViewer, ReplicationSystems,
    SEND_INTERVALS, SenderSettings, Serving, sending_half,
};
use crate::simulation::CubeWorld;

/// Maximum number of viewers. A viewer takes about 8 MB, and at most 20 MB, mainly for the last 256 snapshots, which are
/// kept as baselines, and for incomplete messages.
pub const MAX_VIEWERS: usize = 64;

/// Admits viewers. Needs [`ReplicationPlugin`](crate::replication::ReplicationPlugin).
///
/// The socket is read and written in every frame, so that viewers stay connected while the game is paused.
pub struct UdpServerPlugin(pub UdpServer);

impl Plugin for UdpServerPlugin {
    fn build(&self, app: &mut App) {
        let receive = (meet, receive)
            .chain()
            .in_set(CubewireSystems::Deliver)
            .in_set(TransportSystems::Receive(End::Server));
        let account = account.in_set(TransportSystems::Flush(End::Server));
        app.add_plugins(self.0.clone())
            .insert_resource(Serving {
                address: self.0.address().to_string(),
                traffic: SocketTraffic::default(),
            })
            .insert_resource(Viewers { admitted: 0, budgets: Vec::new(), contract: contract() })
            .add_observer(tell_why)
            .add_systems(PreUpdate, receive)
            .add_systems(
                FixedUpdate,
                report_pause
                    .after(TransportSystems::Receive(End::Server))
                    .before(ReplicationSystems::Acks),
            )
            .add_systems(Update, account)
            .configure_sets(Last, CubewireSystems::HangUp.after(exit_on_all_closed));
    }
}

#[derive(Resource, Debug)]
pub struct Viewers {
    pub admitted: u64,
    /// Budgets of the connected viewers. Kept when the server ends.
    pub budgets: Vec<ViewerBudget>,
    contract: Contract,
}

/// A viewer's budget on the wire, in kilobits per second. `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ViewerBudget {
    /// Connection number. Serialized as text, because JSON numbers are exact only up to 53 bits.
    #[serde(serialize_with = "text")]
    pub viewer: u64,
    pub asked_kbps: Option<u32>,
    /// The granted budget: the requested one, or less if the network does not transfer it.
    pub given_kbps: Option<u32>,
}

fn text<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

#[derive(Component, Debug)]
struct Viewer {
    session: ServerSession,
    initial: Snapshot,
    /// Whether its lane exists. The first request creates it.
    has_lane: bool,
    /// Why it gets no arithmetic coding although it requested it.
    fallback: Option<FallbackReason>,
    /// Time of the connection, in real time.
    since: Duration,
    /// Traffic already counted in its lane's meter.
    counted: Traffic,
    kbps: [Option<u32>; 2],
}

type IsNew = (With<MessageBuffer>, With<ClientAddress>, Without<Viewer>);

fn meet(time: Res<Time<Real>>, new: Query<Entity, IsNew>, mut commands: Commands) {
    for client in &new {
        commands.entity(client).try_insert(Viewer {
            session: ServerSession::new(time.elapsed()),
            initial: Snapshot::default(),
            has_lane: false,
            fallback: None,
            since: time.elapsed(),
            counted: Traffic::default(),
            kbps: [None; 2],
        });
    }
}

/// Sends the current tick to viewers after a pause of the simulation.
fn report_pause(
    time: Res<Time<Real>>,
    world: Res<CubeWorld>,
    mut viewers: Query<(&mut Viewer, &mut MessageBuffer)>,
) {
    for (mut viewer, mut buffer) in &mut viewers {
        if let Some(tick) = viewer.session.on_tick(time.elapsed(), world.tick()) {
            buffer.outgoing.messages.push(tick.encode());
        }
    }
}

type AskedLane<'a> = (&'a SenderSettings, &'a LaneCost, &'a LaneBudget, &'a LaneMeter);

type AskingViewer<'a> = (
    Entity,
    &'a mut Viewer,
    &'a ClientId,
    &'a ClientAddress,
    &'a mut MessageBuffer,
    Option<AskedLane<'a>>,
);

/// Processes the viewers' messages and delivers their acks to the lanes.
fn receive(
    time: Res<Time<Real>>,
    world: Res<CubeWorld>,
    mut admitted: ResMut<Viewers>,
    mut viewers: Query<AskingViewer<'_>>,
    mut commands: Commands,
) {
    let now = time.elapsed();
    for (client, mut viewer, id, address, mut buffer, lane) in &mut viewers {
        if let Some((asked, cost, budget, _)) = &lane {
            let granted = to_wire(&budget.granted(&cost.granted(asked)));
            let granted = viewer.session.grant(now, granted);
            let granted = granted.map(|granted| granted.encode());
            buffer.outgoing.messages.extend(granted);
        }
        let refused_acks = lane.as_ref().map_or(0, |lane| lane.3.refused_acks);
        let mut outcome = viewer.check(now, buffer.backlog_bytes, refused_acks);
        let acks = &mut buffer.incoming.datagrams;
        if let Some(message) = acks.iter().find(|message| message.len() > SLICE_BYTES) {
            outcome = outcome.and(Err(format!("message too long: {} bytes", message.len())));
        }
        match lane {
            Some(_) => bound(acks),
            None => acks.clear(),
        }
        // Requests come after the grant, which describes the current settings. A request takes effect in the next frame.
        for message in std::mem::take(&mut buffer.incoming.messages) {
            if outcome.is_err() {
                break;
            }
            let message = ClientMessage::decode(&message);
            let asked =
                message.map(|message| viewer.session.on_message(&admitted.contract, message));
            outcome = match asked {
                None => Err("malformed message from the viewer".to_owned()),
                Some(Ok(ServerEvent::Welcome)) => {
                    admitted.admitted += 1;
                    viewer.welcome(&admitted.contract, now, &world, &mut buffer)
                }
                Some(Ok(ServerEvent::Settings(settings))) => {
                    let peer = || RemoteViewer {
                        id: id.0,
                        address: address.0.to_string(),
                        round_trip: Duration::ZERO,
                        loss_fraction: 0.0,
                        fallback: None,
                    };
                    viewer.apply(&admitted.contract, client, settings, peer, &mut commands)
                }
                Some(Err(reason)) => Err(reason),
            };
        }
        if let Err(why) = outcome {
            if viewer.session.has_left() {
                buffer.ended = Some(why.clone());
            }
            commands.queue(move |world: &mut World| disconnect(world, client, why));
        }
    }
}

/// Queues the reason for the end of a connection as the last message to the viewer.
fn tell_why(ended: On<Disconnected>, mut viewers: Query<&mut MessageBuffer, With<Viewer>>) {
    if let Ok(mut buffer) = viewers.get_mut(ended.entity) {
        buffer.last_message = Some(ServerMessage::Refused(&one_line(&ended.reason)).encode());
    }
}

impl Viewer {
    /// Fails with the reason if the viewer must be disconnected.
    fn check(&self, now: Duration, backlog_bytes: usize, refused_acks: u64) -> Result<(), String> {
        let why = match self.session.is_overdue(now) {
            _ if backlog_bytes > MAX_BACKLOG_BYTES => "too many bytes wait for its acks",
            _ if refused_acks > MAX_REFUSED_ACKS => "it acked snapshots that were never sent",
            true => "it sent no hello",
            false if !self.has_lane && now > self.since + MAX_IDLE => "it sent no request",
            false => return Ok(()),
        };
        Err(why.to_owned())
    }

    fn welcome(
        &mut self,
        contract: &Contract,
        now: Duration,
        world: &CubeWorld,
        buffer: &mut MessageBuffer,
    ) -> Result<(), String> {
        self.initial = world.current().clone();
        let welcome = self.session.welcome(contract, now, world.tick(), &self.initial);
        let welcome = welcome.map_err(|error| error.to_string())?;
        buffer.outgoing.messages.push(welcome.encode());
        Ok(())
    }

    /// Applies a request. The first one creates the lane. Fails if the send interval or the initial state is not allowed.
    fn apply(
        &mut self,
        contract: &Contract,
        client: Entity,
        settings: Settings,
        peer: impl FnOnce() -> RemoteViewer,
        commands: &mut Commands<'_, '_>,
    ) -> Result<(), String> {
        let ticks = settings.send_interval_ticks;
        if !SEND_INTERVALS.contains(&ticks.into()) {
            return Err(format!("a send interval of {ticks} ticks is not supported"));
        }
        let instead = self.session.stages_instead_of(contract, settings.stages);
        self.fallback = instead.and(self.session.fallback());
        let requested =
            from_wire(Settings { stages: instead.unwrap_or(settings.stages), ..settings });
        if std::mem::replace(&mut self.has_lane, true) {
            commands.trigger(ChangeLane {
                entity: client,
                settings: LaneSettings { sender: requested, ..LaneSettings::default() },
            });
        } else {
            let lane = sending_half(self.initial.clone(), requested);
            let lane = lane.map_err(|error| error.to_string())?;
            commands.entity(client).try_insert((lane, peer()));
        }
        Ok(())
    }

    /// Stores the requested and granted budget. Returns a log line when the granted budget becomes lower than the requested
    /// one, or is equal to it again.
    fn note_budget(
        &mut self,
        address: &ClientAddress,
        asked: Option<u32>,
        given: Option<u32>,
    ) -> Option<String> {
        let [last_asked, last_given] = std::mem::replace(&mut self.kbps, [asked, given]);
        let was_less = last_asked != last_given;
        let address = address.0;
        match given.filter(|_| given != asked) {
            Some(kbps) if !was_less => Some(match asked {
                Some(asked) => {
                    format!("viewer {address} gets {kbps} kbps instead of {asked}: {LATE_ACKS}")
                }
                None => format!("viewer {address} gets {kbps} kbps: {LATE_ACKS}"),
            }),
            None if was_less => {
                Some(format!("viewer {address} gets its requested bandwidth again"))
            }
            _ => None,
        }
    }
}

type ServedLane<'a> = (
    &'a MessageBuffer,
    &'a ClientAddress,
    &'a SenderSettings,
    &'a LaneBudget,
    &'a mut Viewer,
    &'a mut LaneMeter,
    &'a mut RemoteViewer,
);

fn account(
    mut host: ResMut<UdpHost>,
    mut viewers: ResMut<Viewers>,
    mut serving: ResMut<Serving>,
    mut lanes: Query<ServedLane<'_>>,
) {
    viewers.budgets.clear();
    for (buffer, address, asked, budget, mut viewer, mut meter, mut peer) in &mut lanes {
        let traffic = buffer.traffic.since(&viewer.counted);
        viewer.counted = buffer.traffic;
        meter.count_traffic(&traffic.sent, &traffic.received);
        if let Some(rate) = &budget.0.rate {
            peer.round_trip = rate.round_trip().unwrap_or_default();
            peer.loss_fraction = rate.loss();
        }
        peer.fallback = viewer.fallback;
        let (asked_kbps, given_kbps) = (asked.budget, budget.granted(asked).budget);
        viewers.budgets.push(ViewerBudget { viewer: peer.id, asked_kbps, given_kbps });
        if let Some(line) = viewer.note_budget(address, asked_kbps, given_kbps) {
            host.log(&line);
        }
    }
    serving.set_if_neq(Serving { address: host.address().to_string(), traffic: host.traffic() });
}

/// Why a viewer gets less than it requested. The server cannot tell the two causes apart.
const LATE_ACKS: &str =
    "its acks arrive late or not at all, because the network is slow or the viewer is busy";

/// Time until a client without a request is disconnected. On a bad network the first request takes a few seconds.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// Maximum size of unacknowledged reliable messages. Six times the size of the welcome.
const MAX_BACKLOG_BYTES: usize = 256 << 10;

/// Number of invalid acks after which a client is disconnected. A viewer sends no invalid acks.
const MAX_REFUSED_ACKS: u64 = 16;
