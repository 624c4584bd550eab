//! The bytes of packets, and what each of their bits is for, recorded while something shows them.

use std::slice;
use std::sync::Arc;

use bevy::prelude::*;
use cubewire_codec::{BitItem, BitKind, BitLedger, Form};

/// While a lane has this component, its [`PacketRecord`](super::PacketRecord)s have a
/// [detail](super::PacketRecord::detail).
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Detailed;

/// A packet, and the purpose of each of its bits.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketDetail {
    bytes: Arc<[u8]>,
    items: Box<[CompactItem]>,
    /// Ends of the items that have components, in their order: in most packets, less than half of them.
    ends: Box<[Ends]>,
}

/// A [`BitItem`] without its components in eight bytes: there are hundreds of them in a packet, and thousands
/// of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CompactItem {
    bits: f32,
    cube: u16,
    flags: u8,
    /// Index of the kind in [`BitKind::DEMO`], and one more than the index of the form, in four bits each.
    codes: u8,
}

/// The index of a kind in [`BitKind::DEMO`].
pub fn demo_index(kind: BitKind) -> usize {
    let mut kinds = BitKind::DEMO.iter();
    let index = kinds.position(|&other| other == kind);
    index.expect("packets of the demo have these kinds only")
}

// Flags of a compact item.
const HAS_CUBE: u8 = 1;
const HAS_COMPONENTS: u8 = 2;
/// The components begin and end at whole bits of the item.
const IS_WHOLE: u8 = 4;

impl CompactItem {
    fn new(item: &BitItem) -> Self {
        let form = item.form.map_or(0, |form| {
            1 + Form::ALL
                .iter()
                .position(|&other| other == form)
                .unwrap_or(0)
        });
        let flags = [
            (HAS_CUBE, item.body.is_some()),
            (HAS_COMPONENTS, item.components.is_some()),
            (
                IS_WHOLE,
                Ends::bits(item).iter().all(|end| end.fract() == 0.0),
            ),
        ];
        let flags = flags.into_iter().filter(|&(_, is_set)| is_set);
        Self {
            bits: item.bits as f32,
            cube: item.body.unwrap_or(0),
            flags: flags.map(|(flag, _)| flag).sum(),
            codes: demo_index(item.kind) as u8 | (form as u8) << 4,
        }
    }

    const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// `ends` are those of this item and of later ones.
    fn item(&self, ends: &mut slice::Iter<'_, Ends>) -> BitItem {
        let form = usize::from(self.codes >> 4).checked_sub(1);
        let bits = f64::from(self.bits);
        let ends = self.has(HAS_COMPONENTS).then(|| ends.next()).flatten();
        BitItem {
            kind: BitKind::DEMO[usize::from(self.codes & 15)],
            body: self.has(HAS_CUBE).then_some(self.cube),
            bits,
            form: form.map(|form| Form::ALL[form]),
            components: ends.map(|ends| ends.components(bits, self.has(IS_WHOLE))),
        }
    }
}

/// Where the prefix, the first and the second component of an item end, as fractions of the item: 65 535 is
/// all of it. The last component ends with the item.
///
/// Ends rather than sizes, so that rounding never makes the parts larger than the item.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ends([u16; 3]);

impl Ends {
    fn new(item: &BitItem) -> Self {
        let all = f64::from(u16::MAX);
        Self(Self::bits(item).map(|end| (end / item.bits * all).round() as u16))
    }

    /// The ends in bits from the start of the item.
    fn bits(item: &BitItem) -> [f64; 3] {
        let [first, second, _] = item.components.unwrap_or_default();
        let prefix = item.prefix();
        [prefix, prefix + first, prefix + first + second]
    }

    /// The bits of each component of an item of `bits` bits.
    fn components(self, bits: f64, is_whole: bool) -> [f64; 3] {
        let [prefix, first, second] = self.0.map(|end| {
            let end = f64::from(end) / f64::from(u16::MAX) * bits;
            if is_whole { end.round() } else { end }
        });
        [first - prefix, second - first, bits - second]
    }
}

impl PacketDetail {
    /// The ledger is that of the packet. There are no items if it is not itemized.
    #[must_use]
    pub fn new(ledger: &BitLedger, bytes: Arc<[u8]>) -> Self {
        Self::of_items(ledger.items().unwrap_or_default(), bytes)
    }

    fn of_items(items: &[BitItem], bytes: Arc<[u8]>) -> Self {
        let divided = items.iter().filter(|item| item.components.is_some());
        Self {
            bytes,
            items: items.iter().map(CompactItem::new).collect(),
            ends: divided.map(Ends::new).collect(),
        }
    }

