//! Text forms of the settings of a lane.

use std::time::Duration;

use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, Rung};
use cubewire_link::Conditions;
use cubewire_protocol::BUDGETS_KBPS;
use cubewire_scene::TICKS_PER_SECOND;
use cubewire_text::{Ms, Spelling, TextError};

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
pub(super) struct RungText;

impl Spelling<Stages> for RungText {
    fn write(stages: &Stages) -> Option<String> {
        Some(rung_or_stages(*stages))
    }

    fn read(text: &str) -> Result<Stages, TextError> {
        match text.contains('=') {
            true => text.parse(),
            false => rung(text).map(|rung| rung.stages),
        }
    }
}

pub(super) struct LinkText;

impl Spelling<Conditions> for LinkText {
    fn write(conditions: &Conditions) -> Option<String> {
        conditions.to_text()
    }

    fn read(text: &str) -> Result<Conditions, TextError> {
        text.parse()
    }
}

/// A send interval in ticks, written as snapshots per second.
pub(super) struct Rate;

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
pub(super) struct Kbps;

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
pub(super) struct Delay;

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
