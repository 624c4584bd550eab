//! Puts the settings of a connection to use, and answers the requests of clients.

use bevy_ecs::prelude::*;
use cubewire_protocol::Settings;

use super::capture::Bodies;
use super::sender::{Judged, ReplicationSender};
use super::settings::{ByteBudget, ClientRequests, ConnectionSettings};
use crate::clock::{Clocks, ConnectionClock};
use crate::protocol::Compiled;
use crate::transport::{MessageBuffer, OrDisabled};
use crate::wire::ReliableToClient;

impl ReplicationSender {
    /// Checks the game's settings and budget, and puts legal ones to use.
    fn apply(
        &mut self,
        client: Entity,
        protocol: &Compiled,
        wanted: ConnectionSettings,
        budget: Option<&ByteBudget>,
        buffer: &mut MessageBuffer,
    ) {
        if !self.connection.is_welcomed() {
            return;
        }
        let view = &mut self.view;
        let limit = budget.copied().into_iter().chain(view.asked).min();
        if view.limit != limit {
            log::debug!("budget of client {client} changed: {limit:?}");
        }
        view.limit = limit;
        let is_same = |judged: &Judged| judged.wanted == wanted && judged.limit == limit;
        if view.judged.as_ref().is_some_and(is_same) {
            return;
        }
        let in_use = self.connection.settings().map_or(protocol.stages, |in_use| in_use.stages);
        let judged = wanted.check(&protocol.plan, limit.is_some());
        let stages = match judged {
            Ok(stages) => {
                if view.settings.interpolation != wanted.interpolation {
                    buffer.send(&ReliableToClient::Interpolation(wanted.interpolation));
                }
                view.settings = wanted;
                log::debug!("stages of client {client}: {stages}");
                stages
            }
            // The client has a new budget, and the stages in use cannot split packets to fit it.
            Err(_) if limit.is_some() && !in_use.can_be_partial() => {
                view.settings.stages = *protocol.stages;
                protocol.stages
            }
            Err(_) => in_use,
        };
        let kbps = limit.map(|limit| limit.kbps);
        self.connection.set_settings(view.settings.settings(stages, kbps));
        let refusal = judged.err();
        if let Some(reason) = &refusal {
            log::warn!("settings of client {client} refused: {reason}");
        }
        view.judged = Some(Judged { wanted, limit, refusal });
    }
}

type Applied<'a> = (
    Entity,
    &'a mut ReplicationSender,
    &'a mut MessageBuffer,
    Option<&'a ConnectionSettings>,
    Option<&'a ByteBudget>,
    &'a ConnectionClock,
);

/// Applies the settings of each client, and sends the settings in use to clients that have requested some. Runs before
/// snapshots are sent.
pub(super) fn apply(
    bodies: Res<Bodies>,
    clocks: Clocks,
    mut clients: Query<Applied<'static>, OrDisabled>,
) {
    for (client, mut sender, mut buffer, wanted, budget, clock) in &mut clients {
        let wanted = wanted.copied().unwrap_or_default();
        sender.apply(client, &bodies.protocol, wanted, budget, &mut buffer);
        sender.connection.grant(clocks.now(clock));
        buffer.send_all(|| sender.connection.poll_message());
    }
}

/// Processes a client's request: stores legal settings as the connection's, which [`apply`] then puts to use, or
/// declines.
pub(super) fn on_request(world: &mut World, protocol: &Compiled, client: Entity, asked: Settings) {
    let requests = *world.resource::<ClientRequests>();
    let mut client = world.entity_mut(client);
    let before = client.get::<ConnectionSettings>().copied();
    let wanted = ConnectionSettings {
        stages: *asked.stages,
        send_interval_ticks: asked.send_interval_ticks,
        baseline: asked.baseline,
        ..before.unwrap_or_default()
    };
    let budget = asked.budget_kbps.map(ByteBudget::kbps);
    let has_budget = budget.is_some() || client.contains::<ByteBudget>();
    let legal = match requests {
        ClientRequests::Decline => Err("the server does not accept requests".to_owned()),
        ClientRequests::Grant => wanted.check(&protocol.plan, has_budget),
    };
    let Some(mut sender) = client.get_mut::<ReplicationSender>() else {
        return;
    };
    match legal {
        Ok(_) => {
            sender.view.asked = budget;
            client.insert(wanted);
            log::debug!("request of client {} granted", client.id());
        }
        Err(reason) => sender.connection.decline(&reason),
    }
}
