//! The columns of the ladder: what each says about a rung, and the sentences about all rungs.

use bevy_egui::egui::{Color32, Ui};
use cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_inspector::words::{factor, rounded};

use super::table::Table;
use super::without::Without;
use crate::panel::lane::LaneView;
use crate::panel::settings::{Column, Columns};
use crate::panel::style::{CONTROL, GAP, Look};
use crate::panel::widgets::{chip, unless};

impl Column {
    /// Its name, and an explanation.
    pub(in crate::panel) const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Less => ["less", "How many times less than the first rung."],
            Self::Change => [
                "change",
                "Kilobits a second more or less than the rung before it in the list. In the warning colour: it costs more.",
            ],
            Self::Step => [
                "step",
                "How many times less than the rung before it in the list.",
            ],
            Self::Without => [
                "without",
                "Kilobits a second that the present stages would cost more without the stage of this rung, and without what is \
                 illegal without it. Point at a row for all that can be taken away. While this is open, more is encoded in the \
                 background.",
            ],
            Self::OverTime => [
                "over time",
                "A curve for each rung: what it would have cost in the last seconds.",
            ],
        }
    }
}

/// Draws a chip for each column.
pub(in crate::panel::pages) fn chips(ui: &mut Ui, columns: &mut Columns, is_measured: bool) {
    let is_full = columns.figures().len() + 1 >= Table::most_columns(ui.available_width());
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for column in Column::ALL {
            let [name, about] = column.texts();
            let is_on = columns.has(column);
            let refusal = match column {
                _ if !is_measured => Some(super::REMOTE),
                Column::OverTime => None,
                _ => (is_full && !is_on).then_some(FULL),
            };
            let widget = |ui: &mut Ui| chip(ui, CONTROL, 4, name, is_on);
            if unless(ui, refusal, about, widget).clicked() {
                columns.toggle(column);
            }
        }
    });
}

const FULL: &str = "There is no room for another column: take one away first.";

/// The costs of all rungs, kbps.
#[derive(Debug)]
pub(super) struct Costs {
    /// In the order of [`ladder::all`], on the present rung of the lane itself.
    pub(super) kbps: Vec<Option<f64>>,
    /// In the order of [`LADDER`], of one moment, up to the first rung whose cost is not known.
    encoded: Vec<f64>,
    /// Whether what the lane costs can be compared.
    arrives: bool,
    pub(super) without: Option<Without>,
}

impl Costs {
    pub(super) fn of(lane: &LaneView<'_>, columns: &Columns) -> Self {
        let costs = lane.rung_costs();
        let has_without = columns.has(Column::Without);
        let kbps_on = lane.kbps_on();
        Self {
            kbps: ladder::all().map(|rung| kbps_on(&rung)).collect(),
            encoded: LADDER
                .iter()
                .map_while(|rung| costs.encoded_kbps(rung))
                .collect(),
            arrives: lane.arrives(),
            without: has_without.then(|| Without::of(lane)).flatten(),
        }
    }

    /// The text of a column in the row of a rung, and its colour.
    pub(super) fn text(
        &self,
        column: Column,
        (index, rung): (usize, &Rung),
        look: Look,
    ) -> (String, Color32) {
        let step = index.checked_sub(1).and_then(|before| {
            let [before, now] = [before, index].map(|index| self.encoded.get(index).copied());
            Some([before?, now?])
        });
        let is_dearer = step.is_some_and(|[before, kbps]| costs_more(before, kbps));
        let (ink, muted) = match is_dearer {
            true => (look.warning, look.warning),
            false => (look.ink, look.muted),
        };
        let nothing = || ("–".to_owned(), look.muted);
        match column {
            Column::Less => {
                let ratio = |first: f64| Some(first / self.kbps[index]?);
                let less = self.kbps[0].filter(|_| self.arrives).and_then(ratio);
                less.map_or_else(nothing, |less| (factor(less), look.muted))
            }
            Column::Change => {
                step.map_or_else(nothing, |[before, kbps]| (signed(kbps - before), ink))
            }
            Column::Step => step
                .filter(|_| self.arrives)
                .map_or_else(nothing, |[before, kbps]| (times(before / kbps), muted)),
            Column::Without => {
                let without = self.without.as_ref();
                let more = without.and_then(|without| without.more(rung, look));
                more.unwrap_or_else(nothing)
            }
            Column::OverTime => nothing(),
        }
    }

