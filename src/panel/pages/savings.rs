//! A waterfall: what each rung saves over the one before.

use bevy_egui::egui::{Rangef, Ui};
use cubewire_codec::ladder::LADDER;
use cubewire_inspector::words::{factor, rounded};

use super::bars::{self, SHOWN_AS_ZERO, signed, step};
use crate::controls::RUNG_KEYS;
use crate::panel::lane::LaneView;
use crate::panel::style::{LINE, Look};
use crate::panel::terms;
use crate::panel::widgets::{line, wrapped};
use crate::replication::{Accounting, TARGET_KBPS};

/// Draws the steps of the second that the views show, up to the first rung whose cost is not known. A click on a rung selects it.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let look = Look::of(ui);
    let costs = lane.rung_costs();
    let known = LADDER.iter().map_while(|rung| costs.encoded_kbps(rung));
    let costs: Vec<f64> = known.collect();
    let (shown, arrives) = (lane.stages_shown(), lane.arrives());
    let height = bars::height(ui, LADDER.len(), GAP + 3.0 * LINE);
    bars::header(ui, None, ["change", "step"], about());
    let top = ui.cursor().top();
    let rungs = LADDER.iter().zip(RUNG_KEYS);
    for (index, (rung, &kbps)) in rungs.zip(&costs).enumerate() {
        let stages = &mut lane.settings.sender.stages;
        let row = bars::rung(ui, height, rung, shown, stages);
        let before = index.checked_sub(1).map(|before| costs[before]);
        let (bar, figure, less) = match before {
            None => (look.quiet, look.ink, look.muted),
            Some(before) if costs_more(before, kbps) => (look.warning, look.warning, look.warning),
            Some(_) => (look.half, look.ink, look.muted),
        };
        let (words, times) = match before {
            None => (rounded(kbps), String::new()),
            Some(before) if arrives => (signed(kbps - before), step(before / kbps)),
            Some(before) => (signed(kbps - before), "–".to_owned()),
        };
        let ends = [before.unwrap_or(0.0), kbps];
        let figures = [(words, figure), (times, less)];
        bars::bar(ui, &row, rung.0.name, ends, bar, figures);
        row.response.on_hover_text(rung.0.summary);
    }
    if !costs.is_empty() {
        bars::target(ui, Rangef::new(top, ui.cursor().top()));
    }
    ui.add_space(GAP);
    line(ui, sum(&costs, arrives), look.ink);
    if let Some(sentence) = dearer(&costs) {
        wrapped(ui, sentence, look.warning).on_hover_text(DEARER);
    }
}

/// Whether a rung costs more than the one before, by what is shown, kbps.
fn costs_more(before: f64, kbps: f64) -> bool {
    kbps - before >= SHOWN_AS_ZERO
}

/// What the steps between these costs come to, kbps.
fn sum(costs: &[f64], arrives: bool) -> String {
    let (Some(first), Some(last)) = (costs.first(), costs.last()) else {
        return "Measuring …".to_owned();
    };
    let ends = format!("From {} to {} kbps", rounded(*first), rounded(*last));
    match arrives {
        true => format!("{ends}: {} less.", factor(first / last)),
        false => format!("{ends}, while nothing arrives."),
    }
}

/// Which rungs cost more than the one before.
fn dearer(costs: &[f64]) -> Option<String> {
    let steps = costs.windows(2).zip(&LADDER[1..]);
    let dearer = steps.filter(|(step, _)| costs_more(step[0], step[1]));
    let names: Vec<_> = dearer.map(|(_, rung)| rung.name).collect();
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

    const COSTS: [f64; 5] = [17_368.8, 12_000.0, 8_600.0, 8_701.0, 56.1];

    #[test]
    fn the_steps_add_up_from_the_first_rung_to_the_last() {
        let added = "From 17\u{2009}369 to 56.1 kbps: 310× less.";
        assert_eq!(sum(&COSTS, true), added);
        assert_eq!(sum(&[], true), "Measuring …");
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
            assert_eq!(dearer(&costs).unwrap(), said);
        }
        let shown_alike = [9.0, 8.0, 7.0, 7.04, 5.0];
        assert_eq!(dearer(&shown_alike), None);
    }
}
