//! Counts the bits of a packet by purpose.

use std::borrow::Cow;
use std::fmt;

use crate::schema::Schema;

/// What a bit of a packet is for: one of the constants below, or a field of a schema. Bits that select the form of a
/// field count as that field's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitKind(u8);

#[allow(
    non_upper_case_globals,
    reason = "they are read as the variants of an enum, in which fields would take a second byte"
)]
impl BitKind {
    /// Sequence, baseline, stages.
    pub const Header: Self = Self(0);
    /// What moved the scene, for a receiver that simulates it.
    pub const Inputs: Self = Self(1);
    /// Parts of a state from which a receiver starts to simulate.
    pub const State: Self = Self(2);
    /// Which bodies are in the packet.
    pub const Selection: Self = Self(3);
    /// The field that is stored with the position: in the demo, whether a body is interacting.
    pub const Interacting: Self = Self(4);
    /// Which bodies have come and gone.
    pub const Life: Self = Self(5);
    /// Which fields of a body changed.
    pub const Flags: Self = Self(6);
    /// Positions.
    pub const Position: Self = Self(7);
    /// Orientations.
    pub const Orientation: Self = Self(8);
    /// Linear velocities.
    pub const Velocity: Self = Self(9);
    /// The check of arithmetically coded packets, and the coder's overhead to end in whole bytes.
    pub const Check: Self = Self(10);
    /// Zeros up to a whole byte.
    pub const Padding: Self = Self(11);
}

impl BitKind {
    /// Every kind: the constants, in the order of a packet, and as many fields as a schema can have.
    pub const ALL: [Self; NAMES.len() + Schema::MAX_FIELDS] = {
        let mut all = [Self::Header; _];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(index as u8);
            index += 1;
        }
        all
    };

    /// The kinds that packets of the demo's scene can have, in the order of a packet.
    pub const DEMO: [Self; 11] = [
        Self::Header,
        Self::Inputs,
        Self::State,
        Self::Selection,
        Self::Interacting,
        Self::Flags,
        Self::Position,
        Self::Orientation,
        Self::Velocity,
        Self::Check,
        Self::Padding,
    ];

    /// A field of the schema, by its index there. The first is [`Interacting`](Self::Interacting) if it is a flag.
    ///
    /// # Panics
    /// If a schema cannot have as many.
    #[must_use]
    pub const fn field(index: usize) -> Self {
        assert!(index < Schema::MAX_FIELDS, "a schema has fewer fields");
        Self((NAMES.len() + index) as u8)
    }

    /// Its index in [`ALL`](Self::ALL).
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The name in legends and messages; fields all have the same.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.index() < NAMES.len() {
            true => NAMES[self.index()],
            false => "field",
        }
    }

    /// The name in a scene, in which fields have their own. One that is also the name of another kind follows the
    /// word *field*.
    #[must_use]
    pub fn name_in(self, schema: &Schema) -> Cow<'_, str> {
        let field = match self.index().checked_sub(NAMES.len()) {
            Some(field) => field,
            None if self == Self::Interacting => 0,
            None => return self.name().into(),
        };
        let name = schema.fields.get(field).map(|field| &*field.name);
        let name = name.unwrap_or(self.name());
        match NAMES.contains(&name) && name != self.name() {
            true => format!("field {name}").into(),
            false => name.into(),
        }
    }

    /// The names of the components in [`BitItem::components`]: x, y, z, or a, b, c of an orientation as its
    /// smallest three; none of a kind that has no components.
    #[must_use]
    pub const fn component_names(self) -> Option<[&'static str; 3]> {
        match self {
            Self::Position | Self::Velocity => Some(["x", "y", "z"]),
            Self::Orientation => Some(["a", "b", "c"]),
            _ => None,
        }
    }
}

