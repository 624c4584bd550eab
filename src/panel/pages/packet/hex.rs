//! The bytes of a packet in hex, with the kind of each of their bits.

use bevy_egui::egui::{
    Align2, Color32, FontId, Painter, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, pos2, vec2,
};
use cubewire_codec::BitKind;
use cubewire_palette::bit_kind;

use super::rows::{Span, parts};
use crate::history::Selection;
use crate::panel::style;
use crate::replication::PacketDetail;
use crate::theme::{Theme, egui_color};

/// Draws the bytes, sixteen a row. Below each, its eight bits in the colour of their kind; those of the
/// hovered or the selected cube are marked. Arithmetically coded bins share bits, and have no kind.
pub(super) fn draw(
    ui: &mut Ui,
    theme: Theme,
    packet: &PacketDetail,
    height: f32,
    hovered: Option<&Span>,
    selection: &mut Selection,
) {
    let bits = Bits::of(packet);
    let count = packet.bytes().len().div_ceil(ROW_BYTES);
    let rows = Rows {
        theme,
        packet,
        bits: &bits,
        hovered,
        selection,
    };
    let mut over = None;
    ScrollArea::vertical()
        .id_salt("bytes of the packet")
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink([false, true])
        .show_rows(ui, ROW_HEIGHT, count, |ui, shown| {
            for row in shown {
                over = rows.draw(ui, row).or(over);
            }
        });
    if let Some(item) = over {
        selection.hovered = bits.items[item].cube;
    }
}

/// What each whole bit is for.
struct Bits {
    items: Vec<Item>,
    /// Where bits begin that are shared.
    shared_from: usize,
}

struct Item {
    start: usize,
    end: usize,
    kind: BitKind,
    cube: Option<usize>,
    /// The part of a field: its prefix or a component.
    part: Option<&'static str>,
}

impl Bits {
    fn of(packet: &PacketDetail) -> Self {
        let mut items = Vec::new();
        let mut at = 0;
        for item in packet.items() {
            // The first fraction is the first bin.
            if item.bits.fract() != 0.0 {
                break;
            }
            for (part, bits) in parts(&item) {
                let end = at + bits as usize;
                items.push(Item {
                    start: at,
                    end,
                    kind: item.kind,
                    cube: item.body.map(usize::from),
                    part,
                });
                at = end;
            }
        }
        let is_whole = at == packet.bytes().len() * 8;
        if !is_whole {
            // Bins begin with a whole byte; what looks whole after it may be a bin.
            let head = items.iter().take_while(|item| item.cube.is_none());
            let head = head
                .take_while(|item| {
                    !matches!(
                        item.kind,
                        BitKind::Inputs | BitKind::State | BitKind::Selection
                    )
                })
                .count();
            items.truncate(head);
            at = items.last().map_or(0, |item| item.end);
        }
        Self {
            items,
            shared_from: at,
        }
    }

    /// The item that a bit belongs to; none if it is shared.
    fn item_at(&self, bit: usize) -> Option<usize> {
        if bit >= self.shared_from {
            return None;
        }
        let after = self.items.partition_point(|item| item.end <= bit);
        (self.items.get(after)?.start <= bit).then_some(after)
    }
}

/// What the rows show.
struct Rows<'a> {
    theme: Theme,
    packet: &'a PacketDetail,
    bits: &'a Bits,
    hovered: Option<&'a Span>,
    selection: &'a Selection,
}

