//! The conditions of the simulated link, and what the sender does about them.

use std::time::Duration;

use bevy_egui::egui::{DragValue, Response, Ui, Vec2};
use cubewire_link::{Conditions, Jitter, Loss, Reordering};
use cubewire_scene::TICKS_PER_SECOND;

use super::super::pickers;
use crate::panel::style::{CONTROL, GAP, Look};
use crate::panel::widgets::{chip, entry, line, note};

/// Networks to choose from, and a sentence about the present one.
pub(super) fn presets(ui: &mut Ui, link: &mut Conditions) {
    let look = Look::of(ui);
    let (chosen, about) = pickers::network_of(link);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        for (name, about, conditions) in pickers::networks() {
            let preset = chip(ui, CONTROL, 12, name, name == chosen);
            if preset.on_hover_text(about).clicked() {
                pickers::set_network(link, conditions);
            }
        }
    });
    ui.add_space(GAP);
    line(ui, about, look.muted);
    ui.add_space(2.0);
}

/// Six figures in two columns.
pub(super) fn fields(ui: &mut Ui, link: &mut Conditions) {
    if link.trace.is_some() {
        note(ui, "Delay and loss are replayed from a recorded trace.");
        return;
    }
    pair(
        ui,
        |ui, width| {
            let name = "Delay";
            millis(ui, width, &mut link.latency, name).on_hover_text(
                "One way, in each direction. The article uses a round-trip time of 100 ms.",
            );
        },
        |ui, width| jitter(ui, width, &mut link.jitter),
    );
    let mut loss = link.loss.mean_fraction();
    let mut burst = burst_packets(link.loss);
    let before = (loss, burst);
    pair(
        ui,
        |ui, width| {
            percent(ui, width, &mut loss, 95.0, "Lost")
                .on_hover_text("The share of packets that never arrives.");
        },
        |ui, width| {
            let drag = DragValue::new(&mut burst).range(1.0..=20.0).speed(0.05);
            entry(ui, width, "Burst", drag.fixed_decimals(1), "packets").on_hover_text(
                "Mean number of packets lost in a row. At 1, losses are independent.",
            );
        },
    );
    if before != (loss, burst) {
        link.loss = loss_of(loss, burst);
    }
    let mut held_back = link.reordering.map_or(0.0, |held| held.probability);
    let mut is_changed = false;
    pair(
        ui,
        |ui, width| {
            percent(
                ui,
                width,
                &mut link.duplicate_probability,
                50.0,
                "Duplicated",
            )
            .on_hover_text("The share of packets that arrives twice.");
        },
        |ui, width| {
            let entry = percent(ui, width, &mut held_back, 50.0, "Reordered");
            is_changed = entry.changed();
            entry.on_hover_text(
                "The share of packets that is held back, so that later ones overtake them.",
            );
        },
    );
    if is_changed {
        link.reordering = reordering_of(held_back, link.reordering);
    }
}

/// Two entries beside each other.
fn pair(ui: &mut Ui, left: impl FnOnce(&mut Ui, f32), right: impl FnOnce(&mut Ui, f32)) {
    let width = (ui.available_width() - COLUMNS) / 2.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = COLUMNS;
        left(ui, width);
        right(ui, width);
    });
    ui.add_space(BETWEEN);
}

/// The mean of a jitter that only delays, or how far one reaches that goes both ways.
fn jitter(ui: &mut Ui, width: f32, jitter: &mut Jitter) {
    let name = match jitter {
        Jitter::Uniform { .. } => "Jitter, ±",
        _ => "Jitter, mean",
    };
    let mut value = jitter_of(jitter);
    let entry = millis(ui, width, &mut value, name);
    if entry.changed() {
        set_jitter(jitter, value);
    }
    entry.on_hover_text("How much the delay varies from packet to packet. See Kind of jitter.");
}

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

/// The mean of a log-normal distribution with a median of 1.
fn mean_of_medians(sigma: f64) -> f64 {
    (sigma * sigma / 2.0).exp()
}

fn loss_of(fraction: f64, burst_packets: f64) -> Loss {
    if fraction <= 0.0 {
        Loss::None
    } else if burst_packets <= 1.0 {
        Loss::Independent {
            probability: fraction,
        }
    } else {
        // At least one packet arrives between two bursts; slightly less, against rounding.
        let max = burst_packets / (burst_packets + 1.0) - 1e-9;
        Loss::bursts(fraction.min(max), burst_packets)
    }
}

/// Mean number of packets lost in a row, as the field shows it; 1 for independent losses.
fn burst_packets(loss: Loss) -> f64 {
    match loss {
        Loss::GilbertElliott { to_good, .. } if to_good > 0.0 => 1.0 / to_good,
        _ => 1.0,
    }
}

fn reordering_of(probability: f64, before: Option<Reordering>) -> Option<Reordering> {
    let usual = Reordering {
        probability,
        min_delay: TWO_TICKS / 2,
        max_delay: 2 * TWO_TICKS,
    };
    let changed = Reordering {
        probability,
        ..before.unwrap_or(usual)
    };
    (probability > 0.0).then_some(changed)
}

fn millis(ui: &mut Ui, width: f32, value: &mut Duration, name: &str) -> Response {
    let mut ms = value.as_secs_f64() * 1000.0;
    let decimals = usize::from(ms < 99.95 && ms.fract() > 0.005);
    let drag = DragValue::new(&mut ms).range(0.0..=MAX_MS).speed(0.5);
    let entry = entry(ui, width, name, drag.fixed_decimals(decimals), "ms");
    if entry.changed() {
        *value = Duration::from_secs_f64(ms.max(0.0) / 1000.0);
    }
    entry
}

fn percent(ui: &mut Ui, width: f32, fraction: &mut f64, max: f64, name: &str) -> Response {
    let mut percent = *fraction * 100.0;
    let drag = DragValue::new(&mut percent).range(0.0..=max).speed(0.1);
    let entry = entry(ui, width, name, drag.fixed_decimals(1), "%");
    if entry.changed() {
        *fraction = percent / 100.0;
    }
    entry
}

/// The longest delay and the most jitter that the fields accept.
const MAX_MS: f64 = 1000.0;

/// The article's jitter.
pub(super) const TWO_TICKS: Duration =
    Duration::from_nanos(2 * 1_000_000_000 / TICKS_PER_SECOND as u64);

pub(super) const USUAL_TAIL: Jitter = Jitter::LogNormal {
    median: Duration::from_millis(5),
    sigma: 1.0,
};

/// Logical points.
pub(super) const BETWEEN: f32 = 3.0;
const COLUMNS: f32 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_convert_back_to_what_the_fields_show() {
        for (fraction, burst) in [(0.05, 1.0), (0.2, 4.0), (0.5, 10.0)] {
            let loss = loss_of(fraction, burst);
            assert!((loss.mean_fraction() - fraction).abs() < 1e-9);
            assert!((burst_packets(loss) - burst).abs() < 1e-9);
        }
        assert_eq!(loss_of(0.0, 3.0), Loss::None);
        let max = loss_of(0.95, 4.0);
        assert!((max.mean_fraction() - 0.8).abs() < 1e-6);
        let link = Conditions {
            loss: max,
            ..Conditions::default()
        };
        assert!(link.check().is_ok());
    }

    #[test]
    fn a_jitter_keeps_its_kind_and_has_the_mean_that_was_set() {
        let wanted = Duration::from_millis(12);
        for before in [
            Jitter::None,
            Jitter::Uniform { spread: TWO_TICKS },
            Jitter::LogNormal {
                median: TWO_TICKS,
                sigma: 1.2,
            },
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
