//! A packet, bit by bit: an icicle chart of what its bits are for, its bytes, and what each body takes.

mod hex;
mod icicle;
mod rows;
mod span;

use std::sync::Arc;

use bevy_egui::egui::{Id, Ui};
use cubewire_codec::BitItem;

pub use hex::ROW_HEIGHT as HEX_ROW;
pub use rows::{Order, fields};
pub use span::{Span, amount, short_form};

use crate::kept::kept;
use crate::names::{Lit, Names};
use crate::style::{GAP, LINE, Look, SMALL};
use crate::widgets::{At, Row, list};
use hex::Bits;
use icicle::Top;

/// A packet that is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a, I> {
    /// Tells it from all others.
    pub id: (u64, usize),
    pub bytes: &'a [u8],
    /// Its bits, in their order.
    pub items: I,
    pub names: Names<'a>,
    /// Height of its bytes, in logical points.
    pub hex_height: f32,
}

/// Draws the chart and the bytes, and marks the body under the pointer.
pub fn draw<I: Iterator<Item = BitItem> + Clone>(
    ui: &mut Ui,
    order: &mut Order,
    packet: Shown<'_, I>,
    lit: &mut Lit,
) {
    let Shown { bytes, names, .. } = packet;
    let top = Top::draw(ui, bytes.len() as f64 * 8.0, order);
    ui.add_space(1.0);
    let id = Id::new("rows and bits of the packet");
    let parts = kept(ui, id, (packet.id, *order), || {
        let rows = rows::rows(packet.items.clone(), *order);
        Arc::new((rows, Bits::of(packet.items.clone(), bytes)))
    });
    let (rows, bits) = &*parts;
    let in_chart = icicle::draw(ui, rows, names, *lit);
    ui.add_space(2.0 * GAP);
    if let Some(span) = in_chart {
        lit.hovered = span.body;
    }
    let in_bytes = hex::draw(ui, bytes, bits, packet.hex_height, in_chart, *lit);
    match in_chart.map(Some).or(in_bytes) {
        Some(Some(span)) => {
            lit.hovered = span.body;
            top.say(ui, &span.words(names));
        }
        Some(None) => top.say(ui, &["shared by several values, in fractions of a bit"]),
        None if top.is_hovered() => top.say(ui, &[order.texts()[1]]),
        None => {
            let [long, short] = ["wheel zooms, drag moves", "double click fits"];
            top.say(ui, &[&format!("{long}, {short}"), long]);
        }
    }
}

/// A row for each body that a packet carries, the one with the most bits first. A click selects it.
pub fn bodies(
    ui: &mut Ui,
    items: impl IntoIterator<Item = BitItem>,
    names: Names<'_>,
    height: f32,
    lit: &mut Lit,
) {
    let bodies = of_bodies(items);
    let look = Look::of(ui);
    let most = bodies.first().map_or(1.0, |body| body.1);
    list(
        ui,
        "bodies of the packet",
        height,
        LINE,
        bodies.len(),
        |ui, shown| {
            for &(body, bits) in &bodies[shown] {
                let (name, bits_said) = (names.body(body), amount(bits));
                let said = format!("{name}: {bits_said} bits");
                let row = Row::button(ui, LINE, &said, lit.selected == Some(body));
                let room = row.rect.width() - NAME - FIGURE;
                row.bar(ui, NAME, NAME + room * (bits / most) as f32, look.quiet);
                row.text(ui, At::Left(0.0), name, SMALL, look.ink);
                row.text(ui, At::Right(0.0), bits_said, SMALL, look.ink);
                if row.response.hovered() {
                    lit.hovered = Some(body);
                }
                if row.response.clicked() {
                    lit.selected = (lit.selected != Some(body)).then_some(body);
                }
            }
        },
    );
}

/// Bodies with all their bits, the most first.
fn of_bodies(items: impl IntoIterator<Item = BitItem>) -> Vec<(usize, f64)> {
    let mut bits = std::collections::BTreeMap::new();
    for item in items {
        if let Some(body) = item.body {
            *bits.entry(usize::from(body)).or_insert(0.0) += item.bits;
        }
    }
    let mut bodies: Vec<(usize, f64)> = bits.into_iter().collect();
    bodies.sort_by(|a, b| b.1.total_cmp(&a.1));
    bodies
}

/// Logical points, from the left and from the right.
const NAME: f32 = 120.0;
const FIGURE: f32 = 56.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::{BitKind, ladder};

    use super::*;
    use crate::testing::packet_of;

    #[test]
    fn bodies_have_all_bits_but_those_of_the_packet_and_the_dearest_is_first() {
        for rung in [ladder::DELTA, ladder::PREDICTED] {
            let packet = packet_of(rung.stages);
            let items = packet.ledger.items().unwrap();
            let bodies = of_bodies(items.iter().copied());
            assert!(bodies.is_sorted_by(|a, b| a.1 >= b.1), "{bodies:?}");
            let of_packet = items.iter().filter(|item| item.body.is_none());
            let of_packet: f64 = of_packet.map(|item| item.bits).sum();
            let of_bodies: f64 = bodies.iter().map(|body| body.1).sum();
            assert!((of_packet + of_bodies - packet.ledger.total()).abs() < 1e-6);
            assert!(of_packet >= packet.ledger.kind(BitKind::Header));
        }
    }
}
