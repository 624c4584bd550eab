//! Conditions of the simulated link.

use cubewire_link::{Conditions, Jitter, Loss, Reordering};

use super::super::pickers;
use crate::panel::prelude::*;

pub(super) fn presets(ui: &mut Ui, link: &mut Conditions) {
    let about = pickers::network_of(link).about;
    let networks = pickers::networks(link.cut);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        for network in &networks {
            let preset = chip(ui, CONTROL, 12, &network.name, *link == network.value);
            if preset.on_hover_text(&*network.about).clicked() {
                link.clone_from(&network.value);
            }
        }
    });
    ui.add_space(GAP);
    reserved(ui, &about, Look::of(ui).muted, networks.iter().map(|network| &*network.about));
    ui.add_space(2.0);
}

/// A field for one condition of the link. `get` and `set` use `unit`.
struct Figure {
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    get: fn(&Conditions) -> f64,
    set: fn(&mut Conditions, f64),
}

const FIGURES: [Figure; 6] = [
    Figure {
        name: "Delay",
        unit: "ms",
        about: "One way, in each direction. The article uses a round-trip time of 100 ms.",
        get: |link| millis(link.latency),
        set: |link, ms| link.latency = of_millis(ms),
    },
    Figure {
        name: JITTER,
        unit: "ms",
        about: "How much the delay varies from packet to packet.",
        get: |link| millis(jitter_of(&link.jitter)),
        set: |link, ms| set_jitter(&mut link.jitter, of_millis(ms)),
    },
    Figure {
        name: "Lost",
        unit: "%",
        about: "The share of packets that never arrives.",
        get: |link| 100.0 * link.loss.mean_fraction(),
        set: |link, percent| link.loss = loss_of(percent / 100.0, burst_packets(link.loss)),
    },
    Figure {
        name: "Burst",
        unit: "packets",
        about: "Mean number of packets lost in a row. At 1, losses are independent.",
        get: |link| burst_packets(link.loss),
        set: |link, packets| link.loss = loss_of(link.loss.mean_fraction(), packets),
    },
    Figure {
        name: "Duplicated",
        unit: "%",
        about: "The share of packets that arrives twice.",
        get: |link| 100.0 * link.duplicate_probability,
        set: |link, percent| link.duplicate_probability = percent / 100.0,
    },
    Figure {
        name: "Reordered",
        unit: "%",
        about: "The share of packets that is held back, so that later ones overtake them.",
        get: |link| 100.0 * link.reordering.map_or(0.0, |held| held.probability),
        set: |link, percent| {
            let held = link.reordering.unwrap_or(USUAL_REORDERING);
            let held = Reordering { probability: percent / 100.0, ..held };
            link.reordering = (percent > 0.0).then_some(held);
        },
    },
];

const JITTER: &str = "Jitter, mean";

pub(super) fn fields(ui: &mut Ui, link: &mut Conditions) {
    if link.trace.is_some() {
        note(ui, "Delay and loss are replayed from a recorded trace.");
        return;
    }
    let half = ui.available_width() / 2.0;
    for pair in FIGURES.chunks(2) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            // The second column has the longest name.
            for (figure, width) in pair.iter().zip([half - WIDER, half + WIDER]) {
                let name = match link.jitter {
                    Jitter::Uniform { .. } if figure.name == JITTER => "Jitter, ±",
                    _ => figure.name,
                };
                let mut value = (figure.get)(link);
                let (range, speed, decimals) = match figure.unit {
                    "ms" => (0.0..=1_000.0, 0.5, usize::from(value.fract() > 0.005)),
                    "%" => (0.0..=95.0, 0.1, 1),
                    _ => (1.0..=20.0, 0.05, 1),
                };
                let drag = DragValue::new(&mut value).range(range).speed(speed);
                let drag = drag.fixed_decimals(decimals);
                if entry(ui, width, name, drag, figure.unit).on_hover_text(figure.about).changed() {
                    (figure.set)(link, value);
                }
            }
        });
        ui.add_space(BETWEEN);
    }
}

const fn of_millis(ms: f64) -> Duration {
    Duration::from_nanos((1e6 * ms.max(0.0)) as u64)
}

fn millis(duration: Duration) -> f64 {
    1_000.0 * duration.as_secs_f64()
}

