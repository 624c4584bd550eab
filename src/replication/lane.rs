//! Lanes: their components and settings.
//!
//! A lane has a sending half, a receiving half, or both, and settings for what it has:
//!
//! | lane | sending half | simulated link | receiving half |
//! | --- | --- | --- | --- |
//! | [local](spawn_lane) | [`SenderSettings`] | [`LinkSettings`] | [`PlayoutSettings`] |
//! | [of a server](spawn_sending_lane), for a remote viewer | [`SenderSettings`] | | |
//! | [of a viewer](spawn_receiving_lane), of a remote server | requested from the server | in addition to the network | [`PlayoutSettings`] |

use std::time::Duration;

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use cubewire_codec::stages::Velocity;
use cubewire_codec::{Fingerprint, InitialStateError, Limits, Snapshot, Stages, ladder};
use cubewire_link::Conditions;
use cubewire_physics::ReceiverWorld;
use cubewire_protocol::{BaselineChoice, Interpolation, SnapshotReceiver, Welcome, playout_delay};
use cubewire_scene::TICKS_PER_SECOND;
use cubewire_text::Spelling;
use serde::{Deserialize, Serialize};

use super::Replica;
use super::budget::LaneCost;
use super::meter::LaneMeter;
use super::playout::Playback;
use super::receive::Decoded;
use super::send::{LaneBackoff, Sender};
use super::sync::LaneSync;
use super::text::{Delay, LinkText, Rate, RungText};
use crate::simulation::CubeWorld;

/// Round-trip time of the default link: "otherwise delta compression is too easy".
pub const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Ticks from one snapshot to the next that can be chosen: 60, 30, 20 and 10 a second.
pub const SEND_INTERVALS: [u32; 4] = [1, 2, 3, 6];

/// Marks a lane: a path of snapshots from a simulation to a replica, or the half of one that is in this
/// process.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(LaneMeter, LaneSync)]
pub struct Lane;

/// Marks a lane whose two halves are both in this process. The in-memory transport connects them.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Lane)]
pub struct LocalLane;

/// How a lane sends. It can be changed at any time, and applies from the next snapshot on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SenderSettings {
    /// The stages of the codec.
    #[serde(rename = "rung", with = "RungText")]
    pub stages: Stages,
    /// Which of the acked snapshots is the baseline.
    pub baseline: BaselineChoice,
    /// Ticks from one snapshot to the next, usually one of [`SEND_INTERVALS`].
    #[serde(rename = "rate", with = "Rate")]
    pub send_interval_ticks: u32,
}

/// The simulated link of a lane.
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSettings {
    /// The conditions of each direction.
    #[serde(rename = "link", with = "LinkText")]
    pub conditions: Conditions,
    /// Random seed of the link, read when the lane is spawned: links with the same seed lose and delay
    /// the same packets.
    pub seed: u64,
}

/// How a lane plays snapshots back.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayoutSettings {
    /// The interpolation between snapshots.
    pub interpolation: Interpolation,
    /// How long snapshots wait in the jitter buffer.
    #[serde(rename = "playout")]
    pub delay: PlayoutDelay,
}

/// How a lane's playout delay is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlayoutDelay {
    /// Derived from the send rate: see [`playout_delay`].
    #[default]
    Rule,
    /// A fixed delay.
    #[serde(rename = "")]
    Fixed(#[serde(with = "Delay")] Duration),
    /// The delay that the packets of the last few seconds needed.
    Adaptive,
}

/// All settings of a local lane as one value, which has a text form: see [`to_text`](Self::to_text).
#[derive(Bundle, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct LaneSettings {
    /// How it sends.
    pub sender: SenderSettings,
    /// The link that its packets go through.
    pub link: LinkSettings,
    /// How it plays back.
    pub playout: PlayoutSettings,
}

/// Reads [`LaneSettings`] of a lane that has all of them.
#[derive(QueryData, Debug)]
#[query_data(derive(Debug))]
pub struct LaneSettingsQuery {
    sender: &'static SenderSettings,
    link: &'static LinkSettings,
    playout: &'static PlayoutSettings,
}

impl LaneSettingsQueryItem<'_, '_> {
    /// The settings as one value.
    #[must_use]
    pub fn get(&self) -> LaneSettings {
        LaneSettings {
            sender: *self.sender,
            link: self.link.clone(),
            playout: *self.playout,
        }
    }
}

/// Changes the settings of a lane, from the next snapshot on. Whoever changes a lane triggers this: panel, keys, tour,
/// script, film or viewer.
#[derive(EntityEvent, Clone, Debug)]
pub struct ChangeLane {
    /// The lane.
    pub entity: Entity,
    /// The new settings. Those of a half that the lane does not have are ignored.
    pub settings: LaneSettings,
}

type ChangedLane<'a> = (
    &'a mut SenderSettings,
    Option<&'a mut LinkSettings>,
    Option<&'a mut PlayoutSettings>,
);

pub(crate) fn change(change: On<ChangeLane>, mut lanes: Query<ChangedLane<'_>>) {
    let Ok((mut sender, link, playout)) = lanes.get_mut(change.entity) else {
        return;
    };
    let settings = change.settings.clone();
    sender.set_if_neq(settings.sender);
    if let Some(mut link) = link {
        link.set_if_neq(settings.link);
    }
    if let Some(mut playout) = playout {
        playout.set_if_neq(settings.playout);
    }
}

