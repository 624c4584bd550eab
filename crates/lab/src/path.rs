//! The simulated link, with times in frames.

use std::fmt;
use std::time::Duration;

use clap::Args;
use cubewire_cli::whole_number;
use cubewire_link::{Conditions, Link, Loss, Reordering};
use cubewire_recording::BASELINE_FRAMES;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Fraction of packets and acks that the link loses
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = fraction)]
    pub(crate) loss: f64,
    /// Fraction of packets and acks that arrive one to four frames late
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = fraction)]
    pub(crate) reorder: f64,
    /// Random seed of the simulated link
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Frames from sending a packet to receiving its ack, 1 to 120
    #[arg(long, value_name = "N", default_value_t = BASELINE_FRAMES as u16, value_parser = whole_number(1..=120_u16))]
    pub(crate) rtt_frames: u16,
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err(format!("{text} is not a number from 0 to 1")),
    }
}

impl fmt::Display for Path {
    /// Writes the conditions that differ from the contest's, each after a comma.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loss, reorder, rtt_frames, seed } = *self;
        if loss > 0.0 || reorder > 0.0 {
            write!(formatter, ", {loss} lost, {reorder} late, seed {seed}")?;
        }
        if rtt_frames != Self::PERFECT.rtt_frames {
            write!(formatter, ", acked after {rtt_frames} frames")?;
        }
        Ok(())
    }
}

impl Path {
    /// No loss. The round-trip time is the age of baselines in the contest.
    pub(crate) const PERFECT: Self =
        Self { loss: 0.0, reorder: 0.0, rtt_frames: BASELINE_FRAMES as u16, seed: 0 };

    /// Returns the link for packets. Its latency is half of the round trip, rounded down.
    pub(crate) fn forward<T>(self) -> Link<T> {
        Link::new(self.conditions(self.rtt_frames / 2), self.seed)
    }

    /// Returns the link for acks. Its latency is the rest of the round trip.
    pub(crate) fn backward<T>(self) -> Link<T> {
        Link::new(self.conditions(self.rtt_frames.div_ceil(2)), !self.seed)
    }

    /// Extra delays are continuous, so a delay of more than three and up to four frames makes a packet four frames
    /// late.
    fn conditions(self, frames: u16) -> Conditions {
        Conditions {
            latency: time(frames.into()),
            loss: Loss::Independent { probability: self.loss },
            reordering: Some(Reordering {
                probability: self.reorder,
                min_delay: Duration::ZERO,
                max_delay: time(MAX_LATE_FRAMES),
            }),
            ..Conditions::PERFECT
        }
    }
}

/// Returns the time at which a frame starts, or the duration of a number of frames. Rounded down, so that a packet of
/// frame n with a latency of m frames arrives at frame n + m, not before.
pub(crate) const fn time(frames: usize) -> Duration {
    Duration::from_nanos(frames as u64 * 1_000_000_000 / FRAMES_PER_SECOND)
}

/// Maximum extra delay of a packet, frames.
const MAX_LATE_FRAMES: usize = 4;

const FRAMES_PER_SECOND: u64 = 60;
