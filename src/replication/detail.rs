//! The bytes of packets, and what each of their bits is for, recorded while something shows them.

use bevy::prelude::*;
use cubewire_codec::{BitItem, BitKind, Form, Packet};
use renet::Bytes;

/// While a lane has this component, its [`PacketRecord`](super::PacketRecord)s have a
/// [detail](super::PacketRecord::detail).
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Detailed;

/// A packet, and the purpose of each of its bits.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketDetail {
    bytes: Bytes,
    items: Box<[CompactItem]>,
}

/// A [`BitItem`] in eight bytes: there are hundreds of them in a packet, and thousands of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CompactItem {
    bits: f32,
    cube: u16,
    has_cube: bool,
    /// Index of the kind, and one more than the index of the form, in four bits each.
    codes: u8,
}

impl CompactItem {
    fn new(item: &BitItem) -> Self {
        let form = item.form.map_or(0, |form| {
            1 + Form::ALL
                .iter()
                .position(|&other| other == form)
                .unwrap_or(0)
        });
        Self {
            bits: item.bits as f32,
            cube: item.cube.unwrap_or(0),
            has_cube: item.cube.is_some(),
            codes: item.kind as u8 | (form as u8) << 4,
        }
    }

    fn item(&self) -> BitItem {
        let form = usize::from(self.codes >> 4).checked_sub(1);
        BitItem {
            kind: BitKind::ALL[usize::from(self.codes & 15)],
            cube: self.has_cube.then_some(self.cube),
            bits: self.bits.into(),
            form: form.map(|form| Form::ALL[form]),
        }
    }
}

impl PacketDetail {
    /// Of a packet with an itemized ledger; of another, there are no items.
    #[must_use]
    pub fn new(packet: &Packet, bytes: Bytes) -> Self {
        let items = packet.ledger.items().unwrap_or_default();
        Self {
            bytes,
            items: items.iter().map(CompactItem::new).collect(),
        }
    }

    /// The packet as it was sent.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bits, as in [`BitLedger::items`](cubewire_codec::BitLedger::items). Fractions of a bit are
    /// rounded to seven digits.
    pub fn items(&self) -> impl ExactSizeIterator<Item = BitItem> + Clone {
        self.items.iter().map(CompactItem::item)
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.len() + size_of_val(&*self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_meaning_in_eight_bytes() {
        assert_eq!(size_of::<CompactItem>(), 8);
        let forms = Form::ALL.into_iter().map(Some).chain([None]);
        for (kind, form) in BitKind::ALL.into_iter().zip(forms.cycle()) {
            for cube in [None, Some(0), Some(900), Some(u16::MAX)] {
                let item = BitItem {
                    kind,
                    cube,
                    bits: 17.25,
                    form,
                };
                assert_eq!(CompactItem::new(&item).item(), item);
            }
        }
    }
}
