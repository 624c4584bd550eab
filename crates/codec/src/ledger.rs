//! Counts the bits of a packet by kind.

mod kind;

pub use self::kind::BitKind;
pub(crate) use self::kind::INDICES;

/// Bits of a packet by kind and, optionally, as a list in the order of the packet.
///
/// The sum of all entries is the size of the packet in bits. Entries are whole numbers unless the packet is
/// arithmetically coded.
#[derive(Clone, Debug, PartialEq)]
pub struct BitLedger {
    /// Bits by index of the kind. The length is a power of two, so that a mask replaces the bounds check.
    kinds: [f64; INDICES],
    items: Option<Vec<BitItem>>,
}

impl Default for BitLedger {
    fn default() -> Self {
        Self { kinds: [0.0; _], items: None }
    }
}

impl BitLedger {
    /// A ledger without a list of items.
    pub fn new() -> Self {
        Self::default()
    }

    /// A ledger with a list of items: see [`items`](Self::items).
    pub fn itemized() -> Self {
        Self { items: Some(Vec::new()), ..Self::default() }
    }

    /// Returns the bits of a kind.
    pub const fn kind(&self, kind: BitKind) -> f64 {
        self.kinds[kind.index() % INDICES]
    }

    /// Items in the order of the packet, if the ledger was made by [`BitLedger::itemized`]. An item begins where the
    /// one before ends. In headers and bit-packed packets this is the offset of its bits. Arithmetically coded bins
    /// share bits. Their offset is the information content of all items before, and the last item is the overhead of
    /// ending in whole bytes.
    pub fn items(&self) -> Option<&[BitItem]> {
        self.items.as_deref()
    }

    /// Copy without the list of items.
    pub const fn by_kind(&self) -> Self {
        Self { kinds: self.kinds, items: None }
    }

    /// Size of the packet, in bits.
    pub fn total(&self) -> f64 {
        self.kinds[..BitKind::ALL.len()].iter().sum()
    }

    /// Bits without the header and the padding.
    pub fn content(&self) -> f64 {
        self.total() - self.kind(BitKind::Header) - self.kind(BitKind::Padding)
    }

    /// Clears all entries.
    pub fn reset(&mut self) {
        self.kinds = [0.0; _];
        if let Some(items) = &mut self.items {
            items.clear();
        }
    }

    /// Adds the bits of another ledger to this one, for a total over several packets. Items are not added.
    pub fn add(&mut self, other: &Self) {
        for (entry, more) in self.kinds.iter_mut().zip(other.kinds) {
            *entry += more;
        }
    }

    /// Records the bits of an arithmetically coded packet beyond the information content of its bins.
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
            _ => items.push(BitItem { kind, body, bits, form: None, components: None }),
        }
    }

    /// Sets the form of the newest item.
    pub(crate) fn note(&mut self, form: impl FnOnce() -> Form) {
        if let Some(item) = self.items.as_mut().and_then(|items| items.last_mut()) {
            item.form = Some(form());
        }
    }

    /// Sets the bits of each component of the newest item.
    pub(crate) fn note_components(&mut self, components: impl FnOnce() -> [f64; 3]) {
        if let Some(item) = self.items.as_mut().and_then(|items| items.last_mut()) {
            item.components = Some(components());
        }
    }
}

/// Form of a coded position or orientation, from the least to the most bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// A difference of zero: the prediction is exact, or the field is unchanged if there is no prediction.
    Exact,
    /// A small difference. Each component is in the first of its ranges or, with arithmetic coding, below 12 steps.
    Small,
    /// A larger difference.
    Large,
    /// The whole value, because the stages do not use differences.
    Whole,
    /// The whole value, because a component of the difference does not fit the last range.
    OutOfRange,
    /// The whole value, because the orientation omits another component than its reference. With arithmetic coding, a
    /// difference from the prediction with that component omitted.
    OtherLargest,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 6] =
        [Self::Exact, Self::Small, Self::Large, Self::Whole, Self::OutOfRange, Self::OtherLargest];

    /// Name for legends.
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

/// Consecutive bits of a packet with the same kind and body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitItem {
    /// Kind of the bits.
    pub kind: BitKind,
    /// Index of the body that the bits belong to. `None` if they belong to the whole packet.
    pub body: Option<u16>,
    /// Number of bits. A whole number, or the information content of arithmetically coded bins.
    pub bits: f64,
    /// Form of a position or an orientation. `None` for other kinds.
    pub form: Option<Form>,
    /// Bits of each component: x, y and z of a position or a velocity, or a, b and c of a smallest-three orientation.
    /// `None` if no component is sent, and for an orientation of four floats, which take 32 bits each.
    ///
    /// Each number is in 0..=`bits` and includes the bits that select its range. The rest of `bits` is the
    /// [prefix](Self::prefix). In bit-packed packets the numbers are whole, and the components are written in this
    /// order after the prefix. Arithmetic coding writes the components of a position in the order z, x, y.
    pub components: Option<[f64; 3]>,
}

impl BitItem {
    /// Bits that belong to no single component. They precede the components and select the form of the item and the
    /// omitted component of an orientation. All bits of an item without components.
    pub fn prefix(&self) -> f64 {
        let components = self.components.unwrap_or_default();
        self.bits - components.into_iter().sum::<f64>()
    }
}
