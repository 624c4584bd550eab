//! The canonical text of a schema.

use std::fmt::{Display, LowerExp};

use super::{Axis, FieldForm, Levels, Schema, Shape, Slots};

/// What lines start with, in the order of the canonical text.
pub(super) const ITEMS: [&str; 13] = [
    "scene",
    "ticks",
    "up",
    "position",
    "orientation",
    "anchor",
    "kind",
    "field",
    "gravity",
    "floor",
    "max-speed",
    "linear",
    "slots",
];

/// Follows the bits of a component with an even number of levels.
pub(super) const EVEN: &str = "even";

/// Most characters of a number without an exponent.
const MAX_PLAIN: usize = 20;

impl Schema {
    /// The canonical [text](super#text), which [`parse`](Self::parse) reads. That of a schema that is not
    /// [legal](Self::check) may not be readable.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |line: String| {
            text += &line;
            text.push('\n');
        };
        line(format!("scene {}", self.name));
        line(format!("ticks {}", self.ticks_per_second));
        line(format!("up {}", axis_name(self.up)));
        for (axis, range) in Axis::ALL.into_iter().zip(&self.position) {
            let numbers = numbers([range.min, range.max, range.steps_per_unit]);
            line(format!("position {}{numbers}", axis_name(axis)));
        }
        line(match self.levels {
            Levels::Odd => format!("orientation {}", self.component_bits),
            Levels::Even => format!("orientation {} {EVEN}", self.component_bits),
        });
        if let Some(body) = self.anchor {
            line(format!("anchor {body}"));
        }
        for kind in &*self.kinds {
            line(format!("kind {} {}", kind.name, kind.shape.text()));
        }
        for field in &*self.fields {
            line(format!("field {} {}", field.name, field.form.text()));
        }
        let world = &self.world;
        line(format!("gravity{}", numbers([world.gravity])));
        if let Some(floor) = world.floor {
            line(format!("floor{}", numbers([floor])));
        }
        line(format!("max-speed{}", numbers([world.max_speed])));
        if let Some(linear) = world.linear {
            let (numerator, denominator) = linear.gravity;
            line(format!(
                "linear {numerator} {denominator} {} {} {}",
                linear.drag_per_tick, linear.rest_height, linear.fall_height
            ));
        }
        line(match self.slots {
            Slots::Fixed => "slots fixed".into(),
            Slots::Living { max } => format!("slots living {max}"),
        });
        text
    }
}

/// The first lines that differ of two [texts](Schema::text), whose last lines can describe more than a schema; an empty
/// one where a text has nothing that the other's line describes.
#[must_use]
pub fn first_difference<'t>(ours: &'t str, theirs: &'t str) -> Option<[&'t str; 2]> {
    let (mut our_lines, mut their_lines) = (ours.lines(), theirs.lines());
    let [our, their] = loop {
        match [our_lines.next(), their_lines.next()] {
            [None, None] => return None,
            [our, their] if our == their => {}
            differing => break differing.map(Option::unwrap_or_default),
        }
    };
    let lacks = |text: &str, line| !text.lines().any(|other| subject(other) == subject(line));
    Some(match [lacks(theirs, our), lacks(ours, their)] {
        [true, false] => [our, ""],
        [false, true] => ["", their],
        _ => [our, their],
    })
}

/// What a line describes: `ticks`, `field health`.
fn subject(line: &str) -> [Option<&str>; 2] {
    let mut words = line.split(' ');
    let first = words.next();
    let is_one_of_many =
        first.is_some_and(|first| !ITEMS.contains(&first) || ["kind", "field"].contains(&first));
    [first, words.next().filter(|_| is_one_of_many)]
}

impl Shape {
    fn text(&self) -> String {
        match *self {
            Self::Box(halves) => format!("box{}", numbers(halves)),
            Self::Ball(radius) => format!("ball{}", numbers([radius])),
            Self::Capsule { half, radius } => format!("capsule{}", numbers([half, radius])),
            Self::Unknown => "unknown".into(),
        }
    }
}

impl FieldForm {
    fn text(&self) -> String {
        match *self {
            Self::Flag => "flag".into(),
            Self::Int { min, max } => format!("int {min} {max}"),
            Self::Float { min, max, step } => format!("float{}", numbers([min, max, step])),
            Self::Angle { bits } => format!("angle {bits}"),
            Self::Body => "body".into(),
        }
    }
}

pub(super) const fn axis_name(axis: Axis) -> &'static str {
    match axis {
        Axis::X => "x",
        Axis::Y => "y",
        Axis::Z => "z",
    }
}

/// Each after a space, in the fewest digits that are read as the same number.
fn numbers<T: Display + LowerExp, const N: usize>(values: [T; N]) -> String {
    let words = values.map(|value| {
        let plain = format!(" {value}");
        match plain.len() <= 1 + MAX_PLAIN {
            true => plain,
            false => format!(" {value:e}"),
        }
    });
    words.concat()
}

#[cfg(test)]
mod tests {
    use super::super::{CUBES, Field};
    use super::*;

    #[test]
    fn the_demo_has_this_text() {
        let text = "\
scene cubes
ticks 60
up z
position x -256 256 512
position y -256 256 512
position z 0 32 512
orientation 9 even
anchor 0
kind player box 0.75 0.75 0.75
kind cube box 0.2 0.2 0.2
field interacting flag
gravity 20
floor 0
max-speed 32
linear 25 9 64841 102 250
slots fixed
";
        assert_eq!(CUBES.text(), text);
        assert_eq!(Schema::parse(text), Ok(CUBES));
    }

    #[test]
    fn numbers_are_short_and_read_as_themselves() {
        assert_eq!(numbers([0.1f32, 1e6, 1e-7]), " 0.1 1000000 0.0000001");
        assert_eq!(numbers([f32::MAX]), " 3.4028235e38");
        assert_eq!(numbers([-1e-45f32]), " -1e-45");
        assert_eq!(numbers([-f64::MIN_POSITIVE]), " -2.2250738585072014e-308");
    }

    #[test]
    fn a_difference_is_shown_in_the_lines_of_both() {
        let differs = |other: &Schema, ours: &str, theirs: &str| {
            let lines = first_difference(&CUBES.text(), &other.text())
                .map(|lines| lines.map(str::to_owned));
            assert_eq!(lines, Some([ours.to_owned(), theirs.to_owned()]));
        };
        let mut other = CUBES;
        other.slots = Slots::Living { max: 9 };
        differs(&other, "slots fixed", "slots living 9");
        other.fields.to_mut().push(Field {
            name: "target".into(),
            form: FieldForm::Body,
        });
        differs(&other, "", "field target body");
        other.kinds.to_mut().swap(0, 1);
        let [player, cube] = [
            "kind player box 0.75 0.75 0.75",
            "kind cube box 0.2 0.2 0.2",
        ];
        differs(&other, player, cube);
        other.anchor = None;
        differs(&other, "anchor 0", "");
    }
}
