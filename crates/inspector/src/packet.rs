//! Bits of a packet: an icicle chart by kind and body, the bytes in hex, and the bits of each body.

mod hex;
mod icicle;
mod rows;
mod span;

use std::collections::BTreeMap;

use cubewire_codec::{BitItem, BitKind};

pub use hex::ROW_HEIGHT as HEX_ROW;
pub use rows::{Order, fields};
pub use span::{Span, amount, short_form};

use crate::prelude::*;
use hex::Bits;
use icicle::Top;

/// Height of the chart above the bytes, in logical points.
pub const CHART: f32 = ROW + 1.0 + icicle::HEIGHT + 2.0 * GAP;

/// Number of packets kept for stepping through while one is held.
pub const HELD: usize = 32;

#[derive(Clone, Copy, Debug)]
pub struct PacketView<'a, I> {
    /// Unique among packets.
    pub id: (u64, usize),
    pub bytes: &'a [u8],
    pub items: I,
    pub names: Names<'a>,
    pub hex_height: f32,
}

/// Draws the chart and the bytes, and sets the hovered body.
pub fn draw<I: Iterator<Item = BitItem> + Clone>(
    ui: &mut Ui,
    order: &mut Order,
    packet: PacketView<'_, I>,
    highlight: &mut Highlight,
) {
    let PacketView { bytes, names, .. } = packet;
    let top = Top::draw(ui, bytes.len() as f64 * 8.0, order);
    ui.add_space(1.0);
    let parts = kept(ui, Id::new("rows and bits of the packet"), (packet.id, *order), || {
        Arc::new((rows::rows(packet.items.clone(), *order), Bits::of(packet.items.clone(), bytes)))
    });
    let (rows, bits) = &*parts;
    let in_chart = icicle::draw(ui, rows, names, *highlight);
    ui.add_space(2.0 * GAP);
    if let Some(span) = in_chart {
        highlight.hovered = span.body;
    }
    let in_bytes = hex::draw(ui, bytes, bits, packet.hex_height, in_chart, *highlight);
    match in_chart.map(Some).or(in_bytes) {
        Some(Some(span)) => {
            highlight.hovered = span.body;
            top.say(ui, &span.words(names));
        }
        Some(None) => top.say(ui, &["shared by several values, in fractions of a bit"]),
        None if top.row.response.hovered() => top.say(ui, &[order.texts()[1]]),
        None => {
            let [long, short] = ["wheel zooms, drag moves", "double click fits"];
            top.say(ui, &[&format!("{long}, {short}"), long]);
        }
    }
}

/// Draws a row for each body with bits in the packet, most bits first. A body is muted if its bits only say that it is
/// not sent. A click selects a body.
pub fn bodies(
    ui: &mut Ui,
    items: impl IntoIterator<Item = BitItem>,
    names: Names<'_>,
    height: f32,
    highlight: &mut Highlight,
) {
    let mut bodies = of_bodies(items);
    let mut counts = String::new();
    if let Some(known) = names.bodies {
        let is_there = |slot| known.life(slot).is_some();
        // The selection also takes fractions of bits for empty slots.
        bodies.retain(|body| body.is_sent || is_there(body.body));
        let sent = bodies.iter().filter(|body| body.is_sent).count();
        let all = (0..known.len()).filter(|&slot| is_there(slot)).count();
        counts = format!("{sent} of {all} sent");
    }
    let look = Look::of(ui);
    let most = bodies.first().map_or(1.0, |body| body.bits);
    let header = Row::show(ui, LINE, "bodies by bits");
    header.text(ui, At::Left(0.0), names.nouns[0], SMALL, look.muted);
    header.text(ui, At::Left(NAME), counts, SMALL, look.muted);
    header.text(ui, At::Right(0.0), "bits", SMALL, look.muted);
    list(ui, "bodies of the packet", height - LINE, LINE, bodies.len(), |ui, shown| {
        for &Body { body, bits, is_sent } in &bodies[shown] {
            let (name, bits_said) = (names.body(body), amount(bits));
            let (said, ink) = match is_sent {
                true => (format!("{name}: {bits_said} bits"), look.ink),
                false => (format!("{name}, not sent: {bits_said} bits"), look.muted),
            };
            let row = Row::button(ui, LINE, &said, highlight.selected == Some(body));
            let room = row.rect.width() - NAME - FIGURE;
            row.bar(ui, NAME, NAME + room * (bits / most) as f32, look.quiet);
            row.text(ui, At::Left(0.0), name, SMALL, ink);
            row.text(ui, At::Right(0.0), bits_said, SMALL, ink);
            if row.response.hovered() {
                highlight.hovered = Some(body);
            }
            if row.response.clicked() {
                highlight.selected = (highlight.selected != Some(body)).then_some(body);
            }
        }
    });
}

