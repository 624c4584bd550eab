//! Settings of a connection: the game's wish, the settings in use, and the client's request.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_time::{Real, Time};
use cubewire_codec::stages::{Coverage, StageOptions, Velocity};
use cubewire_codec::{Plan, Stages, ladder};
use cubewire_protocol::{BaselineChoice, Interpolation, Settings};

use super::capture::Bodies;
use super::sender::{ByteBudget, Ready, ReplicationSender};
use crate::protocol::Compiled;
use crate::transport::MessageBuffer;
use crate::wire::{ReliableToClient, encode};

/// How a client is sent snapshots, and how it interpolates them. On the entity of its connection at the server.
///
/// A game can change it in any tick. The next snapshot uses the new settings. If they are [illegal](Self::check), the previous
/// settings stay in use, and [`ReplicationSender::refusal`] and the log give the reason.
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
        let settings = self.settings(stages, None);
        settings.check(plan).map(|()| stages)
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
    #[must_use]
    pub fn settings(&self) -> Option<Settings> {
        let ready = self.ready.as_ref()?;
        Some(ready.settings.settings(ready.stages, ready.kbps()))
    }

    /// Returns the reason why the [`ConnectionSettings`] are not in use. `None` if they are in use.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        let judged = self.ready.as_ref()?.judged.as_ref()?;
        judged.refusal.as_deref()
    }

    /// Returns the reason why the client is sent no arithmetic coding, if the fingerprints differ.
    #[must_use]
    pub fn fallback(&self) -> Option<cubewire_protocol::FallbackReason> {
        self.session.fallback()
    }

    /// Checks the game's settings and budget, and puts legal ones to use.
    fn apply(
        &mut self,
        protocol: &Compiled,
        wanted: ConnectionSettings,
        budget: Option<&ByteBudget>,
        buffer: &mut MessageBuffer,
    ) {
        let Some(ready) = &mut self.ready else {
            return;
        };
        ready.limit = budget.copied().into_iter().chain(ready.asked).min();
        let has_budget = ready.limit.is_some();
        let is_same = |judged: &Judged| judged.wanted == wanted && judged.has_budget == has_budget;
        if ready.judged.as_ref().is_some_and(is_same) {
            return;
        }
        let sent = |stages| {
            let instead = self.session.stages_instead_of(&protocol.contract, stages);
            instead.unwrap_or(stages)
        };
        let judged = wanted.check(&protocol.plan, has_budget);
        match judged {
            Ok(stages) => {
                if ready.settings.interpolation != wanted.interpolation {
                    let interpolation = ReliableToClient::Interpolation(wanted.interpolation);
                    buffer.outgoing.messages.push(encode(&interpolation));
                }
                ready.settings = wanted;
                ready.stages = sent(stages);
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
            log::warn!("settings of a connection are refused: {reason}");
        }
        ready.judged = Some(Judged {
            wanted,
            has_budget,
            refusal,
        });
    }
}

impl Ready {
    pub(super) fn is_due(&self, tick: u64) -> bool {
        tick.is_multiple_of(self.settings.send_interval_ticks.into())
    }
}

type Applied<'a> = (
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
    mut clients: Query<Applied<'static>, Allow<Disabled>>,
) {
    for (mut peer, mut buffer, wanted, budget) in &mut clients {
        let wanted = wanted.copied().unwrap_or_default();
        peer.apply(&bodies.protocol, wanted, budget, &mut buffer);
        let granted = peer.settings();
        let granted = granted.and_then(|granted| peer.session.grant(time.elapsed(), granted));
        let granted = granted.map(|granted| encode(&ReliableToClient::Session(granted)));
        buffer.outgoing.messages.extend(granted);
    }
}

/// Grants or declines the settings that a client requests.
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
        ClientRequests::Decline => Err("the server takes no requests".to_owned()),
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
        }
        Err(reason) => {
            let declined = peer.session.decline(&reason);
            let declined = declined.map(|declined| encode(&ReliableToClient::Session(declined)));
            if let Some(mut buffer) = client.get_mut::<MessageBuffer>() {
                buffer.outgoing.messages.extend(declined);
            }
        }
    }
}
