//! Names of kinds of bits and of bodies, and the highlighted bodies.

use std::borrow::Cow;

use cubewire_bevy::Protocol;
use cubewire_codec::schema::Schema;
use cubewire_codec::{BitKind, Plan, QuantizedSnapshot};

#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    pub schema: &'a Schema,
    /// The bodies in the slots, if slots are reused.
    pub bodies: Option<&'a QuantizedSnapshot>,
    /// Singular and plural noun for a body.
    pub nouns: [&'static str; 2],
}

impl<'a> Names<'a> {
    pub fn of_cubes(plan: &'a Plan) -> Self {
        Self { schema: plan.schema(), bodies: None, nouns: ["cube", "cubes"] }
    }

    pub fn kind(self, kind: BitKind) -> Cow<'a, str> {
        match self.is_of_components(kind) {
            true => "has components".into(),
            false => kind.name_in(self.schema),
        }
    }

    pub fn about(self, kind: BitKind) -> &'static str {
        match self.is_of_components(kind) {
            true => "Whether the body has components, which are sent in reliable messages.",
            false => about(kind),
        }
    }

    fn is_of_components(self, kind: BitKind) -> bool {
        kind == BitKind::Interacting && kind.name_in(self.schema) == Protocol::HAS_COMPONENTS
    }

    /// Returns a body's name: its kind, slot and generation, as far as these are known.
    pub fn body(self, slot: usize) -> String {
        let life = self.bodies.and_then(|bodies| bodies.life(slot));
        let kind = |life: u8| self.schema.kinds.get(usize::from(life));
        match life.and_then(|life| Some((life.generation, kind(life.kind)?))) {
            Some((0, kind)) => format!("{} {slot}", kind.name),
            Some((generation, kind)) => format!("{} {slot}.{generation}", kind.name),
            None => format!("{} {slot}", self.nouns[0]),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    pub selected: Option<usize>,
    pub hovered: Option<usize>,
}

/// Returns the description of a kind of bits, without a schema.
pub const fn about(kind: BitKind) -> &'static str {
    match kind {
        BitKind::Header => "Sequence, baseline and stages of the packet.",
        BitKind::Inputs => "The inputs since the receiver's last confirmed tick, and that tick.",
        BitKind::State => {
            "Data that a receiver needs, in addition to a snapshot, to continue the simulation."
        }
        BitKind::Selection => "Which bodies the packet contains: a bit for each, or their indices.",
        BitKind::Interacting => "The first field of the schema, a flag.",
        BitKind::Life => "Which bodies have appeared or vanished.",
        BitKind::Flags => "Which fields of a changed body follow.",
        BitKind::Position => "Positions, or their differences.",
        BitKind::Orientation => "Orientations, or their differences.",
        BitKind::Velocity => "Linear velocities, or their differences.",
        BitKind::Check => {
            "A hash of the decoded bodies, which detects a decoder that differs from the encoder, and the bits that end the \
             coder's output."
        }
        BitKind::Padding => "Zeros up to a whole byte.",
        _ => "Another field of the schema.",
    }
}
