//! [`Stages`] as text, for a command line.
//!
//! Parts are joined by `+`, and each is a stage and its value:
//!
//! ```text
//! text  = part *( "+" part )
//! part  = "orientation="          ( "full" | "smallest-three-2" | … | "smallest-three-15" )
//!       | "velocity="             ( "full" | "quantized" | "at-rest-flag" | "omitted" | "affine" )
//!       | "position="             ( "full" | "quantized" [ steps ] | "affine" )
//!       | "delta="                ( "off" | "changed-bits" | "indices" | "relative-indices" [ ranges ]
//!                                 | "predicted-indices" | "arithmetic" | "arithmetic-predicted"
//!                                 | "arithmetic-simulated" )
//!       | "relative-position="    ( "off" | "two-ranges" [ ranges ] | "predicted" )
//!       | "relative-orientation=" ( "off" | "two-ranges" [ ranges ] | "growing-ranges" )
//!       | "changed-flags="        ( "off" | "separate" | "joint" )
//! steps  = "-" number               ; per metre: a power of two, 32 to 4096
//! ranges = "-" number "-" number    ; bits of the small range and of the large range
//! ```
//!
//! Without steps or ranges these are the usual ones, and `Display` omits the usual ones.
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

mod choice;

use std::fmt;
use std::str::FromStr;

use self::choice::Choice;
use super::{IllegalStages, Stages};

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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::ladder;
    use crate::stages::{Delta, Orientation, Position, RelativeOrientation, RelativePosition};

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
    fn unusual_parameters_follow_the_name() {
        let stages = Stages {
            position: Position::Quantized {
                steps_per_metre: 1024,
            },
            delta: Delta::RelativeIndices { small: 4, large: 6 },
            relative_position: RelativePosition::TwoRanges { small: 4, large: 8 },
            relative_orientation: RelativeOrientation::TwoRanges {
                small: 1,
                large: 10,
            },
            ..ladder::CHANGED_FLAGS.stages
        };
        let text = "orientation=smallest-three-9+velocity=omitted+position=quantized-1024\
                    +delta=relative-indices-4-6+relative-position=two-ranges-4-8\
                    +relative-orientation=two-ranges-1-10+changed-flags=separate";
        assert_eq!(stages.to_string(), text);
        assert_eq!(text.parse(), Ok(stages));
        // The usual ones can be given, too.
        let usual = "position=quantized-512+delta=relative-indices-3-5";
        assert_eq!(
            usual.parse::<Stages>().unwrap().to_string(),
            "position=quantized+delta=relative-indices"
        );
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
                "position=quantized-500",
                "`position=quantized-500` does not end with a value of that stage; the values are full, \
                 quantized, affine, and quantized-STEPS with a power of two from 32 to 4096",
            ),
            (
                "delta=relative-indices-6-5",
                "`delta=relative-indices-6-5` does not end with a value of that stage; the values are off, \
                 changed-bits, indices, relative-indices, predicted-indices, arithmetic, \
                 arithmetic-predicted, arithmetic-simulated, and relative-indices-SMALL-LARGE with 1 to 16 \
                 bits, SMALL at most LARGE",
            ),
            (
                "relative-position=two-ranges-5",
                "`relative-position=two-ranges-5` does not end with a value of that stage; the values are \
                 off, two-ranges, predicted, and two-ranges-SMALL-LARGE with 1 to 18 bits, SMALL at most LARGE",
            ),
            (
                "relative-orientation=two-ranges-05-8",
                "`relative-orientation=two-ranges-05-8` does not end with a value of that stage; the values \
                 are off, two-ranges, growing-ranges, and two-ranges-SMALL-LARGE with 1 to 10 bits, SMALL at \
                 most LARGE",
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
        fn any_parameters_come_back_from_their_text(
            log in 5_u32..=12,
            (delta, position, orientation) in (ranges(16), ranges(18), ranges(10)),
        ) {
            let stages = Stages {
                position: Position::Quantized { steps_per_metre: 1 << log },
                delta: Delta::RelativeIndices { small: delta[0], large: delta[1] },
                relative_position: RelativePosition::TwoRanges { small: position[0], large: position[1] },
                relative_orientation: RelativeOrientation::TwoRanges {
                    small: orientation[0],
                    large: orientation[1],
                },
                ..ladder::CHANGED_FLAGS.stages
            };
            prop_assert_eq!(stages.to_string().parse(), Ok(stages));
        }

        #[test]
        fn any_pieces_are_legal_stages_or_an_error(pieces in prop::collection::vec(piece(), 0..9)) {
            if let Ok(stages) = pieces.concat().parse::<Stages>() {
                prop_assert_eq!(stages.check(), Ok(()));
                prop_assert_eq!(stages.to_string().parse(), Ok(stages));
            }
        }
    }

    fn ranges(max: u8) -> impl Strategy<Value = [u8; 2]> {
        (1..=max).prop_flat_map(|large| (1..=large).prop_map(move |small| [small, large]))
    }

    /// What texts are made of, each right in some place.
    fn piece() -> impl Strategy<Value = &'static str> {
        let pieces = "+ + = / orientation velocity=omitted delta= position= changed-flags=joint full \
                      affine off indices arithmetic smallest-three- 9 delta=relative-indices - -3 -16 é \
                      position=quantized -64 relative-position=two-ranges";
        prop::sample::select(pieces.split(' ').collect::<Vec<_>>())
    }
}
