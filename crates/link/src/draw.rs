//! The random numbers of a packet, and its delays.

use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::conditions::MAX_DELAY;
use crate::{Jitter, Reordering};

/// The random numbers of one packet, uniform in `0..1` except where noted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    /// Decides whether the state changes between good and bad.
    pub(crate) transition: f64,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    pub(crate) reordering: f64,
    /// Decides the extra delay of a reordered packet.
    pub(crate) reordering_delay: f64,
    pub(crate) jitter: JitterDraw,
    /// Decides the jitter of the duplicate.
    pub(crate) copy_jitter: JitterDraw,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JitterDraw {
    uniform: f64,
    /// A number from the standard normal distribution.
    normal: f64,
}

/// Draws the random numbers of a packet by its number.
///
/// Packet n reads the generator's stream from word 64 n on. The same numbers are drawn for every packet, whether they
/// are used or not. Neither the fate of a packet nor a change of conditions therefore shifts the random numbers of
/// later packets.
pub(crate) fn draw(rng: &mut ChaCha8Rng, packet: u64) -> Draw {
    rng.set_word_pos(u128::from(packet) * WORDS_PER_PACKET);
    let mut uniform = || rng.random();
    let [transition, loss, duplication, reordering, reordering_delay, uniform, copy_uniform] =
        std::array::from_fn(|_| uniform());
    // These come last, because each takes at least two words and sometimes more.
    let [normal, copy_normal] = std::array::from_fn(|_| rng.sample(StandardNormal));
    Draw {
        transition,
        loss,
        duplication,
        reordering,
        reordering_delay,
        jitter: JitterDraw { uniform, normal },
        copy_jitter: JitterDraw { uniform: copy_uniform, normal: copy_normal },
    }
}

impl Jitter {
    /// Delay of a packet: the latency with jitter.
    ///
    /// Log-normal jitter uses `libm::exp`, because the last digits of the platform's `exp` differ between platforms.
    pub(crate) fn delay(&self, latency: Duration, draw: JitterDraw) -> Duration {
        match *self {
            Self::None => latency,
            Self::Uniform { spread } => {
                (latency + spread.mul_f64(2.0 * draw.uniform)).saturating_sub(spread)
            }
            Self::LogNormal { median, sigma } => {
                let seconds = median.as_secs_f64() * libm::exp(sigma * draw.normal);
                latency + Duration::from_secs_f64(seconds.min(MAX_DELAY.as_secs_f64()))
            }
        }
    }
}

impl Reordering {
    /// Extra delay of a packet; zero if it is not held back.
    pub(crate) fn delay(&self, draw: &Draw) -> Duration {
        if draw.reordering < self.probability {
            self.min_delay + (self.max_delay - self.min_delay).mul_f64(draw.reordering_delay)
        } else {
            Duration::ZERO
        }
    }
}

/// A packet takes 18 words, and more if the normal distribution rejects a draw, which happens once in eighty times.
const WORDS_PER_PACKET: u128 = 64;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_draw_of_a_packet_does_not_depend_on_earlier_draws() {
        let rng = ChaCha8Rng::seed_from_u64;
        let mut first = rng(7);
        let draws: Vec<Draw> = (0..1_000).map(|packet| draw(&mut first, packet)).collect();
        for packet in [999, 0, 500] {
            assert_eq!(draw(&mut rng(7), packet), draws[packet as usize]);
        }
        assert_ne!(draw(&mut rng(8), 0), draws[0]);
        assert_ne!(draws[1], draws[0]);
    }
}