impl fmt::Display for BitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.index().checked_sub(NAMES.len()) {
            Some(field) => write!(f, " {field}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for BitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A power of two above every index of a kind.
pub(crate) const INDICES: usize = BitKind::ALL.len().next_power_of_two();

/// Of the kinds that are no fields.
const NAMES: [&str; 12] = [
    "header",
    "inputs",
    "state",
    "selection",
    "interacting",
    "life",
    "flags",
    "position",
    "orientation",
    "velocity",
    "check",
    "padding",
];

/// How a position or an orientation is coded, from the least to the most bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// As a difference of zero: the prediction is exact, or without prediction the field is unchanged.
    Exact,
    /// As a small difference: each component is in the first of its ranges, or, with arithmetic coding,
    /// below 12 steps.
    Small,
    /// As a larger difference.
    Large,
    /// As it is, because the stages have no differences.
    Whole,
    /// As it is, because a component of the difference is beyond the last range.
    OutOfRange,
    /// As it is, because the orientation omits another component than its reference; with arithmetic coding,
    /// as a difference, but from the prediction with that component omitted.
    OtherLargest,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 6] = [
        Self::Exact,
        Self::Small,
        Self::Large,
        Self::Whole,
        Self::OutOfRange,
        Self::OtherLargest,
    ];

    /// The name in legends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Small => "small difference",
            Self::Large => "large difference",
            Self::Whole => "whole value",
            Self::OutOfRange => "out of range",
            Self::OtherLargest => "other largest component",
        }
    }
}

/// Consecutive bits of a packet that have the same purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitItem {
    /// What they are for.
    pub kind: BitKind,
    /// The index of the body that they belong to; none for those of the whole packet.
    pub body: Option<u16>,
    /// How many: a whole number, or the information content of arithmetically coded bins.
    pub bits: f64,
    /// How a position or an orientation is coded.
    pub form: Option<Form>,
    /// How many of `bits` each component takes: x, y and z of a position or a velocity, a, b and c of an
    /// orientation as its smallest three. None if no component is sent, and none of an orientation of four
    /// floats, which take 32 bits each.
    ///
    /// Each is from 0 to `bits`, and includes what says in which range it is; the rest of `bits` is the
    /// [prefix](Self::prefix). Bit-packed, they are whole numbers, and the prefix is followed by the components
    /// in this order. Arithmetically coded, the components of a position are coded as z, x, y.
    pub components: Option<[f64; 3]>,
}

impl BitItem {
    /// Bits that are of no single component: they precede the components, and say which form the item has,
    /// and which component of an orientation is omitted. All bits of an item without components.
    #[must_use]
    pub fn prefix(&self) -> f64 {
        let components = self.components.unwrap_or_default();
        self.bits - components.into_iter().sum::<f64>()
    }
}

/// The bits of a packet by kind and, optionally, as a list in the order of the packet.
///
/// Entries are bits, and their sum is the size of the packet. They are whole numbers unless the packet is
/// arithmetically coded.
#[derive(Clone, Debug, PartialEq)]
pub struct BitLedger {
    /// By index of the kind. As many that a mask keeps any index inside.
    kinds: [f64; INDICES],
    items: Option<Vec<BitItem>>,
}

impl Default for BitLedger {
    fn default() -> Self {
        Self {
            kinds: [0.0; _],
            items: None,
        }
    }
}