/// Returns the mean of a log-normal jitter, or the largest deviation of a uniform one.
fn jitter_of(jitter: &Jitter) -> Duration {
    match *jitter {
        Jitter::None => Duration::ZERO,
        Jitter::Uniform { spread } => spread,
        Jitter::LogNormal { median, sigma } => median.mul_f64(mean_of_medians(sigma)),
    }
}

fn set_jitter(jitter: &mut Jitter, value: Duration) {
    match jitter {
        Jitter::Uniform { spread } => *spread = value,
        Jitter::LogNormal { median, sigma } => *median = value.div_f64(mean_of_medians(*sigma)),
        Jitter::None if value.is_zero() => {}
        Jitter::None => {
            *jitter = USUAL_TAIL;
            set_jitter(jitter, value);
        }
    }
}

/// Returns the ratio of mean and median of a log-normal distribution.
fn mean_of_medians(sigma: f64) -> f64 {
    (sigma * sigma / 2.0).exp()
}

fn loss_of(fraction: f64, burst_packets: f64) -> Loss {
    if fraction <= 0.0 {
        Loss::None
    } else if burst_packets <= 1.0 {
        Loss::Independent { probability: fraction }
    } else {
        // At least one packet arrives between two bursts, which bounds the loss. The margin covers rounding.
        let max = burst_packets / (burst_packets + 1.0) - 1e-9;
        Loss::bursts(fraction.min(max), burst_packets)
    }
}

/// Returns the mean number of consecutive losses; 1 for independent losses.
fn burst_packets(loss: Loss) -> f64 {
    match loss {
        Loss::GilbertElliott { to_good, .. } if to_good > 0.0 => 1.0 / to_good,
        _ => 1.0,
    }
}

/// The article's jitter.
const TWO_TICKS: Duration = Duration::from_nanos(2 * 1_000_000_000 / TICKS_PER_SECOND as u64);

const USUAL_REORDERING: Reordering = Reordering {
    probability: 0.0,
    min_delay: Duration::from_nanos(TWO_TICKS.as_nanos() as u64 / 2),
    max_delay: Duration::from_nanos(TWO_TICKS.as_nanos() as u64 * 2),
};

const USUAL_TAIL: Jitter = Jitter::LogNormal { median: Duration::from_millis(5), sigma: 1.0 };

/// Distances, logical points.
pub(super) const BETWEEN: f32 = 3.0;
const WIDER: f32 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_show_the_set_values_which_are_legal() {
        for wanted in [
            [8.0, 12.0, 5.0, 1.0, 3.0, 5.0],
            [8.0, 0.0, 50.0, 10.0, 0.0, 0.0],
            // The largest loss with bursts of four packets.
            [0.0, 0.0, 80.0, 4.0, 0.0, 0.0],
        ] {
            let mut link = Conditions::default();
            for (figure, wanted) in FIGURES.iter().zip(wanted) {
                (figure.set)(&mut link, wanted);
            }
            assert!(link.check().is_ok());
            for (figure, wanted) in FIGURES.iter().zip(wanted) {
                let shown = (figure.get)(&link);
                assert!((shown - wanted).abs() < 1e-4, "{}: {shown}", figure.name);
            }
        }
        assert_eq!(loss_of(0.0, 3.0), Loss::None);
        assert!((loss_of(0.95, 4.0).mean_fraction() - 0.8).abs() < 1e-6);
    }

    #[test]
    fn jitter_keeps_its_kind_and_gets_the_mean() {
        let wanted = Duration::from_millis(12);
        for before in [
            Jitter::None,
            Jitter::Uniform { spread: TWO_TICKS },
            Jitter::LogNormal { median: TWO_TICKS, sigma: 1.2 },
        ] {
            let mut jitter = before;
            set_jitter(&mut jitter, wanted);
            let off = jitter_of(&jitter).as_secs_f64() - wanted.as_secs_f64();
            assert!(off.abs() < 1e-6, "{jitter:?}");
            let is_kept = std::mem::discriminant(&jitter) == std::mem::discriminant(&before);
            assert_eq!(is_kept, before != Jitter::None);
        }
        let mut none = Jitter::None;
        set_jitter(&mut none, Duration::ZERO);
        assert_eq!(none, Jitter::None);
    }
}
