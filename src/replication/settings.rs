//! Settings of a lane, and the text form of each.

use std::time::Duration;

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::stages::{Delta, Velocity};
use cubewire_link::Conditions;
use cubewire_protocol::{BUDGETS_KBPS, BaselineChoice, Interpolation, Settings, playout_delay};
use cubewire_scene::TICKS_PER_SECOND;
use cubewire_text::{Ms, Spelling, TextError};
use serde::{Deserialize, Serialize};

use super::meter::kbps;

/// Round-trip time of the default link. Fiedler: "otherwise delta compression is too easy".
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Settings of the sending half. A change applies from the next snapshot on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SenderSettings {
    #[serde(rename = "rung", with = "RungText")]
    pub stages: Stages,
    pub baseline: BaselineChoice,
    /// Ticks between snapshots, usually one of [`SEND_INTERVALS`].
    #[serde(rename = "rate", with = "Rate")]
    pub send_interval_ticks: u32,
    /// Limit in kilobits per second on the wire. If a snapshot does not fit, the packet carries only the most urgent cubes.
    /// Stages that do not list changed cubes are sent less often instead.
    #[serde(rename = "budget", with = "Kbps")]
    pub budget: Option<u32>,
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSettings {
    /// Network conditions, applied to each direction.
    #[serde(rename = "link", with = "LinkText")]
    pub conditions: Conditions,
    /// Random seed, read when the lane is spawned. Links with the same seed lose and delay the same packets.
    pub seed: u64,
}

#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayoutSettings {
    pub interpolation: Interpolation,
    #[serde(rename = "playout")]
    pub delay: PlayoutDelay,
    pub predict: Predict,
    pub play_at: PlayAt,
}

/// The end to which the keys of the player in this process go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlayAt {
    /// The keys move the simulation's cube at once.
    #[default]
    Simulation,
    /// The keys travel with the lane's acks. They move the cube when they arrive, if the lane has the player's
    /// [`Seat`](super::Seat).
    Client,
}

impl PlayAt {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simulation => "simulation",
            Self::Client => "client",
        }
    }
}

/// Cubes that the client simulates ahead of the snapshots, with the keys that these do not contain yet, if the player
/// [plays there](PlayAt::Client).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Predict {
    #[default]
    None,
    /// The player's cube, and those near it that move.
    Own,
    /// All cubes, on rungs where the client simulates. Elsewhere, and while it has lost the simulated world, as
    /// [`Own`](Self::Own).
    World,
}

impl Predict {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Own => "own",
            Self::World => "world",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlayoutDelay {
    /// Derived from the send rate: see [`playout_delay`]. With a budget the send rate varies, so this is the same as
    /// [`Adaptive`](Self::Adaptive).
    #[default]
    Rule,
    #[serde(rename = "")]
    Fixed(#[serde(with = "Delay")] Duration),
    /// Adapts to the delays of the packets in the last few seconds.
    Adaptive,
}

/// All settings of a local lane. They have a text form: see [`to_text`](Self::to_text).
#[derive(Bundle, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct LaneSettings {
    pub sender: SenderSettings,
    pub link: LinkSettings,
    pub playout: PlayoutSettings,
}

#[derive(QueryData, Debug)]
#[query_data(derive(Debug))]
pub struct LaneSettingsQuery {
    sender: &'static SenderSettings,
    link: &'static LinkSettings,
    playout: &'static PlayoutSettings,
}

impl LaneSettingsQueryItem<'_, '_> {
    pub fn get(&self) -> LaneSettings {
        LaneSettings { sender: *self.sender, link: self.link.clone(), playout: *self.playout }
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
            conditions: Conditions { latency: ROUND_TRIP / 2, ..Conditions::default() },
            seed: 0,
        }
    }
}

impl LinkSettings {
    /// A link without delay and loss, for lanes over a real network.
    pub const PERFECT: Self = Self { conditions: Conditions::PERFECT, seed: 0 };
}

/// Bytes of an uncompressed snapshot of the scene, including IP and UDP headers.
const UNCOMPRESSED_BYTES: usize = 36_185;

impl SenderSettings {
    /// Bandwidth of uncompressed snapshots at this send rate, in kilobits per second (article accounting).
    pub fn uncompressed_kbps(&self) -> f64 {
        let bytes = self.snapshots_per_second() as usize * UNCOMPRESSED_BYTES;
        kbps(bytes, TICKS_PER_SECOND as usize)
    }

    /// Snapshots per second, from 1 to the tick rate.
    pub fn snapshots_per_second(&self) -> u32 {
        (TICKS_PER_SECOND / self.send_interval_ticks.max(1)).max(1)
    }

    /// The budget, or `None` if the stages do not list changed cubes. One snapshot of such stages can exceed a second's budget.
    pub fn kept_budget(&self) -> Option<u32> {
        self.budget.filter(|_| self.stages.can_be_partial())
    }

    /// Whether these settings send the same stages at the same rate and budget. The baseline choice is ignored.
    pub(super) fn is_sent_like(&self, other: &Self) -> bool {
        self.stages == other.stages
            && self.kept_budget() == other.kept_budget()
            && self.send_interval_ticks == other.send_interval_ticks
    }

