//! The simulated link of a lane, its send rate and its choice of baseline.

use std::time::Duration;

use bevy_egui::egui::{self, Slider, SliderClamping};
use cubewire_link::{Bandwidth, Conditions, Jitter, Loss, PRESETS, Preset, Reordering};
use cubewire_protocol::{BUDGETS_KBPS, BaselineChoice, CANDIDATES};
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::{figure, terms};
use crate::replication::{LaneMeter, LaneSettings, LinkSettings, SEND_INTERVALS, SenderSettings};

pub(in crate::panel) fn draw(
    ui: &mut egui::Ui,
    settings: &mut LaneSettings,
    meter: &LaneMeter,
    is_remote: bool,
) {
    if is_remote {
        ui.weak("Simulated, in addition to the real network.");
    }
    let link = &mut settings.link.conditions;
    ui.horizontal(|ui| {
        ui.label("Network");
        preset(ui, "preset", link);
        ui.checkbox(&mut link.cut, "cut").on_hover_text(
            "Drops packets in both directions. Those already on their way still arrive. Key: L.",
        );
        let usual = LinkSettings::default().conditions;
        let reset = egui::Button::new("reset");
        let reset = ui
            .add_enabled(*link != usual, reset)
            .on_hover_text("Back to 50 ms each way, without losses.");
        if reset.clicked() {
            *link = usual;
        }
    });
    // Always two lines, so that nothing below jumps.
    let about = Preset::of(link).map_or("Conditions of your own.", |preset| preset.summary);
    let height = 2.0 * ui.text_style_height(&egui::TextStyle::Body);
    let size = egui::vec2(ui.available_width(), height);
    ui.allocate_ui(size, |ui| {
        ui.set_min_height(height);
        ui.weak(format!("{about} In each direction:"));
    });
    if link.trace.is_some() {
        ui.weak("Delay and loss are replayed from a recorded trace.");
    } else {
        delays(ui, link);
        losses(ui, link);
    }
    bandwidth(ui, link);
    ui.separator();
    ui.horizontal(|ui| {
        send_rate(ui, &mut settings.sender);
        ui.label("snapshots a second");
    });
    ui.horizontal(|ui| {
        ui.label("baseline").on_hover_text(terms::BASELINE);
        baseline(ui, &mut settings.sender);
    });
    ui.horizontal(|ui| budget(ui, &mut settings.sender));
    ui.separator();
    let link = meter.link;
    let of_sent = |count: u64| {
        let percent = 100.0 * count as f64 / link.sent.max(1) as f64;
        format!("{count:8}  {percent:4.1} %")
    };
    figure(
        ui,
        "datagrams with snapshots, sent",
        format!("{:8}        ", link.sent),
    );
    figure(ui, "lost", of_sent(link.lost));
    figure(ui, "dropped, queue full", of_sent(link.queue_dropped));
    figure(ui, "duplicated", of_sent(link.duplicated));
    figure(ui, "arrived out of order", of_sent(link.reordered));
}

/// Whether these are the default conditions, with the link cut or not.
fn is_default(link: &Conditions) -> bool {
    let default = LinkSettings::default().conditions;
    let cut = link.cut;
    *link == Conditions { cut, ..default }
}

/// A menu of presets, which shows the one that matches, whether the link is cut or not.
pub(super) fn preset(ui: &mut egui::Ui, id: &str, link: &mut Conditions) {
    let chosen = Preset::of(link);
    let title = match chosen {
        Some(preset) => preset.title,
        None if is_default(link) => DEFAULT_TITLE,
        None => "custom",
    };
    let combo = egui::ComboBox::from_id_salt(id).selected_text(title);
    combo.width(PRESET_WIDTH).show_ui(ui, |ui| {
        let usual = LinkSettings::default().conditions;
        let label = ui.selectable_label(is_default(link), DEFAULT_TITLE);
        if label.on_hover_text("As at the start.").clicked() {
            *link = Conditions {
                cut: link.cut,
                ..usual
            };
        }
        for preset in &PRESETS {
            let is_chosen = chosen.is_some_and(|chosen| chosen.name == preset.name);
            let label = ui.selectable_label(is_chosen, preset.title);
            if label.on_hover_text(preset.summary).clicked() {
                *link = Conditions {
                    cut: link.cut,
                    ..preset.conditions.clone()
                };
            }
        }
    });
}

