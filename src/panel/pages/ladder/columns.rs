//! The columns of the ladder: what each says about a rung, and the sentences about all rungs.

use bevy_egui::egui::Color32;
use cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_inspector::words::{factor, rounded};

use super::table::Cells;
use super::without::{self, Left};
use crate::panel::lane::LaneView;
use crate::panel::settings::Column;
use crate::panel::style::Look;
use crate::replication::TARGET_KBPS;

impl Column {
    pub(in crate::panel) const ALL: [Self; 4] =
        [Self::Cost, Self::Savings, Self::Without, Self::OverTime];

    /// Its name, what it says, and the heads of its figures.
    pub(in crate::panel) const fn texts(self) -> [&'static str; 4] {
        match self {
            Self::Cost => ["cost", "What each rung would cost now.", "kbps", "less"],
            Self::Savings => [
                "savings",
                "What each rung saves over the one before it in the list. A bar reaches from the one cost to the other. In the \
                 warning colour: it costs more, as a stage has a price, such as a flag for each cube.",
                "change",
                "step",
            ],
            Self::Without => [
                "without",
                "What the present stages would cost without the stage of a rung and what is illegal without it. A bar reaches \
                 from the present cost to that. Point at a row for all that can be taken away. More is encoded in the \
                 background for this, in at most a quarter of a core.",
                "kbps",
                "more",
            ],
            Self::OverTime => [
                "over time",
                "A curve of the last seconds for each rung.",
                "",
                "kbps",
            ],
        }
    }
}

/// The costs of all rungs, kbps.
#[derive(Debug)]
pub(super) struct Costs {
    /// In the order of [`ladder::all`], on the present rung of the lane itself.
    kbps: Vec<Option<f64>>,
    /// In the order of [`LADDER`], of one moment, up to the first rung whose cost is not known.
    encoded: Vec<f64>,
    /// Whether what the lane costs can be compared.
    arrives: bool,
    /// The costs without each stage.
    without: Vec<Left>,
}

impl Costs {
    pub(super) fn of(lane: &LaneView<'_>, column: Column) -> Self {
        let (costs, kbps_on) = (lane.rung_costs(), lane.kbps_on());
        let known = LADDER.iter().map_while(|rung| costs.encoded_kbps(rung));
        let without = (column == Column::Without).then(|| without::all(lane));
        Self {
            kbps: ladder::all().map(|rung| kbps_on(&rung)).collect(),
            encoded: known.collect(),
            arrives: lane.arrives(),
            without: without.flatten().unwrap_or_default(),
        }
    }

    /// What can be taken away of the stage of a rung, what saves most first.
    pub(super) fn without(&self, rung: Rung) -> impl Iterator<Item = &Left> {
        self.without.iter().filter(move |left| left.rung == rung)
    }

    /// What the row of a rung shows, if that is known. `less` is the colour of a ratio.
    pub(super) fn cells(
        &self,
        column: Column,
        (index, rung): (usize, Rung),
        (look, less): (Look, Color32),
    ) -> Option<Cells> {
        let ratio = |words: String| {
            if self.arrives {
                words
            } else {
                "–".to_owned()
            }
        };
        Some(match column {
            Column::Cost => {
                let kbps = self.kbps[index]?;
                let times = self.kbps[0].map(|first| ratio(factor(first / kbps)));
                let color = if kbps <= TARGET_KBPS {
                    look.half
                } else {
                    look.above_target
                };
                let less = (times.unwrap_or_else(|| "–".to_owned()), less);
                ([0.0, kbps], color, [(rounded(kbps), look.ink), less])
            }
            Column::OverTime => {
                let kbps = self.kbps[index]?;
                let figures = [(String::new(), less), (rounded(kbps), look.ink)];
                ([0.0; 2], Color32::TRANSPARENT, figures)
            }
            Column::Savings => {
                let kbps = *self.encoded.get(index)?;
                let Some(before) = index.checked_sub(1).map(|before| self.encoded[before]) else {
                    let figures = [(rounded(kbps), look.ink), (String::new(), less)];
                    return Some(([0.0, kbps], look.quiet, figures));
                };
                let [bar, figure, less] = match costs_more(before, kbps) {
                    true => [look.warning; 3],
                    false => [look.half, look.ink, less],
                };
                let step = (ratio(times(before / kbps)), less);
                ([before, kbps], bar, [(signed(kbps - before), figure), step])
            }
            Column::Without => {
                let Left {
                    kbps, more, is_old, ..
                } = self.without(rung).next()?;
                let [bar, figure, ink] = match (is_old, *more <= -SHOWN_AS_ZERO) {
                    (true, _) => [look.quiet, look.muted, look.muted],
                    (false, true) => [look.warning, look.ink, look.warning],
                    (false, false) => [look.half, look.ink, look.ink],
                };
                let figures = [(rounded(*kbps), figure), (signed(*more), ink)];
                ([kbps - more, *kbps], bar, figures)
            }
        })
    }

    /// The first and the last rung of the ladder compared.
    pub(super) fn sum(&self) -> Option<String> {
        let (first, last) = (self.encoded.first()?, self.encoded.last()?);
        let ends = format!("From {} to {} kbps", rounded(*first), rounded(*last));
        Some(match self.arrives {
            true => format!("{ends}: {} less.", factor(first / last)),
            false => format!("{ends}, while nothing arrives."),
        })
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
            without: Vec::new(),
        }
    }

    #[test]
    fn the_steps_add_up_from_the_first_rung_to_the_last() {
        let added = "From 17\u{2009}369 to 56.1 kbps: 310× less.";
        assert_eq!(costs(&COSTS).sum().as_deref(), Some(added));
        assert_eq!(costs(&[]).sum(), None, "nothing is measured");
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
