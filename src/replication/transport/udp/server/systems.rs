//! What runs in each frame.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_link::Conditions;
use cubewire_protocol::{Request, RequestAck};
use renet::ClientId;

use super::{Guest, RemoteViewer, UdpServer};
use crate::replication::send::{Paced, Sender};
use crate::replication::transport::{Purpose, REQUESTS, SNAPSHOTS, SenderMail, TICK};
use crate::replication::{LaneMeter, LaneSettings, SEND_INTERVALS};
use crate::simulation::World as CubeWorld;

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
            let ack = RequestAck { number, tick }.encode();
            server.renet.send_message(client, REQUESTS, ack);
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

/// How often a viewer is told the tick, so that it knows it after a pause of any length.
const LONGEST_WORDLESS: Duration = Duration::from_secs(1);
