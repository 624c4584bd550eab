//! A range of bits of a packet, and its description.

use cubewire_codec::{BitItem, BitKind, Form};

use crate::names::Names;
use crate::words::{grouped, rounded};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Start in the chart, in bits.
    pub start: f64,
    /// Length in bits, possibly fractional.
    pub bits: f64,
    /// `None` if the bits are of several kinds.
    pub kind: Option<BitKind>,
    pub body: Option<usize>,
    pub form: Option<Form>,
    /// Part of a field: its prefix or a component.
    pub part: Option<&'static str>,
    /// Bits of each component of a whole field.
    pub components: Option<[f64; 3]>,
    /// Offset in the packet in bits, if the range is contiguous there.
    pub offset: Option<f64>,
}

impl Span {
    pub fn of(item: &BitItem, offset: f64) -> Self {
        Self {
            bits: item.bits,
            kind: Some(item.kind),
            body: item.body.map(usize::from),
            form: item.form,
            components: item.components,
            offset: Some(offset),
            ..Self::default()
        }
    }

    pub fn covers(&self, other: &Self) -> bool {
        (self.kind.is_none() || self.kind == other.kind)
            && (self.body.is_none() || self.body == other.body)
            && (self.part.is_none() || self.part == other.part)
    }

    /// Returns descriptions of the span, from the longest to the shortest.
    pub fn words(&self, names: Names<'_>) -> [String; 4] {
        let part = self.part.map(|part| format!("{part} of "));
        let kind = self.kind.map(|kind| names.kind(kind).into_owned());
        let body = self.body.map(|body| names.body(body));
        let name = [kind, body].into_iter().flatten().collect::<Vec<_>>();
        let name = part.unwrap_or_default() + &name.join(", ");
        let form = self.form.map(|form| format!(", {}", short_form(form))).unwrap_or_default();
        let offset = self.offset.map(|at| format!(", from bit {}", grouped(at)));
        let all = amount(self.bits);
        let components = self.kind.and_then(BitKind::component_names);
        let each = components.zip(self.components).map(|([a, b, c], components)| {
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

/// Formats bits: integers without decimals.
pub fn amount(bits: f64) -> String {
    if bits.fract() == 0.0 { grouped(bits) } else { rounded(bits) }
}

pub const fn short_form(form: Form) -> &'static str {
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
    use cubewire_codec::Plan;

    use super::*;

    #[test]
    fn span_describes_itself_at_several_lengths() {
        let plan = Plan::cubes();
        let names = Names::of_cubes(&plan);
        let field = Span {
            bits: 31.0,
            kind: Some(BitKind::Position),
            body: Some(465),
            form: Some(Form::Small),
            components: Some([9.0, 9.0, 13.0]),
            offset: Some(1_034.0),
            ..Span::default()
        };
        let [longest, .., shorter, shortest] = field.words(names);
        assert_eq!(
            longest,
            "position, cube 465, small: x 9, y 9, z 13 bits, from bit 1\u{2009}034"
        );
        assert_eq!(shorter, "position, cube 465: x 9, y 9, z 13 bits");
        assert_eq!(shortest, "position, cube 465: 31 bits");
        let part = Span { bits: 5.25, part: Some("y"), components: None, ..field };
        assert_eq!(part.words(names)[3], "y of position, cube 465: 5.2 bits");
    }
}
