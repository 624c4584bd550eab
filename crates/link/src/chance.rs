//! What chance has in store for a packet.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::conditions::LONGEST_DELAY;
use crate::{Jitter, Reordering};

/// Draws for packets by their number.
///
/// Packet n reads the generator's stream from word 64 n on, and for every packet the same is drawn,
/// whatever then happens to it. So what happens to one packet does not shift the accidents of the
/// next, and neither does a change of conditions.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    rng: ChaCha8Rng,
}

/// What is drawn for one packet. Each number is even in `0..1`, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    /// Whether the link moves between good and bad.
    pub(crate) moves: f64,
    pub(crate) lost: f64,
    pub(crate) duplicated: f64,
    pub(crate) held_back: f64,
    /// For how long it is held back.
    pub(crate) held_back_for: f64,
    pub(crate) jitter: JitterDraw,
    /// Jitter of its copy.
    pub(crate) copy_jitter: JitterDraw,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JitterDraw {
    uniform: f64,
    /// Normally distributed, of mean 0 and standard deviation 1.
    normal: f64,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    pub(crate) fn draw(&mut self, packet: u64) -> Draw {
        self.rng.set_word_pos(u128::from(packet) * WORDS_PER_PACKET);
        let mut even = || self.rng.random();
        let [
            moves,
            lost,
            duplicated,
            held_back,
            held_back_for,
            uniform,
            copy_uniform,
        ] = std::array::from_fn(|_| even());
        // These come last, because they take two words each at the least, and sometimes more.
        let [normal, copy_normal] = std::array::from_fn(|_| self.rng.sample(StandardNormal));
        Draw {
            moves,
            lost,
            duplicated,
            held_back,
            held_back_for,
            jitter: JitterDraw { uniform, normal },
            copy_jitter: JitterDraw {
                uniform: copy_uniform,
                normal: copy_normal,
            },
        }
    }
}

impl Jitter {
    /// The delay of a packet.
    ///
    /// Log-normal jitter rests on the platform's `exp`, so that the last nanoseconds may differ from
    /// one platform to another. Both directions of a link run on one.
    pub(crate) fn delay(&self, latency: Duration, draw: JitterDraw) -> Duration {
        match *self {
            Self::None => latency,
            Self::Uniform { spread } => {
                (latency + spread.mul_f64(2.0 * draw.uniform)).saturating_sub(spread)
            }
            Self::LogNormal { median, sigma } => {
                let seconds = median.as_secs_f64() * (sigma * draw.normal).exp();
                latency + Duration::from_secs_f64(seconds.min(LONGEST_DELAY.as_secs_f64()))
            }
        }
    }
}

impl Reordering {
    /// How much later a packet arrives because it is held back.
    pub(crate) fn delay(&self, draw: &Draw) -> Duration {
        if draw.held_back < self.probability {
            self.min_delay + (self.max_delay - self.min_delay).mul_f64(draw.held_back_for)
        } else {
            Duration::ZERO
        }
    }
}

/// A packet takes 18 words, more if the normal distribution draws again, which it does once in eighty
/// times.
const WORDS_PER_PACKET: u128 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_the_same_in_store_whatever_was_drawn_before() {
        let mut chance = Chance::new(7);
        let draws: Vec<Draw> = (0..1_000).map(|packet| chance.draw(packet)).collect();
        for packet in [999, 0, 500] {
            assert_eq!(Chance::new(7).draw(packet), draws[packet as usize]);
        }
        assert_ne!(Chance::new(8).draw(0), draws[0]);
        assert_ne!(draws[1], draws[0]);
    }
}
