//! The rows of the icicle chart: spans of bits, each row dividing those of the row above.

use cubewire_codec::{BitItem, BitKind};

use super::span::Span;
use crate::replication::PacketDetail;

/// In which order the chart has the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::panel) enum Order {
    /// Kind, cube, component: equal kinds together, the cubes with the most bits first.
    #[default]
    Kind,
    /// Cube, component, as they lie in the packet.
    InOrder,
}

impl Order {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Kind => Self::InOrder,
            Self::InOrder => Self::Kind,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kind => "by kind",
            Self::InOrder => "in order",
        }
    }

    /// What a click would change it to.
    pub(super) const fn offer(self) -> &'static str {
        match self.next() {
            Self::Kind => "click for kinds, most bits first",
            Self::InOrder => "click for the order of the packet",
        }
    }
}

/// The name of the part of a field that is of no component.
const PREFIX: &str = "prefix";

/// The fields and their parts up to the first fraction of a bit, as they lie in the packet.
pub(super) fn whole_bits(packet: &PacketDetail) -> Vec<Span> {
    let items = with_offsets(packet);
    let whole = items
        .iter()
        .take_while(|(_, item)| item.bits.fract() == 0.0);
    let mut spans = Vec::with_capacity(2 * items.len());
    for (offset, item) in whole {
        spans.extend(part_spans(item, &Span::of(item, *offset)));
    }
    spans
}

/// Every row. Each has all of the packet's bits.
pub(super) fn rows(packet: &PacketDetail, order: Order) -> Vec<Vec<Span>> {
    let mut items = with_offsets(packet);
    if order == Order::Kind {
        sort_by_kind(&mut items);
    }
    let fields: Vec<_> = items
        .iter()
        .map(|(offset, item)| Span::of(item, *offset))
        .collect();
    let mut parts = Vec::with_capacity(2 * items.len());
    for ((_, item), field) in items.iter().zip(&fields) {
        parts.extend(part_spans(item, field));
    }
    match order {
        Order::Kind => {
            let kinds = merge(
                &fields,
                |a, b| a.kind == b.kind,
                |span| Span { cube: None, ..span },
            );
            let cubes = merge(
                &fields,
                |a, b| (a.kind, a.cube) == (b.kind, b.cube),
                |span| span,
            );
            vec![kinds, cubes, laid_out(parts)]
        }
        Order::InOrder => vec![cubes_in_order(&fields), laid_out(parts)],
    }
}

/// Sorts items by kind, then by the bits that their cube has of it, the most first.
fn sort_by_kind(items: &mut [(f64, BitItem)]) {
    let key = |item: &BitItem| (item.kind.index(), item.body);
    items.sort_by_key(|(_, item)| key(item));
    let mut of_cubes = Vec::with_capacity(items.len());
    for run in items.chunk_by(|(_, a), (_, b)| key(a) == key(b)) {
        let bits: f64 = run.iter().map(|(_, item)| item.bits).sum();
        of_cubes.extend(run.iter().map(|&item| (bits, item)));
    }
    of_cubes.sort_by(|(of_a, (_, a)), (of_b, (_, b))| {
        let kinds = a.kind.index().cmp(&b.kind.index());
        kinds.then(of_b.total_cmp(of_a)).then(a.body.cmp(&b.body))
    });
    for (item, (_, sorted)) in items.iter_mut().zip(of_cubes) {
        *item = sorted;
    }
}

/// One span for all fields of a cube that follow each other, and one for what says that it is in the packet.
fn cubes_in_order(fields: &[Span]) -> Vec<Span> {
    let is_selection = |span: &Span| span.kind == Some(BitKind::Selection);
    let is_same = |a: &Span, b: &Span| match (a.cube, b.cube) {
        (None, None) => a.kind == b.kind,
        (a_cube, b_cube) => a_cube == b_cube && is_selection(a) == is_selection(b),
    };
    merge(fields, is_same, |span| match span.cube {
        Some(_) if !is_selection(&span) => Span { kind: None, ..span },
        _ => span,
    })
}

