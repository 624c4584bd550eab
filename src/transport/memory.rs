//! The two ends of a lane in one process, with a simulated link between them.

use std::ops::DerefMut;

use bevy::ecs::component::Mutable;
use bevy::prelude::*;
use cubewire_link::{Link, LinkStats};
use cubewire_protocol::MessageChannel;

use crate::replication::transport::{End, Mailbox, ReceiverMail, SenderMail, TransportSystems};
use crate::replication::{HEADER_BYTES, LaneMeter, LinkSettings, LocalLane};

/// Connects every [`LocalLane`], over the link that its [`LinkSettings`] describe. Packets travel by the
/// simulation's clock.
#[derive(Debug)]
pub struct MemoryTransportPlugin;

impl Plugin for MemoryTransportPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(connect).add_systems(
            FixedUpdate,
            (
                (follow_settings, receive::<SENDER, SenderMail>)
                    .chain()
                    .in_set(TransportSystems::Receive(End::Sender)),
                flush::<SENDER, SenderMail>.in_set(TransportSystems::Flush(End::Sender)),
                (receive::<RECEIVER, ReceiverMail>, count_losses)
                    .chain()
                    .in_set(TransportSystems::Receive(End::Receiver)),
                flush::<RECEIVER, ReceiverMail>.in_set(TransportSystems::Flush(End::Receiver)),
            ),
        );
    }
}

/// Index of the simulation's end.
const SENDER: usize = 0;

/// Index of the replica's end.
const RECEIVER: usize = 1;

/// Both ends of a lane, and the links between them.
#[derive(Component, Debug)]
struct Connection {
    ends: [MessageChannel; 2],
    /// By the end that sends into it.
    links: [Link<Vec<u8>>; 2],
}

fn connect(
    added: On<Add, LocalLane>,
    lanes: Query<&LinkSettings>,
    mut commands: Commands,
) -> Result {
    let settings = lanes.get(added.entity)?;
    let seed = settings.seed.wrapping_mul(2);
    let link = |direction| Link::new(settings.conditions.clone(), seed + direction);
    commands.entity(added.entity).insert(Connection {
        ends: Default::default(),
        links: [link(0), link(1)],
    });
    Ok(())
}

fn follow_settings(mut lanes: Query<(&mut Connection, &LinkSettings, &mut LaneMeter)>) {
    for (mut connection, settings, mut meter) in &mut lanes {
        for link in &mut connection.links {
            if *link.conditions() != settings.conditions {
                link.set_conditions(settings.conditions.clone());
                meter.link_since = meter.samples().back().map_or(0, |sample| sample.tick + 1);
            }
        }
    }
}

/// Delivers what has arrived at an end.
fn receive<const END: usize, Mail>(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut Mail)>,
) -> Result
where
    Mail: Component<Mutability = Mutable> + DerefMut<Target = Mailbox>,
{
    for (mut connection, mut mail) in &mut lanes {
        let Connection { ends, links } = &mut *connection;
        while let Some(datagram) = links[1 - END].receive(time.elapsed()) {
            ends[END].on_datagram(time.elapsed(), &datagram)?;
        }
        while let Some(message) = ends[END].poll_unreliable() {
            mail.deliver(message);
        }
    }
    Ok(())
}

/// Sends what an end has to say.
fn flush<const END: usize, Mail>(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut Mail, &mut LaneMeter), With<LocalLane>>,
) -> Result
where
    Mail: Component<Mutability = Mutable> + DerefMut<Target = Mailbox>,
{
    let from = [End::Sender, End::Receiver][END];
    for (mut connection, mut mail, mut meter) in &mut lanes {
        let Connection { ends, links } = &mut *connection;
        for message in mail.outgoing.drain(..) {
            ends[END].send_unreliable(message)?;
        }
        for datagram in ends[END].flush(time.elapsed(), usize::MAX, HEADER_BYTES) {
            let bytes = datagram.len() + HEADER_BYTES;
            meter.current().traffic.count(from, &datagram, bytes);
            links[END].send(time.elapsed(), bytes, datagram);
        }
    }
    Ok(())
}

fn count_losses(mut lanes: Query<(&Connection, &mut LaneMeter)>) {
    for (connection, mut meter) in &mut lanes {
        let (link, before) = (connection.links[SENDER].stats(), meter.link);
        let lost = |link: LinkStats| link.lost + link.queue_dropped;
        meter.current().lost = lost(link).saturating_sub(lost(before)) as usize;
        meter.link = link;
    }
}
