//! The systems that run every frame.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::{Request, RequestAck};
use cubewire_scene::TICK;
use renet::ClientId;

use super::{Client, UdpServer};
use crate::replication::transport::{Purpose, SenderMail};
use crate::replication::{
    ChangeLane, LaneBudget, LaneCost, LaneMeter, LaneSettings, Peer, SEND_INTERVALS,
    SenderSettings, spawn_sending_lane,
};
use crate::simulation::CubeWorld;
use crate::transport::acks::{attribute_bytes, bundle};
use crate::transport::{REQUESTS, SNAPSHOTS, classify};

type AskedLane<'a> = (
    &'a mut SenderMail,
    &'a SenderSettings,
    &'a LaneCost,
    &'a LaneBudget,
);

type Lanes<'world, 'state, 'a> = Query<'world, 'state, AskedLane<'a>, With<Peer>>;

/// Processes datagrams and requests, and delivers acks.
pub(super) fn receive(
    time: Res<Time<Real>>,
    world: Res<CubeWorld>,
    mut server: ResMut<UdpServer>,
    mut lanes: Lanes<'_, '_, '_>,
    mut commands: Commands,
) {
    let server = &mut *server;
    server.handshakes.update(time.delta());
    server
        .reports
        .update(time.delta(), server.handshakes.abandoned);
    server.renet.update(time.delta());
    server.since_flush += time.delta();
    for client in server.clients.values_mut() {
        client.netcode.update(time.delta());
        client.connected_for += time.delta();
    }
    server.receive(&world, &mut commands);
    server.keep_alive(&mut commands);

    let mut refused = Vec::new();
    for (&id, client) in &mut server.clients {
        client.since_ack += time.delta();
        let lane = client.lane.and_then(|(lane, number)| {
            let (mail, asked, cost, budget) = lanes.get_mut(lane).ok()?;
            Some((number, mail, budget.granted(&cost.granted(asked))))
        });
        if let Some((number, _, granted)) = &lane
            && client.since_ack >= REQUEST_ACK_INTERVAL
        {
            client.since_ack = Duration::ZERO;
            let ack = RequestAck {
                number: *number,
                tick: world.tick(),
                send_interval_ticks: granted.send_interval_ticks.min(255) as u8,
                baseline: granted.baseline,
                budget_kbps: granted.budget,
            };
            server.renet.send_message(id, REQUESTS, ack.encode());
            client.renet_flush.sends();
        }
        let mut mail = lane.map(|(_, mail, _)| mail);
        while let Some(message) = server.renet.receive_message(id, SNAPSHOTS) {
            if let Some(mail) = &mut mail {
                mail.0.deliver(message);
            }
        }
        // After the acks, which say what the lane does: a request changes it from the next frame on.
        while let Some(message) = server.renet.receive_message(id, REQUESTS) {
            if client.is_refused {
                continue;
            }
            match supported(&message) {
                Ok(request) => {
                    apply(id, client, request, &mut commands);
                    client.since_ack = REQUEST_ACK_INTERVAL;
                }
                Err(why) => {
                    refused.push((id, why));
                    break;
                }
            }
        }
    }
    for (id, why) in refused {
        server.remove(id, &why, &mut commands);
    }
}

/// What a viewer requests, or why that is refused.
fn supported(message: &[u8]) -> Result<Request, String> {
    let request = Request::decode(message).map_err(|error| error.to_string())?;
    let ticks = request.send_interval_ticks;
    match SEND_INTERVALS.contains(&ticks.into()) {
        true => Ok(request),
        false => Err(format!("a snapshot every {ticks} ticks is not offered")),
    }
}

