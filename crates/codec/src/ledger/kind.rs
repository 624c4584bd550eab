//! What bits are for.

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

    /// The names of an item's [`components`](super::BitItem::components): x, y, z, or a, b, c of an orientation as its
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::CUBES;

    #[test]
    fn fields_have_the_names_of_the_schema_and_no_other_kind_has() {
        let text = r#"(
    name: "s", ticks_per_second: 60, up: Z,
    position: (
        (min: 0, max: 1, steps_per_unit: 8),
        (min: 0, max: 1, steps_per_unit: 8),
        (min: 0, max: 1, steps_per_unit: 8),
    ),
    component_bits: 9, levels: Odd, anchor: None,
    kinds: [(name: "k", shape: Unknown)],
    fields: [
        (name: "lit", form: Flag),
        (name: "heat", form: Int(min: 0, max: 9)),
        (name: "state", form: Flag),
    ],
    world: (gravity: 0, floor: None, max_speed: 1, linear: None),
    slots: Fixed,
)"#;
        let schema = ron::from_str(text).unwrap();
        let names = [BitKind::Interacting, BitKind::field(1), BitKind::field(2)];
        let names = names.map(|kind| kind.name_in(&schema));
        assert_eq!(names, ["lit", "heat", "field state"]);
        assert_eq!(BitKind::State.name_in(&schema), "state");
        assert_eq!(BitKind::Interacting.name_in(&CUBES), "interacting");
        assert_eq!(BitKind::field(31).to_string(), "field 31");
    }
}
