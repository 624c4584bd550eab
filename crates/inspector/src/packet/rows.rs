//! Rows of the icicle chart. Each row divides the spans of the row above.

use std::array;
use std::cmp::Reverse;
use std::collections::HashMap;

use cubewire_codec::{BitItem, BitKind};

use super::span::Span;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By kind, body and component. Bits of a kind are together; within it, bodies with the most bits come first.
    #[default]
    Kind,
    /// By body and component, in packet order.
    InOrder,
}

impl Order {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Kind => Self::InOrder,
            Self::InOrder => Self::Kind,
        }
    }

    /// Returns its name, and the hint for a click.
    pub(super) const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Kind => ["by kind", "click for the order of the packet"],
            Self::InOrder => ["in order", "click for kinds, most bits first"],
        }
    }
}

/// Name of the bits of a field that belong to no component.
const PREFIX: &str = "prefix";

pub fn fields(items: impl IntoIterator<Item = BitItem>) -> impl Iterator<Item = Span> {
    let mut at = 0.0;
    items.into_iter().map(move |item| {
        let offset = at;
        at += item.bits;
        Span::of(&item, offset)
    })
}

/// Returns the parts of the fields in packet order, up to the first field with a fractional number of bits.
pub(super) fn whole_bits(items: impl IntoIterator<Item = BitItem>) -> Vec<Span> {
    fields(items).take_while(|field| is_whole(field.bits)).flat_map(parts).collect()
}

/// Returns the rows. Each has all bits of the packet.
pub(super) fn rows(items: impl IntoIterator<Item = BitItem>, order: Order) -> Vec<Vec<Span>> {
    let mut fields: Vec<Span> = fields(items).collect();
    let mut rows = match order {
        Order::Kind => {
            sort_by_kind(&mut fields);
            vec![
                merge(&fields, |span| (None, span.kind)),
                merge(&fields, |span| (span.body, span.kind)),
            ]
        }
        // Consecutive fields of a body form one span, except the selection bits.
        Order::InOrder => vec![merge(&fields, |span| {
            let is_one = span.body.is_none() || span.kind == Some(BitKind::Selection);
            (span.body, span.kind.filter(|_| is_one))
        })],
    };
    rows.push(laid_out(fields.into_iter().flat_map(parts).collect()));
    rows
}

/// Sorts fields by kind, then by their body's bits of this kind, largest first.
fn sort_by_kind(fields: &mut [Span]) {
    let mut of_bodies = HashMap::new();
    for field in &*fields {
        *of_bodies.entry((field.kind, field.body)).or_insert(0.0) += field.bits;
    }
    fields.sort_by_cached_key(|field| {
        let bits = of_bodies[&(field.kind, field.body)];
        // Nonnegative floats compare like their bit patterns.
        (field.kind.map(BitKind::index), Reverse(f64::to_bits(bits)), field.body)
    });
}

const fn is_whole(bits: f64) -> bool {
    bits.fract() == 0.0
}

/// Splits a field into its parts in the order of a bit-packed packet: prefix, if any, then the named components. A
/// field without components is returned whole, without a name.
///
/// Bit-packed parts have offsets. Arithmetically coded components share bits, and a position's components are coded in
/// another order. Of such parts only the prefix has an offset, the start of the field.
fn parts(field: Span) -> impl Iterator<Item = Span> {
    let names = field.kind.and_then(BitKind::component_names);
    let parts = match names.zip(field.components) {
        Some((names, components)) => {
            let prefix = field.bits - components.iter().sum::<f64>();
            // Without a prefix, rounding errors can leave a tiny difference.
            let prefix = (prefix > 1e-9).then_some((Some(PREFIX), prefix));
            let [a, b, c] = array::from_fn(|index| Some((Some(names[index]), components[index])));
            [prefix, a, b, c]
        }
        None => [Some((None, field.bits)), None, None, None],
    };
    let components = field.components.unwrap_or_default();
    let has_offsets = is_whole(field.bits) && components.into_iter().all(is_whole);
    let mut offset = field.offset;
    parts.into_iter().flatten().map(move |(part, bits)| {
        let at = offset.filter(|_| has_offsets || part.is_none_or(|name| name == PREFIX));
        offset = offset.map(|offset| offset + bits);
        Span {
            bits,
            part,
            components: field.components.filter(|_| part.is_none()),
            offset: at,
            ..field
        }
    })
}

