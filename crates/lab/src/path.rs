//! The link that a recording is sent through, in frames.

use std::time::Duration;

use cubewire_link::{Conditions, Link, Loss, Reordering};

use crate::recording::BASELINE_FRAMES;

/// The link there and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Fraction lost, each way.
    pub(crate) loss: f64,
    /// Fraction that arrives one to four frames late, each way.
    pub(crate) reorder: f64,
    /// Frames there and back.
    pub(crate) rtt_frames: usize,
    /// Seed of the accidents.
    pub(crate) seed: u64,
}

impl Path {
    /// Nothing is lost, and the baseline is the contest's.
    pub(crate) const PERFECT: Self = Self {
        loss: 0.0,
        reorder: 0.0,
        rtt_frames: BASELINE_FRAMES,
        seed: 0,
    };

    /// The way there, `rtt_frames / 2` long.
    pub(crate) fn forth<T>(self) -> Link<T> {
        Link::new(self.conditions(self.rtt_frames / 2), self.seed)
    }

    /// The way back, as long as the rest.
    pub(crate) fn back<T>(self) -> Link<T> {
        Link::new(self.conditions(self.rtt_frames.div_ceil(2)), !self.seed)
    }

    /// A packet that is late by more than three frames and no more than four arrives in the fourth.
    fn conditions(self, frames: usize) -> Conditions {
        Conditions {
            latency: time(frames),
            loss: Loss::Independent {
                probability: self.loss,
            },
            reordering: Some(Reordering {
                probability: self.reorder,
                min_delay: Duration::ZERO,
                max_delay: time(LATEST_FRAMES),
            }),
            ..Conditions::PERFECT
        }
    }
}

/// When a frame is sent, and how long so many take. Rounded down: what takes m frames from frame n is
/// there by frame n + m, and not by the one before.
pub(crate) const fn time(frames: usize) -> Duration {
    Duration::from_nanos(frames as u64 * 1_000_000_000 / FRAMES_PER_SECOND)
}

/// How late a packet is at most.
const LATEST_FRAMES: usize = 4;

const FRAMES_PER_SECOND: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn path(loss: f64, reorder: f64, rtt_frames: usize) -> Path {
        Path {
            loss,
            reorder,
            rtt_frames,
            seed: 1,
        }
    }

    #[test]
    fn both_ways_together_take_the_round_trip_from_any_frame() {
        for rtt_frames in [1, 2, 6, 7, 120] {
            let (mut forth, mut back) = (
                path(0.0, 0.0, rtt_frames).forth(),
                path(0.0, 0.0, rtt_frames).back(),
            );
            for frame in 10..200 {
                let there = frame + rtt_frames / 2;
                forth.send(time(frame), 1, frame);
                if rtt_frames > 1 {
                    assert_eq!(forth.receive(time(there - 1)), None);
                }
                assert_eq!(forth.receive(time(there)), Some(frame));
                back.send(time(there), 1, frame);
                assert_eq!(back.receive(time(frame + rtt_frames - 1)), None);
                assert_eq!(back.receive(time(frame + rtt_frames)), Some(frame));
            }
        }
    }

    #[test]
    fn packets_are_lost_and_late_as_often_as_asked_by_one_to_four_frames_alike() {
        const FRAMES: usize = 100_000;
        let mut forth = path(0.3, 0.2, 6).forth();
        for frame in 0..FRAMES {
            forth.send(time(frame), 1, frame);
        }
        let mut by_frames_late = [0_u32; LATEST_FRAMES + 1];
        for now in 0..=FRAMES + 3 + LATEST_FRAMES {
            while let Some(frame) = forth.receive(time(now)) {
                by_frames_late[now - 3 - frame] += 1;
            }
        }
        assert_eq!(forth.in_flight(), 0);
        let [on_time, late @ ..] = by_frames_late;
        assert!((55_300..56_700).contains(&on_time), "{on_time}");
        for late in late {
            assert!((3_350..3_650).contains(&late), "{by_frames_late:?}");
        }
    }
}