    /// Whether the server has granted `predicted` for the requested `simulated`, until its scene is reset: see
    /// [`LaneSync::awaits_reset`](super::LaneSync::awaits_reset).
    pub(crate) fn awaits_reset(&self, granted: &Self) -> bool {
        self.stages.delta == Delta::ArithmeticSimulated
            && granted.stages == ladder::PREDICTED.stages
    }

    /// Checks that the stages can be sent within the budget, if there is one. The error names the rung or stages.
    pub fn check_budget(&self) -> Result<(), String> {
        match self.budget == self.kept_budget() {
            true => Ok(()),
            false => Err(format!(
                "a budget requires a rung that lists changed cubes, unlike `{}`",
                rung_or_stages(self.stages)
            )),
        }
    }

    pub(crate) fn to_wire(self) -> Settings {
        Settings {
            stages: self.stages,
            send_interval_ticks: self.send_interval_ticks.clamp(1, 255) as u8,
            baseline: self.baseline,
            budget_kbps: self.budget,
        }
    }

    pub(crate) fn from_wire(settings: Settings) -> Self {
        Self {
            stages: settings.stages,
            send_interval_ticks: settings.send_interval_ticks.into(),
            baseline: settings.baseline,
            budget: settings.budget_kbps,
        }
    }
}

impl PlayoutSettings {
    /// The interpolation in use with these stages: at most linear if they send no velocities.
    pub fn effective_interpolation(&self, stages: Stages) -> Interpolation {
        let has_velocity = stages.velocity != Velocity::Omitted;
        self.interpolation.effective(has_velocity)
    }

    /// The delay for [`PlayoutDelay::Rule`]. Zero if the interpolation needs no playout delay.
    pub fn rule_delay(&self, sender: &SenderSettings) -> Duration {
        if self.effective_interpolation(sender.stages).waits() {
            playout_delay(sender.snapshots_per_second())
        } else {
            Duration::ZERO
        }
    }
}

impl LaneSettings {
    pub fn with_stages(stages: Stages) -> Self {
        Self { sender: SenderSettings { stages, ..SenderSettings::default() }, ..Self::default() }
    }

    pub(super) fn effective_interpolation(&self) -> Interpolation {
        self.playout.effective_interpolation(self.sender.stages)
    }

    /// Whether the chosen interpolation needs velocities that the stages do not send. The lane then uses the
    /// [effective](PlayoutSettings::effective_interpolation) one.
    pub fn lacks_velocity(&self) -> bool {
        self.effective_interpolation() != self.playout.interpolation
    }
}

/// Send intervals that can be chosen, in ticks: 60, 30, 20 and 10 snapshots per second.
pub const SEND_INTERVALS: [u32; 4] = [1, 2, 3, 6];

pub fn rung(name: &str) -> Result<Rung, TextError> {
    let names = ladder::all().map(|rung| rung.name);
    ladder::rung(name).ok_or_else(|| TextError::unknown("rung", name, names))
}

pub fn rung_or_stages(stages: Stages) -> String {
    ladder::rung_of(stages).map_or_else(|| stages.to_string(), |rung| rung.name.to_owned())
}

/// Stages: the name of a rung, or a list of stages.
struct RungText;

impl Spelling<Stages> for RungText {
    fn write(stages: &Stages) -> Option<String> {
        Some(rung_or_stages(*stages))
    }

    fn read(text: &str) -> Result<Stages, TextError> {
        if text.contains('=') { text.parse() } else { rung(text).map(|rung| rung.stages) }
    }
}

struct LinkText;

impl Spelling<Conditions> for LinkText {
    fn write(conditions: &Conditions) -> Option<String> {
        conditions.to_text()
    }

    fn read(text: &str) -> Result<Conditions, TextError> {
        text.parse()
    }
}

/// A send interval in ticks, written as snapshots per second.
struct Rate;

impl Spelling<u32> for Rate {
    fn write(ticks: &u32) -> Option<String> {
        Some((TICKS_PER_SECOND / (*ticks).max(1)).to_string())
    }

    fn read(text: &str) -> Result<u32, TextError> {
        let mut intervals = SEND_INTERVALS.into_iter();
        let interval = intervals.find(|ticks| Self::write(ticks).as_deref() == Some(text));
        interval.ok_or_else(|| TextError::value(text, "60, 30, 20 or 10"))
    }
}

/// A budget, written as kilobits per second.
struct Kbps;

impl Spelling<u32> for Kbps {
    fn write(kbps: &u32) -> Option<String> {
        Some(format!("{kbps}kbps"))
    }

    fn read(text: &str) -> Result<u32, TextError> {
        let kbps = text.strip_suffix("kbps").unwrap_or(text).parse().ok();
        let kbps = kbps.filter(|kbps| BUDGETS_KBPS.contains(kbps));
        kbps.ok_or_else(|| TextError::value(text, "from 16kbps to 1024kbps, for example 64kbps"))
    }
}

/// A fixed playout delay of up to 4 s.
struct Delay;

impl Spelling<Duration> for Delay {
    fn write(delay: &Duration) -> Option<String> {
        Ms::write(delay)
    }

    fn read(text: &str) -> Result<Duration, TextError> {
        let delay = Ms::read(text).ok();
        let delay = delay.filter(|delay| *delay <= Duration::from_secs(4));
        delay.ok_or_else(|| TextError::value(text, "from 0ms to 4000ms, for example 150ms"))
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
