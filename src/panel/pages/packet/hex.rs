//! The bytes of a packet in hex, with the kind of each of their bits.

use std::array;

use bevy_egui::egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Sense, Ui, vec2};
use cubewire_codec::BitKind;

use super::rows::whole_bits;
use super::span::Span;
use crate::history::Selection;
use crate::panel::style::{LINE, Look, SMALL};
use crate::panel::widgets::{At, list, text, width};
use crate::replication::PacketDetail;
use crate::theme::egui_color;
use crate::words::grouped;

/// A bit under the pointer.
pub(super) enum Pointed {
    /// It belongs to these.
    Span(Span),
    /// Arithmetically coded bins share it.
    Shared,
}

/// Draws the bytes, fifteen a row. Below each, its eight bits in the colour of their kind; those of what is pointed at,
/// or of the selected cube, are inverted. Arithmetically coded bins share bits, and have no kind.
pub(super) fn draw(
    ui: &mut Ui,
    bytes: &[u8],
    bits: &Bits,
    height: f32,
    hovered: Option<&Span>,
    selection: &Selection,
) -> Option<Pointed> {
    let count = bytes.len().div_ceil(ROW_BYTES);
    let offset = width(ui, &grouped(bytes.len() as f64), SMALL) + OFFSET_GAP;
    let mut pointed = None;
    list(
        ui,
        "bytes of the packet",
        height,
        ROW_HEIGHT,
        count,
        |ui, shown| {
            let look = Look::of(ui);
            let rows = shown.map(|row| {
                let size = vec2(ui.available_width(), ROW_HEIGHT);
                let (area, response) = ui.allocate_exact_size(size, Sense::hover());
                let row = Row {
                    first: row * ROW_BYTES,
                    area,
                    offset,
                };
                let bit = response.hover_pos().and_then(|at| row.bit_at(at));
                (row, bit)
            });
            let rows: Vec<_> = rows.collect();
            let bit = rows.iter().find_map(|(_, bit)| *bit);
            let bit = bit.filter(|bit| bit / 8 < bytes.len());
            let under = bit.and_then(|bit| bits.span_at(bit));
            let lit = Lit {
                span: under.or(hovered),
                cube: selection.hovered.or(selection.cube),
            };
            for (row, _) in rows {
                row.draw(ui.painter(), look, bytes, bits, &lit);
            }
            pointed = bit.map(|_| under.cloned().map_or(Pointed::Shared, Pointed::Span));
        },
    );
    pointed
}

/// What each whole bit is for.
#[derive(Debug)]
pub(super) struct Bits {
    spans: Vec<Span>,
    /// Where bits begin that are shared.
    shared_from: usize,
}

/// Where a span of whole bits ends in the packet.
fn end(span: &Span) -> usize {
    (span.offset.unwrap_or(0.0) + span.bits) as usize
}

impl Bits {
    pub(super) fn of(packet: &PacketDetail) -> Self {
        let mut spans = whole_bits(packet);
        let is_whole = spans.last().map_or(0, end) == packet.bytes().len() * 8;
        if !is_whole {
            // Bins begin with a whole byte; what looks whole after it may be a bin.
            let is_bin = |span: &Span| {
                let kinds = [BitKind::Inputs, BitKind::State, BitKind::Selection];
                span.cube.is_some() || span.kind.is_some_and(|kind| kinds.contains(&kind))
            };
            let first_bin = spans.iter().position(is_bin);
            spans.truncate(first_bin.unwrap_or(spans.len()));
        }
        let shared_from = spans.last().map_or(0, end);
        Self { spans, shared_from }
    }

    /// What a bit belongs to; none if it is shared.
    fn span_at(&self, bit: usize) -> Option<&Span> {
        if bit >= self.shared_from {
            return None;
        }
        let after = self.spans.partition_point(|span| end(span) <= bit);
        let span = self.spans.get(after)?;
        (span.offset? <= bit as f64).then_some(span)
    }
}

/// What is inverted: what is pointed at, else the cube.
struct Lit<'a> {
    span: Option<&'a Span>,
    cube: Option<usize>,
}

impl Lit<'_> {
    fn has(&self, other: &Span) -> bool {
        match self.span {
            Some(span) => span.covers(other),
            None => self.cube.is_some() && self.cube == other.cube,
        }
    }
}

/// A row of bytes.
struct Row {
    /// Index of the first byte.
    first: usize,
    area: Rect,
    /// Width of the column of offsets.
    offset: f32,
}

impl Row {
    /// Where a byte stands.
    fn cell(&self, column: usize) -> Rect {
        let pitch = (self.area.width() - self.offset) / ROW_BYTES as f32;
        let left = self.area.left() + self.offset + column as f32 * pitch;
        Rect::from_min_size(
            Pos2::new(left, self.area.top()),
            vec2(pitch - CELL_GAP, self.area.height()),
        )
    }

    /// The bit at a point, if a byte is there.
    fn bit_at(&self, at: Pos2) -> Option<usize> {
        (0..ROW_BYTES).find_map(|column| {
            let cell = self.cell(column);
            let bit = (at.x - cell.left()) / cell.width() * 8.0;
            let is_there = (0.0..8.0).contains(&bit);
            is_there.then(|| (self.first + column) * 8 + bit as usize)
        })
    }

    fn draw(&self, painter: &Painter, look: Look, bytes: &[u8], bits: &Bits, lit: &Lit<'_>) {
        let line = self.area.with_max_y(self.area.top() + LINE);
        let offsets = line.with_max_x(line.left() + self.offset - OFFSET_GAP);
        let offset = grouped(self.first as f64);
        text(painter, offsets, At::Right(0.0), offset, SMALL, look.muted);
        let colors = look.theme.colors();
        for (column, byte) in bytes[self.first..].iter().take(ROW_BYTES).enumerate() {
            let cell = self.cell(column);
            let hex = |painter: &Painter, color: Color32| {
                let middle = cell.with_max_y(line.bottom()).center();
                let font = FontId::monospace(SMALL);
                painter.text(
                    middle,
                    Align2::CENTER_CENTER,
                    format!("{byte:02x}"),
                    font,
                    color,
                );
            };
            hex(painter, look.ink);
            let cells: [_; 8] = array::from_fn(|bit| {
                let span = bits.span_at((self.first + column) * 8 + bit);
                let kind = span.and_then(|span| span.kind);
                (kind, span.is_some_and(|span| lit.has(span)))
            });
            let mut left = cell.left();
            for run in cells.chunk_by(|one, other| one == other) {
                let (kind, is_lit) = run[0];
                let right = left + run.len() as f32 * cell.width() / 8.0;
                let whole = Rect::from_x_y_ranges(left..=right, line.y_range());
                let below = Rect::from_min_max(whole.left_bottom(), whole.right_bottom());
                let color = kind.map_or(look.line, |kind| egui_color(colors.bit_kind(kind)));
                painter.rect_filled(below.with_max_y(below.top() + 3.0), 0.0, color);
                if is_lit {
                    painter.rect_filled(whole, 0.0, look.ink);
                    let clip = painter.clip_rect().intersect(whole);
                    hex(&painter.with_clip_rect(clip), look.ground);
                }
                left = right;
            }
        }
    }
}

/// Bytes in a row.
const ROW_BYTES: usize = 15;

/// Logical points.
pub(super) const ROW_HEIGHT: f32 = 22.0;
const CELL_GAP: f32 = 2.0;
const OFFSET_GAP: f32 = 9.0;

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
            let owned = (0..all).filter(|&bit| bits.span_at(bit).is_some()).count();
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
