//! The settings that a game gives to a connection, and the answers to requests of clients.

use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_codec::stages::{Coverage, StageOptions, Velocity};
use cubewire_codec::{Plan, Stages, ladder};
use cubewire_protocol::{BaselineChoice, FallbackReason, Interpolation, Settings};

use super::capture::Bodies;
use super::sender::{ByteBudget, ReplicationSender};
use crate::protocol::Compiled;
use crate::transport::{MessageBuffer, OrDisabled};
use crate::wire::ReliableToClient;

/// How a client is sent snapshots, and how it interpolates them. On the entity of its connection at the server.
///
/// A game can change it in any tick. The next snapshot uses the new settings. If they are [illegal](Self::check), the previous
/// settings stay in use, and [`ReplicationSender::refusal`](crate::ReplicationSender::refusal) and the log give the reason.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub struct ConnectionSettings {
    /// Stages of the codec, for example of a [rung](ladder). Default: [`PREDICTED`](ladder::PREDICTED). The number of bits in
    /// [`Orientation`](cubewire_codec::stages::Orientation) is ignored: the protocol sets it. If the fingerprints differ,
    /// [other stages](cubewire_protocol::FallbackReason::instead_of) replace arithmetic coding.
    pub stages: StageOptions,
    /// Ticks between two snapshots, at least 1. Default: 1. Clients with the same interval get snapshots in the same ticks.
    pub send_interval_ticks: u8,
    /// How baselines are chosen. Default: the newest. [`Smallest`](BaselineChoice::Smallest) encodes up to eight times for this
    /// client alone. With a [`ByteBudget`], the newest is used in any case.
    pub baseline: BaselineChoice,
    /// How the client moves bodies between two snapshots. Default: linear.
    pub interpolation: Interpolation,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            stages: *ladder::PREDICTED.stages,
            send_interval_ticks: 1,
            baseline: BaselineChoice::default(),
            interpolation: Interpolation::default(),
        }
    }
}

impl ConnectionSettings {
    /// Returns the legal stages for a scene. `has_budget` says whether the client has a [`ByteBudget`].
    ///
    /// # Errors
    /// The first reason why the settings are illegal for such a client in the scene.
    pub fn check(&self, plan: &Plan, has_budget: bool) -> Result<Stages, String> {
        let stages = plan.legal(self.stages).map_err(|why| why.to_string())?;
        if has_budget && let Err(why) = stages.with_coverage(Coverage::Partial) {
            return Err(format!("within a budget, {why}"));
        }
        let has_velocity = stages.velocity != Velocity::Omitted;
        if self.interpolation.effective(has_velocity) != self.interpolation {
            let kind = self.interpolation.name();
            return Err(format!(
                "the interpolation `{kind}` needs velocities, which these stages omit"
            ));
        }
        self.settings(stages, None).check(plan).map(|()| stages)
    }

    const fn settings(&self, stages: Stages, budget_kbps: Option<u32>) -> Settings {
        Settings {
            stages,
            send_interval_ticks: self.send_interval_ticks,
            baseline: self.baseline,
            budget_kbps,
        }
    }
}

/// Whether clients may request other [`ConnectionSettings`] and a budget: see [`SettingsRequest`](crate::SettingsRequest).
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientRequests {
    /// All requests are declined.
    #[default]
    Decline,
    /// Legal requests are granted and change the [`ConnectionSettings`]. A requested budget above the client's [`ByteBudget`]
    /// has no effect. A client can make the server encode for this client alone, up to eight times per tick.
    Grant,
}

/// The last settings that were checked, and the result.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    wanted: ConnectionSettings,
    has_budget: bool,
    refusal: Option<String>,
}

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
        let sent = |stages| session.stages_instead_of(&protocol.contract, stages).unwrap_or(stages);
        let judged = wanted.check(&protocol.plan, has_budget);
        match judged {
            Ok(stages) => {
                if ready.settings.interpolation != wanted.interpolation {
                    buffer.send(&ReliableToClient::Interpolation(wanted.interpolation));
                }
                ready.settings = wanted;
                ready.stages = sent(stages);
                log::debug!("stages of client {client}: {}", ready.stages);
                if let Some(reason) = self.session.fallback() {
                    log::debug!("fallback of client {client}: {reason}");
                }
            }
            // The client has a new budget, and the stages in use cannot split packets to fit it.
            Err(_) if has_budget && !ready.stages.can_be_partial() => {
                ready.settings.stages = *protocol.stages;
                ready.stages = sent(protocol.stages);
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
    for (client, mut peer, mut buffer, wanted, budget) in &mut clients {
        let wanted = wanted.copied().unwrap_or_default();
        peer.apply(client, &bodies.protocol, wanted, budget, &mut buffer);
        if let Some(granted) = peer.settings()
            && let Some(granted) = peer.session.grant(time.elapsed(), granted)
        {
            buffer.send(&ReliableToClient::Session(granted));
        }
    }
}

pub(super) fn ask(world: &mut World, protocol: &Compiled, client: Entity, asked: Settings) {
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
    let Some(mut peer) = client.get_mut::<ReplicationSender>() else {
        return;
    };
    match legal {
        Ok(_) => {
            if let Some(ready) = &mut peer.ready {
                ready.asked = budget;
            }
            client.insert(wanted);
            log::debug!("request of client {} granted", client.id());
        }
        Err(reason) => {
            let declined = peer.session.decline(&reason);
            if let Some(mut buffer) = client.get_mut::<MessageBuffer>()
                && let Some(declined) = declined
            {
                buffer.send(&ReliableToClient::Session(declined));
            }
            log::debug!("request of client {} declined: {reason}", client.id());
        }
    }
}