impl Rows<'_> {
    /// Draws a row. Returns the item under the pointer.
    fn draw(&self, ui: &mut Ui, row: usize) -> Option<usize> {
        let (area, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
        let painter = ui.painter_at(area);
        let colors = self.theme.colors();
        let text = |at, text: String, color| {
            let font = FontId::monospace(10.5);
            painter.text(at, Align2::LEFT_TOP, text, font, egui_color(color));
        };
        let first = row * ROW_BYTES;
        text(area.left_top(), format!("{first:4x}"), colors.muted);
        let width = ((area.width() - OFFSET_WIDTH) / ROW_BYTES as f32).min(MAX_BYTE_WIDTH);
        let bit_width = (width - 2.0) / 8.0;
        let mut over = None;
        let bytes = self.packet.bytes()[first..].iter().take(ROW_BYTES);
        for (column, byte) in bytes.enumerate() {
            let left = area.left() + OFFSET_WIDTH + column as f32 * width;
            text(pos2(left, area.top()), format!("{byte:02x}"), colors.ink);
            for bit in 0..8 {
                let index = (first + column) * 8 + bit;
                let rect = Rect::from_min_size(
                    pos2(
                        left + bit as f32 * bit_width,
                        area.bottom() - BIT_HEIGHT - 1.0,
                    ),
                    vec2(bit_width, BIT_HEIGHT),
                );
                self.paint_bit(&painter, rect, index);
                let reach = Rect::from_x_y_ranges(rect.x_range(), area.y_range());
                if response.hover_pos().is_some_and(|at| reach.contains(at)) {
                    over = self.bits.item_at(index).or(over);
                    response.clone().on_hover_text_at_pointer(self.about(index));
                }
            }
        }
        over
    }

    fn paint_bit(&self, painter: &Painter, rect: Rect, bit: usize) {
        let colors = self.theme.colors();
        let item = self.bits.item_at(bit).map(|item| &self.bits.items[item]);
        let color: Color32 = match item {
            Some(item) => egui_color(bit_kind(item.kind)),
            None => style::tint(colors, colors.ink, 0.2),
        };
        painter.rect_filled(rect, 0.0, color);
        let cube = item.and_then(|item| item.cube);
        let selection = self.selection;
        let is_lit = cube.is_some() && (cube == selection.hovered || cube == selection.cube);
        let is_hovered = self.hovered.is_some_and(|span| {
            span.offset.is_some_and(|start| {
                (start..start + span.bits).contains(&(bit as f64)) && item.is_some()
            })
        });
        if is_lit || is_hovered {
            let mark = rect.expand2(vec2(0.0, 1.0));
            let stroke = Stroke::new(1.0, egui_color(colors.ink));
            painter.rect_stroke(mark, 0.0, stroke, StrokeKind::Inside);
        }
    }

    /// What a bit is for.
    fn about(&self, bit: usize) -> String {
        let Some(item) = self.bits.item_at(bit) else {
            return format!("bit {bit}: shared by arithmetically coded bins");
        };
        let Item {
            start,
            end,
            kind,
            cube,
            part,
        } = &self.bits.items[item];
        let cube = cube.map_or_else(String::new, |cube| format!(" of cube {cube}"));
        let part = part.map_or_else(String::new, |part| format!("{part} of the "));
        format!("bit {bit}: {part}{kind}{cube}, bits {start} to {}", end - 1)
    }
}

/// Bytes in a row.
const ROW_BYTES: usize = 16;

/// Logical points.
const ROW_HEIGHT: f32 = 22.0;
const BIT_HEIGHT: f32 = 6.0;
const OFFSET_WIDTH: f32 = 34.0;
const MAX_BYTE_WIDTH: f32 = 26.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::panel::tests::packet_of;

    #[test]
    fn every_bit_of_a_bit_packed_packet_has_an_item_and_no_bin_has_one() {
        for rung in ladder::all() {
            let packet = packet_of(rung.stages);
            let detail = packet.detail.as_deref().unwrap();
            let bits = Bits::of(detail);
            let all = detail.bytes().len() * 8;
            let owned = (0..all).filter(|&bit| bits.item_at(bit).is_some()).count();
            if rung.stages.delta.is_arithmetic() {
                // The header and the check.
                assert_eq!(owned % 8, 0, "{}", rung.name);
                assert!((32..=64).contains(&owned), "{}: {owned}", rung.name);
            } else {
                assert_eq!(owned, all, "{}", rung.name);
            }
        }
    }
}
