//! Serves viewers in other processes: the entity of a viewer's connection is also its lane, without a receiving half.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::{
    Client, Clocks, ConnectionClock, CubewireSystems, EncodeLimit, MessageBuffer, disconnect,
};
use cubewire_protocol::{RateControl, ServerConnection, ServerEvent, Settings};

use super::ReplicationSystems;
use super::lane::Sender;
use super::meter::{Counted, LaneMeter};
use super::remote::RemoteViewer;
use super::seats::{self, Seats, Wish};
use super::send;
use super::settings::{LaneSettings, SEND_INTERVALS, SenderSettings};
use super::spawn::{self, ChangeLane};
use super::transport::{End, TransportSystems};
use crate::simulation::CubeWorld;

/// Serves all connections with a [`Client`] and a [`RemoteViewer`] that a transport spawns. Needs
/// [`ReplicationPlugin`](super::ReplicationPlugin).
pub struct ServePlugin;

impl Plugin for ServePlugin {
    fn build(&self, app: &mut App) {
        let receive = (meet, receive, seats::assign, send::apply_settings, grant)
            .chain()
            .in_set(CubewireSystems::Deliver)
            .in_set(TransportSystems::Receive(End::Server));
        app.init_resource::<Admitted>()
            .init_resource::<Seats>()
            .add_observer(cubewire_bevy::transport::tell_why)
            .add_systems(PreUpdate, receive)
            .add_systems(
                FixedUpdate,
                (
                    report_tick
                        .after(TransportSystems::Receive(End::Server))
                        .before(ReplicationSystems::Acks),
                    limit_encoding
                        .run_if(resource_exists::<EncodeLimit>)
                        .after(ReplicationSystems::Acks)
                        .before(ReplicationSystems::Send),
                ),
            )
            .add_systems(Update, account.in_set(TransportSystems::Flush(End::Server)));
    }
}

/// Number of viewers that have been admitted since the start.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Admitted(pub u64);

/// Maximum size of unacknowledged reliable messages. Six times the size of the welcome.
const MAX_BACKLOG_BYTES: usize = 256 << 10;

type IsNew = (With<Client>, With<RemoteViewer>, Without<Sender>);

fn meet(
    clocks: Clocks,
    world: Res<CubeWorld>,
    new: Query<(Entity, &ConnectionClock), IsNew>,
    mut commands: Commands,
) {
    for (viewer, clock) in &new {
        let now = clocks.now(clock);
        let contract = spawn::contract(world.players());
        let connection = ServerConnection::new(contract, RateControl::Always, now);
        commands.entity(viewer).try_insert((Sender(connection), Counted::default()));
    }
}

type Viewer<'a> = (
    Entity,
    &'a mut Sender,
    &'a mut MessageBuffer,
    &'a mut RemoteViewer,
    &'a ConnectionClock,
    Has<SenderSettings>,
);

/// Processes the messages and datagrams of viewers.
fn receive(
    clocks: Clocks,
    world: Res<CubeWorld>,
    mut admitted: ResMut<Admitted>,
    mut seats: ResMut<Seats>,
    mut viewers: Query<Viewer<'_>>,
    mut commands: Commands,
) {
    for (entity, mut sender, mut buffer, mut peer, clock, has_settings) in &mut viewers {
        let (now, connection) = (clocks.now(clock), &mut sender.0);
        let incoming = std::mem::take(&mut buffer.incoming);
        let mut messages = incoming.messages.iter();
        let mut outcome = messages.try_for_each(|message| {
            match connection.on_message(message)? {
                ServerEvent::Hello => {
                    admitted.0 += 1;
                    let welcome = connection.welcome(now, world.tick(), world.current());
                    welcome.map_err(|error| error.to_string())?;
                }
                ServerEvent::Request(asked) => match lane_settings(connection, asked, &mut peer) {
                    Ok(settings) if has_settings => {
                        commands.trigger(ChangeLane { entity, settings });
                    }
                    Ok(settings) => {
                        commands.entity(entity).try_insert(settings.sender);
                    }
                    Err(reason) => connection.decline(&reason),
                },
                ServerEvent::Declined => {}
                ServerEvent::Message(message) => {
                    let wish = Wish::decode(message).ok_or("unexpected message")?;
                    commands.entity(entity).try_insert(wish);
                }
            }
            Ok(())
        });
        // Acks count as received in the next tick.
        let tick = world.tick() + 1;
        for datagram in &incoming.datagrams {
            outcome = outcome.and_then(|()| connection.on_datagram(tick, datagram).map(drop));
        }
        outcome =
            outcome.and_then(|()| connection.check(now, buffer.backlog_bytes, MAX_BACKLOG_BYTES));
        buffer.send_all(|| connection.poll_message());
        if let Err(why) = outcome {
            if connection.has_left() {
                buffer.ended = Some(why.clone());
                seats.leave(entity);
            }
            commands.queue(move |world: &mut World| disconnect(world, entity, why));
        }
    }
}

/// Returns the settings of a viewer's lane for a request. Fails if the send interval is not supported.
fn lane_settings(
    connection: &ServerConnection,
    asked: Settings,
    peer: &mut RemoteViewer,
) -> Result<LaneSettings, String> {
    let ticks = asked.send_interval_ticks;
    if !SEND_INTERVALS.contains(&ticks.into()) {
        return Err(format!("a send interval of {ticks} ticks is not supported"));
    }
    let instead = connection.stages_instead_of(asked.stages);
    peer.fallback = instead.and(connection.fallback());
    let asked = Settings { stages: instead.unwrap_or(asked.stages), ..asked };
    let sender = SenderSettings::from_wire(asked);
    Ok(LaneSettings { sender, ..LaneSettings::default() })
}

/// Tells viewers which settings are in use. Runs after requests have changed the settings.
fn grant(clocks: Clocks, mut viewers: Query<(&mut Sender, &mut MessageBuffer, &ConnectionClock)>) {
    for (mut sender, mut buffer, clock) in &mut viewers {
        sender.0.grant(clocks.now(clock));
        buffer.send_all(|| sender.0.poll_message());
    }
}

fn report_tick(
    clocks: Clocks,
    world: Res<CubeWorld>,
    mut viewers: Query<(&mut Sender, &mut MessageBuffer, &ConnectionClock), With<RemoteViewer>>,
) {
    for (mut sender, mut buffer, clock) in &mut viewers {
        sender.0.on_tick(clocks.now(clock), world.tick());
        buffer.send_all(|| sender.0.poll_message());
    }
}

/// Applies the current restrictions of processor time to the viewers.
fn limit_encoding(
    mut limit: ResMut<EncodeLimit>,
    mut viewers: Query<&mut Sender, With<RemoteViewer>>,
) {
    limit.0.begin_tick(viewers.iter_mut().map(|sender| &mut sender.into_inner().0));
}

type ServedLane<'a> =
    (&'a MessageBuffer, &'a Sender, &'a mut Counted, &'a mut LaneMeter, &'a mut RemoteViewer);

fn account(mut lanes: Query<ServedLane<'_>, With<SenderSettings>>) {
    for (buffer, sender, mut counted, mut meter, mut peer) in &mut lanes {
        let traffic = counted.advance(buffer);
        meter.count_traffic(&traffic.sent, &traffic.received);
        peer.granted = sender.0.settings().map(SenderSettings::from_wire);
        if let Some(rate) = sender.0.budget().and_then(|budget| budget.rate.as_ref()) {
            peer.round_trip = rate.round_trip().unwrap_or(Duration::ZERO);
            peer.loss_fraction = rate.loss();
        }
    }
}