/// The items, each with its offset in the packet.
fn with_offsets(packet: &PacketDetail) -> Vec<(f64, BitItem)> {
    let mut at = 0.0;
    packet
        .items()
        .map(|item| {
            let offset = at;
            at += item.bits;
            (offset, item)
        })
        .collect()
}

/// The parts of an item in the order of a bit-packed packet, with the bits of each: the prefix, if there is
/// one, and the components by name; or the item itself, without a name, if it has no components.
fn parts(item: &BitItem) -> impl Iterator<Item = (Option<&'static str>, f64)> {
    let named = item.kind.component_names().zip(item.components);
    let parts = match named {
        Some(([a, b, c], components)) => {
            let prefix = item.prefix();
            // Differences of rounded numbers may be tiny where there is no prefix.
            let prefix = (prefix > 1e-9).then_some((Some(PREFIX), prefix));
            let [first, second, third] = components;
            [
                prefix,
                Some((Some(a), first)),
                Some((Some(b), second)),
                Some((Some(c), third)),
            ]
        }
        None => [Some((None, item.bits)), None, None, None],
    };
    parts.into_iter().flatten()
}

/// The spans of an item's parts; `field` is that of the item as a whole.
///
/// Bit-packed, each has an offset. Arithmetically coded, the components share bits, and those of a position are
/// coded in another order: only the prefix has an offset, where the field begins.
fn part_spans(item: &BitItem, field: &Span) -> impl Iterator<Item = Span> {
    let is_whole = |bits: &f64| bits.fract() == 0.0;
    let components = item.components.unwrap_or_default();
    let has_offsets = is_whole(&item.bits) && components.iter().all(is_whole);
    let mut offset = field.offset;
    parts(item).map(move |(part, bits)| {
        let at = offset.filter(|_| has_offsets || part.is_none_or(|name| name == PREFIX));
        offset = offset.map(|offset| offset + bits);
        Span {
            bits,
            part,
            components: field.components.filter(|_| part.is_none()),
            offset: at,
            ..field.clone()
        }
    })
}

/// One span for each run of spans that belong together. Its attributes are those of the first, without what
/// `clear` removes.
fn merge(
    spans: &[Span],
    is_same: impl Fn(&Span, &Span) -> bool,
    clear: impl Fn(Span) -> Span,
) -> Vec<Span> {
    let runs = spans.chunk_by(is_same).map(|run| {
        let bits = run.iter().map(|span| span.bits).sum();
        let is_one = run.len() == 1;
        let same_form = run.iter().all(|span| span.form == run[0].form);
        clear(Span {
            bits,
            offset: run[0].offset.filter(|_| is_one),
            components: run[0].components.filter(|_| is_one),
            form: run[0].form.filter(|_| same_form),
            ..run[0].clone()
        })
    });
    laid_out(runs.collect())
}

