//! [`Stages`] as text, for a command line.
//!
//! Parts are joined by `+`, and each is a stage and its value:
//!
//! ```text
//! text  = part *( "+" part )
//! part  = "orientation="          ( "full" | "smallest-three-2" | … | "smallest-three-15" )
//!       | "velocity="             ( "full" | "quantized" | "at-rest-flag" | "omitted" | "affine" )
//!       | "position="             ( "full" | "quantized" | "affine" )
//!       | "delta="                ( "off" | "changed-bits" | "indices" | "relative-indices"
//!                                 | "predicted-indices" | "arithmetic" | "arithmetic-predicted" )
//!       | "relative-position="    ( "off" | "two-ranges" | "predicted" )
//!       | "relative-orientation=" ( "off" | "two-ranges" | "growing-ranges" )
//!       | "changed-flags="        ( "off" | "separate" | "joint" )
//! ```
//!
//! Parts can be in any order, each at most once. A missing stage is as in
//! [`ladder::UNCOMPRESSED`](crate::ladder::UNCOMPRESSED). `Display` omits such stages, and writes
//! `orientation=full` for that rung itself. The text has no comma, colon or space, so that these can separate
//! it from other text.
//!
//! ```
//! use cubewire_codec::{Stages, ladder};
//!
//! let text = "orientation=smallest-three-9+velocity=omitted+position=quantized+delta=changed-bits";
//! let stages: Stages = text.parse()?;
//! assert_eq!(stages, ladder::DELTA.stages);
//! assert_eq!(stages.to_string(), text);
//! # Ok::<(), cubewire_codec::StagesTextError>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::{
    ChangedFlags, Delta, IllegalStages, Orientation, Position, RelativeOrientation,
    RelativePosition, Stages, Velocity,
};
use crate::quantize::smallest_three::{MAX_BITS, MIN_BITS};

/// Why a text is not the text of [`Stages`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StagesTextError {
    /// A part has no `=`.
    #[error("`{part}` has no `=` between a stage and its value")]
    NoValue {
        /// The part.
        part: String,
    },
    /// The stage does not exist.
    #[error(
        "`{part}` does not begin with a stage; the stages are {}",
        stage_names()
    )]
    UnknownStage {
        /// The part.
        part: String,
    },
    /// The stage does not have this value.
    #[error("`{part}` does not end with a value of that stage; the values are {values}")]
    UnknownValue {
        /// The part.
        part: String,
        /// The values of the stage.
        values: String,
    },
    /// A stage is set twice.
    #[error("`{part}` sets a stage that an earlier part has set")]
    Twice {
        /// The second part that sets it.
        part: String,
    },
    /// The combination is illegal.
    #[error(transparent)]
    Illegal(#[from] IllegalStages),
}

impl fmt::Display for Stages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut stages, mut uncompressed) = (*self, Self::UNCOMPRESSED);
        let parts = stages.parts_mut().into_iter();
        let mut written: Vec<String> = parts
            .zip(uncompressed.parts_mut())
            .map(|((stage, choice), (_, left_out))| (stage, choice.text(), left_out.text()))
            .filter(|(_, text, left_out)| text != left_out)
            .map(|(stage, text, _)| format!("{stage}={text}"))
            .collect();
        if written.is_empty() {
            let (stage, choice) = &uncompressed.parts_mut()[0];
            written.push(format!("{stage}={}", choice.text()));
        }
        formatter.write_str(&written.join("+"))
    }
}

impl FromStr for Stages {
    type Err = StagesTextError;

    /// Parses legal stages.
    fn from_str(text: &str) -> Result<Self, StagesTextError> {
        let mut stages = Self::UNCOMPRESSED;
        let mut set = Vec::new();
        for given in text.split('+') {
            let part = || given.to_owned();
            let Some((name, value)) = given.split_once('=') else {
                return Err(StagesTextError::NoValue { part: part() });
            };
            let mut parts = stages.parts_mut().into_iter();
            let Some((_, choice)) = parts.find(|(stage, _)| *stage == name) else {
                return Err(StagesTextError::UnknownStage { part: part() });
            };
            if set.contains(&name) {
                return Err(StagesTextError::Twice { part: part() });
            }
            set.push(name);
            if !choice.read(value) {
                let values = choice.listed();
                let part = part();
                return Err(StagesTextError::UnknownValue { part, values });
            }
        }
        stages.check()?;
        Ok(stages)
    }
}

