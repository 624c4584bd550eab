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
    use cubewire_codec::glam::{Quat, vec3};
    use cubewire_codec::{BitLedger, Sequence, ladder};
    use cubewire_codec::{BodyState, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Snapshot};

    use super::*;

    /// Returns the items after they were stored.
    fn kept(items: &[BitItem]) -> Vec<BitItem> {
        PacketDetail::new(items, &[]).items().collect()
    }

    #[test]
    fn items_keep_their_meaning_in_few_bytes() {
        assert_eq!(size_of::<CompactItem>(), 12);
        let mut items = Vec::new();
        let forms = Form::ALL.into_iter().map(Some).chain([None]);
        for (kind, form) in BitKind::ALL.into_iter().zip(forms.cycle()) {
            for body in [None, Some(0), Some(900), Some(u16::MAX)] {
                for (bits, components) in
                    [(17.25, None), (17.0, Some([6.0, 4.0, 5.0])), (12.0, Some([1.0, 1.0, 10.0]))]
                {
                    items.push(BitItem { kind, body, bits, form, components });
                }
            }
        }
        assert_eq!(kept(&items), items);
    }

    #[test]
    fn whole_components_stay_and_fractions_never_exceed_the_item() {
        let whole = (1..=33).map(f64::from);
        let fractions = [0.0007, 0.03, 0.5, 1.37, 6.001, 19.93, 44.4, 90.1];
        let sizes: Vec<f64> = whole.chain(fractions).collect();
        for prefix in [0.0, 0.0007, 1.0, 1.37, 3.0, 90.1] {
            for &x in &sizes {
                for components in sizes.iter().flat_map(|&y| sizes.iter().map(move |&z| [x, y, z]))
                {
                    let item = BitItem {
                        kind: BitKind::Position,
                        body: Some(7),
                        bits: prefix + components.into_iter().sum::<f64>(),
                        form: Some(Form::Large),
                        components: Some(components),
                    };
                    let kept = kept(&[item])[0];
                    if [x, components[1], components[2], prefix]
                        .iter()
                        .all(|bits| bits.fract() == 0.0)
                    {
                        assert_eq!(kept, item);
                    }
                    assert!((kept.prefix() - prefix).abs() < 1e-4, "{kept:?}");
                    assert!(kept.prefix() >= -1e-12, "{kept:?}");
                    for (bits, expected) in kept.components.unwrap().into_iter().zip(components) {
                        assert!((bits - expected).abs() < 1e-4 && bits >= 0.0, "{kept:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_components_of_a_packet_come_back_on_every_rung() {
        let initial = Snapshot { bodies: vec![BodyState::default(); 8] };
        let mut moved = initial.clone();
        for (body, state) in moved.bodies.iter_mut().enumerate() {
            state.position.y += 0.02 * body as f32;
            state.orientation = Quat::from_rotation_x(0.05 * body as f32);
            state.linear_velocity = vec3(0.0, 0.0, 0.1 * body as f32);
        }
        for rung in ladder::all() {
            let stages = rung.stages;
            let mut encoder =
                Encoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
            let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
            current.quantize(&moved, stages.precision()).unwrap();
            let mut packet = Packet { ledger: BitLedger::itemized(), ..Packet::default() };
            let encoded = encoder.encode(Sequence(7), stages, &current, None, &mut packet, None);
            encoded.unwrap();
            let items = packet.ledger.items().unwrap();
            let detail = PacketDetail::new(items, &packet.bytes);
            assert_eq!(detail.bytes(), packet.bytes);
            assert_eq!(detail.items().len(), items.len());
            for (kept, item) in detail.items().zip(items) {
                assert_eq!(kept.components.is_some(), item.components.is_some());
                let [kept, components] =
                    [kept.components, item.components].map(Option::unwrap_or_default);
                for (kept, bits) in kept.into_iter().zip(components) {
                    assert!((kept - bits).abs() < 1e-4, "{}", rung.name);
                    if !stages.delta.is_arithmetic() {
                        assert_eq!(kept, bits, "{}", rung.name);
                    }
                }
            }
        }
    }
}
