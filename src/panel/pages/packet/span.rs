//! Some bits of a packet, and how they are named.

use cubewire_codec::{BitItem, BitKind, Form};
use cubewire_inspector::words::{grouped, rounded};

/// Some bits of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Span {
    /// Where it begins in the chart, bits.
    pub(super) start: f64,
    /// How many bits.
    pub(super) bits: f64,
    /// None if they are of several kinds.
    pub(super) kind: Option<BitKind>,
    pub(super) cube: Option<usize>,
    pub(super) form: Option<Form>,
    /// The part of a field: its prefix or a component.
    pub(super) part: Option<&'static str>,
    /// The bits of each component of a whole field.
    pub(super) components: Option<[f64; 3]>,
    /// Offset in the packet, bits, if it is a single run of bits.
    pub(super) offset: Option<f64>,
}

impl Span {
    pub(super) fn of(item: &BitItem, offset: f64) -> Self {
        Self {
            bits: item.bits,
            kind: Some(item.kind),
            cube: item.body.map(usize::from),
            form: item.form,
            components: item.components,
            offset: Some(offset),
            ..Self::default()
        }
    }

    /// Whether the other lies within this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        (self.kind.is_none() || self.kind == other.kind)
            && (self.cube.is_none() || self.cube == other.cube)
            && (self.part.is_none() || self.part == other.part)
    }

    /// What it is, for people: the longest text first, the shortest last.
    pub(super) fn words(&self) -> [String; 4] {
        let part = self.part.map(|part| format!("{part} of "));
        let kind = self.kind.map(|kind| kind.name().to_owned());
        let cube = self.cube.map(|cube| format!("cube {cube}"));
        let name = [kind, cube].into_iter().flatten().collect::<Vec<_>>();
        let name = part.unwrap_or_default() + &name.join(", ");
        let form = self.form.map(|form| format!(", {}", short_form(form)));
        let form = form.unwrap_or_default();
        let offset = self.offset.map(|at| format!(", from bit {}", grouped(at)));
        let all = amount(self.bits);
        let names = self.kind.and_then(BitKind::component_names);
        let each = names.zip(self.components).map(|([a, b, c], components)| {
            let [x, y, z] = components.map(amount);
            format!("{a} {x}, {b} {y}, {c} {z}")
        });
        let each = each.unwrap_or_else(|| all.clone());
        [
            format!("{name}{form}: {each} bits{}", offset.unwrap_or_default()),
            format!("{name}{form}: {each} bits"),
            format!("{name}: {each} bits"),
            format!("{name}: {all} bits"),
        ]
    }
}

/// Bits as text: whole numbers as they are.
pub(super) fn amount(bits: f64) -> String {
    match bits.fract() == 0.0 {
        true => grouped(bits),
        false => rounded(bits),
    }
}

/// The name of a form where there is little room.
pub(super) const fn short_form(form: Form) -> &'static str {
    match form {
        Form::Exact => "exact",
        Form::Small => "small",
        Form::Large => "large",
        Form::Whole => "whole",
        Form::OutOfRange => "beyond",
        Form::OtherLargest => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_says_what_it_is_at_several_lengths() {
        let field = Span {
            bits: 31.0,
            kind: Some(BitKind::Position),
            cube: Some(465),
            form: Some(Form::Small),
            components: Some([9.0, 9.0, 13.0]),
            offset: Some(1_034.0),
            ..Span::default()
        };
        let [longest, .., shorter, shortest] = field.words();
        assert_eq!(
            longest,
            "position, cube 465, small: x 9, y 9, z 13 bits, from bit 1\u{2009}034"
        );
        assert_eq!(shorter, "position, cube 465: x 9, y 9, z 13 bits");
        assert_eq!(shortest, "position, cube 465: 31 bits");
        let part = Span {
            bits: 5.25,
            part: Some("y"),
            components: None,
            ..field
        };
        assert_eq!(part.words()[3], "y of position, cube 465: 5.2 bits");
    }
}
