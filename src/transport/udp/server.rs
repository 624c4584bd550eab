//! Serves viewers, in addition to the local lanes: a connection becomes a lane whose receiving half is in another process.

use std::time::Duration;

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_bevy::mailbox::SLICE_BYTES;
use cubewire_bevy::udp::{ClientAddress, ClientId, TokenData, UdpHost, UdpServer};
use cubewire_bevy::{CubewireSystems, Mailbox, Traffic, disconnect};
use cubewire_codec::{Fingerprint, Plan, Sequence, Snapshot};
use cubewire_protocol::{FallbackReason, PROTOCOL_VERSION, Request, RequestAck, Welcome};
use serde::{Serialize, Serializer};

use super::token_version;
use crate::replication::transport::{End, TransportSystems, bound};
use crate::replication::{
    ChangeLane, LaneBudget, LaneCost, LaneMeter, LaneSettings, Peer, SEND_INTERVALS,
    SenderSettings, Serving, sending_half,
};
use crate::simulation::CubeWorld;

/// Most viewers of a server. A viewer takes about 8 MB, and 20 at most: the last 256 snapshots as it decodes them, for
/// baselines, and messages that are incomplete.
pub const MAX_VIEWERS: usize = 64;

/// Admits viewers. Needs [`ReplicationPlugin`](crate::replication::ReplicationPlugin).
///
/// The socket is served in every frame, so that viewers stay connected while the game is paused.
#[derive(Debug)]
pub struct UdpServerPlugin(pub UdpServer);

impl Plugin for UdpServerPlugin {
    fn build(&self, app: &mut App) {
        let receive = (welcome, receive)
            .chain()
            .after(CubewireSystems::Receive)
            .in_set(TransportSystems::Receive(End::Sender));
        let account = (account, publish)
            .chain()
            .in_set(TransportSystems::Flush(End::Sender));
        app.add_plugins(self.0.clone())
            .init_resource::<Viewers>()
            .add_systems(PreUpdate, receive)
            .add_systems(Update, account)
            .configure_sets(Last, CubewireSystems::HangUp.after(exit_on_all_closed));
    }
}

/// The viewers of a server.
#[derive(Resource, Debug, Default)]
pub struct Viewers {
    /// How many were admitted since the start.
    pub admitted: u64,
    /// The budget of each that is connected, or was when the server ended.
    pub budgets: Vec<ViewerBudget>,
}

/// What a viewer's snapshots may take on the wire, in kilobits a second; none without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ViewerBudget {
    /// The number of its connection, as text: JSON's numbers are exact only up to 53 bits.
    #[serde(serialize_with = "text")]
    pub viewer: u64,
    /// What it asks for.
    pub asked_kbps: Option<u32>,
    /// That, or less if no more gets through.
    pub given_kbps: Option<u32>,
}

fn text<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

/// A connected viewer.
#[derive(Component, Debug)]
struct Viewer {
    /// The initial state that its welcome carries.
    initial: Snapshot,
    /// The number of its last request; none before its first, with which its lane begins.
    request: Option<Sequence>,
    /// Why it does not ask for arithmetic coding, if it says so.
    fallback: Option<FallbackReason>,
    /// When it connected.
    since: Duration,
    /// Whether it has sent a request that was not acked.
    awaits_ack: bool,
    /// Whether it has another version of the protocol.
    is_refused: bool,
    /// Traffic that its lane's meter has counted.
    counted: Traffic,
    /// The budget that was asked for, and the one that was given.
    kbps: [Option<u32>; 2],
}

type NewViewer<'a> = (Entity, &'a ClientAddress, &'a TokenData, &'a mut Mailbox);

