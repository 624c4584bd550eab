//! What a player at a client feels: the time from an input to its effect, and the corrections of the predicted body.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_protocol::record::Sample;

use crate::prelude::*;

/// The samples of a connection at whose client somebody plays.
#[derive(Clone, Copy, Debug)]
pub struct Playing<'a> {
    /// Oldest first.
    pub samples: &'a VecDeque<Sample>,
    /// Samples a second.
    pub ticks_per_second: u32,
    /// Time span of graph and figures.
    pub seconds: u32,
    /// Unit of lengths, and its number per metre or unit of the scene.
    pub unit: (&'static str, f64),
    /// What the player controls.
    pub own: &'static str,
}

impl<'a> Playing<'a> {
    /// The samples of the last seconds, newest first.
    fn back(&self, seconds: u32) -> impl Iterator<Item = &'a Sample> + Clone {
        self.samples.iter().rev().take((seconds * self.ticks_per_second) as usize)
    }

    /// Draws the graph, then `between`, and the figures.
    pub fn draw(&self, ui: &mut Ui, between: impl FnOnce(&mut Ui)) {
        self.delays(ui);
        between(ui);
        let (unit, per_metre) = self.unit;
        let corrections =
            Corrections::of(self.back(self.seconds), self.ticks_per_second, per_metre);
        let count = format!("{} a second", rounded(corrections.per_second));
        row(ui, &format!("Corrections of the {}", self.own), count);
        let [mean, most] = [corrections.mean, corrections.most].map(rounded);
        row(ui, "Their size", format!("mean {mean} {unit}, 99 % up to {most} {unit}"));
        let again = format!("{} ticks a second", rounded(corrections.ticks_per_second));
        row(ui, "Simulated again", again);
        row(ui, "Time to predict a tick", format!("{:.2} ms", corrections.mean_ms));
    }

    fn delays(&self, ui: &mut Ui) {
        let look = Look::of(ui);
        let ms = |sample: &Sample| sample.input_age.map(|age| 1000.0 * age.as_secs_f64());
        let newest = self.back(1).filter_map(ms).collect::<Vec<_>>();
        let now = match newest.len() {
            0 => "no inputs".to_owned(),
            count => format!("{} ms", rounded(newest.iter().sum::<f64>() / count as f64)),
        };
        heading(ui, "From an input to its effect here", now).on_hover_text(
            "Without prediction: the way of the input, its wait at the simulation, the way of the snapshot, and the playout \
             delay.",
        );
        let (plot, _) = plot_area(ui, 60.0);
        let rate = f64::from(self.ticks_per_second);
        let points = self.back(self.seconds).enumerate();
        let points = points.filter_map(|(ticks, it)| Some((-(ticks as f64) / rate, ms(it)?)));
        let points: Vec<_> = points.collect();
        let most = points.iter().map(|(_, ms)| *ms).fold(100.0, f64::max);
        let span = -f64::from(self.seconds)..=0.0;
        let chart = Chart::new(ui, plot, span, 0.0..=most, Scale::Linear);
        chart.levels(ui, [0.0, most].map(|ms| (ms, grouped(ms))));
        chart.ago(ui, self.seconds);
        chart.line(points, 1.5, look.half);
    }
}

/// Draws a figure in a row.
pub fn row(ui: &mut Ui, name: &str, figure: String) {
    let look = Look::of(ui);
    let row = Row::show(ui, ROW, &format!("{name}: {figure}"));
    row.text(ui, At::Left(0.0), name, SMALL, look.muted);
    row.text(ui, At::Right(0.0), figure, SMALL, look.ink);
}

/// The corrections of some ticks.
#[derive(Debug, Default, PartialEq)]
struct Corrections {
    per_second: f64,
    mean: f64,
    /// 99th percentile.
    most: f64,
    ticks_per_second: f64,
    mean_ms: f64,
}

impl Corrections {
    fn of<'a>(
        samples: impl Iterator<Item = &'a Sample> + Clone,
        rate: u32,
        per_metre: f64,
    ) -> Self {
        let seconds = samples.clone().count().max(1) as f64 / f64::from(rate);
        let metres = samples.clone().filter_map(|sample| sample.correction_m);
        let mut sizes: Vec<_> = metres.map(|metres| per_metre * f64::from(metres)).collect();
        sizes.sort_by(f64::total_cmp);
        let ticks: u32 = samples.clone().map(|sample| sample.corrected_ticks).sum();
        let time: Duration = samples.map(|sample| sample.predicting).sum();
        let most = (sizes.len() * 99).div_ceil(100).max(1) - 1;
        Self {
            per_second: sizes.len() as f64 / seconds,
            // The sum of nothing is -0.
            mean: sizes.iter().fold(0.0, |sum, size| sum + size) / sizes.len().max(1) as f64,
            most: sizes.get(most).copied().unwrap_or_default(),
            ticks_per_second: f64::from(ticks) / seconds,
            mean_ms: 1000.0 * time.as_secs_f64() / (seconds * f64::from(rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_are_of_the_ticks_that_had_one() {
        let samples: Vec<_> = (0..120)
            .map(|tick| Sample {
                correction_m: (tick % 2 == 0).then_some(tick as f32 / 1000.0),
                corrected_ticks: if tick % 2 == 0 { 12 } else { 0 },
                predicting: Duration::from_millis(2),
                ..Sample::default()
            })
            .collect();
        let corrections = Corrections::of(samples.iter(), 60, 100.0);
        assert_eq!((corrections.per_second, corrections.ticks_per_second), (30.0, 360.0));
        assert!((corrections.mean - 5.9).abs() < 1e-4 && (corrections.mean_ms - 2.0).abs() < 1e-9);
        assert!((corrections.most - 11.8).abs() < 1e-4);
        assert_eq!(Corrections::of([].iter(), 60, 100.0), Corrections::default());
    }
}
