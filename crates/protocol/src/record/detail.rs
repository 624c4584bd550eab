//! The bytes of a packet, with the purpose of each bit.

use cubewire_codec::{BitItem, BitKind, Form};

/// A packet, with the purpose of each bit.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketDetail {
    bytes: Box<[u8]>,
    items: Box<[CompactItem]>,
    /// Component ends of the items that have components, in the items' order. In most packets, less than half of the
    /// items have them.
    ends: Box<[Ends]>,
}

/// A [`BitItem`] without its components, to save memory: a packet has hundreds of items, and a record has thousands
/// of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CompactItem {
    bits: f32,
    body: Option<u16>,
    kind: BitKind,
    form: Option<Form>,
    has_components: bool,
}

/// Ends of an item's prefix, first and second component, in bits from the item's start. The last component ends with
/// the item.
///
/// Ends are stored instead of sizes so that rounding never makes the parts larger than the item.
type Ends = [f32; 3];

fn ends(item: &BitItem, [first, second, _]: [f64; 3]) -> Ends {
    let prefix = item.prefix();
    let ends = [prefix, prefix + first, prefix + first + second];
    ends.map(|end| end.min(item.bits) as f32)
}

fn components(ends: Ends, bits: f64) -> [f64; 3] {
    let [prefix, first, second] = ends.map(f64::from);
    [first - prefix, second - first, bits - second]
}

impl PacketDetail {
    /// Creates the detail from a packet's [items](cubewire_codec::BitLedger::items) and bytes.
    pub(super) fn new(items: &[BitItem], bytes: &[u8]) -> Self {
        let compact = items.iter().map(|item| CompactItem {
            bits: item.bits as f32,
            body: item.body,
            kind: item.kind,
            form: item.form,
            has_components: item.components.is_some(),
        });
        let ends = items.iter().filter_map(|item| Some(ends(item, item.components?)));
        Self { bytes: bytes.into(), items: compact.collect(), ends: ends.collect() }
    }

    /// Returns the packet without transport headers.
    pub const fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Iterates over the items, as in [`BitLedger::items`](cubewire_codec::BitLedger::items). Fractions of a bit are
    /// rounded to seven digits.
    pub fn items(&self) -> impl ExactSizeIterator<Item = BitItem> + Clone {
        let mut ends = self.ends.iter();
        self.items.iter().map(move |item| {
            let bits = item.bits.into();
            let ends = item.has_components.then(|| ends.next()).flatten();
            BitItem {
                kind: item.kind,
                body: item.body,
                bits,
                form: item.form,
                components: ends.map(|&ends| components(ends, bits)),
            }
        })
    }

    /// Memory in use, bytes.
    pub fn memory_bytes(&self) -> usize {
        let items = size_of_val(&*self.items) + size_of_val(&*self.ends);
        size_of::<Self>() + self.bytes.len() + items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_meaning_in_few_bytes() {
        assert_eq!(size_of::<CompactItem>(), 12);
        let mut kinds = BitKind::ALL.into_iter().cycle();
        let mut forms = Form::ALL.into_iter().map(Some).chain([None]).cycle();
        let mut bodies = [None, Some(0), Some(900), Some(u16::MAX)].into_iter().cycle();
        let whole = (1..=33).map(f64::from);
        let fractions = [0.0007, 0.03, 0.5, 1.37, 6.001, 19.93, 44.4, 90.1];
        let sizes: Vec<f64> = whole.chain(fractions).collect();
        for prefix in [0.0, 0.0007, 1.0, 1.37, 3.0, 90.1] {
            let pairs = sizes.iter().flat_map(|&x| sizes.iter().map(move |&y| [x, y]));
            let all = pairs.flat_map(|[x, y]| sizes.iter().map(move |&z| [x, y, z]));
            let items = all.enumerate().map(|(index, components)| BitItem {
                kind: kinds.next().unwrap(),
                body: bodies.next().unwrap(),
                bits: prefix + components.into_iter().sum::<f64>(),
                form: forms.next().unwrap(),
                components: (index % 3 > 0).then_some(components),
            });
            let items: Vec<_> = items.collect();
            let detail = PacketDetail::new(&items, &[1, 2, 3]);
            assert_eq!((detail.bytes(), detail.items().len()), (&[1, 2, 3][..], items.len()));
            for (kept, item) in detail.items().zip(items) {
                let components = item.components.unwrap_or_default();
                if components.into_iter().chain([item.bits]).all(|bits| bits.fract() == 0.0) {
                    assert_eq!(kept, item);
                }
                assert_eq!((kept.kind, kept.body, kept.form), (item.kind, item.body, item.form));
                assert_eq!(kept.components.is_some(), item.components.is_some());
                assert!((kept.bits - item.bits).abs() < 1e-4, "{kept:?}");
                assert!((kept.prefix() - item.prefix()).abs() < 1e-4, "{kept:?}");
                assert!(kept.prefix() >= -1e-12, "{kept:?}");
                for (bits, expected) in kept.components.into_iter().flatten().zip(components) {
                    assert!((bits - expected).abs() < 1e-4 && bits >= 0.0, "{kept:?}");
                }
            }
        }
    }
}