impl BitLedger {
    /// A ledger by kind only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A ledger by kind, and a list of every run of bits: see [`items`](Self::items).
    #[must_use]
    pub fn itemized() -> Self {
        Self {
            items: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Bits of one kind.
    #[must_use]
    pub const fn kind(&self, kind: BitKind) -> f64 {
        self.kinds[kind.index() % INDICES]
    }

    /// The bits in the order of the packet, in a ledger made by [`BitLedger::itemized`]. An item begins where
    /// the ones before it end: in a bit-packed packet, and in any header, that is the offset of its bits.
    /// Arithmetically coded bins share their bits with others; there the offset is where the information of
    /// the item begins, and the last item is the overhead of ending in whole bytes.
    #[must_use]
    pub fn items(&self) -> Option<&[BitItem]> {
        self.items.as_deref()
    }

    /// This ledger without the list of items.
    #[must_use]
    pub const fn by_kind(&self) -> Self {
        Self {
            kinds: self.kinds,
            items: None,
        }
    }

    /// Bits of the packet.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinds[..BitKind::ALL.len()].iter().sum()
    }

    /// Bits of everything but the header and the padding.
    #[must_use]
    pub fn content(&self) -> f64 {
        self.total() - self.kind(BitKind::Header) - self.kind(BitKind::Padding)
    }

    /// Clears the ledger, for another packet.
    pub fn reset(&mut self) {
        self.kinds = [0.0; _];
        if let Some(items) = &mut self.items {
            items.clear();
        }
    }

    /// Adds another ledger to this one, for a total over several packets. Its items follow if both have a
    /// list; a ledger without one stays without.
    pub fn add(&mut self, other: &Self) {
        for (entry, more) in self.kinds.iter_mut().zip(other.kinds) {
            *entry += more;
        }
        if let (Some(items), Some(more)) = (&mut self.items, &other.items) {
            items.extend_from_slice(more);
        }
    }

    /// Records what an arithmetic coder took beyond the information of its bins, to end in whole bytes.
    pub(crate) fn record_overhead(&mut self, packet: &[u8]) {
        let bits = packet.len() as f64 * 8.0;
        self.record(BitKind::Check, None, bits - self.total());
    }

    #[inline]
    pub(crate) fn record(&mut self, kind: BitKind, body: Option<usize>, bits: f64) {
        self.kinds[kind.index() % INDICES] += bits;
        if self.items.is_some() {
            self.add_item(kind, body, bits);
        }
    }

    #[cold]
    fn add_item(&mut self, kind: BitKind, body: Option<usize>, bits: f64) {
        let items = self.items.get_or_insert_default();
        // There are at most 65 536 bodies.
        let body = body.map(|body| body as u16);
        match items.last_mut() {
            Some(last) if (last.kind, last.body) == (kind, body) => last.bits += bits,
            _ => items.push(BitItem {
                kind,
                body,
                bits,
                form: None,
                components: None,
            }),
        }
    }

    /// Notes how the newest item is coded.
    pub(crate) fn note(&mut self, form: impl FnOnce() -> Form) {
        if let Some(item) = self.items.as_mut().and_then(|items| items.last_mut()) {
            item.form = Some(form());
        }
    }

    /// Notes the bits of each component of the newest item.
    pub(crate) fn note_components(&mut self, components: impl FnOnce() -> [f64; 3]) {
        if let Some(item) = self.items.as_mut().and_then(|items| items.last_mut()) {
            item.components = Some(components());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::CUBES;

    #[test]
    fn kinds_and_items_add_up() {
        let mut ledger = BitLedger::itemized();
        ledger.reset();
        ledger.record(BitKind::Header, None, 34.0);
        ledger.record(BitKind::Position, Some(2), 12.0);
        ledger.note(|| Form::Small);
        ledger.note_components(|| [3.0, 3.0, 5.0]);
        ledger.record(BitKind::Flags, Some(2), 1.0);
        ledger.record(BitKind::Flags, Some(2), 1.0);
        assert_eq!(ledger.total(), 48.0);
        assert_eq!(ledger.kind(BitKind::Position), 12.0);
        let item = |kind, body, bits| BitItem {
            kind,
            body,
            bits,
            form: None,
            components: None,
        };
        let position = BitItem {
            form: Some(Form::Small),
            components: Some([3.0, 3.0, 5.0]),
            ..item(BitKind::Position, Some(2), 12.0)
        };
        assert_eq!(position.prefix(), 1.0);
        let items = [
            item(BitKind::Header, None, 34.0),
            position,
            item(BitKind::Flags, Some(2), 2.0),
        ];
        assert_eq!(ledger.items(), Some(&items[..]));

        let mut sum = BitLedger::itemized();
        sum.add(&ledger);
        sum.add(&ledger);
        assert_eq!(sum.total(), 96.0);
        assert_eq!(sum.items(), Some(&[items, items].concat()[..]));
    }

    #[test]
    fn fields_have_the_names_of_the_schema_and_no_other_kind_has() {
        let text = "scene s\nticks 60\nup z\nposition x 0 1 8\nposition y 0 1 8\nposition z 0 1 8\norientation 9\n\
                    kind k unknown\nfield lit flag\nfield heat int 0 9\nfield state flag\n\
                    gravity 0\nmax-speed 1\nslots fixed\n";
        let schema = Schema::parse(text).unwrap();
        let names = [BitKind::Interacting, BitKind::field(1), BitKind::field(2)];
        let names = names.map(|kind| kind.name_in(&schema));
        assert_eq!(names, ["lit", "heat", "field state"]);
        assert_eq!(BitKind::State.name_in(&schema), "state");
        assert_eq!(BitKind::Interacting.name_in(&CUBES), "interacting");
        assert_eq!(BitKind::field(31).to_string(), "field 31");
    }
}
