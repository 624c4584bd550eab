//! The systems that run every frame.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::{Request, RequestAck};
use cubewire_scene::TICK;

use super::{Client, UdpServer};
use crate::replication::transport::{End, SLICE_BYTES, SenderMail};
use crate::replication::{
    ChangeLane, HEADER_BYTES, LaneBudget, LaneCost, LaneMeter, LaneSettings, Peer, SEND_INTERVALS,
    SenderSettings, spawn_sending_lane,
};
use crate::simulation::CubeWorld;

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
    server.now = time.elapsed();
    for client in server.clients.values_mut() {
        client.netcode.update(time.delta());
    }
    server.receive(&world, &mut commands);
    server.keep_alive(&mut commands);

    let mut refused = Vec::new();
    for (&id, client) in &mut server.clients {
        let mut lane = client.lane.and_then(|(lane, number)| {
            let (mail, asked, cost, budget) = lanes.get_mut(lane).ok()?;
            Some((number, mail, budget.granted(&cost.granted(asked))))
        });
        if let Some((number, _, granted)) = &lane
            && std::mem::take(&mut client.awaits_ack)
        {
            let ack = RequestAck {
                number: *number,
                tick: world.tick(),
                send_interval_ticks: granted.send_interval_ticks.min(255) as u8,
                baseline: granted.baseline,
                budget_kbps: granted.budget,
            };
            client
                .channel
                .send_reliable(&ack.encode())
                .expect("an ack is a few bytes long");
        }
        while let Some(message) = client.channel.poll_unreliable() {
            if message.len() > SLICE_BYTES {
                refused.push((id, format!("a message of {} bytes", message.len())));
            } else if let Some((_, mail, _)) = &mut lane {
                mail.deliver(message);
            }
        }
        // After the acks, which say what the lane does: a request changes it from the next frame on.
        while let Some(message) = client.channel.poll_reliable() {
            if client.is_refused {
                continue;
            }
            match supported(&message) {
                Ok(request) => {
                    apply(id, client, request, &mut commands);
                    client.awaits_ack = true;
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
fn apply(id: u64, client: &mut Client, request: Request, commands: &mut Commands<'_, '_>) {
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
    let now = server.now;
    let waiting = lanes.iter().any(|(mail, ..)| !mail.outgoing.is_empty());
    if !waiting && now < server.flushed + TICK {
        return;
    }
    let passed = now - std::mem::replace(&mut server.flushed, now);
    let ticks = passed.div_duration_f64(TICK).round().max(1.0) as u32;
    for (&id, client) in &mut server.clients {
        let mut lane = client.lane.and_then(|(lane, _)| lanes.get_mut(lane).ok());
        // First of all, so that it does not wait for its turn in a large snapshot.
        let control = client.channel.flush(now, usize::MAX, HEADER_BYTES);
        let mut spread = 1;
        if let Some((mail, _, budget, ..)) = &mut lane {
            spread = budget.spread_ticks();
            for message in mail.outgoing.drain(..) {
                client
                    .channel
                    .send_unreliable(message)
                    .expect("a snapshot of the demo is no longer than a message may be");
            }
        }
        let snapshots = client.channel.flush(now, 0, HEADER_BYTES);
        client.pacer.put(snapshots, spread);
        for payload in control.into_iter().chain(client.pacer.take(ticks)) {
            if let Ok((to, datagram)) = client.netcode.generate_payload_packet(id, &payload) {
                let bytes = server.socket.send(datagram, to);
                client.traffic.count(End::Sender, &payload, bytes);
            }
        }
        if let Some((_, asked, budget, meter, peer)) = &mut lane {
            let traffic = std::mem::take(&mut client.traffic);
            meter.current().traffic.add(&traffic);
            client.refused_acks = meter.refused_acks;
            peer.round_trip = client.channel.round_trip().unwrap_or_default();
            peer.loss_fraction = budget.loss_fraction();
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
