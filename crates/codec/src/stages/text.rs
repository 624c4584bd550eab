//! [`Stages`] as text for a command line: a [list](cubewire_text) of stages and values.
//!
//! | stage | values |
//! | --- | --- |
//! | `orientation` | `full`, `smallest-three-2` to `smallest-three-15` |
//! | `velocity` | `full`, `quantized`, `at-rest-flag`, `omitted`, `affine` |
//! | `position` | `full`, `quantized`, `affine` |
//! | `delta` | `off`, `changed-bits`, `indices`, `relative-indices`, `predicted-indices`, `arithmetic`, `arithmetic-predicted`, `arithmetic-simulated` |
//! | `relative-position` | `off`, `two-ranges`, `predicted` |
//! | `relative-orientation` | `off`, `two-ranges`, `growing-ranges` |
//! | `changed-flags` | `off`, `separate`, `joint` |
//!
//! Parameters are appended: `quantized-64` has 64 steps per metre; `relative-indices-4-6` and `two-ranges-4-6` have 4
//! and 6 bits in the small and the large range. The usual parameters are omitted.
//!
//! A missing stage is the one of [`ladder::UNCOMPRESSED`](crate::ladder::UNCOMPRESSED). `Display` omits such stages, and
//! writes `orientation=full` if all are. The text has no comma, colon or space, so that these can separate
//! it from other text.
//!
//! ```
//! use cubewire_codec::{Stages, ladder};
//!
//! let text = "orientation=smallest-three-9+velocity=omitted+position=quantized+delta=changed-bits";
//! let stages: Stages = text.parse()?;
//! assert_eq!(stages, ladder::DELTA.stages);
//! assert_eq!(stages.to_string(), text);
//! # Ok::<(), cubewire_codec::TextError>(())
//! ```

use std::fmt;
use std::str::FromStr;

use cubewire_text::{Entries, Notation, TextError};

use super::{Delta, Position, RelativeOrientation, RelativePosition, StageOptions, Stages};

const NOTATION: Notation = Notation { comma: '+', colon: '=', slash: '-' };

/// The usual parameters of all values that have parameters.
const USUAL: StageOptions = StageOptions {
    position: Position::QUANTIZED,
    delta: Delta::RELATIVE_INDICES,
    relative_position: RelativePosition::TWO_RANGES,
    relative_orientation: RelativeOrientation::TWO_RANGES,
    ..StageOptions::UNCOMPRESSED
};

fn entries(options: &StageOptions) -> Entries {
    NOTATION.written(options).expect("every stage has a text")
}

fn without_parameters(value: &str) -> &str {
    value.trim_end_matches(|mark: char| mark == NOTATION.slash || mark.is_ascii_digit())
}

impl fmt::Display for Stages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (uncompressed, usual) = (entries(&StageOptions::UNCOMPRESSED), entries(&USUAL));
        let mut written = entries(self);
        written.retain(|entry| !uncompressed.contains(entry));
        if written.is_empty() {
            written.extend(uncompressed.into_iter().next());
        }
        for entry in written.iter_mut().filter(|entry| usual.contains(entry)) {
            entry.1 = without_parameters(&entry.1).to_owned();
        }
        formatter.write_str(&NOTATION.join(&written))
    }
}

