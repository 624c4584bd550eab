//! Conditions of typical networks.
//!
//! The figures are round numbers for a typical network of each kind, not measurements. They apply to
//! each direction, so a round trip takes twice the latency and twice the jitter. If downstream is
//! usually faster than upstream, the bandwidth lies in between.
//!
//! A round trip by geostationary satellite is four times 35 786 km, which takes light 477 ms. The queue of 3G takes 1.4 s to drain, which is bufferbloat (J. Gettys and
//! K. Nichols, *Bufferbloat: Dark Buffers in the Internet*, ACM Queue 9(11), 2011). The article is Glenn
//! Fiedler's series *Networked Physics* (gafferongames.com): a round trip of six frames at 60 Hz, two
//! frames of jitter, and one packet in twenty lost. Hostile has twice the jitter and four times the
//! loss, and adds duplication and reordering.

use std::time::Duration;

use crate::{Bandwidth, Conditions, Jitter, Loss, Reordering};

/// Named conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Name on a command line: lower case, with hyphens.
    pub name: &'static str,
    /// Name on a button.
    pub title: &'static str,
    /// Description in one sentence.
    pub summary: &'static str,
    /// Conditions of each direction.
    pub conditions: Conditions,
}

impl Preset {
    /// Returns the preset with this [name](Self::name).
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the preset with these conditions, ignoring whether the link is cut.
    pub fn of(conditions: &Conditions) -> Option<&'static Self> {
        let whole = Conditions { cut: false, ..conditions.clone() };
        PRESETS.iter().find(|preset| preset.conditions == whole)
    }
}

/// All presets, from perfect to hostile.
pub static PRESETS: [Preset; 10] = [
    Preset {
        name: "perfect",
        title: "Perfect",
        summary: "No delay and no loss.",
        conditions: Conditions::PERFECT,
    },
    Preset {
        name: "lan",
        title: "LAN",
        summary: "A wired network in one building: almost no delay, 1 Gbit/s.",
        conditions: path(200, log_normal(50, 0.5), Loss::None, 1_000_000, 256),
    },
    Preset {
        name: "wi-fi",
        title: "Wi-Fi",
        summary: "A good wireless network: a few milliseconds, occasionally ten.",
        conditions: path(2_000, log_normal(1_000, 1.0), Loss::bursts(0.001, 2.0), 50_000, 256),
    },
    Preset {
        name: "wi-fi-bad",
        title: "Wi-Fi bad",
        summary: "A wireless network through three walls: long stalls, bursts of loss.",
        conditions: path(3_000, log_normal(8_000, 1.2), Loss::bursts(0.03, 4.0), 5_000, 128),
    },
    Preset {
        name: "cable",
        title: "Cable",
        summary: "A home connection to a server nearby: a steady round trip of 20 ms.",
        conditions: path(10_000, log_normal(1_000, 0.7), RARE_LOSS, 20_000, 256),
    },
    Preset {
        name: "4g",
        title: "4G",
        summary: "A mobile network: a round trip of 60 ms with some jitter.",
        conditions: path(25_000, log_normal(5_000, 0.8), Loss::bursts(0.003, 3.0), 10_000, 512),
    },
    Preset {
        name: "3g",
        title: "3G",
        summary: "An older mobile network: 160 ms, a long queue before 1.5 Mbit/s.",
        conditions: path(60_000, log_normal(20_000, 0.8), Loss::bursts(0.01, 3.0), 1_500, 256),
    },
    Preset {
        name: "satellite",
        title: "Satellite",
        summary: "A geostationary satellite: a round trip of 600 ms.",
        conditions: path(295_000, log_normal(5_000, 0.6), Loss::bursts(0.005, 5.0), 10_000, 512),
    },
    Preset {
        name: "article",
        title: "The article",
        summary: "A round trip of 100 ms, two frames of jitter, and 5 % loss.",
        conditions: Conditions {
            latency: Duration::from_millis(50),
            jitter: Jitter::Uniform { spread: Duration::from_micros(33_333) },
            loss: Loss::Independent { probability: 0.05 },
            ..Conditions::PERFECT
        },
    },
    Preset {
        name: "hostile",
        title: "Hostile",
        summary: "20 % loss in bursts, four frames of jitter, copies, reordering.",
        conditions: Conditions {
            latency: Duration::from_millis(75),
            jitter: Jitter::Uniform { spread: Duration::from_micros(66_667) },
            loss: Loss::bursts(0.2, 4.0),
            duplicate_probability: 0.05,
            reordering: Some(Reordering {
                probability: 0.05,
                min_delay: Duration::from_millis(20),
                max_delay: Duration::from_millis(200),
            }),
            ..Conditions::PERFECT
        },
    },
];

const RARE_LOSS: Loss = Loss::Independent { probability: 0.0005 };

const fn log_normal(median_us: u64, sigma: f64) -> Jitter {
    Jitter::LogNormal { median: Duration::from_micros(median_us), sigma }
}

/// A path with a bottleneck: latency in microseconds, rate in kilobits a second, and queue in kilobytes.
const fn path(
    latency_us: u64,
    jitter: Jitter,
    loss: Loss,
    kbps: u64,
    queue_kilobytes: usize,
) -> Conditions {
    Conditions {
        latency: Duration::from_micros(latency_us),
        jitter,
        loss,
        bandwidth: Some(Bandwidth {
            bits_per_second: 1_000 * kbps,
            queue_bytes: 1_000 * queue_kilobytes,
        }),
        ..Conditions::PERFECT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_in_range_and_has_a_unique_name() {
        for preset in &PRESETS {
            assert_eq!(preset.conditions.check(), Ok(()), "{}", preset.name);
            assert_eq!(Preset::by_name(preset.name), Some(preset));
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(preset.name.chars().all(plain), "{}", preset.name);
            assert!(preset.summary.ends_with('.'), "{}", preset.summary);
            // Uniform jitter is not clipped at zero.
            let Jitter::Uniform { spread } = preset.conditions.jitter else {
                continue;
            };
            assert!(spread < preset.conditions.latency, "{}", preset.name);
        }
        assert_eq!(Preset::by_name("Perfect"), None);
    }
}