/// Merges each run of fields with an equal `key` (body and kind) into one span.
fn merge(fields: &[Span], key: impl Fn(&Span) -> (Option<usize>, Option<BitKind>)) -> Vec<Span> {
    let runs = fields.chunk_by(|a, b| key(a) == key(b)).map(|run| {
        let (body, kind) = key(&run[0]);
        let whole = match run {
            &[only] => only,
            several => Span {
                bits: several.iter().map(|span| span.bits).sum(),
                form: several[0]
                    .form
                    .filter(|&form| several.iter().all(|it| it.form == Some(form))),
                ..Span::default()
            },
        };
        Span { body, kind, ..whole }
    });
    laid_out(runs.collect())
}

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
    use crate::packet::tests::packet_of;

    fn items_of(rung: ladder::Rung) -> Vec<BitItem> {
        packet_of(rung.stages).ledger.items().unwrap().to_vec()
    }

    #[test]
    fn every_row_has_all_bits_on_every_rung() {
        for rung in ladder::all() {
            let items = items_of(rung);
            let all = packet_of(rung.stages).bytes.len() as f64 * 8.0;
            for order in [Order::Kind, Order::InOrder] {
                let rows = rows(items.iter().copied(), order);
                for row in &rows {
                    let mut at = 0.0;
                    for span in row {
                        assert!((span.start - at).abs() < 1e-6);
                        at += span.bits;
                    }
                    assert!((at - all).abs() < 0.01, "{}: {at} of {all}", rung.name);
                }
                assert!(rows.last().unwrap().iter().all(|span| span.kind.is_some()));
            }
        }
    }

    #[test]
    fn kinds_have_one_span_with_largest_body_first() {
        let rows = rows(items_of(ladder::RELATIVE_ORIENTATION), Order::Kind);
        let kinds = rows[0].iter().map(|span| span.kind.unwrap().index());
        assert!(kinds.is_sorted_by(|a, b| a < b), "{:?}", rows[0]);
        let of_positions = |span: &&Span| span.kind == Some(BitKind::Position);
        let positions = rows[1].iter().filter(of_positions).map(|span| span.bits);
        assert!(positions.is_sorted_by(|a, b| a >= b), "{:?}", rows[1]);
    }

    #[test]
    fn span_covers_its_kind_body_and_part() {
        let items = items_of(ladder::SMALLEST_THREE);
        let bits = whole_bits(items.iter().copied());
        for span in rows(items, Order::Kind).into_iter().flatten() {
            let sum: f64 = bits.iter().filter(|part| span.covers(part)).map(|part| part.bits).sum();
            assert_eq!(sum, span.bits, "{span:?}");
        }
    }

    /// Returns the parts of a field of cube 1 in the lowest row and their names, in packet order.
    fn parts_of(rung: ladder::Rung, kind: BitKind) -> (Vec<Span>, Vec<&'static str>) {
        let lowest = rows(items_of(rung), Order::InOrder).pop().unwrap();
        let is_part = |span: &Span| span.kind == Some(kind) && span.body == Some(1);
        let parts: Vec<_> = lowest.into_iter().filter(is_part).collect();
        let names = parts.iter().map(|span| span.part.unwrap_or("")).collect();
        (parts, names)
    }

    #[test]
    fn lowest_row_divides_fields_into_prefix_and_components() {
        let (parts, names) = parts_of(ladder::SMALLEST_THREE, BitKind::Orientation);
        assert_eq!(names, ["prefix", "a", "b", "c"]);
        let offsets = parts.iter().map(|part| part.offset.unwrap() - parts[0].offset.unwrap());
        assert!(offsets.eq([0.0, 2.0, 11.0, 20.0]), "{parts:?}");
        // An unchanged encoding of a position has no prefix.
        let (_, names) = parts_of(ladder::SMALLEST_THREE, BitKind::Position);
        assert_eq!(names, ["x", "y", "z"]);
        // The four floats form one part.
        let (parts, names) = parts_of(ladder::UNCOMPRESSED, BitKind::Orientation);
        assert_eq!((names, parts[0].bits), (vec![""], 128.0));
        assert!(parts[0].offset.is_some());
    }

    #[test]
    fn arithmetically_coded_components_have_no_offset() {
        for rung in ladder::all().filter(|rung| rung.stages.delta.is_arithmetic()) {
            let (parts, _) = parts_of(rung, BitKind::Position);
            let offsets: Vec<_> = parts.iter().map(|part| part.offset.is_some()).collect();
            assert_eq!(offsets, [true, false, false, false], "{parts:?}");
            // Cube 1 moved along x.
            assert!(parts[1].bits > parts[2].bits && parts[1].bits > parts[3].bits);
        }
    }
}
