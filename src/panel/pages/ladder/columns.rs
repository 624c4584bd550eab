//! Contents of the columns of the ladder.

use cubewire_codec::ladder::{self, LADDER, Rung};

use super::super::stages::SHOWN_AS_ZERO;
use super::table::{Cells, bar_color, signed};
use super::without::{self, Left};
use crate::panel::lane::LaneView;
use crate::panel::prelude::*;
use crate::panel::settings::Column;

impl Column {
    pub(crate) const ALL: [Self; 3] = [Self::Cost, Self::Savings, Self::Without];

    /// Name, tooltip, and the heads of the two figures.
    pub(crate) const fn texts(self) -> [&'static str; 4] {
        match self {
            Self::Cost => ["Cost", "The bandwidth of each rung, now.", "kbps", "less"],
            Self::Savings => [
                "Savings",
                "Bandwidth that each rung saves, compared with the previous rung in the list. A bar spans both \
                 bandwidths. In the warning colour, the rung takes more, because its stage adds bits, such as a \
                 flag for each cube.",
                "change",
                "step",
            ],
            Self::Without => [
                "Without each",
                "Bandwidth of the current stages without the stage of a rung, and without other stages that need \
                 it. A bar spans the current bandwidth and this one. Hover over a row for all combinations. The \
                 additional encoding in the background takes at most a quarter of a core.",
                "kbps",
                "more",
            ],
        }
    }
}

#[derive(Debug)]
pub(super) struct Costs {
    /// In the order of [`ladder::all`]. The present rung has the measured cost of the lane.
    kbps: Vec<Option<f64>>,
    /// Encoded in the background at the same tick for all rungs, in the order of [`LADDER`]. Ends before the first unknown cost. Empty
    /// for columns other than savings.
    encoded: Vec<f64>,
    /// See [`LaneView::why_no_ratio`].
    why_no_ratio: Option<&'static str>,
    /// Costs without each stage. None for other columns, and until all are measured.
    pub(super) without: Option<Vec<Left>>,
}

impl Costs {
    pub(super) fn of(lane: &LaneView<'_>, column: Column) -> Self {
        let costs = lane.rung_costs();
        let kbps_on = lane.kbps_on(costs);
        let encoded = || LADDER.iter().map_while(|rung| costs.encoded_kbps(rung));
        let encoded = (column == Column::Savings).then(encoded);
        let without = (column == Column::Without).then(|| without::all(lane)).flatten();
        Self {
            kbps: ladder::all().map(|rung| kbps_on(&rung)).collect(),
            encoded: encoded.into_iter().flatten().collect(),
            why_no_ratio: lane.why_no_ratio(),
            without,
        }
    }

    /// The costs without the stage of a rung, the largest first.
    pub(super) fn without(&self, rung: Rung) -> impl Iterator<Item = &Left> {
        self.without.iter().flatten().filter(move |left| left.rung == rung)
    }

    /// Returns the cells of a rung once their figures are known. `less` is the colour of ratios.
    pub(super) fn cells(
        &self,
        column: Column,
        (index, rung): (usize, Rung),
        (look, less): (Look, Color32),
    ) -> Option<Cells> {
        let ratio = |times: Option<String>| {
            let times = times.filter(|_| self.why_no_ratio.is_none());
            (times.unwrap_or_else(|| "–".to_owned()), less)
        };
        Some(match column {
            Column::Cost => {
                let kbps = self.kbps[index]?;
                let bar = bar_color(look, kbps);
                let less = ratio(self.kbps[0].map(|first| factor(first / kbps)));
                ([0.0, kbps], bar, [(rounded(kbps), look.ink), less])
            }
            Column::Savings => {
                let kbps = *self.encoded.get(index)?;
                let Some(before) = index.checked_sub(1) else {
                    let figures = [(rounded(kbps), look.ink), (String::new(), less)];
                    return Some(([0.0, kbps], look.quiet, figures));
                };
                let before = self.encoded[before];
                let (step, less) = ratio(Some(times(before / kbps)));
                let [bar, figure, less] = match costs_more(before, kbps) {
                    true => [look.warning; 3],
                    false => [look.half, look.ink, less],
                };
                ([before, kbps], bar, [(signed(kbps - before), figure), (step, less)])
            }
            Column::Without => {
                let left = self.without(rung).next()?;
                let [bar, figure, ink] = match (left.is_old, left.more <= -SHOWN_AS_ZERO) {
                    (true, _) => [look.quiet, look.muted, look.muted],
                    (false, true) => [look.warning, look.ink, look.warning],
                    (false, false) => [look.half, look.ink, look.ink],
                };
                let figures = [(rounded(left.kbps), figure), (signed(left.more), ink)];
                ([left.kbps - left.more, left.kbps], bar, figures)
            }
        })
    }

    pub(super) fn sum(&self) -> String {
        let (Some(first), Some(last)) = (self.encoded.first(), self.encoded.last()) else {
            return "Measuring …".to_owned();
        };
        let ends = format!("From {} to {} kbps", rounded(*first), rounded(*last));
        match self.why_no_ratio {
            None => format!("{ends}: {} less.", factor(first / last)),
            Some(why) => format!("{ends}; {why}."),
        }
    }

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

fn costs_more(before: f64, kbps: f64) -> bool {
    kbps - before >= SHOWN_AS_ZERO
}

/// Text of the factor between two neighbouring rungs. Factors below 10 have two decimals.
fn times(times: f64) -> String {
    match times {
        ..9.995 => format!("{times:.2}×"),
        _ => factor(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: [f64; 5] = [17_368.8, 12_000.0, 8_600.0, 8_701.0, 56.1];

    fn costs(encoded: &[f64]) -> Costs {
        Costs {
            kbps: encoded.iter().copied().map(Some).collect(),
            encoded: encoded.to_vec(),
            why_no_ratio: None,
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
    fn a_step_has_two_decimals_unless_it_is_large() {
        assert_eq!([0.97, 9.994, 9.996].map(times), ["0.97×", "9.99×", "10×"]);
    }
}
