//! Puts the settings of a connection to use, and answers the requests of clients.

use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_protocol::{FallbackReason, Settings};

use super::capture::Bodies;
use super::sender::{Judged, ReplicationSender};
use super::settings::{ByteBudget, ClientRequests, ConnectionSettings};
use crate::protocol::Compiled;
use crate::transport::{MessageBuffer, OrDisabled};
use crate::wire::ReliableToClient;

impl ReplicationSender {
    /// Returns the settings in use: the stages of the packets, and the budget that the link lets through. `None` until the
    /// client is [`Connected`](crate::Connected).
    pub fn settings(&self) -> Option<Settings> {
        let ready = self.ready.as_ref()?;
        Some(ready.settings.settings(ready.stages, ready.kbps()))
    }

    /// Returns the reason why the [`ConnectionSettings`] are not in use. `None` if they are in use.
    pub fn refusal(&self) -> Option<&str> {
        self.ready.as_ref()?.judged.as_ref()?.refusal.as_deref()
    }

    /// Returns the reason why the client is sent no arithmetic coding, if the fingerprints differ.
    pub fn fallback(&self) -> Option<FallbackReason> {
        self.session.fallback()
    }

    /// Checks the game's settings and budget, and puts legal ones to use.
    fn apply(
        &mut self,
        client: Entity,
        protocol: &Compiled,
        wanted: ConnectionSettings,
        budget: Option<&ByteBudget>,
        buffer: &mut MessageBuffer,
    ) {
        let Some(ready) = &mut self.ready else {
            return;
        };
        let limit = budget.copied().into_iter().chain(ready.asked).min();
        if ready.limit != limit {
            log::debug!("budget of client {client} changed: {limit:?}");
        }
        ready.limit = limit;
        let has_budget = ready.limit.is_some();
        let is_same = |judged: &Judged| judged.wanted == wanted && judged.has_budget == has_budget;
        if ready.judged.as_ref().is_some_and(is_same) {
            return;
        }
        let session = &self.session;
        let sendable =
            |stages| session.stages_instead_of(&protocol.contract, stages).unwrap_or(stages);
        let judged = wanted.check(&protocol.plan, has_budget);
        match judged {
            Ok(stages) => {
                if ready.settings.interpolation != wanted.interpolation {
                    buffer.send(&ReliableToClient::Interpolation(wanted.interpolation));
                }
                ready.settings = wanted;
                ready.stages = sendable(stages);
                log::debug!("stages of client {client}: {}", ready.stages);
                if let Some(reason) = self.session.fallback() {
                    log::debug!("fallback of client {client}: {reason}");
                }
            }
            // The client has a new budget, and the stages in use cannot split packets to fit it.
            Err(_) if has_budget && !ready.stages.can_be_partial() => {
                ready.settings.stages = *protocol.stages;
                ready.stages = sendable(protocol.stages);
            }
            Err(_) => {}
        }
        let refusal = judged.err();
        if let Some(reason) = &refusal {
            log::warn!("settings of client {client} refused: {reason}");
        }
        ready.judged = Some(Judged { wanted, has_budget, refusal });
    }
}

type Applied<'a> = (
    Entity,
    &'a mut ReplicationSender,
    &'a mut MessageBuffer,
    Option<&'a ConnectionSettings>,
    Option<&'a ByteBudget>,
);

/// Applies the settings of each client, and sends the settings in use to clients that have requested some. Runs before
/// snapshots are sent.
pub(super) fn apply(
    bodies: Res<Bodies>,
    time: Res<Time<Real>>,
    mut clients: Query<Applied<'static>, OrDisabled>,
) {
    for (client, mut sender, mut buffer, wanted, budget) in &mut clients {
        let wanted = wanted.copied().unwrap_or_default();
        sender.apply(client, &bodies.protocol, wanted, budget, &mut buffer);
        if let Some(in_use) = sender.settings()
            && let Some(granted) = sender.session.grant(time.elapsed(), in_use)
        {
            buffer.send(&ReliableToClient::Session(granted));
        }
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
            if let Some(ready) = &mut sender.ready {
                ready.asked = budget;
            }
            client.insert(wanted);
            log::debug!("request of client {} granted", client.id());
        }
        Err(reason) => {
            let declined = sender.session.decline(&reason);
            if let Some(mut buffer) = client.get_mut::<MessageBuffer>()
                && let Some(declined) = declined
            {
                buffer.send(&ReliableToClient::Session(declined));
            }
            log::debug!("request of client {} declined: {reason}", client.id());
        }
    }
}
