//! Kinds of bits.

use std::borrow::Cow;
use std::fmt;

use crate::schema::Schema;

/// Kind of a bit of a packet: one of the constants below, or a field of a schema. Bits that select the form of a
/// field have the kind of the field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitKind(u8);

#[allow(
    non_upper_case_globals,
    reason = "they are read as the variants of an enum, in which fields would take a second byte"
)]
impl BitKind {
    /// Sequence, baseline, stages.
    pub const Header: Self = Self(0);
    /// The inputs of a scene that the receiver simulates.
    pub const Inputs: Self = Self(1);
    /// Chunks of a state, for a receiver to restore its world.
    pub const State: Self = Self(2);
    /// The selection of bodies in the packet.
    pub const Selection: Self = Self(3);
    /// The flag that is stored with the position: in the demo, whether a body is interacting.
    pub const Interacting: Self = Self(4);
    /// Which bodies came and went.
    pub const Life: Self = Self(5);
    /// Flags that say which fields of a body changed.
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
    /// Every kind: the constants in the order of a packet, then the maximum number of fields of a schema.
    pub const ALL: [Self; NAMES.len() + Schema::MAX_FIELDS] = {
        let mut all = [Self::Header; _];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(index as u8);
            index += 1;
        }
        all
    };

    /// Kinds that packets of the demo's scene can have, in the order of a packet.
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

    /// Kind of the schema's field with this index. A flag at index 0 has the kind [`Interacting`](Self::Interacting)
    /// instead.
    ///
    /// # Panics
    /// If `index` is not below [`Schema::MAX_FIELDS`].
    pub const fn field(index: usize) -> Self {
        assert!(index < Schema::MAX_FIELDS, "a schema has fewer fields");
        Self((NAMES.len() + index) as u8)
    }

    /// Index in [`ALL`](Self::ALL).
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Name for legends and messages; "field" for every field.
    pub const fn name(self) -> &'static str {
        if self.index() < NAMES.len() { NAMES[self.index()] } else { "field" }
    }

    /// Name in a scene, where a field has the name from the schema. If another kind has that name, the word *field*
    /// is put before it.
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

    /// Names of an item's [`components`](super::BitItem::components): x, y, z, or a, b, c for a smallest-three
    /// orientation. `None` if the kind has no components.
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

/// Power of two above every index of a kind.
pub(crate) const INDICES: usize = BitKind::ALL.len().next_power_of_two();

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
    use crate::schema::{CUBES, Field, FieldForm};

    #[test]
    fn fields_have_the_names_of_the_schema_and_no_other_kind_has() {
        let field = |name: &'static str| Field { name: name.into(), form: FieldForm::Flag };
        let schema =
            Schema { fields: ["lit", "heat", "state"].map(field).to_vec().into(), ..CUBES };
        let names = [BitKind::Interacting, BitKind::field(1), BitKind::field(2)];
        let names = names.map(|kind| kind.name_in(&schema));
        assert_eq!(names, ["lit", "heat", "field state"]);
        assert_eq!(BitKind::State.name_in(&schema), "state");
        assert_eq!(BitKind::Interacting.name_in(&CUBES), "interacting");
        assert_eq!(BitKind::field(31).to_string(), "field 31");
    }
}