impl FromStr for Stages {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let usual = entries(&USUAL);
        let given = NOTATION.entries(text).map(|(stage, value)| {
            let mut usual = usual.iter().filter(|(known, _)| *known == stage);
            let usual = usual.find(|(_, usual)| without_parameters(usual) == value);
            (stage, usual.map_or(value, |(_, usual)| usual))
        });
        let checked = NOTATION.change(&StageOptions::UNCOMPRESSED, given)?.check();
        checked.map_err(|error| TextError::Other(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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

    /// Rungs with their texts.
    const RUNGS: &str = "\
uncompressed | orientation=full
at-rest | orientation=smallest-three-9+velocity=at-rest-flag
affine | orientation=smallest-three-10+velocity=affine+position=affine
changed-flags | orientation=smallest-three-9+velocity=omitted+position=quantized+delta=relative-indices+relative-position=two-ranges+relative-orientation=two-ranges+changed-flags=separate
predicted-position | orientation=smallest-three-9+velocity=omitted+position=quantized+delta=predicted-indices+relative-position=predicted+relative-orientation=growing-ranges+changed-flags=joint
simulated | orientation=smallest-three-9+velocity=omitted+position=quantized+delta=arithmetic-simulated";

    /// Texts appear in users' scripts and replays. Replays contain a checksum of the text.
    #[test]
    fn a_text_is_read_and_written_as_ever() {
        for row in RUNGS.lines() {
            let (rung, text) = row.split_once(" | ").unwrap();
            let stages = ladder::rung(rung).unwrap().stages;
            assert_eq!(text.parse(), Ok(stages));
            assert_eq!(stages.to_string(), text);
        }
        let text = "orientation=smallest-three-9+velocity=omitted+position=quantized-1024\
                    +delta=relative-indices-4-6+relative-position=two-ranges-4-8\
                    +relative-orientation=two-ranges-1-10+changed-flags=separate";
        let stages: Stages = text.parse().unwrap();
        assert_eq!(stages.to_string(), text);
        let ranges = [
            stages.delta.range_bits(),
            stages.relative_position.range_bits(),
            stages.relative_orientation.range_bits(),
        ];
        assert_eq!(ranges, [[4, 6], [4, 8], [1, 10]].map(Some));
        // In any order, and with redundant entries.
        let text = "delta=relative-indices-3-5+position=quantized-512+velocity=full";
        let written = text.parse::<Stages>().unwrap().to_string();
        assert_eq!(written, "position=quantized+delta=relative-indices");
    }

    /// Texts, each with the message of its error.
    const REFUSED: &str = "\
speed=omitted | unknown setting `speed`; choose one of orientation, velocity, position, delta, relative-position, relative-orientation, changed-flags
 | the setting is missing; choose one of orientation, velocity, position, delta, relative-position, relative-orientation, changed-flags
velocity=none | unknown velocity `none`; choose one of full, quantized, at-rest-flag, omitted, affine
velocity=omitted+delta | the delta is missing; choose one of off, changed-bits, indices, relative-indices, predicted-indices, arithmetic, arithmetic-predicted, arithmetic-simulated
delta=off+delta=off | `delta` is given twice
relative-position=two-ranges-5 | relative-position must be two-ranges-SMALL-LARGE, not `two-ranges-5`
orientation=smallest-three-300 | orientation must be a whole number from 0 to 255, not `300`
orientation=smallest-three-16 | a smallest-three component has 2 to 15 bits, not 16
position=quantized-500 | quantized positions have a power of two from 32 to 4096 steps per metre, not 500
changed-flags=joint | changed flags need delta encoding, because they compare with a baseline";

    #[test]
    fn an_error_names_the_stage_its_value_and_what_is_legal() {
        for row in REFUSED.lines() {
            let (text, message) = row.split_once(" | ").unwrap();
            assert_eq!(text.parse::<Stages>().unwrap_err().to_string(), message);
        }
    }

    /// Changes to the stages of [`ladder::CHANGED_FLAGS`], each with the reason of the refusal.
    const ILLEGAL: &str = "\
delta=off | relative positions need delta encoding, because they are relative to a baseline
position=affine | relative positions need quantized positions: they are differences between whole numbers of steps
position=quantized-256+relative-position=predicted | predicted positions need 512 steps per metre, because their ranges were chosen for such steps
delta=off+relative-position=off | relative orientations need delta encoding, because they are relative to a baseline
orientation=full | relative orientations need the smallest three: they are differences between its components
position=quantized-1024+relative-orientation=growing-ranges | growing ranges need 512 steps per metre if positions are quantized, because they depend on the speed in such steps
delta=off+relative-position=off+relative-orientation=off | changed flags need delta encoding, because they compare with a baseline
delta=arithmetic+position=quantized-1024+relative-position=off+relative-orientation=off+changed-flags=off | arithmetic coding needs orientations in nine bits, positions quantized in 512 steps per metre and no velocity, and replaces relative positions, relative orientations and changed flags
delta=relative-indices-5-19 | ranges of relative indices must have 1 to 16 bits, and the small one at most as many as the large one, not 5 and 19
relative-position=two-ranges-5-19 | ranges of relative positions must have 1 to 18 bits, and the small one at most as many as the large one, not 5 and 19
relative-orientation=two-ranges-5-19 | ranges of relative orientations with components of nine bits must have 1 to 10 bits, and the small one at most as many as the large one, not 5 and 19";

    #[test]
    fn every_refusal_of_a_combination_has_its_own_reason() {
        for row in ILLEGAL.lines() {
            let (change, reason) = row.split_once(" | ").unwrap();
            let changed = NOTATION.change(&*ladder::CHANGED_FLAGS.stages, NOTATION.entries(change));
            let refused = changed.unwrap().check().unwrap_err();
            assert_eq!(refused.to_string(), reason);
        }
    }
}