#[derive(Clone, Copy, Debug)]
struct Body {
    body: usize,
    bits: f64,
    /// Whether the packet contains the body, as opposed to only a bit that says it does not.
    is_sent: bool,
}

fn of_bodies(items: impl IntoIterator<Item = BitItem>) -> Vec<Body> {
    let mut bodies = BTreeMap::new();
    for item in items {
        if let Some(body) = item.body.map(usize::from) {
            let of_body = bodies.entry(body).or_insert(Body { body, bits: 0.0, is_sent: false });
            of_body.bits += item.bits;
            of_body.is_sent |= item.kind != BitKind::Selection;
        }
    }
    let mut bodies: Vec<Body> = bodies.into_values().collect();
    bodies.sort_by(|a, b| b.bits.total_cmp(&a.bits));
    bodies
}

/// Left edge of the bars, and the space at their right, in logical points.
const NAME: f32 = 120.0;
const FIGURE: f32 = 56.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::{
        BitLedger, BodyState, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot,
        Stages, ladder,
    };

    use super::*;

    /// Returns a packet of ten cubes: the first has moved slightly, the second far, and the third has turned.
    pub(super) fn packet_of(stages: Stages) -> Packet {
        let cube =
            |x: usize| BodyState { position: [x as f32, 1.0, 2.0].into(), ..BodyState::default() };
        let mut world = Snapshot { bodies: (0..10).map(cube).collect() };
        let mut encoder = Encoder::new(Plan::cubes(), world.clone(), Limits::default()).unwrap();
        world.bodies[0].position.x += 0.01;
        world.bodies[1].position.x += 10.0;
        // 0.3 radians about x.
        world.bodies[2].orientation = glam::Quat::from_rotation_x(0.3);
        let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
        current.quantize(&world, stages.precision()).unwrap();
        let mut packet = Packet { ledger: BitLedger::itemized(), ..Packet::default() };
        encoder.encode(Sequence(7), stages, &current, None, &mut packet, None).unwrap();
        packet
    }

    #[test]
    fn bodies_are_sorted_and_sum_to_the_packet() {
        for rung in [ladder::DELTA, ladder::PREDICTED] {
            let packet = packet_of(rung.stages);
            let items = packet.ledger.items().unwrap();
            let bodies = of_bodies(items.iter().copied());
            assert!(bodies.is_sorted_by(|a, b| a.bits >= b.bits), "{bodies:?}");
            // Three of the ten bodies have moved. Each of the others takes one bit or less, which says that it has not.
            let sent = bodies.iter().map(|body| body.is_sent);
            assert!(sent.is_sorted_by(|a, b| a >= b), "{bodies:?}");
            assert_eq!(bodies.iter().filter(|body| body.is_sent).count(), 3, "{bodies:?}");
            assert!(bodies.iter().all(|body| body.is_sent || body.bits <= 1.0));
            let of_packet = items.iter().filter(|item| item.body.is_none());
            let of_packet: f64 = of_packet.map(|item| item.bits).sum();
            let of_bodies: f64 = bodies.iter().map(|body| body.bits).sum();
            assert!((of_packet + of_bodies - packet.ledger.total()).abs() < 1e-6);
            assert!(of_packet >= packet.ledger.kind(BitKind::Header));
        }
    }
}
