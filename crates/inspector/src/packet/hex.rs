//! Hex view of a packet's bytes, with the kind of each bit.

use std::array;

use cubewire_codec::{BitItem, BitKind};

use super::rows::whole_bits;
use super::span::Span;
use crate::prelude::*;

/// Draws the bytes, as many per row as fit. Below each byte, its eight bits have the colours of their kinds. Bits of
/// the hovered span or of the selected body are inverted. Arithmetically coded symbols share bits, so their bits have
/// no kind.
///
/// Returns the span of the bit under the pointer, `Some(None)` for a shared bit, and `None` if the pointer is
/// elsewhere.
pub(super) fn draw<'a>(
    ui: &mut Ui,
    bytes: &[u8],
    bits: &'a Bits,
    height: f32,
    in_chart: Option<&'a Span>,
    highlight: Highlight,
) -> Option<Option<&'a Span>> {
    let offset = width(ui, &grouped(bytes.len() as f64), SMALL) + OFFSET_GAP;
    let columns = columns(ui.available_width() - offset);
    let count = bytes.len().div_ceil(columns);
    let mut pointed = None;
    list(ui, "bytes of the packet", height, ROW_HEIGHT, count, |ui, shown| {
        let size = vec2(ui.available_width(), ROW_HEIGHT);
        let rows = shown.map(|row| {
            let (area, response) = ui.allocate_exact_size(size, Sense::hover());
            let row = Row { first: row * columns, columns, area, offset };
            let bit = response.hover_pos().and_then(|at| row.bit_at(at));
            let bit = bit.filter(|bit| bit / 8 < bytes.len());
            pointed = pointed.or(bit.map(|bit| bits.span_at(bit)));
            row
        });
        let rows: Vec<_> = rows.collect();
        let span = pointed.flatten().or(in_chart);
        let body = highlight.hovered.or(highlight.selected);
        let is_lit = |other: &Span| match span {
            Some(span) => span.covers(other),
            None => body.is_some() && body == other.body,
        };
        for row in rows {
            row.draw(ui, bytes, bits, &is_lit);
        }
    });
    pointed
}

/// Returns the number of bytes that fit in a row of this width, as a multiple of four if at least four fit.
const fn columns(room: f32) -> usize {
    match (room / 20.0).max(1.0) as usize {
        few @ ..4 => few,
        fitting => fitting / 4 * 4,
    }
}

/// Spans of the packet's bits that belong to one item each, in packet order.
pub(super) struct Bits(Vec<Span>);

fn end(span: &Span) -> usize {
    (span.offset.unwrap_or(0.0) + span.bits) as usize
}

impl Bits {
    pub(super) fn of(items: impl IntoIterator<Item = BitItem>, bytes: &[u8]) -> Self {
        let mut spans = whole_bits(items);
        let is_whole = spans.last().map_or(0, end) == bytes.len() * 8;
        if !is_whole {
            // Arithmetic coding starts at a byte boundary. A later item with a whole number of bits may still be a
            // coded symbol.
            let is_bin = |span: &Span| {
                let kinds = [BitKind::Inputs, BitKind::State, BitKind::Selection];
                span.body.is_some() || span.kind.is_some_and(|kind| kinds.contains(&kind))
            };
            spans.truncate(spans.iter().position(is_bin).unwrap_or(spans.len()));
        }
        Self(spans)
    }

    /// Returns the span of a bit, or `None` if the bit is shared.
    fn span_at(&self, bit: usize) -> Option<&Span> {
        let span = self.0.get(self.0.partition_point(|span| end(span) <= bit))?;
        (span.offset? <= bit as f64).then_some(span)
    }
}

struct Row {
    first: usize,
    columns: usize,
    area: Rect,
    offset: f32,
}

impl Row {
    fn cell(&self, column: usize) -> Rect {
        let pitch = (self.area.width() - self.offset) / self.columns as f32;
        let left = self.area.left() + self.offset + column as f32 * pitch;
        Rect::from_min_size(Pos2::new(left, self.area.top()), vec2(pitch - 2.0, self.area.height()))
    }

    /// Returns the index of the bit at a point, or `None` between bytes.
    fn bit_at(&self, at: Pos2) -> Option<usize> {
        (0..self.columns).find_map(|column| {
            let cell = self.cell(column);
            let bit = (at.x - cell.left()) / cell.width() * 8.0;
            (0.0..8.0).contains(&bit).then(|| (self.first + column) * 8 + bit as usize)
        })
    }

    fn draw(&self, ui: &Ui, bytes: &[u8], bits: &Bits, is_lit: &impl Fn(&Span) -> bool) {
        let (look, painter) = (Look::of(ui), ui.painter());
        let line = self.area.with_max_y(self.area.top() + LINE);
        let offsets = line.with_max_x(line.left() + self.offset - OFFSET_GAP);
        text(painter, offsets, At::Right(0.0), grouped(self.first as f64), SMALL, look.muted);
        let font = FontId::monospace(SMALL);
        for (column, byte) in bytes[self.first..].iter().take(self.columns).enumerate() {
            let cell = self.cell(column);
            let middle = cell.with_max_y(line.bottom()).center();
            let hex = |painter: &Painter, color: Color32| {
                let hex = format!("{byte:02x}");
                painter.text(middle, Align2::CENTER_CENTER, hex, font.clone(), color);
            };
            hex(painter, look.ink);
            let cells: [_; 8] = array::from_fn(|bit| {
                let span = bits.span_at((self.first + column) * 8 + bit);
                (span.and_then(|span| span.kind), span.is_some_and(is_lit))
            });
            let mut left = cell.left();
            for run in cells.chunk_by(|one, other| one == other) {
                let (kind, is_lit) = run[0];
                let right = left + run.len() as f32 * cell.width() / 8.0;
                let whole = Rect::from_x_y_ranges(left..=right, line.y_range());
                let below = line.bottom()..=line.bottom() + 3.0;
                let color = kind.map_or(look.line, |kind| look.kind(kind));
                painter.rect_filled(Rect::from_x_y_ranges(left..=right, below), 0.0, color);
                if is_lit {
                    painter.rect_filled(whole, 0.0, look.ink);
                    hex(&painter.with_clip_rect(painter.clip_rect().intersect(whole)), look.ground);
                }
                left = right;
            }
        }
    }
}

/// Logical points.
pub const ROW_HEIGHT: f32 = 20.0;
const OFFSET_GAP: f32 = 9.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::packet::tests::packet_of;

    #[test]
    fn a_row_has_as_many_bytes_as_fit() {
        assert_eq!([-1.0, 79.0, 344.0, 1_000.0].map(columns), [1, 3, 16, 48]);
    }

    #[test]
    fn only_bit_packed_bits_have_an_item() {
        for rung in ladder::all() {
            let packet = packet_of(rung.stages);
            let bits = Bits::of(packet.ledger.items().unwrap().iter().copied(), &packet.bytes);
            let all = packet.bytes.len() * 8;
            let owned = (0..all).filter(|&bit| bits.span_at(bit).is_some()).count();
            if rung.stages.delta.is_arithmetic() {
                // Header and check.
                assert_eq!(owned % 8, 0, "{}", rung.name);
                assert!((32..=64).contains(&owned), "{}: {owned}", rung.name);
            } else {
                assert_eq!(owned, all, "{}", rung.name);
            }
        }
    }
}
