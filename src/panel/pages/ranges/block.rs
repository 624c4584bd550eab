//! The two ranges of a stage: a histogram of the values, and sliders for the ranges.

use super::edit;
use crate::panel::prelude::*;
use crate::replication::DELTA_BITS;

/// A histogram of value sizes, and the ranges that encode them.
pub(super) struct Block<'a> {
    pub(super) title: &'static str,
    /// The first rung with the ranges.
    pub(super) rung: Rung,
    pub(super) about: &'a str,
    pub(super) counts: &'a [f32; DELTA_BITS],
    /// Number of bits of the last bar, which also counts all larger values.
    pub(super) last: usize,
    pub(super) kind: BitKind,
    /// Sizes of the small and of the large range, bits; `None` if the stages have no ranges.
    pub(super) ranges: Option<[u8; 2]>,
    pub(super) set: fn(&mut StageOptions, [u8; 2]),
    /// Fraction of values without a difference. They are sent whole.
    pub(super) beyond: f32,
    pub(super) max: u8,
}

impl Block<'_> {
    pub(super) fn draw(&self, ui: &mut Ui, stages: &mut Stages, second: &Totals) {
        divider(ui);
        let bits = match second.sent_bodies {
            0 => String::new(),
            cubes => {
                let bits = rounded(second.ledger.kind(self.kind) / cubes as f64);
                format!("{bits} bits a cube")
            }
        };
        heading(ui, self.title, bits).on_hover_text(self.about);
        ui.add_space(2.0);
        let size = vec2(ui.available_width(), LINE + PLOT + LINE);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            self.histogram(ui);
            ui.add_space(BESIDE);
            ui.vertical(|ui| self.sliders(ui, stages));
        });
    }

    fn histogram(&self, ui: &mut Ui) {
        let look = Look::of(ui);
        let width = ui.available_width() - BESIDE - SLIDERS;
        let size = vec2(width, LINE + PLOT + LINE);
        let (area, response) = ui.allocate_exact_size(size, Sense::hover());
        let plot = Rect::from_min_size(area.min + vec2(0.0, LINE), vec2(width, PLOT));
        let end = self.last as f64 + 1.0;
        let mut counts = self.counts[..=self.last].to_vec();
        counts[self.last] += self.counts[self.last + 1..].iter().sum::<f32>();
        let largest = counts.iter().copied().fold(1e-6, f32::max);
        let chart = Chart::new(ui, plot, 0.0..=end, 0.0..=largest.into(), Scale::Linear);
        let gap = end / f64::from(width);
        for (bits, count) in counts.iter().enumerate() {
            // Full colour in the small range, paler in the large range, palest beyond.
            let share = match self.ranges.map(|ranges| ranges.map(usize::from)) {
                Some([small, _]) if bits <= small => 1.0,
                Some([_, large]) if bits <= large => 0.7,
                Some(_) => 0.35,
                None => 1.0,
            };
            let color = look.sunken.lerp_to_gamma(look.kind(self.kind), share);
            let from = bits as f64;
            chart.bar(from..=from + 1.0 - gap, f64::from(*count), color);
        }
        if let Some(ranges) = self.ranges {
            let ends = ranges.map(|bits| (f64::from(bits) + 1.0).min(end));
            let is_close = chart.x_of(ends[1]) - chart.x_of(ends[0]) < APART;
            let at = match is_close {
                true => [(Align::Max, ends[0]), (Align::Min, ends[1])],
                false => ends.map(|end| (Align::Center, end)),
            };
            for ((bits, end), at) in ranges.into_iter().zip(ends).zip(at) {
                chart.upright(end, Stroke::new(1.0, look.ink));
                chart.label(ui, true, at, &bits.to_string(), look.ink);
            }
        }
        chart.label(ui, false, (Align::Min, 0.0), "0", look.muted);
        chart.label(ui, false, (Align::Max, end), &format!("{} bits", self.last), look.muted);
        let said = response.hover_pos().map(|at| chart.x_at(at.x) as usize).map(|bits| {
            let bits = bits.min(self.last);
            let share = 100.0 * counts[bits] / counts.iter().sum::<f32>().max(1e-6);
            let more = if bits == self.last { " or more" } else { "" };
            format!("{bits} bits{more}: {share:.1} %\n")
        });
        response.on_hover_text_at_pointer(said.unwrap_or_default() + self.about);
    }

    fn sliders(&self, ui: &mut Ui, stages: &mut Stages) {
        let Some([small, large]) = self.ranges else {
            ui.add_space(LINE);
            let without = "These stages have no small and large ranges here, unlike the rung";
            note(ui, format!("{without} {}.", self.rung.name));
            return;
        };
        let limits = [("small", 1..=large), ("large", small..=self.max)];
        for (index, (label, range)) in limits.into_iter().enumerate() {
            let of_range = Parameter {
                label,
                name: format!("{}, {label}", self.title),
                widths: WIDTHS,
                range,
                unit: "bits",
                is_power: false,
                absent: None,
            };
            let mut wanted = [small, large];
            let edited = edit(ui, stages, &of_range, wanted[index], |options, bits| {
                wanted[index] = bits;
                (self.set)(options, wanted);
            });
            edited.on_hover_text(ABOUT_RANGES);
        }
        note(ui, shares([small, large], self.counts, self.beyond)).on_hover_text(ABOUT_SHARES);
    }
}

fn shares(ranges: [u8; 2], counts: &[f32; DELTA_BITS], beyond: f32) -> String {
    let all: f32 = counts.iter().sum();
    if all == 0.0 {
        return "no changes yet".to_owned();
    }
    let [small, large] = ranges.map(|bits| {
        let inside: f32 = counts.iter().take(usize::from(bits) + 1).sum();
        100.0 * inside / all * (1.0 - beyond)
    });
    let (between, whole) = (large - small, 100.0 - large);
    format!("small {small:.0} · large {between:.0} · whole {whole:.0} %")
}

const ABOUT_RANGES: &str = "Bits of small and of large differences. With fewer bits, small differences take less, \
    but fewer differences are small.";

const ABOUT_SHARES: &str = "Shares of the values in the small range, in the large range, and beyond both, which are \
    sent whole.";

/// Sizes and distances, logical points.
const PLOT: f32 = 44.0;
const SLIDERS: f32 = 178.0;
const BESIDE: f32 = 16.0;
const WIDTHS: [f32; 3] = [40.0, 60.0, 36.0];

/// Labels of lines that are closer than this are on the outer sides of the lines, logical points.
const APART: f32 = 18.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_both_ranges_and_the_rest() {
        let mut counts = [0.0; DELTA_BITS];
        (counts[2], counts[5], counts[6], counts[12]) = (10.0, 10.0, 60.0, 20.0);
        let said = |beyond| shares([5, 9], &counts, beyond);
        assert_eq!(said(0.0), "small 20 · large 60 · whole 20 %");
        assert_eq!(said(0.5), "small 10 · large 30 · whole 60 %");
        assert_eq!(shares([5, 9], &[0.0; DELTA_BITS], 0.0), "no changes yet");
    }
}
