//! The receiving half alone, in a viewer of a server in another process.
//!
//! A viewer has one lane. Its sender settings are requested from the server. The meter records the received packets, with the
//! bits by kind as the decoder counts them.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::{
    Clocks, ConnectionClock, CubewireSystems, Disconnected, MessageBuffer, disconnect,
};
use cubewire_codec::BitLedger;
use cubewire_protocol::record::Sample;
use cubewire_protocol::renet_guard::SLICE_BYTES;
use cubewire_protocol::{ClientConnection, ClientEvent, Contract, FallbackReason};
use cubewire_scene::{TICKS_PER_SECOND, cubes};

use super::digest::{self, Digest};
use super::lane::LaneSync;
use super::meter::{Counted, Detailed, LaneMeter};
use super::prediction::Prediction;
use super::receive::{self, Decoded};
use super::remote::{ConnectionStatus, ServerLink};
use super::seats::{self, Wish};
use super::settings::{PlayAt, PlayoutSettings, SenderSettings};
use super::transport::{End, ReceiverBuffer, TransportSystems, bound};
use super::{Replica, ReplicationSystems, displayed, prediction, spawn, sync, text};
use crate::simulation::OwnPlayer;

/// Runs the receiving lane. Needs a transport that connects to a server: it spawns the entity of the connection with [`Joining`].
pub struct ViewerPlugin;

impl Plugin for ViewerPlugin {
    fn build(&self, app: &mut App) {
        let deliver = receive_messages
            .in_set(CubewireSystems::Deliver)
            .in_set(TransportSystems::Receive(End::Client));
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .init_resource::<ServerLink>()
            .init_resource::<OwnPlayer>()
            .add_observer(cubewire_bevy::transport::tell_why)
            .add_observer(lose)
            .add_observer(spawn::change)
            .configure_sets(
                FixedUpdate,
                (
                    TransportSystems::Receive(End::Client),
                    ReplicationSystems::Receive,
                    TransportSystems::Flush(End::Client),
                    ReplicationSystems::Observe,
                )
                    .chain(),
            )
            .add_systems(PreUpdate, deliver)
            .add_systems(
                FixedUpdate,
                (
                    (begin, itemize, receive::receive, displayed::advance)
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    post.in_set(TransportSystems::Flush(End::Client)),
                    (
                        sync::observe,
                        displayed::sample,
                        prediction::predict,
                        digest::of_decoded.run_if(resource_exists::<Digest>),
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                ),
            )
            .add_systems(Update, account.in_set(TransportSystems::Flush(End::Client)));
        // Frames may take long with a software renderer, and a viewer's ticks are cheap.
        if let Some(mut time) = app.world_mut().get_resource_mut::<Time<Virtual>>() {
            time.set_max_delta(MAX_FRAME);
        }
    }
}

/// The fixed clock catches up completely after frames of up to this length.
const MAX_FRAME: Duration = Duration::from_secs(2);

/// A viewer's connection until the welcome. Then it becomes the lane's [`Replica`]. On the entity of the connection to the server.
#[derive(Component, Debug)]
#[require(Counted)]
pub struct Joining {
    connection: Option<ClientConnection>,
    /// Identifies the viewer when it connects again.
    number: u64,
    /// The wish that the server was told.
    wish: Option<Wish>,
}

impl Joining {
    /// `number` is random, and the same whenever this viewer connects.
    pub fn new(contract: Contract, number: u64) -> Self {
        let connection = ClientConnection::new(contract.into()).with_engine(Replica::engine);
        Self { connection: Some(connection), number, wish: None }
    }
}

/// Maximum size of a snapshot message. An uncompressed snapshot takes 31 slices.
const MAX_SNAPSHOT_BYTES: usize = 64 * SLICE_BYTES;

type ViewedLane<'a> = (
    Entity,
    &'a SenderSettings,
    &'a PlayoutSettings,
    &'a ConnectionClock,
    &'a mut ReceiverBuffer,
    Option<&'a mut Replica>,
);

