//! What runs in each frame.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::Limits;
use cubewire_protocol::SnapshotReceiver;

use super::UdpViewer;
use crate::replication::reception::{Accountant, Receiving};
use crate::replication::transport::{ReceiverMail, SNAPSHOTS, TICK};
use crate::replication::{LaneMeter, LaneSettings, Replica};

type Lane<'a> = (
    Entity,
    &'a LaneSettings,
    &'a mut ReceiverMail,
    &'a mut LaneMeter,
    Option<&'a mut Replica>,
);

pub(in crate::replication) fn receive(
    time: Res<Time<Real>>,
    ticks: Res<Time<Fixed>>,
    mut viewer: ResMut<UdpViewer>,
    lane: Single<Lane<'_>>,
    mut commands: Commands,
) -> Result {
    let (lane, settings, mut mail, mut meter, replica) = lane.into_inner();
    let has_replica = replica.is_some();
    let viewer = &mut *viewer;
    let server = viewer.settings.server;
    let Ok(session) = &mut viewer.session else {
        return Ok(());
    };
    for link in [&mut session.down, &mut session.up] {
        if *link.conditions() != settings.link {
            link.set_conditions(settings.link.clone());
        }
    }
    let received = session.receive(time.elapsed(), time.delta(), server);
    let received = received.and_then(|()| session.check(&viewer.settings));
    let welcome = match received.and_then(|()| session.welcome(server)) {
        Ok(welcome) => welcome,
        Err(error) => {
            session.say_goodbye();
            viewer.session = Err(error);
            return Ok(());
        }
    };
    if let Some(welcome) = welcome {
        let receiving = Receiving::new(settings.ruled_delay());
        let accountant = Accountant::new(welcome.initial.clone())?;
        let delay = settings.ruled_delay();
        let receiver = SnapshotReceiver::new(welcome, Limits::default(), delay, ticks.elapsed())?;
        commands
            .entity(lane)
            .insert((Replica(receiver), receiving, accountant));
        *meter = LaneMeter::default();
    }
    let tick = session.granted();
    if let (Some(tick), Some(mut replica)) = (tick, replica) {
        replica.0.sync_tick(ticks.elapsed(), tick);
    }
    // Before the welcome, nothing could be decoded.
    if session.is_welcomed {
        session.ask(settings, time.delta());
    }
    let is_ready = session.is_welcomed && has_replica;
    while let Some(message) = session.renet.receive_message(SNAPSHOTS) {
        if is_ready {
            mail.0.deliver(message);
        }
    }
    meter.link = session.down.stats();
    Ok(())
}

/// Sends what waits, once a tick.
pub(in crate::replication) fn flush(
    time: Res<Time<Real>>,
    mut viewer: ResMut<UdpViewer>,
    lane: Single<(&mut ReceiverMail, &mut LaneMeter)>,
) {
    let (mut mail, mut meter) = lane.into_inner();
    let Ok(session) = &mut viewer.session else {
        mail.0.outgoing.clear();
        return;
    };
    session.since_flush += time.delta();
    if mail.0.outgoing.is_empty() && session.since_flush < TICK {
        return;
    }
    session.since_flush = Duration::ZERO;
    for message in mail.0.outgoing.drain(..) {
        session.renet.send_message(SNAPSHOTS, message);
    }
    session.flush(time.elapsed());
    let traffic = std::mem::take(&mut session.traffic);
    meter.current().add_traffic(&traffic);
}

/// Tells the server that the program ends.
pub(in crate::replication) fn close(mut viewer: ResMut<UdpViewer>) {
    if let Ok(session) = &mut viewer.session {
        session.say_goodbye();
    }
}