/// Applies a viewer's request; the first one spawns its lane.
fn apply(id: ClientId, client: &mut Client, request: Request, commands: &mut Commands<'_, '_>) {
    let requested = SenderSettings {
        stages: request.stages,
        send_interval_ticks: request.send_interval_ticks.into(),
        baseline: request.baseline,
        budget: request.budget_kbps,
    };
    match &mut client.lane {
        Some((_, number)) if !request.number.is_newer_than(*number) => return,
        Some((lane, number)) => {
            *number = request.number;
            let settings = LaneSettings {
                sender: requested,
                ..LaneSettings::default()
            };
            commands.trigger(ChangeLane {
                entity: *lane,
                settings,
            });
        }
        None => {
            let mut lane = spawn_sending_lane(commands, client.initial.clone(), requested)
                .expect("the welcome has been encoded from the same state");
            lane.insert(Peer {
                id,
                address: client.address.to_string(),
                round_trip: Duration::ZERO,
                loss_fraction: 0.0,
                fallback: request.fallback,
            });
            client.lane = Some((lane.id(), request.number));
        }
    }
    client.fallback = request.fallback;
}

type FlushedLane<'a> = (
    &'a mut SenderMail,
    &'a SenderSettings,
    &'a LaneBudget,
    &'a mut LaneMeter,
    &'a mut Peer,
);

/// Sends the packets that are due, once a tick.
pub(super) fn flush(mut server: ResMut<UdpServer>, mut lanes: Query<FlushedLane<'_>>) {
    let server = &mut *server;
    let waiting = lanes.iter().any(|(mail, ..)| !mail.0.outgoing.is_empty());
    if !waiting && server.since_flush < TICK {
        return;
    }
    let passed = std::mem::take(&mut server.since_flush);
    let ticks = passed.div_duration_f64(TICK).round().max(1.0) as u32;
    for (&id, client) in &mut server.clients {
        let mut lane = client.lane.and_then(|(lane, _)| lanes.get_mut(lane).ok());
        if let Some((mail, ..)) = &mut lane {
            for message in mail.0.outgoing.drain(..) {
                server.renet.send_message(id, SNAPSHOTS, message);
                client.renet_flush.sends();
            }
        }
        let spread = lane
            .as_ref()
            .map_or(1, |(_, _, budget, ..)| budget.spread_ticks());
        let mut packets = Vec::new();
        if client.renet_flush.take(passed) {
            packets = server.renet.get_packets_to_send(id).unwrap_or_default();
        }
        let (snapshots, others): (Vec<_>, Vec<_>) = packets
            .into_iter()
            .partition(|packet| classify(packet) == Purpose::Snapshots);
        client.pacer.put(snapshots, spread);
        let due = others.into_iter().chain(client.pacer.take(ticks));
        for payload in bundle(due.collect()) {
            if let Ok((to, datagram)) = client.netcode.generate_payload_packet(id, &payload) {
                let bytes = server.socket.send(datagram, to);
                for (purpose, bytes) in attribute_bytes(&payload, bytes) {
                    client.traffic.count_downstream(purpose, bytes);
                }
            }
        }
        if let Some((_, asked, budget, meter, peer)) = &mut lane {
            let traffic = std::mem::take(&mut client.traffic);
            meter.current().traffic.add(&traffic);
            client.refused_acks = meter.refused_acks;
            peer.round_trip = Duration::from_secs_f64(server.renet.rtt(id).max(0.0));
            peer.loss_fraction = server.renet.packet_loss(id);
            peer.fallback = client.fallback;
            let given = budget.granted(asked).budget;
            if let Some(line) = client.note_budget(asked.budget, given) {
                server.reports.viewer(&line);
            }
        }
    }
}

/// Disconnects all viewers before the app exits.
pub(super) fn close(mut server: ResMut<UdpServer>, mut commands: Commands) {
    server.last_budgets = server.budgets().collect();
    let clients: Vec<_> = server.clients.keys().copied().collect();
    for id in clients {
        server.remove(id, "the server ends", &mut commands);
    }
}

/// How often a viewer's last request is acked again. The ack carries the tick, so that the viewer learns it
/// after a pause of any length.
const REQUEST_ACK_INTERVAL: Duration = Duration::from_secs(1);