    /// The packet as it was sent.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bits, as in [`BitLedger::items`](cubewire_codec::BitLedger::items). Fractions of a bit are
    /// rounded: those of items to seven digits, those of components to 1/65 535 of the item.
    pub fn items(&self) -> impl ExactSizeIterator<Item = BitItem> + Clone {
        let mut ends = self.ends.iter();
        self.items.iter().map(move |item| item.item(&mut ends))
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let items = size_of_val(&*self.items) + size_of_val(&*self.ends);
        size_of::<Self>() + self.bytes.len() + items
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::{BodyState, Snapshot, ladder};

    use super::*;
    use crate::replication::itemized;

    /// What comes back of these items.
    fn kept(items: &[BitItem]) -> Vec<BitItem> {
        let detail = PacketDetail::of_items(items, Arc::default());
        detail.items().collect()
    }

    #[test]
    fn items_keep_their_meaning_in_few_bytes() {
        assert_eq!(size_of::<CompactItem>(), 8);
        assert_eq!(size_of::<Ends>(), 6);
        let mut items = Vec::new();
        let forms = Form::ALL.into_iter().map(Some).chain([None]);
        for (kind, form) in BitKind::DEMO.into_iter().zip(forms.cycle()) {
            for cube in [None, Some(0), Some(900), Some(u16::MAX)] {
                for (bits, components) in [
                    (17.25, None),
                    (17.0, Some([6.0, 4.0, 5.0])),
                    (12.0, Some([1.0, 1.0, 10.0])),
                ] {
                    items.push(BitItem {
                        kind,
                        body: cube,
                        bits,
                        form,
                        components,
                    });
                }
            }
        }
        assert_eq!(kept(&items), items);
    }

    /// A position with these bits in its prefix and its components.
    fn position(prefix: f64, components: [f64; 3]) -> BitItem {
        BitItem {
            kind: BitKind::Position,
            body: Some(7),
            bits: prefix + components.into_iter().sum::<f64>(),
            form: Some(Form::Large),
            components: Some(components),
        }
    }

    #[test]
    fn whole_components_stay_as_they_are() {
        for prefix in 0..=3 {
            for widths in (1..=33).flat_map(|x| (1..=33).map(move |y| [x, y])) {
                for z in [1, 2, 14, 18, 32, 33] {
                    let components = [widths[0], widths[1], z].map(f64::from);
                    let item = position(f64::from(prefix), components);
                    assert_eq!(kept(&[item]), [item]);
                }
            }
        }
    }

    #[test]
    fn fractions_of_a_bit_stay_within_a_tenth_and_never_exceed_the_item() {
        let sizes = [0.0007, 0.03, 0.5, 1.37, 6.001, 19.93, 44.4, 90.1];
        let three = |x| {
            sizes
                .into_iter()
                .flat_map(move |y| sizes.map(|z| [x, y, z]))
        };
        for prefix in sizes {
            for components in sizes.into_iter().flat_map(three) {
                let item = kept(&[position(prefix, components)])[0];
                assert!((item.prefix() - prefix).abs() < 0.1);
                assert!(item.prefix() >= -1e-12, "{item:?}");
                for (bits, expected) in item.components.unwrap().into_iter().zip(components) {
                    assert!((bits - expected).abs() < 0.1, "{bits}, {expected}");
                    assert!(bits >= 0.0, "{item:?}");
                }
            }
        }
    }

    #[test]
    fn the_components_of_a_packet_come_back_on_every_rung() {
        let initial = Snapshot {
            bodies: vec![BodyState::default(); 8],
        };
        let mut world = initial.clone();
        for (cube, state) in world.bodies.iter_mut().enumerate() {
            state.position.y += 0.02 * cube as f32;
            state.orientation = Quat::from_rotation_x(0.05 * cube as f32);
            state.linear_velocity.z = 0.1 * cube as f32;
        }
        for rung in ladder::all() {
            let stages = rung.stages;
            let packet = itemized(stages, &initial, &world);
            let detail = PacketDetail::new(&packet.ledger, packet.bytes.clone().into());
            let items = packet.ledger.items().unwrap();
            assert_eq!(detail.items().len(), items.len());
            for (kept, item) in detail.items().zip(items) {
                assert_eq!(kept.components.is_some(), item.components.is_some());
                let [kept, components] =
                    [kept.components, item.components].map(Option::unwrap_or_default);
                for (kept, bits) in kept.into_iter().zip(components) {
                    assert!((kept - bits).abs() < 0.1, "{}", rung.name);
                    if !stages.delta.is_arithmetic() {
                        assert_eq!(kept, bits, "{}", rung.name);
                    }
                }
            }
        }
    }
}