impl Default for SenderSettings {
    fn default() -> Self {
        Self {
            stages: ladder::CHANGED_FLAGS.stages,
            baseline: BaselineChoice::default(),
            send_interval_ticks: 1,
        }
    }
}

impl Default for LinkSettings {
    fn default() -> Self {
        Self {
            conditions: Conditions {
                latency: ROUND_TRIP / 2,
                ..Conditions::default()
            },
            seed: 0,
        }
    }
}

impl LinkSettings {
    /// A perfect link, which adds nothing to a real network.
    pub const PERFECT: Self = Self {
        conditions: Conditions::PERFECT,
        seed: 0,
    };
}

impl SenderSettings {
    /// Snapshots a second, at most as many as ticks.
    #[must_use]
    pub const fn snapshots_per_second(&self) -> u32 {
        match self.send_interval_ticks {
            0 => TICKS_PER_SECOND,
            ticks => match TICKS_PER_SECOND / ticks {
                0 => 1,
                rate => rate,
            },
        }
    }

    /// Whether a snapshot is sent in this tick.
    #[must_use]
    pub const fn sends_at(&self, tick: u64) -> bool {
        match self.send_interval_ticks {
            0 => true,
            ticks => tick.is_multiple_of(ticks as u64),
        }
    }
}

impl PlayoutSettings {
    /// The interpolation that is possible with these stages: at most linear if they send no velocities.
    #[must_use]
    pub fn effective_interpolation(&self, stages: Stages) -> Interpolation {
        let has_velocity = stages.velocity != Velocity::Omitted;
        self.interpolation.effective(has_velocity)
    }

    /// The delay of [`PlayoutDelay::Rule`]; zero if the interpolation needs no playout delay.
    #[must_use]
    pub fn rule_delay(&self, sender: &SenderSettings) -> Duration {
        if self.effective_interpolation(sender.stages).waits() {
            playout_delay(sender.snapshots_per_second())
        } else {
            Duration::ZERO
        }
    }
}

impl LaneSettings {
    /// The default lane with other stages.
    #[must_use]
    pub fn with_stages(stages: Stages) -> Self {
        Self {
            sender: SenderSettings {
                stages,
                ..SenderSettings::default()
            },
            ..Self::default()
        }
    }

    /// Whether the interpolation needs velocities that the stages do not send, so that the picture uses
    /// the [effective](PlayoutSettings::effective_interpolation) one instead.
    #[must_use]
    pub fn lacks_velocity(&self) -> bool {
        let wanted = self.playout.interpolation;
        self.playout.effective_interpolation(self.sender.stages) != wanted
    }
}

/// The components of a receiving half in addition to its settings. It gets a [`Replica`] with the initial
/// state.
fn receiving_half(delay: Duration) -> impl Bundle {
    (Playback::new(delay), Decoded::default())
}

/// Spawns a lane with both halves in this process.
///
/// # Errors
/// If the codec refuses the initial state.
pub fn spawn_lane(world: &mut World, settings: LaneSettings) -> Result<Entity> {
    let now = world.resource::<Time<Fixed>>().elapsed();
    let cubes = world.resource::<CubeWorld>();
    let welcome = Welcome {
        ticks_per_second: TICKS_PER_SECOND as u16,
        tick: cubes.tick(),
        fingerprint: Fingerprint::shipped(),
        initial: cubes.current().clone(),
    };
    let sender = Sender::new(welcome.initial.clone())?;
    let delay = settings.playout.rule_delay(&settings.sender);
    let receiver = SnapshotReceiver::new(welcome, Limits::default(), delay, now)?
        .with_engine(Box::new(ReceiverWorld::new()));
    let receiving = (receiving_half(delay), Replica(receiver));
    let lane = world.spawn((LocalLane, settings, sender, receiving));
    Ok(lane.id())
}

/// Spawns the sending half of a lane, for a viewer in another process that has received `initial`. It
/// backs off where long snapshots do not arrive.
///
/// # Errors
/// If the codec refuses the initial state.
pub fn spawn_sending_lane<'a>(
    commands: &'a mut Commands<'_, '_>,
    initial: Snapshot,
    settings: SenderSettings,
) -> Result<EntityCommands<'a>, InitialStateError> {
    let sender = Sender::new(initial)?;
    let remote = (LaneBackoff::default(), LaneCost::default());
    Ok(commands.spawn((settings, sender, remote)))
}

/// Spawns the receiving half of a lane. Its [`SenderSettings`] are requested from the server. It shows
/// nothing until it is [welcomed](super::Welcomed).
pub fn spawn_receiving_lane(world: &mut World, settings: LaneSettings) -> Entity {
    let delay = settings.playout.rule_delay(&settings.sender);
    world.spawn((settings, receiving_half(delay))).id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_after_at_rest_lack_velocities_for_hermite_and_extrapolation() {
        let with = ["uncompressed", "smallest-three", "velocity", "at-rest"];
        for rung in ladder::LADDER {
            for kind in Interpolation::ALL {
                let mut lane = LaneSettings::with_stages(rung.stages);
                lane.playout.interpolation = kind;
                let lacks = kind.needs_velocity() && !with.contains(&rung.name);
                assert_eq!(lane.lacks_velocity(), lacks, "{} {kind:?}", rung.name);
            }
        }
    }
}
