//! The page *Link and playout*: conditions of the link, arrived and lost snapshots, and playout.

mod arrived;
mod conditions;

use cubewire_link::Bandwidth;
use cubewire_protocol::{BaselineChoice, CANDIDATES, Interpolation};

use super::pickers;
use crate::panel::prelude::*;
use crate::replication::{PlayoutDelay, SEND_INTERVALS};
use conditions::BETWEEN;

/// Draws the page. Its graphs cover the last `seconds`.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>, seconds: u32) {
    let has_room = page_left(ui) >= ROOMY;
    let link = &mut lane.settings.link.conditions;
    if lane.peers.is_server() {
        note(ui, "Simulated, in addition to the real network:");
    } else {
        conditions::presets(ui, link);
    }
    conditions::fields(ui, link);
    if has_room {
        more(ui, lane.settings);
    }
    divider(ui);
    arrived::draw(ui, lane.meter, seconds);
    divider(ui);
    playout(ui, lane, seconds);
    if !has_room {
        divider(ui);
        more(ui, lane.settings);
    }
}

fn more(ui: &mut Ui, settings: &mut LaneSettings) {
    ui.spacing_mut().item_spacing.y = BETWEEN;
    limit(ui, &mut settings.link.conditions.bandwidth);
    let smallest = format!(
        "Of the newest {CANDIDATES} acknowledged snapshots, the one with the smallest packet. The sender encodes \
         against each of them."
    );
    let baselines = [
        Choice::new(BaselineChoice::Newest, "newest", "The newest acknowledged snapshot."),
        Choice::new(BaselineChoice::Smallest, "smallest", smallest),
    ];
    let baseline = &mut settings.sender.baseline;
    switch(ui, LABEL, "Baseline", baseline, &baselines).on_hover_text(terms::BASELINE);
    ui.spacing_mut().item_spacing.y = 0.0;
}

fn limit(ui: &mut Ui, bandwidth: &mut Option<Bandwidth>) {
    let row = named(ui, LABEL, "Limit", SMALL, |ui| {
        let limited = Some(bandwidth.unwrap_or(FIRST_LIMIT));
        let states = choices([
            (None, "off", "The bandwidth is unlimited."),
            (limited, "on", "A bottleneck, with a queue in front of it."),
        ]);
        segmented(ui, 56.0, bandwidth, &states);
        let Some(bandwidth) = bandwidth else { return };
        ui.spacing_mut().item_spacing.x = 6.0;
        let mut kbps = bandwidth.bits_per_second as f64 / 1000.0;
        let drag = DragValue::new(&mut kbps).range(16.0..=1_000_000.0).fixed_decimals(0);
        if field(ui, "Limit in kbps", LIMIT, drag, "kbps").changed() {
            bandwidth.bits_per_second = (kbps * 1000.0).round() as u64;
        }
        let drag = DragValue::new(&mut bandwidth.queue_bytes).range(1_500..=1_000_000);
        field(ui, "Queue in bytes", LIMIT, drag.speed(100.0), "bytes")
            .on_hover_text("The queue. Packets that do not fit into it are dropped.");
    });
    row.0.on_hover_text("Bandwidth of the link, and the queue in front of it.");
}

const FIRST_LIMIT: Bandwidth = Bandwidth { bits_per_second: 256_000, queue_bytes: 16_000 };

/// Sizes, logical points.
const LIMIT: f32 = 60.0;

/// Width of the labels of settings, logical points.
const LABEL: f32 = 104.0;

/// Height of the page below the switch of the tab at which all settings fit, logical points.
const ROOMY: f32 = 402.0 + 2.0 * 27.0;

fn playout(ui: &mut Ui, lane: &mut LaneView<'_>, seconds: u32) {
    let settings = &mut *lane.settings;
    ui.spacing_mut().item_spacing.y = 2.0;
    let kinds = Interpolation::ALL.map(|kind| {
        let [short, long] = pickers::about(kind);
        Choice::new(kind, kind.name(), format!("{short} {long}"))
    });
    switch(ui, LABEL, "Interpolation", &mut settings.playout.interpolation, &kinds);
    let row = named(ui, LABEL, "Playout delay", SMALL, |ui| delay(ui, settings, lane.meter));
    row.0.on_hover_text(terms::PLAYOUT_DELAY);
    named(ui, LABEL, "Snapshots/s", SMALL, |ui| {
        let rates = SEND_INTERVALS.map(|ticks| {
            Choice::new(ticks, (TICKS_PER_SECOND / ticks).to_string(), "Snapshots a second.")
        });
        segmented(ui, ui.available_width(), &mut settings.sender.send_interval_ticks, &rates);
    });
    // Always reserves this row, so that the layout does not jump.
    let look = Look::of(ui);
    let kind = settings.playout.interpolation;
    let lacks = format!("{} becomes linear: these stages send no velocities.", kind.name());
    let (words, color) = match settings.lacks_velocity() {
        true => (&*lacks, look.warning),
        false => (pickers::about(kind)[0], look.muted),
    };
    reserved(ui, words, color, Interpolation::ALL.map(|kind| pickers::about(kind)[0]));
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0 * MARGIN;
        stalls(ui, lane.meter, seconds);
        error(ui, lane);
    });
}

