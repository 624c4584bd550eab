//! Settings of a lane.

use std::time::Duration;

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use cubewire_codec::stages::Velocity;
use cubewire_codec::{Stages, ladder};
use cubewire_link::Conditions;
use cubewire_protocol::{BaselineChoice, Interpolation, playout_delay};
use cubewire_scene::TICKS_PER_SECOND;
use cubewire_text::Spelling;
use serde::{Deserialize, Serialize};

use super::meter::kbps;
use super::spelling::{Delay, Kbps, LinkText, Rate, RungText, rung_or_stages};

/// Round-trip time of the default link: "otherwise delta compression is too easy".
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// How a lane sends. It can be changed at any time, and applies from the next snapshot on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SenderSettings {
    /// The stages of the codec.
    #[serde(rename = "rung", with = "RungText")]
    pub stages: Stages,
    /// Which of the acked snapshots is the baseline.
    pub baseline: BaselineChoice,
    /// Ticks from one snapshot to the next, usually one of [`SEND_INTERVALS`](super::SEND_INTERVALS).
    #[serde(rename = "rate", with = "Rate")]
    pub send_interval_ticks: u32,
    /// Most kilobits a second on the wire. Where it does not suffice, packets carry the most urgent cubes; of stages that do
    /// not list changed ones, there are fewer snapshots.
    #[serde(rename = "budget", with = "Kbps")]
    pub budget: Option<u32>,
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
    /// Derived from the send rate: see [`playout_delay`]. Of a lane with a budget, which sends packets when they are full, as
    /// [`Adaptive`](Self::Adaptive).
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

impl Default for SenderSettings {
    fn default() -> Self {
        Self {
            stages: ladder::CHANGED_FLAGS.stages,
            baseline: BaselineChoice::default(),
            send_interval_ticks: 1,
            budget: None,
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

/// Bytes of an uncompressed snapshot of the scene, headers of IP and UDP included.
const UNCOMPRESSED_BYTES: usize = 36_185;

impl SenderSettings {
    /// What uncompressed snapshots would take at this rate, kilobits a second as the article counts.
    #[must_use]
    pub fn uncompressed_kbps(&self) -> f64 {
        let bytes = self.snapshots_per_second() as usize * UNCOMPRESSED_BYTES;
        kbps(bytes, TICKS_PER_SECOND as usize)
    }

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

    /// The budget, if the stages list changed cubes: a snapshot of others can take more than a second has.
    #[must_use]
    pub fn kept_budget(&self) -> Option<u32> {
        self.budget.filter(|_| self.stages.can_be_partial())
    }

    /// Whether the same snapshots are sent as with other settings.
    pub(super) fn is_sent_like(&self, other: &Self) -> bool {
        self.stages == other.stages
            && self.kept_budget() == other.kept_budget()
            && self.send_interval_ticks == other.send_interval_ticks
    }

    /// Checks that a budget that is given can be kept.
    ///
    /// # Errors
    /// Says of which rung or stages it cannot.
    pub fn check_budget(&self) -> Result<(), String> {
        match self.budget == self.kept_budget() {
            true => Ok(()),
            false => Err(format!(
                "a budget needs a rung that lists changed cubes, which `{}` does not",
                rung_or_stages(self.stages)
            )),
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

    /// Whether the interpolation needs velocities that the stages do not send, so that the lane uses
    /// the [effective](PlayoutSettings::effective_interpolation) one instead.
    #[must_use]
    pub fn lacks_velocity(&self) -> bool {
        let wanted = self.playout.interpolation;
        self.playout.effective_interpolation(self.sender.stages) != wanted
    }
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