/// Processes the server's messages, requests the lane's sender settings, and delivers snapshots to the lane.
fn receive_messages(
    clocks: Clocks,
    mut server: ResMut<ServerLink>,
    mut own: ResMut<OwnPlayer>,
    connection: Single<(Entity, &mut MessageBuffer, &mut Joining)>,
    lane: Single<ViewedLane<'_>>,
    mut commands: Commands,
) {
    let (entity, mut buffer, mut joining) = connection.into_inner();
    let (lane, sender, playout, clock, mut receiver_buffer, mut replica) = lane.into_inner();
    let now = clocks.now(clock);
    let was_joining = joining.connection.is_some();
    let players = replica.as_ref().map_or(0, |replica| replica.players());
    let incoming = std::mem::take(&mut buffer.incoming);
    let mut messages = incoming.messages.into_iter();
    while let Some(message) = messages.next() {
        let connection =
            joining.connection.as_mut().or(replica.as_mut().map(|replica| &mut replica.0));
        let Some(connection) = connection else { break };
        let heard = connection.on_message(now, &message).map_err(|error| error.to_string());
        let outcome = match heard {
            Ok(ClientEvent::Welcome { bodies }) => {
                let connection = joining.connection.take().expect("the welcome comes once");
                let replica = Replica(connection);
                let expected = cubes(replica.players());
                if bodies != expected {
                    let why =
                        format!("the server has {bodies} cubes, but this program has {expected}");
                    commands.queue(move |world: &mut World| disconnect(world, entity, why));
                    return;
                }
                let receiving = welcome(replica, now, sender, playout);
                commands.entity(lane).try_insert(receiving);
                server.status = ConnectionStatus::Connected;
                // The replica is inserted after this system.
                buffer.incoming.messages = messages.collect();
                return;
            }
            Ok(ClientEvent::Answer) => {
                if let Some(Err(reason)) = connection.answer() {
                    warn!("the server does not grant the requested settings: {reason}");
                }
                Ok(())
            }
            Ok(ClientEvent::Tick(_)) => Ok(()),
            Ok(ClientEvent::Message(answer)) => match seats::decode_answer(answer) {
                Some(player) if player.is_none_or(|player| player < players) => {
                    (server.player, server.knows_player) = (player, true);
                    own.0 = player.unwrap_or_default();
                    Ok(())
                }
                _ => Err("unexpected message from the server".to_owned()),
            },
            Err(why) => Err(why),
        };
        if let Err(why) = outcome {
            let why = format!("the session with the server at {} ended: {why}", server.server);
            commands.queue(move |world: &mut World| disconnect(world, entity, why));
            return;
        }
    }
    let number = joining.number;
    match (&mut joining.connection, &mut replica) {
        (Some(joining), _) => buffer.send_all(|| joining.poll_message()),
        (None, Some(replica)) if !was_joining => {
            let asked = sender.to_wire();
            // A declined request is not repeated.
            if replica.0.requested() != Some(asked) {
                replica.0.request(asked);
            }
            buffer.send_all(|| replica.0.poll_message());
            let wish = Wish(Some(number).filter(|_| playout.play_at == PlayAt::Client));
            if joining.wish != Some(wish) {
                joining.wish = Some(wish);
                buffer.outgoing.messages.push(wish.encode());
            }
            server.granted = replica.0.granted().map(SenderSettings::from_wire);
            let snapshots = incoming.datagrams.into_iter();
            let snapshots = snapshots.filter(|message| message.len() <= MAX_SNAPSHOT_BYTES);
            receiver_buffer.incoming.datagrams.extend(snapshots);
            bound(&mut receiver_buffer.incoming.datagrams);
        }
        _ => {}
    }
}

/// Returns the components of a lane that starts from the initial state in the server's welcome.
fn welcome(
    mut replica: Replica,
    now: Duration,
    sender: &SenderSettings,
    playout: &PlayoutSettings,
) -> impl Bundle + use<> {
    let delay = playout.rule_delay(sender);
    replica.receiver_mut().advance_playout(now, Some(delay));
    let fallback = replica.0.fallback();
    if let Some(text) = text::fallback(sender.stages, fallback) {
        info!("{text}");
    }
    let meter = LaneMeter { fallback, ..LaneMeter::default() };
    let fresh = (LaneSync::default(), Decoded::default(), Prediction::default());
    (meter, fresh, replica)
}

fn lose(
    ended: On<Disconnected>,
    connections: Query<(), With<Joining>>,
    mut server: ResMut<ServerLink>,
    mut own: ResMut<OwnPlayer>,
) {
    if connections.contains(ended.entity) {
        server.status = ConnectionStatus::Lost(ended.reason.clone());
        (server.granted, server.player, server.knows_player) = (None, None, false);
        own.0 = 0;
    }
}

/// Begins the sample of a tick, numbered by the viewer. The sample's budget is the one granted by the server.
fn begin(
    mut tick: Local<u64>,
    server: Res<ServerLink>,
    mut lanes: Query<(&SenderSettings, &mut LaneMeter)>,
) {
    *tick += 1;
    for (settings, mut meter) in &mut lanes {
        // Before the first packet, assume the stages that the server will use: the requested ones, or their fallback.
        let asked = meter.fallback.and(FallbackReason::instead_of(settings.stages));
        let asked = asked.unwrap_or(settings.stages);
        let stages = meter.samples().back().map_or(asked, |sample| sample.stages);
        meter.begin(Sample {
            tick: *tick,
            stages,
            budget_kbps: server.granted.unwrap_or(*settings).kept_budget(),
            send_interval_ticks: settings.send_interval_ticks,
            ..Sample::default()
        });
    }
}

/// Makes the decoder count the bits of each packet by kind, or item by item if the lane is [`Detailed`].
fn itemize(mut lanes: Query<(&mut Replica, Has<Detailed>)>) {
    for (mut replica, is_detailed) in &mut lanes {
        let ledger = replica.receiver().decoder().ledger();
        if ledger.map(|ledger| ledger.items().is_some()) != Some(is_detailed) {
            replica.receiver_mut().set_ledger(Some(match is_detailed {
                true => BitLedger::itemized(),
                false => BitLedger::new(),
            }));
        }
    }
}

/// Passes the lane's acks to the connection.
fn post(
    mut lane: Single<&mut ReceiverBuffer>,
    buffer: Option<Single<&mut MessageBuffer, With<Joining>>>,
) {
    let acks = lane.outgoing.datagrams.drain(..);
    if let Some(mut buffer) = buffer {
        buffer.outgoing.datagrams.extend(acks);
    }
}

/// Counts the traffic of the connection in the lane's meter.
pub(crate) fn account(
    mut meter: Single<&mut LaneMeter>,
    connection: Single<(&MessageBuffer, &mut Counted), With<Joining>>,
) {
    let (buffer, mut counted) = connection.into_inner();
    let traffic = counted.advance(buffer);
    meter.count_traffic(&traffic.received, &traffic.sent);
}