fn delay(ui: &mut Ui, settings: &mut LaneSettings, meter: &LaneMeter) {
    let now = meter.samples().back().map(|sample| sample.playout_delay);
    let now = now.unwrap_or_else(|| settings.playout.rule_delay(&settings.sender));
    let choice = &mut settings.playout.delay;
    let fixed = match *choice {
        PlayoutDelay::Fixed(fixed) => fixed,
        _ => now,
    };
    segmented(ui, ui.available_width() - FIELD - 8.0, choice, &pickers::delays(fixed));
    let mut ms = fixed.as_secs_f64() * 1000.0;
    let drag = DragValue::new(&mut ms).range(0.0..=MAX_DELAY_MS).speed(1.0);
    let number = field(ui, "Playout delay", FIELD, drag.fixed_decimals(0).suffix(" ms"), "");
    if number.changed() {
        *choice = PlayoutDelay::Fixed(Duration::from_secs_f64(ms / 1000.0));
    }
    number.on_hover_text("The delay now. Typing or dragging fixes it.");
}

fn stalls(ui: &mut Ui, meter: &LaneMeter, seconds: u32) {
    let look = Look::of(ui);
    let samples = meter.newest((seconds * TICKS_PER_SECOND) as usize);
    let (count, starved) = stalls_of(samples.map(Sample::is_starved));
    let time = starved as f64 / f64::from(TICKS_PER_SECOND);
    let color = if count == 0 { look.ink } else { look.warning };
    let noun = if count == 1 { "stall" } else { "stalls" };
    let words = format!("{} {noun}, {time:.2} s in {seconds} s", grouped(count as f64));
    line(ui, words, color).on_hover_ui(|ui| buffer(ui, meter, seconds));
}

/// Returns the number of runs of starved ticks, and the number of starved ticks.
fn stalls_of(starved: impl Iterator<Item = bool>) -> (usize, usize) {
    let (mut count, mut ticks, mut before) = (0, 0, false);
    for starved in starved {
        count += usize::from(starved && !before);
        ticks += usize::from(starved);
        before = starved;
    }
    (count, ticks)
}

fn buffer(ui: &mut Ui, meter: &LaneMeter, seconds: u32) {
    let look = Look::of(ui);
    let second = Totals::of(meter.newest(TICKS_PER_SECOND as usize));
    ui.label(terms::STALLS);
    let since_start = meter.totals();
    let stalls = grouped(since_start.stalls as f64);
    let time = since_start.starved_ticks as f64 / f64::from(TICKS_PER_SECOND);
    let late = format!("Late in the last second: {}.", second.late);
    ui.label(format!("{stalls} since the start, {time:.2} s in all. {late}"));
    ui.set_max_width(320.0);
    let (plot, _) = plot_area(ui, 60.0);
    let ticks = (seconds * TICKS_PER_SECOND) as usize;
    let samples: Vec<&Sample> = meter.newest(ticks).collect();
    let most = samples.iter().map(|sample| sample.buffered).max().unwrap_or(0).max(8) as f64;
    let chart = Chart::new(ui, plot, 0.0..=ticks as f64, 0.0..=most, Scale::Linear);
    chart.axis(ui);
    let first = ticks - samples.len();
    let mark = |x: f64, color: Color32| {
        chart.painter.vline(chart.x_of(x), plot.bottom()..=plot.bottom() - 6.0, (2.0, color));
    };
    for (index, sample) in samples.iter().enumerate() {
        let x = (first + index) as f64;
        chart.bar(x..=x + 1.0, sample.buffered as f64, look.quiet);
        if sample.is_starved() {
            mark(x, look.error);
        } else if sample.late > 0 {
            mark(x, look.warning);
        }
    }
    chart.ago(ui, seconds);
    ui.label(terms::JITTER_BUFFER);
    ui.label("Red: the buffer ran empty. Yellow: a snapshot was late.");
}

fn error(ui: &mut Ui, lane: &LaneView<'_>) {
    let look = Look::of(ui);
    let newest = lane.meter.samples().back();
    let second = lane.meter.second(None);
    let mean = second.and_then(|it| Some((it.mean_error_m()?, it.mean_error_degrees()?)));
    let words = match (newest.map(|newest| newest.replica_error), mean) {
        (Some(now), Some((metres, degrees))) => {
            let mm = rounded(1000.0 * metres);
            line(ui, format!("off by {mm} mm, {degrees:.2}°"), look.ink).on_hover_text(format!(
                "Displayed state against the simulation at the same tick. Mean of the red cubes over a second: {mm} mm, \
                 {degrees:.2}°. The worst cube now: {} mm, {:.2}°.",
                rounded(1000.0 * f64::from(now.max_m)),
                now.max_degrees
            ));
            return;
        }
        (Some(now), None) if now.tick.is_some() => "off by … mm",
        _ => "error not measured",
    };
    line(ui, words, look.muted).on_hover_text(
        "Distance of the red cubes from the simulation, over one second with the same settings. Only measured in \
         the program that runs the simulation.",
    );
}

/// Upper end of the field, milliseconds. The jitter buffer holds up to four seconds.
const MAX_DELAY_MS: f64 = 1000.0;

/// Sizes and distances, logical points.
const FIELD: f32 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_stall_is_counted_once() {
        assert_eq!(stalls_of([true, true, false, true, false, false, true].into_iter()), (3, 4));
    }
}
