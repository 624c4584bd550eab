//! The page *Playing*: the end to which the keys go, prediction, and the time from a key to its effect.

use super::peers::{self, Peers};
use crate::panel::prelude::*;
use crate::replication::{PlayAt, Predict};

/// Draws the page. Its graph covers the last `seconds`.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>, seconds: u32) {
    let look = Look::of(ui);
    ui.spacing_mut().item_spacing.y = 2.0;
    let playout = &mut lane.settings.playout;
    if let Peers::Server { connection, .. } = &lane.peers {
        let roles = [
            (PlayAt::Simulation, "watch", "The server's players move the cubes."),
            (PlayAt::Client, "play", "Your keys travel to the server, if it has a seat for you."),
        ];
        let roles = roles.map(|(end, name, about)| Choice::new(end, name, about));
        switch(ui, LABEL, "You", &mut playout.play_at, &roles);
        if connection.knows_player {
            note(ui, peers::role(connection, playout));
        }
    } else {
        let ends = [
            (
                PlayAt::Simulation,
                "The keys move the simulated cube at once, and the replica follows.",
            ),
            (
                PlayAt::Client,
                "The keys travel from the replica's end to the simulation, as in a networked game.",
            ),
        ];
        let ends = ends.map(|(end, about)| Choice::new(end, end.name(), about));
        switch(ui, LABEL, "Keys go to", &mut playout.play_at, &ends);
    }
    let cubes = [
        (Predict::None, "Every cube is shown as its snapshots say."),
        (
            Predict::Own,
            "The player's cube and those near it are simulated ahead of the snapshots, with the keys that these do \
             not contain yet.",
        ),
        (
            Predict::World,
            "On the rung simulated, the whole scene is simulated ahead, and again only after other keys than assumed. \
             Elsewhere as own.",
        ),
    ];
    let cubes = cubes.map(|(cubes, about)| Choice::new(cubes, cubes.name(), about));
    switch(ui, LABEL, "Predict", &mut playout.predict, &cubes);
    let is_useless = playout.play_at == PlayAt::Simulation && playout.predict != Predict::None;
    let words = if is_useless { USELESS } else { "" };
    line(ui, words, look.warning);
    divider(ui);
    delays(ui, lane.meter, seconds);
    let queue = back(lane.meter, 1).find_map(|sample| sample.queued_inputs);
    let queue = queue.map_or_else(|| "–".to_owned(), |queue| queue.to_string());
    row(ui, "Waiting at the simulation", format!("{queue} keys"));
    divider(ui);
    let corrections = Corrections::of(back(lane.meter, seconds));
    row(ui, "Corrections of the own cube", format!("{} a second", rounded(corrections.per_second)));
    let sizes = format!(
        "mean {} cm, 99 % up to {} cm",
        rounded(corrections.mean_cm),
        rounded(corrections.most_cm)
    );
    row(ui, "Their size", sizes);
    let again = format!("{} ticks a second", rounded(corrections.ticks_per_second));
    row(ui, "Simulated again", again);
    row(ui, "Time to predict a tick", format!("{:.2} ms", corrections.mean_ms));
}

/// The samples of the last seconds, newest first.
fn back(meter: &LaneMeter, seconds: u32) -> impl Iterator<Item = &Sample> + Clone {
    meter.samples().iter().rev().take((seconds * TICKS_PER_SECOND) as usize)
}

fn row(ui: &mut Ui, name: &str, figure: String) {
    let look = Look::of(ui);
    let row = Row::show(ui, ROW, &format!("{name}: {figure}"));
    row.text(ui, At::Left(0.0), name, SMALL, look.muted);
    row.text(ui, At::Right(0.0), figure, SMALL, look.ink);
}

/// Draws the time from a key to its effect in the replica.
fn delays(ui: &mut Ui, meter: &LaneMeter, seconds: u32) {
    let look = Look::of(ui);
    let ms = |sample: &Sample| sample.input_age.map(|age| 1000.0 * age.as_secs_f64());
    let newest = back(meter, 1).filter_map(ms).collect::<Vec<_>>();
    let now = match newest.len() {
        0 => "no keys".to_owned(),
        count => format!("{} ms", rounded(newest.iter().sum::<f64>() / count as f64)),
    };
    heading(ui, "From a key to its effect in the replica", now).on_hover_text(
        "Without prediction: the way of the key, its wait at the simulation, the way of the snapshot, and the playout \
         delay.",
    );
    let (plot, _) = plot_area(ui, 60.0);
    let points = back(meter, seconds).enumerate();
    let points = points.filter_map(|(ticks, sample)| {
        Some((-(ticks as f64) / f64::from(TICKS_PER_SECOND), ms(sample)?))
    });
    let points: Vec<_> = points.collect();
    let most = points.iter().map(|(_, ms)| *ms).fold(100.0, f64::max);
    let chart = Chart::new(ui, plot, -f64::from(seconds)..=0.0, 0.0..=most, Scale::Linear);
    chart.levels(ui, [0.0, most].map(|ms| (ms, grouped(ms))));
    chart.ago(ui, seconds);
    chart.line(points, 1.5, look.half);
}

/// The corrections of some ticks.
#[derive(Debug, Default, PartialEq)]
struct Corrections {
    per_second: f64,
    mean_cm: f64,
    /// 99th percentile.
    most_cm: f64,
    ticks_per_second: f64,
    mean_ms: f64,
}

impl Corrections {
    fn of<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Self {
        let seconds = samples.clone().count().max(1) as f64 / f64::from(TICKS_PER_SECOND);
        let metres = samples.clone().filter_map(|sample| sample.correction_m);
        let mut cm: Vec<_> = metres.map(|metres| 100.0 * f64::from(metres)).collect();
        cm.sort_by(f64::total_cmp);
        let ticks: u32 = samples.clone().map(|sample| sample.corrected_ticks).sum();
        let time: Duration = samples.map(|sample| sample.predicting).sum();
        Self {
            per_second: cm.len() as f64 / seconds,
            // The sum of nothing is -0.
            mean_cm: cm.iter().fold(0.0, |sum, cm| sum + cm) / cm.len().max(1) as f64,
            most_cm: cm.get((cm.len() * 99).div_ceil(100).max(1) - 1).copied().unwrap_or_default(),
            ticks_per_second: f64::from(ticks) / seconds,
            mean_ms: 1000.0 * time.as_secs_f64() / (seconds * f64::from(TICKS_PER_SECOND)),
        }
    }
}

const USELESS: &str = "There is nothing to predict while the keys go to the simulation.";

/// Width of the labels of settings, logical points.
const LABEL: f32 = 104.0;

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
        let corrections = Corrections::of(samples.iter());
        assert_eq!((corrections.per_second, corrections.ticks_per_second), (30.0, 360.0));
        assert!(
            (corrections.mean_cm - 5.9).abs() < 1e-4 && (corrections.mean_ms - 2.0).abs() < 1e-9
        );
        assert!((corrections.most_cm - 11.8).abs() < 1e-4);
        assert_eq!(Corrections::of([].iter()), Corrections::default());
    }
}