/// The spans one after another.
fn laid_out(mut spans: Vec<Span>) -> Vec<Span> {
    let mut at = 0.0;
    for span in &mut spans {
        span.start = at;
        at += span.bits;
    }
    spans
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::panel::tests::packet_of;

    #[test]
    fn every_row_has_all_bits_of_the_packet_on_every_rung() {
        for rung in ladder::all() {
            let packet = packet_of(rung.stages);
            let detail = packet.detail.as_deref().unwrap();
            let all = packet.payload_bytes as f64 * 8.0;
            for order in [Order::Kind, Order::InOrder] {
                let rows = rows(detail, order);
                for row in &rows {
                    let sum: f64 = row.iter().map(|span| span.bits).sum();
                    assert!((sum - all).abs() < 0.01, "{}: {sum} of {all}", rung.name);
                    let mut at = 0.0;
                    for span in row {
                        assert!((span.start - at).abs() < 1e-6);
                        at += span.bits;
                    }
                }
                let kinds: Vec<_> = rows.last().unwrap().iter().map(|span| span.kind).collect();
                assert!(kinds.iter().all(Option::is_some));
            }
        }
    }

    #[test]
    fn by_kind_there_is_one_span_for_each_kind_and_the_dearest_cube_is_first() {
        let packet = packet_of(ladder::RELATIVE_ORIENTATION.stages);
        let rows = rows(packet.detail.as_deref().unwrap(), Order::Kind);
        let kinds: Vec<_> = rows[0]
            .iter()
            .map(|span| span.kind.unwrap().index())
            .collect();
        assert!(kinds.is_sorted_by(|a, b| a < b), "{kinds:?}");
        for span in &rows[0] {
            assert_eq!(span.bits, packet.ledger.kind(span.kind.unwrap()));
        }
        let positions: Vec<_> = rows[1]
            .iter()
            .filter(|span| span.kind == Some(BitKind::Position))
            .map(|span| span.bits)
            .collect();
        assert!(positions.is_sorted_by(|a, b| a >= b), "{positions:?}");
    }

    #[test]
    fn a_span_covers_what_has_its_kind_its_cube_and_its_part() {
        let packet = packet_of(ladder::SMALLEST_THREE.stages);
        let detail = packet.detail.as_deref().unwrap();
        let bits = whole_bits(detail);
        for row in rows(detail, Order::Kind) {
            for span in row {
                let covered = bits.iter().filter(|part| span.covers(part));
                let sum: f64 = covered.map(|part| part.bits).sum();
                assert_eq!(sum, span.bits, "{span:?}");
            }
        }
    }

    /// Name, bits and offset of each part of a field of cube 1 in the lowest row, in the order of the packet.
    fn parts_of(
        packet: &PacketDetail,
        kind: BitKind,
    ) -> Vec<(Option<&'static str>, f64, Option<f64>)> {
        let rows = rows(packet, Order::InOrder);
        let spans = rows.last().unwrap().iter();
        spans
            .filter(|span| span.kind == Some(kind) && span.cube == Some(1))
            .map(|span| (span.part, span.bits, span.offset))
            .collect()
    }

    #[test]
    fn the_lowest_row_divides_fields_into_prefix_and_components() {
        let packet = packet_of(ladder::SMALLEST_THREE.stages);
        let detail = packet.detail.as_deref().unwrap();
        let parts = parts_of(detail, BitKind::Orientation);
        let names = parts.iter().map(|&(name, ..)| name);
        let expected = ["prefix", "a", "b", "c"].map(Some);
        assert!(names.eq(expected), "{parts:?}");
        let (_, _, first) = parts[0];
        let first = first.unwrap();
        let offsets = parts.iter().map(|&(.., offset)| offset.unwrap() - first);
        assert!(offsets.eq([0.0, 2.0, 11.0, 20.0]), "{parts:?}");
        // As it is, a position has no prefix.
        let parts = parts_of(detail, BitKind::Position);
        let names = parts.iter().map(|&(name, ..)| name);
        assert!(names.eq(["x", "y", "z"].map(Some)), "{parts:?}");
        // Four floats are one.
        let packet = packet_of(ladder::UNCOMPRESSED.stages);
        let detail = packet.detail.as_deref().unwrap();
        let parts = parts_of(detail, BitKind::Orientation);
        assert!(matches!(parts[..], [(None, 128.0, Some(_))]), "{parts:?}");
    }

    #[test]
    fn arithmetically_coded_components_have_no_offset() {
        for rung in ladder::all().filter(|rung| rung.stages.delta.is_arithmetic()) {
            let packet = packet_of(rung.stages);
            let parts = parts_of(packet.detail.as_deref().unwrap(), BitKind::Position);
            let offsets: Vec<_> = parts.iter().map(|&(.., offset)| offset.is_some()).collect();
            assert_eq!(offsets, [true, false, false, false], "{parts:?}");
            // Cube 1 moved along x.
            assert!(parts[1].1 > parts[2].1 && parts[1].1 > parts[3].1);
        }
    }
}
