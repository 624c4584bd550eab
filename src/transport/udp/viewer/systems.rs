//! The systems that run every frame.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_scene::TICK;

use super::UdpViewer;
use crate::replication::transport::{ReceiverMail, SLICE_BYTES};
use crate::replication::{LaneMeter, LinkSettings, Replica, SenderSettings, Welcomed};

/// Longer messages are no snapshots of this scene: an uncompressed one takes 31 slices.
const MAX_SNAPSHOT_BYTES: usize = 64 * SLICE_BYTES;

type ViewedLane<'a> = (
    Entity,
    &'a SenderSettings,
    &'a LinkSettings,
    &'a mut ReceiverMail,
    &'a mut LaneMeter,
    Option<&'a mut Replica>,
);

/// Processes datagrams, requests the lane's sender settings, and delivers snapshots.
pub(super) fn receive(
    time: Res<Time<Real>>,
    ticks: Res<Time<Fixed>>,
    mut viewer: ResMut<UdpViewer>,
    lane: Single<ViewedLane<'_>>,
    mut commands: Commands,
) {
    let (lane, sender, link_settings, mut mail, mut meter, mut replica) = lane.into_inner();
    let has_replica = replica.is_some();
    let viewer = &mut *viewer;
    let Ok(session) = &mut viewer.session else {
        return;
    };
    let was_welcomed = session.is_welcomed;
    for link in [&mut session.downstream, &mut session.upstream] {
        if *link.conditions() != link_settings.conditions {
            link.set_conditions(link_settings.conditions.clone());
        }
    }
    let received = session.receive(time.elapsed(), time.delta());
    let received = received.and_then(|()| session.check());
    let received = received.and_then(|()| {
        let welcome = session.welcome()?;
        Ok((welcome, session.receive_request_acks()?))
    });
    let (welcome, tick) = match received {
        Ok(received) => received,
        Err(error) => {
            session.disconnect();
            viewer.session = Err(error);
            return;
        }
    };
    if let Some(welcome) = welcome {
        let entity = lane;
        commands.trigger(Welcomed { entity, welcome });
    }
    if let (Some(tick), Some(replica)) = (tick, &mut replica) {
        replica.0.sync_tick(ticks.elapsed(), tick);
    }
    // Snapshots cannot be decoded before there is a replica of what the welcome says, one frame after it.
    if was_welcomed && let Some(replica) = &mut replica {
        session.request(sender, replica.0.fallback(), time.delta());
    }
    let is_ready = session.is_welcomed && has_replica;
    while let Some(message) = session.channel.poll_unreliable() {
        if is_ready && message.len() <= MAX_SNAPSHOT_BYTES {
            mail.deliver(message);
        }
    }
    meter.link = session.downstream.stats();
}

/// Sends the packets that are due, once a tick.
pub(super) fn flush(
    time: Res<Time<Real>>,
    mut viewer: ResMut<UdpViewer>,
    lane: Single<(&mut ReceiverMail, &mut LaneMeter)>,
) {
    let (mut mail, mut meter) = lane.into_inner();
    let Ok(session) = &mut viewer.session else {
        mail.outgoing.clear();
        return;
    };
    session.since_flush += time.delta();
    if mail.outgoing.is_empty() && session.since_flush < TICK {
        return;
    }
    session.since_flush = Duration::ZERO;
    session.flush(time.elapsed(), mail.outgoing.drain(..));
    let traffic = std::mem::take(&mut session.traffic);
    meter.current().traffic.add(&traffic);
}

/// Disconnects from the server before the app exits.
pub(super) fn close(mut viewer: ResMut<UdpViewer>) {
    if let Ok(session) = &mut viewer.session {
        session.disconnect();
    }
}
