//! The value of one stage as text.

use std::borrow::Cow;

use crate::quantize::smallest_three::{MAX_BITS, MIN_BITS};
use crate::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};

/// The value of a stage.
pub(super) trait Choice {
    fn text(&self) -> Cow<'static, str>;

    /// Parses a legal value; returns whether there is one of that text.
    fn read(&mut self, text: &str) -> bool;

    /// The texts of all values, for an error message.
    fn listed(&self) -> String;
}

impl Choice for Orientation {
    fn text(&self) -> Cow<'static, str> {
        match self {
            Self::Full => "full".into(),
            Self::SmallestThree { bits } => format!("smallest-three-{bits}").into(),
        }
    }

    fn read(&mut self, text: &str) -> bool {
        let smallest_three = (MIN_BITS..=MAX_BITS).map(|bits| Self::SmallestThree { bits });
        let mut all = [Self::Full].into_iter().chain(smallest_three);
        let found = all.find(|orientation| orientation.text() == text);
        found.inspect(|found| *self = *found).is_some()
    }

    fn listed(&self) -> String {
        let [min, max] = [MIN_BITS, MAX_BITS].map(|bits| Self::SmallestThree { bits }.text());
        format!("{} and {min} to {max}", Self::Full.text())
    }
}

/// The parameters of the variants of a stage.
trait Parameters: Copy {
    /// Those of this variant, in the order of the text.
    fn parameters(self) -> Vec<u16> {
        Vec::new()
    }

    /// This variant with others, if it has so many and they are legal.
    fn with_parameters(self, _: &[u16]) -> Option<Self> {
        None
    }

    /// What is legal besides the names, for an error message.
    fn legal() -> Option<String> {
        None
    }
}

impl Parameters for Velocity {}
impl Parameters for ChangedFlags {}

impl Parameters for Position {
    fn parameters(self) -> Vec<u16> {
        match self {
            Self::Quantized { steps_per_metre } => vec![steps_per_metre],
            _ => Vec::new(),
        }
    }

    fn with_parameters(self, parameters: &[u16]) -> Option<Self> {
        match (self, parameters) {
            (Self::Quantized { .. }, &[steps_per_metre]) => {
                Some(Self::Quantized { steps_per_metre })
            }
            _ => None,
        }
        .filter(|position| position.check().is_ok())
    }

    fn legal() -> Option<String> {
        let (name, min, max) = (Self::QUANTIZED.name(), Self::MIN_STEPS, Self::MAX_STEPS);
        Some(format!(
            "{name}-STEPS with a power of two from {min} to {max}"
        ))
    }
}

/// For stages of which one variant, here with its usual parameters, has a small and a large range.
macro_rules! ranges {
    ($($stage:ident::$variant:ident, $usual:ident;)+) => {$(
        impl Parameters for $stage {
            fn parameters(self) -> Vec<u16> {
                let range_bits = self.range_bits().into_iter().flatten();
                range_bits.map(u16::from).collect()
            }

            fn with_parameters(self, parameters: &[u16]) -> Option<Self> {
                match (self, parameters) {
                    (Self::$variant { .. }, &[small, large]) => Some(Self::$variant {
                        small: small.try_into().ok()?,
                        large: large.try_into().ok()?,
                    }),
                    _ => None,
                }
                .filter(|stage| stage.has_legal_ranges())
            }

            fn legal() -> Option<String> {
                let (name, max) = (Self::$usual.name(), Self::MAX_RANGE_BITS);
                Some(format!("{name}-SMALL-LARGE with 1 to {max} bits, SMALL at most LARGE"))
            }
        }
    )+};
}

ranges! {
    Delta::RelativeIndices, RELATIVE_INDICES;
    RelativePosition::TwoRanges, TWO_RANGES;
    RelativeOrientation::TwoRanges, TWO_RANGES;
}

/// Names the variants of stages, for both directions.
macro_rules! names {
    ($($stage:ident { $($variant:ident: $name:literal,)+ })+) => {$(
        impl $stage {
            /// Its name in the [text](crate::stages::text) of stages, without parameters.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)+
                }
            }
        }

        impl Choice for $stage {
            fn text(&self) -> Cow<'static, str> {
                if Self::ALL.contains(self) {
                    return self.name().into();
                }
                let parameters = self.parameters().into_iter();
                parameters.fold(self.name().into(), |text, number| format!("{text}-{number}").into())
            }

            fn read(&mut self, text: &str) -> bool {
                let found = Self::ALL.into_iter().find_map(|choice| {
                    let rest = text.strip_prefix(choice.name())?;
                    if rest.is_empty() {
                        return Some(choice);
                    }
                    choice.with_parameters(&numbers(rest)?)
                });
                found.inspect(|found| *self = *found).is_some()
            }

            fn listed(&self) -> String {
                let names = Self::ALL.map(Self::name).join(", ");
                match Self::legal() {
                    Some(legal) => format!("{names}, and {legal}"),
                    None => names,
                }
            }
        }
    )+};
}

/// Numbers, each after a hyphen and without leading zeros.
fn numbers(text: &str) -> Option<Vec<u16>> {
    let numbers = text.strip_prefix('-')?.split('-');
    let number = |digits: &str| {
        let number: u16 = digits.parse().ok()?;
        (number.to_string() == digits).then_some(number)
    };
    numbers.map(number).collect()
}

names! {
    Velocity {
        Full: "full",
        Quantized: "quantized",
        AtRestFlag: "at-rest-flag",
        Omitted: "omitted",
        Affine: "affine",
    }
    Position {
        Full: "full",
        Quantized: "quantized",
        Affine: "affine",
    }
    Delta {
        Off: "off",
        ChangedBits: "changed-bits",
        Indices: "indices",
        RelativeIndices: "relative-indices",
        PredictedIndices: "predicted-indices",
        Arithmetic: "arithmetic",
        ArithmeticPredicted: "arithmetic-predicted",
        ArithmeticSimulated: "arithmetic-simulated",
    }
    RelativePosition {
        Off: "off",
        TwoRanges: "two-ranges",
        Predicted: "predicted",
    }
    RelativeOrientation {
        Off: "off",
        TwoRanges: "two-ranges",
        GrowingRanges: "growing-ranges",
    }
    ChangedFlags {
        Off: "off",
        Separate: "separate",
        Joint: "joint",
    }
}
