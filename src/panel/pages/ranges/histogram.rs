//! Histograms of what the ranges have to hold, with the present ranges drawn in.

use bevy_egui::egui::{Align2, Color32, FontId, Rect, Sense, Stroke, Ui, pos2, vec2};
use cubewire_codec::{BitKind, Stages};
use cubewire_palette::bit_kind;

use super::Measured;
use crate::panel::style;
use crate::replication::{DELTA_BITS, LaneMeter};
use crate::theme::{Theme, egui_color};

/// Draws four histograms, two in a row.
pub(super) fn draw(ui: &mut Ui, theme: Theme, stages: Stages, what: &Measured<'_>) {
    let counts = what.counts.cloned().unwrap_or_default();
    let [other, same] = counts.largest;
    let percent = 100.0 * other / (other + same).max(1.0);
    let position = Chart {
        title: "position difference, bits".to_owned(),
        about: "Bits that a component of a changed position's difference from the baseline needs. The lines \
                are the ends of the small and of the large range; what is beyond is sent whole."
            .to_owned(),
        counts: &counts.position,
        lines: stages.relative_position.range_bits(),
        kind: BitKind::Position,
    };
    let orientation = Chart {
        title: "orientation difference, bits".to_owned(),
        about: format!(
            "The same for the components of changed orientations. {percent:.1} % of them omit another \
             component than the baseline's, and are sent as they are."
        ),
        counts: &counts.orientation,
        lines: stages.relative_orientation.range_bits(),
        kind: BitKind::Orientation,
    };
    let index = Chart {
        title: "distance to the next cube, bits".to_owned(),
        about: "Bits of the distance from one changed cube to the next, less 1.".to_owned(),
        counts: &counts.index,
        lines: stages.delta.range_bits(),
        kind: BitKind::Selection,
    };
    let half = (ui.available_width() - ui.spacing().item_spacing.x) / 2.0;
    ui.horizontal(|ui| {
        position.draw(ui, theme, half);
        orientation.draw(ui, theme, half);
    });
    ui.horizontal(|ui| {
        index.draw(ui, theme, half);
        sizes(ui, theme, half, what.meter);
    });
}

/// A bar for each number of bits.
struct Chart<'a> {
    title: String,
    about: String,
    counts: &'a [f32; DELTA_BITS],
    /// Ends of the ranges, bits.
    lines: Option<[u8; 2]>,
    kind: BitKind,
}

impl Chart<'_> {
    fn draw(&self, ui: &mut Ui, theme: Theme, width: f32) {
        let (area, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
        let plot = frame(ui, theme, area, &self.title);
        let all: f32 = self.counts.iter().sum();
        let largest = self.counts.iter().copied().fold(1e-6, f32::max);
        let bar_width = plot.width() / DELTA_BITS as f32;
        let painter = ui.painter();
        let color = egui_color(bit_kind(self.kind));
        let mut hovered = None;
        for (bits, count) in self.counts.iter().enumerate() {
            let left = plot.left() + bits as f32 * bar_width;
            let top = plot.bottom() - count / largest * plot.height();
            let bar =
                Rect::from_x_y_ranges(left + 0.5..=left + bar_width - 0.5, top..=plot.bottom());
            painter.rect_filled(bar, 0.0, color);
            if response
                .hover_pos()
                .is_some_and(|at| (left..left + bar_width).contains(&at.x))
            {
                hovered = Some((bits, 100.0 * count / all.max(1.0)));
            }
        }
        let ink = egui_color(theme.colors().ink);
        for (line, name) in self.lines.iter().flatten().zip(["small", "large"]) {
            let x = plot.left() + (f32::from(*line) + 1.0) * bar_width;
            painter.vline(x, plot.y_range(), Stroke::new(1.0, ink));
            // On either side of the two, so that they never overlap.
            let (at, align) = match name {
                "small" => (x - 2.0, Align2::RIGHT_TOP),
                _ => (x + 2.0, Align2::LEFT_TOP),
            };
            let text = format!("{name} {line}");
            let at = pos2(at, plot.top());
            style::text_over(painter, theme, at, align, text, 9.0);
        }
        let text = match hovered {
            Some((bits, percent)) => format!("{bits} bits: {percent:.1} %\n{}", self.about),
            None => self.about.clone(),
        };
        response.on_hover_text_at_pointer(text);
    }
}

/// The sizes of the packets of the last minute.
fn sizes(ui: &mut Ui, theme: Theme, width: f32, meter: &LaneMeter) {
    let (area, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
    let packets = meter.samples().iter().flat_map(|sample| &sample.snapshots);
    let sizes: Vec<usize> = packets.map(|packet| packet.payload_bytes).collect();
    let (bins, step) = binned(&sizes);
    let title = format!("packet size, {step} bytes a bar");
    let plot = frame(ui, theme, area, &title);
    let largest = bins.iter().copied().max().unwrap_or(1).max(1) as f32;
    let bar_width = plot.width() / BINS as f32;
    let color: Color32 = style::tint(theme.colors(), theme.colors().ink, 0.5);
    for (index, count) in bins.iter().enumerate() {
        let left = plot.left() + index as f32 * bar_width;
        let top = plot.bottom() - *count as f32 / largest * plot.height();
        let bar = Rect::from_x_y_ranges(left + 0.5..=left + bar_width - 0.5, top..=plot.bottom());
        ui.painter().rect_filled(bar, 0.0, color);
    }
    let count = sizes.len();
    response.on_hover_text(format!(
        "Payloads of the {count} packets of the last minute, in bars of {step} bytes from 0."
    ));
}

/// Counts in bins of equal width, a power of two bytes, from 0 to the largest size.
fn binned(sizes: &[usize]) -> ([usize; BINS], usize) {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let step = (largest / BINS + 1).next_power_of_two();
    let mut bins = [0; BINS];
    for size in sizes {
        bins[size / step] += 1;
    }
    (bins, step)
}

/// Paints title and background, and returns the area of the bars.
fn frame(ui: &Ui, theme: Theme, area: Rect, title: &str) -> Rect {
    let colors = theme.colors();
    let (head, plot) = area.split_top_bottom_at_y(area.top() + TITLE);
    let painter = ui.painter();
    painter.rect_filled(plot, 0.0, style::tint(colors, colors.ink, 0.06));
    let muted = egui_color(colors.muted);
    let font = FontId::proportional(10.0);
    painter.text(head.left_center(), Align2::LEFT_CENTER, title, font, muted);
    plot
}

const BINS: usize = 24;

/// Logical points.
const HEIGHT: f32 = 62.0;
const TITLE: f32 = 13.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_in_a_bin() {
        for sizes in [vec![], vec![0], vec![23, 24, 700], vec![36_157; 9]] {
            let (bins, step) = binned(&sizes);
            assert_eq!(bins.iter().sum::<usize>(), sizes.len());
            assert!(step.is_power_of_two());
        }
    }
}
