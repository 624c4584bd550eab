//! The settings and the byte budget that a game gives to a connection.

use bevy_ecs::prelude::*;
use cubewire_codec::stages::{Coverage, StageOptions, Velocity};
use cubewire_codec::{Plan, Stages, ladder};
use cubewire_protocol::{BUDGETS_KBPS, BaselineChoice, Interpolation, Settings};

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

    pub(super) const fn settings(&self, stages: Stages, budget_kbps: Option<u32>) -> Settings {
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

/// Limit of the bytes sent to a client in any second, headers included, on the entity of its connection. Over a game's own
/// renet (feature `bevy_renet`) the limit is best effort, because it excludes renet's retransmissions and acks.
///
/// Without a budget, every packet has all changes. The exception is a scene larger than sixteen datagrams, if no ack
/// arrives for a second: its packets are limited to sixteen datagrams, most urgent bodies first, until the client has all bodies.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteBudget {
    pub(crate) kbps: u32,
}

impl ByteBudget {
    /// Returns a budget of this many kilobits per second. Values below 16 become 16.
    pub fn kbps(kbps: u32) -> Self {
        Self { kbps: kbps.max(*BUDGETS_KBPS.start()) }
    }
}