fn delays(ui: &mut egui::Ui, link: &mut Conditions) {
    millis(ui, &mut link.latency, MAX_LATENCY_MS, "latency")
        .on_hover_text("One way. The article uses a round-trip time of 100 ms.");
    ui.horizontal(|ui| {
        let (none, uniform, tailed) = match link.jitter {
            Jitter::None => (true, false, false),
            Jitter::Uniform { .. } => (false, true, false),
            Jitter::LogNormal { .. } => (false, false, true),
        };
        if ui.selectable_label(none, "no jitter").clicked() {
            link.jitter = Jitter::None;
        }
        let label = ui.selectable_label(uniform, "uniform");
        if label
            .on_hover_text("Uniformly distributed around the latency.")
            .clicked()
            && !uniform
        {
            link.jitter = Jitter::Uniform { spread: TWO_TICKS };
        }
        let label = ui.selectable_label(tailed, "log-normal");
        let hint = "Usually a small extra delay, occasionally a long one.";
        if label.on_hover_text(hint).clicked() && !tailed {
            link.jitter = Jitter::LogNormal {
                median: Duration::from_millis(5),
                sigma: 1.0,
            };
        }
    });
    match &mut link.jitter {
        Jitter::None => {}
        Jitter::Uniform { spread } => {
            millis(ui, spread, MAX_JITTER_MS, "jitter, ±");
        }
        Jitter::LogNormal { median, sigma } => {
            millis(ui, median, MAX_JITTER_MS, "jitter, median");
            let slider = Slider::new(sigma, 0.0..=2.0).clamping(SliderClamping::Edits);
            ui.add(slider.text("jitter, sigma (length of the tail)"));
        }
    }
}

