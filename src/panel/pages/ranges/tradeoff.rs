//! Measured bandwidth and replica error of each combination of stages that was used, and their plot.

use bevy::prelude::{ResMut, Resource, Single, With};

use crate::panel::prelude::*;
use crate::replication::{rung_or_stages, usual};
use crate::view::Selected;

/// Draws the plot. `second` has the totals that are the source of the lane's other figures.
pub(super) fn draw(ui: &mut Ui, stages: Stages, second: Option<&Totals>, tradeoffs: &Tradeoffs) {
    let look = Look::of(ui);
    let tried = &tradeoffs.0;
    let now = second.and_then(|second| {
        Some(Tradeoff {
            stages,
            kbps: second.kbps(Accounting::PayloadAndUdp),
            mm: 1000.0 * second.mean_error_m()?,
            degrees: second.mean_error_degrees()?,
        })
    });
    let figures = now.map(|now| format!("now {} kbps, {:.2} mm", rounded(now.kbps), now.mm));
    let figures = figures.unwrap_or_else(|| "now …".to_owned());
    heading(ui, "Cost and error", figures).on_hover_text(ABOUT);
    let (plot, response) = plot_area(ui, 72.0);
    let chart = chart(ui, plot, tried);
    axes(ui, &chart);
    let at = |tried: &Tradeoff| (tried.kbps.log10(), micrometres(tried));
    let place = |tried: &Tradeoff| chart.at(at(tried).0, at(tried).1);
    // Joins the points of stages that differ from the present ones only in their parameters.
    let (mut akin, others): (Vec<&Tradeoff>, Vec<&Tradeoff>) =
        tried.iter().partition(|tried| usual(*tried.stages) == usual(*stages));
    akin.sort_by(|a, b| a.kbps.total_cmp(&b.kbps));
    chart.line(akin.iter().map(|tried| at(tried)), 1.0, look.half);
    // The error is 0 at rest and has no place on a logarithmic scale.
    let now: Vec<_> = now.as_ref().filter(|now| now.mm > 0.0).into_iter().collect();
    for (points, radius, color) in
        [(others, 3.0, look.quiet), (akin, 3.0, look.half), (now, 5.0, look.ink)]
    {
        for tried in points {
            chart.painter.circle_filled(place(tried), radius, color);
        }
    }
    let near = response.hover_pos().and_then(|pointer| {
        let distance = |tried: &&Tradeoff| place(tried).distance(pointer);
        let nearest = tried.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.filter(|tried| distance(tried) < 12.0)
    });
    response.on_hover_text_at_pointer(near.map_or_else(|| ABOUT.to_owned(), about));
}

/// Returns an empty plot: log10 of kbps on the x axis, micrometres on the y axis.
fn chart(ui: &Ui, plot: Rect, tried: &[Tradeoff]) -> Chart {
    let ends = |usual: &[f64], of: fn(&Tradeoff) -> f64| {
        let values = tried.iter().map(of).chain(usual.iter().copied());
        let least = values.clone().fold(f64::INFINITY, f64::min);
        Scale::Logarithmic.ends(least, values.fold(0.0, f64::max))
    };
    let kbps = ends(&[TARGET_KBPS], |tried| tried.kbps);
    let x = kbps.start().log10()..=kbps.end().log10();
    Chart::new(ui, plot, x, ends(&[800.0, 1_200.0], micrometres), Scale::Logarithmic)
}

fn axes(ui: &Ui, chart: &Chart) {
    let look = Look::of(ui);
    let marks = chart.scale.marks(&chart.y);
    let every = marks.len().div_ceil(3);
    // From 100 mm on, labels in millimetres are too wide.
    let (unit, micrometres) = match marks.last() {
        Some(100_000.0..) => ("m", 1e6),
        _ => ("mm", 1e3),
    };
    let marks: Vec<f64> = marks.into_iter().step_by(every).collect();
    let label = |&mark: &f64| {
        let unit = if marks.last() == Some(&mark) { unit } else { "" };
        (mark, format!("{} {unit}", mark / micrometres).trim_end().to_owned())
    };
    chart.levels(ui, marks.iter().map(label));
    let (first, last) = (chart.x.start().round() as i32, chart.x.end().round() as i32);
    let stroke = Stroke::new(1.0, look.line);
    for decade in first..=last {
        let x = f64::from(decade);
        let kbps = short(10_f64.powi(decade));
        chart.upright(x, stroke);
        let (at, kbps) = match decade {
            _ if decade == first => ((Align::Min, x), kbps),
            _ if decade == last => ((Align::Max, x), format!("{kbps} kbps")),
            _ => ((Align::Center, x), kbps),
        };
        chart.label(ui, false, at, &kbps, look.muted);
    }
    let target = TARGET_KBPS.log10();
    let ends = [chart.y.start(), chart.y.end()].map(|y| chart.at(target, *y));
    line_between(&chart.painter, ends, Stroke::new(1.0, look.ink), Some(5.0));
    chart.label(ui, false, (Align::Center, target), &grouped(TARGET_KBPS), look.ink);
}

