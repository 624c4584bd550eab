//! A waterfall: what each rung saves over the one before.

use bevy_egui::egui::{Rangef, Stroke, Ui};
use cubewire_codec::Stages;
use cubewire_codec::ladder::{LADDER, Rung};

use super::bars::{self, Bars, SHOWN_AS_ZERO, signed, step};
use super::ladder::kbps_until;
use crate::controls::RUNG_KEYS;
use crate::panel::style::{LINE, Look};
use crate::panel::terms;
use crate::panel::widgets::{Row, line, warning};
use crate::replication::{Accounting, ShadowLadder, TARGET_KBPS};
use crate::words::{factor, rounded};

/// Draws the steps up to that tick, or to the newest. A click on a rung selects it; `shown` is that of the views.
pub(in crate::panel) fn draw(
    ui: &mut Ui,
    stages: &mut Stages,
    shown: Stages,
    shadow: &ShadowLadder,
    moment: Option<u64>,
) {
    let look = Look::of(ui);
    let kbps = |rung: Rung| (rung, kbps_until(shadow, &rung, moment));
    let falls = Fall::all(LADDER.into_iter().map(kbps));
    let bars = Bars::of(ui, 58.0, 62.0);
    ui.spacing_mut().item_spacing.y = 0.0;
    let height = bars::height(ui, LADDER.len(), GAP + 3.0 * LINE);
    bars.header(ui, ["rung", "saves", "step"], &about());
    let top = ui.cursor().top();
    for (fall, key) in falls.iter().zip(RUNG_KEYS) {
        let is_shown = fall.rung.stages == shown;
        let row = Row::button(ui, height, fall.rung.name, is_shown);
        if row.response.clicked() {
            *stages = fall.rung.stages;
        }
        bars::name(ui, &row, key, fall.rung.name);
        fall.paint(ui, &row, bars, look);
        row.response.on_hover_text(fall.rung.summary);
    }
    if !falls.is_empty() {
        bars.target(ui, Rangef::new(top, ui.cursor().top()));
    }
    ui.add_space(GAP);
    line(ui, sum(&falls), look.ink);
    if let Some((sentence, why)) = dearer(&falls) {
        warning(ui, sentence).on_hover_text(why);
    }
}

/// What a rung costs, and the one before it, kbps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fall {
    rung: Rung,
    /// None for the first rung.
    from: Option<f64>,
    to: f64,
}

impl Fall {
    /// One for each rung, up to the first whose cost is not known.
    fn all(costs: impl IntoIterator<Item = (Rung, Option<f64>)>) -> Vec<Self> {
        let mut from = None;
        let known = costs
            .into_iter()
            .map_while(|(rung, kbps)| Some((rung, kbps?)));
        known
            .map(|(rung, to)| Self {
                rung,
                from: from.replace(to),
                to,
            })
            .collect()
    }

    /// What it saves, negative if it costs more; none for the first rung.
    fn saved(self) -> Option<f64> {
        Some(self.from? - self.to)
    }

    /// Whether it does, by what is shown.
    fn costs_more(self) -> bool {
        self.saved().is_some_and(|saved| saved <= -SHOWN_AS_ZERO)
    }

    fn paint(self, ui: &Ui, row: &Row, bars: Bars, look: Look) {
        let (bar, figure, less) = match (self.from, self.costs_more()) {
            (None, _) => (look.quiet, look.ink, look.muted),
            (_, true) => (look.warning, look.warning, look.warning),
            (_, false) => (look.half, look.ink, look.muted),
        };
        let ends = [self.from.unwrap_or(0.0), self.to];
        bars.bar(ui, row, self.rung.name, ends, bar, Stroke::NONE);
        let (words, factor) = match self.from {
            None => (rounded(self.to), String::new()),
            Some(from) => (signed(self.to - from), step(from / self.to)),
        };
        bars.figures(ui, row, [(words, figure), (factor, less)]);
    }
}

/// What all steps come to.
fn sum(falls: &[Fall]) -> String {
    let (Some(first), Some(last)) = (falls.first(), falls.last()) else {
        return "Measuring …".to_owned();
    };
    format!(
        "From {} to {} kbps: {} less.",
        rounded(first.to),
        rounded(last.to),
        factor(first.to / last.to)
    )
}

/// Which rungs cost more than the one before, and why that can be.
fn dearer(falls: &[Fall]) -> Option<(String, String)> {
    let dearer: Vec<_> = falls.iter().filter(|fall| fall.costs_more()).collect();
    let first = dearer.first()?;
    let names: Vec<_> = dearer.iter().map(|fall| fall.rung.name).collect();
    let sentence = match (names.split_last()?, first.saved()) {
        ((name, []), Some(saved)) => format!(
            "{name} costs {} kbps more than the rung before it, now.",
            rounded(-saved)
        ),
        ((last, others), _) => format!(
            "Now {} and {last} cost more than the rungs before them.",
            others.join(", ")
        ),
    };
    let why = format!(
        "A stage has a price, such as a flag for each cube. It pays off if enough cubes profit: {} does not, for these \
         snapshots.",
        first.rung.name
    );
    Some((sentence, why))
}

fn about() -> String {
    format!(
        "What each rung saves over the rung before it, and how many times less it costs: mean of a second, for the same \
         snapshots. {} A bar reaches from the one cost to the other on a logarithmic scale; the line through them is \
         the target of the article, {TARGET_KBPS:.0} kbps.",
        terms::accounting(Accounting::PayloadAndUdp)
    )
}

/// Logical points above the sum.
const GAP: f32 = 6.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn falls(costs: [f64; 5]) -> Vec<Fall> {
        Fall::all(LADDER.into_iter().zip(costs.map(Some)))
    }

    const COSTS: [f64; 5] = [17_368.8, 12_000.0, 8_600.0, 8_701.0, 56.1];

    #[test]
    fn each_step_starts_where_the_last_one_ended_and_they_add_up() {
        let falls = falls(COSTS);
        assert_eq!(falls[0].from, None);
        for pair in falls.windows(2) {
            assert_eq!(pair[1].from, Some(pair[0].to));
        }
        let saved: f64 = falls.iter().filter_map(|fall| fall.saved()).sum();
        assert!((saved - (17_368.8 - 56.1)).abs() < 1e-6);
        let sum = sum(&falls).replace('\u{2009}', " ");
        assert_eq!(sum, "From 17 369 to 56.1 kbps: 310× less.");
    }

    #[test]
    fn what_costs_more_than_the_rung_before_is_told() {
        let said = |costs| dearer(&falls(costs)).map(|(sentence, _)| sentence);
        assert_eq!(
            said(COSTS).unwrap(),
            "at-rest costs 101 kbps more than the rung before it, now."
        );
        assert_eq!(
            said([3.0, 4.0, 2.0, 5.0, 6.0]).unwrap(),
            "Now smallest-three, at-rest and no-velocity cost more than the rungs before them."
        );
        assert_eq!(said([9.0, 8.0, 7.0, 7.04, 5.0]), None, "shown as 7.0");
    }

    #[test]
    fn without_figures_there_are_no_steps() {
        let known = Fall::all([
            (LADDER[0], Some(9.0)),
            (LADDER[1], None),
            (LADDER[2], Some(1.0)),
        ]);
        assert_eq!(known.len(), 1);
        assert_eq!(sum(&[]), "Measuring …");
    }
}