fn losses(ui: &mut egui::Ui, link: &mut Conditions) {
    let mut loss = link.loss.mean_fraction();
    let mut burst = burst_packets(link.loss);
    let changed = percent(ui, &mut loss, 95.0, "lost").changed();
    let slider = Slider::new(&mut burst, 1.0..=20.0).clamping(SliderClamping::Edits);
    let hint = "Mean number of packets lost in a row. At 1, losses are independent.";
    let burst_changed = ui
        .add(slider.text("burst length, packets"))
        .on_hover_text(hint);
    if changed || burst_changed.changed() {
        link.loss = loss_of(loss, burst);
    }
    percent(ui, &mut link.duplicate_probability, 50.0, "duplicates");
    let mut held_back = link.reordering.map_or(0.0, |held| held.probability);
    if percent(ui, &mut held_back, 50.0, "reordered").changed() {
        link.reordering = (held_back > 0.0).then(|| Reordering {
            probability: held_back,
            ..link.reordering.unwrap_or(Reordering {
                probability: held_back,
                min_delay: TWO_TICKS / 2,
                max_delay: 2 * TWO_TICKS,
            })
        });
    }
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

/// Mean number of packets lost in a row, as the slider shows it; 1 for independent losses.
fn burst_packets(loss: Loss) -> f64 {
    match loss {
        Loss::GilbertElliott { to_good, .. } if to_good > 0.0 => 1.0 / to_good,
        _ => 1.0,
    }
}

fn bandwidth(ui: &mut egui::Ui, link: &mut Conditions) {
    let mut is_limited = link.bandwidth.is_some();
    if ui.checkbox(&mut is_limited, "Limited bandwidth").changed() {
        link.bandwidth = is_limited.then_some(Bandwidth {
            bits_per_second: 256_000,
            queue_bytes: 16_000,
        });
    }
    if let Some(bandwidth) = &mut link.bandwidth {
        let mut kbps = bandwidth.bits_per_second as f64 / 1000.0;
        let slider = Slider::new(&mut kbps, 16.0..=100_000.0)
            .logarithmic(true)
            .clamping(SliderClamping::Edits);
        if ui.add(slider.suffix(" kbps").text("bandwidth")).changed() {
            bandwidth.bits_per_second = (kbps * 1000.0).round() as u64;
        }
        let slider = Slider::new(&mut bandwidth.queue_bytes, 1_500..=1_000_000)
            .logarithmic(true)
            .clamping(SliderClamping::Edits);
        ui.add(slider.suffix(" bytes").text("queue"))
            .on_hover_text("Packets that do not fit into the queue are dropped.");
    }
}

pub(super) fn send_rate(ui: &mut egui::Ui, settings: &mut SenderSettings) {
    for ticks in SEND_INTERVALS {
        let rate = TICKS_PER_SECOND / ticks;
        let interval = &mut settings.send_interval_ticks;
        ui.selectable_value(interval, ticks, rate.to_string())
            .on_hover_text("Snapshots a second.");
    }
}

fn budget(ui: &mut egui::Ui, settings: &mut SenderSettings) {
    let mut is_limited = settings.budget.is_some();
    let checkbox = ui
        .checkbox(&mut is_limited, "budget")
        .on_hover_text(terms::BUDGET);
    if checkbox.changed() {
        settings.budget = is_limited.then_some(FIRST_BUDGET_KBPS);
    }
    if let Some(kbps) = &mut settings.budget {
        let slider = Slider::new(kbps, BUDGETS_KBPS).logarithmic(true);
        ui.add(slider.suffix(" kbps").text("on the wire"));
    }
}

/// What a budget is at first.
const FIRST_BUDGET_KBPS: u32 = 64;

pub(super) fn baseline(ui: &mut egui::Ui, settings: &mut SenderSettings) {
    let choice = &mut settings.baseline;
    ui.selectable_value(choice, BaselineChoice::Newest, "newest")
        .on_hover_text("The newest acknowledged snapshot.");
    let hint = format!(
        "The one of the newest {CANDIDATES} acknowledged snapshots that makes the smallest packet. The \
         sender encodes against each of them."
    );
    ui.selectable_value(choice, BaselineChoice::Smallest, "smallest")
        .on_hover_text(hint);
}

pub(super) fn millis(
    ui: &mut egui::Ui,
    value: &mut Duration,
    max_ms: f64,
    text: &str,
) -> egui::Response {
    let mut ms = value.as_secs_f64() * 1000.0;
    let slider = Slider::new(&mut ms, 0.0..=max_ms)
        .clamping(SliderClamping::Edits)
        .max_decimals(1)
        .suffix(" ms")
        .text(text);
    let slider = ui.add(slider);
    if slider.changed() {
        *value = Duration::from_secs_f64(ms.max(0.0) / 1000.0);
    }
    slider
}

fn percent(ui: &mut egui::Ui, fraction: &mut f64, max: f64, text: &str) -> egui::Response {
    let mut percent = *fraction * 100.0;
    let slider = Slider::new(&mut percent, 0.0..=max)
        .clamping(SliderClamping::Edits)
        .max_decimals(1)
        .suffix(" %")
        .text(text);
    let slider = ui.add(slider);
    if slider.changed() {
        *fraction = percent / 100.0;
    }
    slider
}

/// The title of the default conditions.
const DEFAULT_TITLE: &str = "50 ms each way";

/// Logical points: every title fits.
const PRESET_WIDTH: f32 = 130.0;

// Upper ends of the sliders.
const MAX_LATENCY_MS: f64 = 400.0;
const MAX_JITTER_MS: f64 = 150.0;

/// The article's jitter.
const TWO_TICKS: Duration = Duration::from_nanos(2 * 1_000_000_000 / TICKS_PER_SECOND as u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_recognised_even_if_the_link_is_cut() {
        for known in &PRESETS {
            let link = Conditions {
                cut: true,
                ..known.conditions.clone()
            };
            assert_eq!(
                Preset::of(&link).map(|preset| preset.name),
                Some(known.name)
            );
        }
        let other = Conditions {
            latency: Duration::from_millis(49),
            ..Conditions::default()
        };
        assert!(Preset::of(&other).is_none());
    }

    #[test]
    fn losses_convert_back_to_the_slider_values() {
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
}