fn micrometres(tried: &Tradeoff) -> f64 {
    1_000.0 * tried.mm
}

fn about(&Tradeoff { stages, kbps, mm, degrees }: &Tradeoff) -> String {
    let (stages, kbps) = (rung_or_stages(stages), rounded(kbps));
    format!("{stages}: {kbps} kbps, {mm:.2} mm, {degrees:.2}°")
}

const ABOUT: &str = "A point for each combination of stages that was used for 1.5 seconds while cubes moved. \
    Horizontal: kbps; vertical: the replica's mean error; both logarithmic. The large point is the last second. \
    Move a slider or change the rung to add points. Hover over a point for its stages.";

const MAX_TRIED: usize = 200;

/// Ticks with the same stages before a measurement counts: a round trip, and a second of packets.
const SETTLING_TICKS: usize = 90;

/// Reciprocal weight of a new value in the exponential moving averages.
const AVERAGED: f64 = 60.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tradeoff {
    pub(crate) stages: Stages,
    /// Bandwidth in article accounting, kbps.
    pub(crate) kbps: f64,
    /// Mean distance of the interacting cubes from the simulation, millimetres.
    pub(crate) mm: f64,
    /// Mean angle between replica and simulation, degrees.
    pub(crate) degrees: f64,
}

/// Every combination of stages that was used since the start, the most recent last.
#[derive(Resource, Clone, Debug, Default)]
pub(crate) struct Tradeoffs(pub(crate) Vec<Tradeoff>);

impl Tradeoffs {
    /// Averages the new values into the entry of the same stages and moves it to the end. Drops the oldest entry if full.
    fn add(&mut self, new: Tradeoff) {
        let known = self.0.iter().position(|tried| tried.stages == new.stages);
        let mut tried = known.map_or(new, |index| self.0.remove(index));
        let mean = |old: f64, new: f64| old + (new - old) / AVERAGED;
        tried.kbps = mean(tried.kbps, new.kbps);
        tried.mm = mean(tried.mm, new.mm);
        tried.degrees = mean(tried.degrees, new.degrees);
        if self.0.len() == MAX_TRIED {
            self.0.remove(0);
        }
        self.0.push(tried);
    }
}

/// Records the selected lane's bandwidth and error while its stages are unchanged and the error is not 0.
pub(crate) fn record(meter: Single<&LaneMeter, With<Selected>>, mut tradeoffs: ResMut<Tradeoffs>) {
    let mut samples = meter.newest(SETTLING_TICKS);
    let Some(newest) = meter.samples().back() else { return };
    let (stages, replica_error) = (newest.stages, newest.replica_error);
    let has_settled =
        samples.len() == SETTLING_TICKS && samples.all(|sample| sample.stages == stages);
    if has_settled && replica_error.tick.is_some() && replica_error.mean_m > 0.0 {
        tradeoffs.add(Tradeoff {
            stages,
            kbps: meter.kbps(Accounting::PayloadAndUdp),
            mm: f64::from(replica_error.mean_m) * 1000.0,
            degrees: f64::from(replica_error.mean_degrees),
        });
    }
}

const _: () = assert!(SETTLING_TICKS > TICKS_PER_SECOND as usize);

#[cfg(test)]
mod tests {

    use super::*;

    fn tried(stages: Stages, kbps: f64) -> Tradeoff {
        Tradeoff { stages, kbps, mm: 1.0, degrees: 0.1 }
    }

    #[test]
    fn each_combination_has_one_averaged_point() {
        let mut tradeoffs = Tradeoffs::default();
        for rung in LADDER {
            tradeoffs.add(tried(rung.stages, 100.0));
        }
        for _ in 0..600 {
            tradeoffs.add(tried(LADDER[3].stages, 200.0));
        }
        assert_eq!(tradeoffs.0.len(), LADDER.len());
        let newest = tradeoffs.0.last().unwrap();
        assert_eq!(newest.stages, LADDER[3].stages);
        assert!((newest.kbps - 200.0).abs() < 1.0);
        let bits: Vec<u8> = (2..=15).collect();
        for stages in Stages::every_legal(&bits).take(500) {
            tradeoffs.add(tried(stages, 100.0));
        }
        assert_eq!(tradeoffs.0.len(), MAX_TRIED);
    }
}
