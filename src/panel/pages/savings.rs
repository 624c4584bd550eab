//! A waterfall: what each rung saves over the one before.

use bevy_egui::egui::{Rangef, Ui};
use cubewire_codec::ladder::{LADDER, Rung};
use cubewire_inspector::words::{factor, rounded};

use super::bars::{self, SHOWN_AS_ZERO, signed, step};
use crate::controls::RUNG_KEYS;
use crate::panel::lane::LaneView;
use crate::panel::style::{LINE, Look};
use crate::panel::terms;
use crate::panel::widgets::{line, wrapped};
use crate::replication::{Accounting, TARGET_KBPS};

/// Draws the steps of the second that the views show. A click on a rung selects it.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let look = Look::of(ui);
    let costs = lane.rung_costs();
    let falls = LADDER.into_iter();
    let falls = Fall::all(falls.map(|rung| (rung, costs.encoded_kbps(&rung))));
    let (shown, arrives) = (lane.stages_shown(), lane.arrives());
    let height = bars::height(ui, LADDER.len(), GAP + 3.0 * LINE);
    bars::header(
        ui,
        bars::NAME,
        ("rung", look.muted),
        ["change", "step"],
        about(),
    );
    let top = ui.cursor().top();
    for (fall, key) in falls.iter().zip(RUNG_KEYS) {
        let (rung, stages) = (&fall.rung, &mut lane.settings.sender.stages);
        let row = bars::rung(ui, height, (rung, key), shown, stages);
        let (bar, figure, less) = match (fall.from, fall.costs_more()) {
            (None, _) => (look.quiet, look.ink, look.muted),
            (_, true) => (look.warning, look.warning, look.warning),
            (_, false) => (look.half, look.ink, look.muted),
        };
        let (words, times) = match fall.from {
            None => (rounded(fall.to), String::new()),
            Some(from) if arrives => (signed(fall.to - from), step(from / fall.to)),
            Some(from) => (signed(fall.to - from), "–".to_owned()),
        };
        let ends = [fall.from.unwrap_or(0.0), fall.to];
        let figures = [(words, figure), (times, less)];
        bars::bar(ui, &row, rung.name, ends, bar, figures);
        row.response.on_hover_text(rung.summary);
    }
    if !falls.is_empty() {
        bars::target(ui, Rangef::new(top, ui.cursor().top()));
    }
    ui.add_space(GAP);
    line(ui, sum(&falls, arrives), look.ink);
    if let Some(sentence) = dearer(&falls) {
        wrapped(ui, sentence, look.warning).on_hover_text(DEARER);
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

    /// Whether it costs more than the rung before, by what is shown.
    fn costs_more(self) -> bool {
        let from = self.from.unwrap_or(self.to);
        self.to - from >= SHOWN_AS_ZERO
    }
}

/// What all steps come to.
fn sum(falls: &[Fall], arrives: bool) -> String {
    let (Some(first), Some(last)) = (falls.first(), falls.last()) else {
        return "Measuring …".to_owned();
    };
    let ends = format!("From {} to {} kbps", rounded(first.to), rounded(last.to));
    match arrives {
        true => format!("{ends}: {} less.", factor(first.to / last.to)),
        false => format!("{ends}, while nothing arrives."),
    }
}

/// Which rungs cost more than the one before.
fn dearer(falls: &[Fall]) -> Option<String> {
    let dearer = falls.iter().filter(|fall| fall.costs_more());
    let names: Vec<_> = dearer.map(|fall| fall.rung.name).collect();
    let more = match names.len() {
        0 => return None,
        1 => "costs more than the rung before it",
        _ => "cost more than the rungs before them",
    };
    Some(format!("{} {more}, now.", names.join(", ")))
}

const DEARER: &str = "A stage has a price, such as a flag for each cube. It pays off if enough cubes profit, which for these \
     snapshots they do not.";

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
        let sum = sum(&falls, true);
        assert_eq!(sum, "From 17\u{2009}369 to 56.1 kbps: 310× less.");
    }

    #[test]
    fn what_costs_more_than_the_rung_before_is_told() {
        for (costs, said) in [
            (COSTS, "at-rest costs more than the rung before it, now."),
            (
                [3.0, 4.0, 2.0, 5.0, 4.0],
                "smallest-three, at-rest cost more than the rungs before them, now.",
            ),
        ] {
            assert_eq!(dearer(&falls(costs)).unwrap(), said);
        }
        let shown_alike = [9.0, 8.0, 7.0, 7.04, 5.0];
        assert_eq!(dearer(&falls(shown_alike)), None);
    }

    #[test]
    fn without_figures_there_are_no_steps() {
        let known = Fall::all([
            (LADDER[0], Some(9.0)),
            (LADDER[1], None),
            (LADDER[2], Some(1.0)),
        ]);
        assert_eq!(known.len(), 1);
        assert_eq!(sum(&[], true), "Measuring …");
    }
}
