//! A histogram of what the ranges have to hold.

use bevy_egui::egui::{Color32, Rect, Sense, Stroke, Ui, vec2};
use cubewire_codec::BitKind;

use crate::panel::style::{LINE, Look};
use crate::panel::widgets::{Chart, Label, Scale};
use crate::replication::DELTA_BITS;
use crate::theme::egui_color;

/// What is counted, and the ranges that have to hold it.
pub(super) struct Bars<'a> {
    pub(super) about: &'a str,
    pub(super) counts: &'a [f32; DELTA_BITS],
    /// The number of bits of the last bar, which has those above, too.
    pub(super) last: usize,
    pub(super) kind: BitKind,
    /// Ends of the ranges, bits.
    pub(super) ranges: Option<[u8; 2]>,
}

/// A bar for each number of bits, with the ends of the ranges above.
pub(super) fn draw(ui: &mut Ui, bars: &Bars<'_>) {
    let look = Look::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(WIDTH, HEIGHT), Sense::hover());
    let plot = Rect::from_min_size(area.min + vec2(0.0, LINE), vec2(WIDTH, PLOT));
    let end = bars.last as f64 + 1.0;
    let mut counts = bars.counts[..=bars.last].to_vec();
    counts[bars.last] += bars.counts[bars.last + 1..].iter().sum::<f32>();
    let largest = counts.iter().copied().fold(1e-6, f32::max);
    let chart = Chart::new(ui, plot, 0.0..=end, 0.0..=f64::from(largest), Scale::Linear);
    let color = egui_color(look.theme.colors().bit_kind(bars.kind));
    let gap = end / f64::from(WIDTH);
    for (bits, count) in counts.iter().enumerate() {
        let color = shade(look, color, bits, bars.ranges);
        let from = bits as f64;
        chart.bar(from..=from + 1.0 - gap, f64::from(*count), color);
    }
    if let Some(ranges) = bars.ranges {
        let ends = ranges.map(|bits| (f64::from(bits) + 1.0).min(end));
        let is_close = chart.x_of(ends[1]) - chart.x_of(ends[0]) < APART;
        let at = match is_close {
            true => [Label::EndsAt(ends[0]), Label::BeginsAt(ends[1])],
            false => ends.map(Label::Around),
        };
        for ((bits, end), at) in ranges.into_iter().zip(ends).zip(at) {
            chart.upright(end, Stroke::new(1.0, look.ink));
            chart.label(ui, true, at, &bits.to_string(), look.ink);
        }
    }
    chart.label(ui, false, Label::BeginsAt(0.0), "0", look.muted);
    let last = format!("{} bits", bars.last);
    chart.label(ui, false, Label::EndsAt(end), &last, look.muted);
    let hovered = response.hover_pos().map(|at| chart.x_at(at.x) as usize);
    let said = hovered.map(|bits| {
        let bits = bits.min(bars.last);
        let share = 100.0 * counts[bits] / counts.iter().sum::<f32>().max(1e-6);
        let more = if bits == bars.last { " or more" } else { "" };
        format!("{bits} bits{more}: {share:.1} %\n")
    });
    let about = said.unwrap_or_default() + bars.about;
    response.on_hover_text_at_pointer(about);
}

/// Full in the small range, paler in the large one, palest beyond.
fn shade(look: Look, color: Color32, bits: usize, ranges: Option<[u8; 2]>) -> Color32 {
    let share = match ranges.map(|ranges| ranges.map(usize::from)) {
        Some([small, _]) if bits <= small => 1.0,
        Some([_, large]) if bits <= large => 0.7,
        Some(_) => 0.35,
        None => 1.0,
    };
    look.sunken.lerp_to_gamma(color, share)
}

/// Logical points.
const WIDTH: f32 = 182.0;
const PLOT: f32 = 44.0;
pub(super) const HEIGHT: f32 = LINE + PLOT + LINE;

/// Labels that are closer than that stand at the outer sides of their lines.
const APART: f32 = 18.0;