/// Sends every new viewer what the world is, and what codes it.
fn welcome(
    time: Res<Time<Real>>,
    world: Res<CubeWorld>,
    mut new: Query<NewViewer<'_>, Without<Viewer>>,
    mut host: ResMut<UdpHost>,
    mut viewers: ResMut<Viewers>,
    mut commands: Commands,
) {
    for (client, ClientAddress(address), data, mut mailbox) in &mut new {
        let welcome = Welcome {
            plan: Plan::cubes(),
            tick: world.tick(),
            fingerprint: Fingerprint::shipped(),
            initial: world.current().clone(),
        };
        match welcome.encode() {
            Ok(message) => mailbox.outgoing.messages.push(message),
            Err(error) => {
                commands.queue(move |world: &mut World| {
                    disconnect(world, client, error.to_string());
                });
                continue;
            }
        }
        let version = token_version(&data.0);
        let is_refused = version != PROTOCOL_VERSION;
        if is_refused {
            // The welcome carries the version of this program.
            host.log(&format!(
                "viewer {address} is refused: it has version {version} of the protocol, and this program has version \
                 {PROTOCOL_VERSION}"
            ));
        } else {
            viewers.admitted += 1;
        }
        commands.entity(client).try_insert(Viewer {
            initial: welcome.initial,
            request: None,
            fallback: None,
            since: time.elapsed(),
            awaits_ack: false,
            is_refused,
            counted: Traffic::default(),
            kbps: [None; 2],
        });
    }
}

type AskedLane<'a> = (
    &'a SenderSettings,
    &'a LaneCost,
    &'a LaneBudget,
    &'a LaneMeter,
);

type AskingViewer<'a> = (
    Entity,
    &'a mut Viewer,
    &'a ClientId,
    &'a ClientAddress,
    &'a mut Mailbox,
    Option<AskedLane<'a>>,
);

/// Processes requests, and delivers acks.
fn receive(
    time: Res<Time<Real>>,
    world: Res<CubeWorld>,
    mut viewers: Query<AskingViewer<'_>>,
    mut commands: Commands,
) {
    for (client, mut viewer, id, address, mut mailbox, lane) in &mut viewers {
        if let Some((asked, cost, budget, _)) = &lane
            && let Some(number) = viewer.request
            && std::mem::take(&mut viewer.awaits_ack)
        {
            let granted = budget.granted(&cost.granted(asked));
            let ack = RequestAck {
                number,
                tick: world.tick(),
                send_interval_ticks: granted.send_interval_ticks.min(255) as u8,
                baseline: granted.baseline,
                budget_kbps: granted.budget,
            };
            mailbox.outgoing.messages.push(ack.encode());
        }
        let refused_acks = lane.as_ref().map_or(0, |lane| lane.3.refused_acks);
        let mut outcome = viewer.check(time.elapsed(), mailbox.backlog_bytes, refused_acks);
        let acks = &mut mailbox.incoming.datagrams;
        if let Some(message) = acks.iter().find(|message| message.len() > SLICE_BYTES) {
            outcome = outcome.and(Err(format!("a message of {} bytes", message.len())));
        }
        match lane {
            Some(_) => bound(acks),
            None => acks.clear(),
        }
        // After the acks, which say what the lane does: a request changes it from the next frame on.
        for message in mailbox.incoming.messages.drain(..) {
            if viewer.is_refused || outcome.is_err() {
                continue;
            }
            outcome = supported(&message).and_then(|request| {
                let peer = || Peer {
                    id: id.0,
                    address: address.0.to_string(),
                    round_trip: Duration::ZERO,
                    loss_fraction: 0.0,
                    fallback: request.fallback,
                };
                viewer.apply(client, request, peer, &mut commands)
            });
        }
        if let Err(why) = outcome {
            commands.queue(move |world: &mut World| disconnect(world, client, why));
        }
    }
}

/// What a viewer requests, or why that is refused.
fn supported(message: &[u8]) -> Result<Request, String> {
    let request = Request::decode(message).map_err(|error| error.to_string())?;
    let ticks = request.send_interval_ticks;
    if !SEND_INTERVALS.contains(&ticks.into()) {
        return Err(format!("a snapshot every {ticks} ticks is not offered"));
    }
    let sendable = Plan::cubes().check_complete(request.stages);
    sendable.map_err(|reason| format!("a request that cannot be served: {reason}"))?;
    Ok(request)
}