    /// The first and the last rung of the ladder compared.
    pub(super) fn sum(&self) -> String {
        let (Some(first), Some(last)) = (self.encoded.first(), self.encoded.last()) else {
            return "Measuring …".to_owned();
        };
        let ends = format!("From {} to {} kbps", rounded(*first), rounded(*last));
        match self.arrives {
            true => format!("{ends}: {} less.", factor(first / last)),
            false => format!("{ends}, while nothing arrives."),
        }
    }

    /// Which rungs cost more than the one before.
    pub(super) fn dearer(&self) -> Option<String> {
        let steps = self.encoded.windows(2).zip(&LADDER[1..]);
        let dearer = steps.filter(|(step, _)| costs_more(step[0], step[1]));
        let names: Vec<_> = dearer.map(|(_, rung)| rung.name).collect();
        let more = match names.len() {
            0 => return None,
            1 => "costs more than the rung before it",
            _ => "cost more than the rungs before them",
        };
        Some(format!("{} {more}, now.", names.join(", ")))
    }
}

pub(super) const DEARER: &str = "A stage has a price, such as a flag for each cube. It pays off if enough cubes profit, which for \
     these snapshots they do not.";

/// Whether a rung costs more than the one before, by what is shown, kbps.
fn costs_more(before: f64, kbps: f64) -> bool {
    kbps - before >= SHOWN_AS_ZERO
}

/// A difference with its sign; what is shown as zero has none.
pub(super) fn signed(kbps: f64) -> String {
    match kbps {
        _ if kbps.abs() < SHOWN_AS_ZERO => "0".to_owned(),
        ..0.0 => rounded(kbps),
        _ => format!("+{}", rounded(kbps)),
    }
}

/// A factor from one rung to the next. Most are small, so that they have two decimals.
fn times(times: f64) -> String {
    match times {
        ..9.995 => format!("{times:.2}×"),
        _ => factor(times),
    }
}

/// A difference below this is shown as zero, kbps.
pub(in crate::panel::pages) const SHOWN_AS_ZERO: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: [f64; 5] = [17_368.8, 12_000.0, 8_600.0, 8_701.0, 56.1];

    fn costs(encoded: &[f64]) -> Costs {
        Costs {
            kbps: encoded.iter().copied().map(Some).collect(),
            encoded: encoded.to_vec(),
            arrives: true,
            without: None,
        }
    }

    #[test]
    fn the_steps_add_up_from_the_first_rung_to_the_last() {
        let added = "From 17\u{2009}369 to 56.1 kbps: 310× less.";
        assert_eq!(costs(&COSTS).sum(), added);
        assert_eq!(costs(&[]).sum(), "Measuring …");
    }

    #[test]
    fn what_costs_more_than_the_rung_before_is_told() {
        for (encoded, said) in [
            (COSTS, "at-rest costs more than the rung before it, now."),
            (
                [3.0, 4.0, 2.0, 5.0, 4.0],
                "smallest-three, at-rest cost more than the rungs before them, now.",
            ),
        ] {
            assert_eq!(costs(&encoded).dearer().unwrap(), said);
        }
        let shown_alike = [9.0, 8.0, 7.0, 7.04, 5.0];
        assert_eq!(costs(&shown_alike).dearer(), None);
    }

    #[test]
    fn a_difference_has_a_sign_unless_it_is_zero() {
        let signed = [12.34, -0.26, -0.04, -5_352.0].map(signed);
        assert_eq!(signed, ["+12.3", "−0.3", "0", "−5\u{2009}352"]);
    }

    #[test]
    fn a_step_has_two_decimals_unless_it_is_large() {
        assert_eq!([0.97, 9.994, 9.996].map(times), ["0.97×", "9.99×", "10×"]);
    }
}