impl Stages {
    /// Every stage, by its name in the text.
    fn parts_mut(&mut self) -> [(&'static str, &mut dyn Choice); 7] {
        [
            ("orientation", &mut self.orientation),
            ("velocity", &mut self.velocity),
            ("position", &mut self.position),
            ("delta", &mut self.delta),
            ("relative-position", &mut self.relative_position),
            ("relative-orientation", &mut self.relative_orientation),
            ("changed-flags", &mut self.changed_flags),
        ]
    }
}

fn stage_names() -> String {
    let mut stages = Stages::UNCOMPRESSED;
    stages.parts_mut().map(|(name, _)| name).join(", ")
}

/// The value of a stage.
trait Choice {
    fn text(&self) -> Cow<'static, str>;

    /// Parses a value; returns whether there is one of that text.
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

/// Names the variants of stages, for both directions.
macro_rules! names {
    ($($stage:ident { $($variant:ident: $name:literal,)+ })+) => {$(
        impl $stage {
            /// Its name in the [text](crate::stages::text) of stages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl Choice for $stage {
            fn text(&self) -> Cow<'static, str> {
                self.name().into()
            }

            fn read(&mut self, text: &str) -> bool {
                let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
                found.inspect(|found| *self = *found).is_some()
            }

            fn listed(&self) -> String {
                Self::ALL.map(Self::name).join(", ")
            }
        }
    )+};
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::ladder;

    #[test]
    fn every_legal_combination_has_a_text_of_its_own_and_comes_back_from_it() {
        let mut texts = HashSet::new();
        for stages in Stages::every_legal(&[2, 9, 15]) {
            let text = stages.to_string();
            assert_eq!(text.parse(), Ok(stages), "{text}");
            assert!(!text.contains([',', ':', ' ']), "{text}");
            assert!(texts.insert(text));
        }
    }

    #[test]
    fn every_rung_comes_back_from_its_text() {
        for rung in ladder::all() {
            assert_eq!(rung.stages.to_string().parse(), Ok(rung.stages));
        }
        assert_eq!(Stages::UNCOMPRESSED.to_string(), "orientation=full");
        assert_eq!(
            ladder::PREDICTED_POSITION.stages.to_string(),
            "orientation=smallest-three-9+velocity=omitted+position=quantized\
             +delta=predicted-indices+relative-position=predicted\
             +relative-orientation=growing-ranges+changed-flags=joint"
        );
    }

    #[test]
    fn parts_come_in_any_order() {
        let text = "position=affine+velocity=affine+delta=off+orientation=smallest-three-10";
        assert_eq!(text.parse(), Ok(ladder::AFFINE.stages));
    }

    #[test]
    fn illegal_stages_have_a_text_that_is_refused() {
        let bits = Stages {
            orientation: Orientation::SmallestThree { bits: 16 },
            ..Stages::UNCOMPRESSED
        };
        assert_eq!(bits.to_string(), "orientation=smallest-three-16");
        assert!(bits.to_string().parse::<Stages>().is_err());
    }

    #[test]
    fn an_error_names_the_part_and_what_there_is_instead() {
        for (text, message) in [
            ("", "`` has no `=` between a stage and its value"),
            (
                "velocity=omitted+delta",
                "`delta` has no `=` between a stage and its value",
            ),
            (
                "speed=omitted",
                "`speed=omitted` does not begin with a stage; the stages are orientation, velocity, \
                 position, delta, relative-position, relative-orientation, changed-flags",
            ),
            (
                "velocity=none",
                "`velocity=none` does not end with a value of that stage; the values are full, quantized, \
                 at-rest-flag, omitted, affine",
            ),
            (
                "orientation=smallest-three-09",
                "`orientation=smallest-three-09` does not end with a value of that stage; the values are full \
                 and smallest-three-2 to smallest-three-15",
            ),
            (
                "delta=off+delta=off",
                "`delta=off` sets a stage that an earlier part has set",
            ),
            (
                "changed-flags=joint",
                "changed flags need delta encoding: without a baseline nothing is known to be \
                 unchanged",
            ),
        ] {
            let error = text.parse::<Stages>().unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_legal_stages_or_an_error(text: String) {
            let _ = text.parse::<Stages>();
        }

        #[test]
        fn any_pieces_are_legal_stages_or_an_error(pieces in prop::collection::vec(piece(), 0..9)) {
            if let Ok(stages) = pieces.concat().parse::<Stages>() {
                prop_assert_eq!(stages.check(), Ok(()));
                prop_assert_eq!(stages.to_string().parse(), Ok(stages));
            }
        }
    }

    /// What texts are made of, each right in some place.
    fn piece() -> impl Strategy<Value = &'static str> {
        let pieces = "+ + = / orientation velocity=omitted delta= position= changed-flags=joint full \
                      affine off indices arithmetic smallest-three- 9 é";
        prop::sample::select(pieces.split(' ').collect::<Vec<_>>())
    }
}