impl Viewer {
    /// Fails if the viewer cannot stay connected.
    fn check(&self, now: Duration, backlog_bytes: usize, refused_acks: u64) -> Result<(), String> {
        let is_idle = self.request.is_none() && now > self.since + MAX_IDLE;
        let why = match self.is_refused {
            _ if backlog_bytes > MAX_BACKLOG_BYTES => {
                "too much waits for it to say that it has arrived"
            }
            _ if refused_acks > MAX_REFUSED_ACKS => "it acks what was never sent",
            true if is_idle => "it was refused",
            false if is_idle => "it never requested anything",
            _ => return Ok(()),
        };
        Err(why.to_owned())
    }

    /// Applies a request; with the first one the lane begins. Fails if it cannot.
    fn apply(
        &mut self,
        client: Entity,
        request: Request,
        peer: impl FnOnce() -> Peer,
        commands: &mut Commands<'_, '_>,
    ) -> Result<(), String> {
        self.awaits_ack = true;
        let is_old = |number| !request.number.is_newer_than(number);
        if self.request.is_some_and(is_old) {
            return Ok(());
        }
        let requested = SenderSettings {
            stages: request.stages,
            send_interval_ticks: request.send_interval_ticks.into(),
            baseline: request.baseline,
            budget: request.budget_kbps,
        };
        self.fallback = request.fallback;
        if self.request.replace(request.number).is_some() {
            commands.trigger(ChangeLane {
                entity: client,
                settings: LaneSettings {
                    sender: requested,
                    ..LaneSettings::default()
                },
            });
        } else {
            let lane = sending_half(self.initial.clone(), requested);
            let lane = lane.map_err(|error| error.to_string())?;
            commands.entity(client).try_insert((lane, peer()));
        }
        Ok(())
    }

    /// Notes the budget that is asked for and the one that is given. Returns what there is to say about it, if it becomes
    /// less than was asked for, or no longer is.
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
                Some(asked) => format!(
                    "viewer {address} gets {kbps} kbps instead of {asked}: no more gets through"
                ),
                None => format!("viewer {address} gets {kbps} kbps: no more gets through"),
            }),
            None if was_less => Some(format!("viewer {address} gets what it asks for again")),
            _ => None,
        }
    }
}

type ServedLane<'a> = (
    &'a Mailbox,
    &'a ClientAddress,
    &'a SenderSettings,
    &'a LaneBudget,
    &'a mut Viewer,
    &'a mut LaneMeter,
    &'a mut Peer,
);

/// Notes what the transport has measured.
fn account(
    mut host: ResMut<UdpHost>,
    mut viewers: ResMut<Viewers>,
    mut lanes: Query<ServedLane<'_>>,
) {
    viewers.budgets.clear();
    for (mailbox, address, asked, budget, mut viewer, mut meter, mut peer) in &mut lanes {
        let traffic = mailbox.traffic.since(&viewer.counted);
        viewer.counted = mailbox.traffic;
        let sample = &mut meter.current().traffic;
        sample.add_connection(&traffic.sent, &traffic.received);
        if let Some(rate) = &budget.0.rate {
            peer.round_trip = rate.round_trip().unwrap_or_default();
            peer.loss_fraction = rate.loss();
        }
        peer.fallback = viewer.fallback;
        let (asked_kbps, given_kbps) = (asked.budget, budget.granted(asked).budget);
        viewers.budgets.push(ViewerBudget {
            viewer: peer.id,
            asked_kbps,
            given_kbps,
        });
        if let Some(line) = viewer.note_budget(address, asked_kbps, given_kbps) {
            host.log(&line);
        }
    }
}

fn publish(host: Res<UdpHost>, serving: Option<ResMut<Serving>>, mut commands: Commands) {
    let now = Serving {
        address: host.address().to_string(),
        traffic: host.traffic(),
    };
    match serving {
        Some(mut serving) => {
            serving.set_if_neq(now);
        }
        None => commands.insert_resource(now),
    }
}

/// A client that has requested nothing is removed: with the welcome on a bad network, a viewer takes a few seconds.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// What waits for a client to acknowledge it, at most: the welcome is a sixth of this.
const MAX_BACKLOG_BYTES: usize = 256 << 10;

/// Invalid acks after which a client is removed. A viewer sends none.
const MAX_REFUSED_ACKS: u64 = 16;
