//! The header: the first bits of every packet.
//!
//! ```text
//! sequence 16 | initial 1 = 1 |                             stages
//! sequence 16 | initial 1 = 0 | same 1 = 0 | baseline 16 |  stages
//! sequence 16 | initial 1 = 0 | same 1 = 1 | age 8
//! ```
//!
//! `initial` means that the packet names no baseline. `same` means that its stages are those of the packet
//! that carried the baseline, which is `age` + 1 ticks old. With the check of an arithmetically coded packet these are
//! five bytes. For an older baseline the stages are written.

mod descriptor;

use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::decode_error::DecodeError;
use crate::ladder;
use crate::ledger::BitKind;
use crate::sequence::Sequence;
use crate::stages::Stages;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the snapshot.
    pub sequence: Sequence,
    /// What the packet is relative to.
    pub baseline: BaselineId,
}

/// What a packet is relative to, and its stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineId {
    /// The initial state; or nothing, if the stages do not use a baseline.
    Initial {
        /// The packet's stages.
        stages: Stages,
    },
    /// A snapshot that the receiver holds.
    Named {
        /// Its number.
        sequence: Sequence,
        /// The packet's stages; `None` if they are those of the packet that carried the baseline, which is
        /// 1 to [`Header::MAX_AGE`] ticks old.
        stages: Option<Stages>,
    },
}

impl BaselineId {
    /// The number of the named snapshot; `None` if there is none.
    #[must_use]
    pub const fn sequence(&self) -> Option<Sequence> {
        match *self {
            Self::Initial { .. } => None,
            Self::Named { sequence, .. } => Some(sequence),
        }
    }
}

/// Bits of an age.
const AGE_BITS: u32 = 8;

impl Header {
    /// Ticks from a baseline to a packet of the same stages, at most, if the packet is not to repeat them.
    pub const MAX_AGE: u16 = 1 << AGE_BITS;

    /// `named` is the baseline that the packet is relative to.
    pub(crate) fn new(sequence: Sequence, stages: Stages, named: Option<&Baseline>) -> Self {
        let baseline = match named {
            Some(baseline) => {
                let age = sequence.ticks_since(baseline.sequence());
                let is_same = baseline.stages() == stages && (1..=Self::MAX_AGE).contains(&age);
                BaselineId::Named {
                    sequence: baseline.sequence(),
                    stages: (!is_same).then_some(stages),
                }
            }
            None => BaselineId::Initial { stages },
        };
        Self { sequence, baseline }
    }

    /// Ticks from the baseline to the packet; `None` if it is relative to the initial state, or to nothing.
    #[must_use]
    pub fn baseline_age(&self) -> Option<u16> {
        Some(self.sequence.ticks_since(self.baseline.sequence()?))
    }

    /// Reads only the header of a packet.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes end inside the header, or if its stages are unknown or
    /// illegal.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::ANY.code(&mut BitStream::reader(bytes, 0, None))
    }

    /// Writes only the header, padded with zeros to whole bytes.
    ///
    /// # Panics
    /// If the baseline is older than [`Self::MAX_AGE`] and there are no stages.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut stream = BitStream::writer(&mut bytes, None);
        let Ok(_) = self.code(&mut stream);
        stream.finish();
        bytes
    }

    /// What a reader is given to code.
    pub(crate) const ANY: Self = Self {
        sequence: Sequence(0),
        baseline: BaselineId::Initial {
            stages: ladder::UNCOMPRESSED.stages,
        },
    };

    pub(crate) fn code<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
    ) -> Result<Self, D::Error> {
        let mut field = stream.field(BitKind::Header);
        let (named, stages) = match self.baseline {
            BaselineId::Initial { stages } => (None, Some(stages)),
            BaselineId::Named { sequence, stages } => (Some(sequence), stages),
        };
        let target = stages.unwrap_or(ladder::UNCOMPRESSED.stages);
        let sequence = Sequence(field.number(16, self.sequence.0.into())? as u16);
        let baseline = if field.flag(named.is_none())? {
            let stages = descriptor::code(&mut field, &target)?;
            BaselineId::Initial { stages }
        } else if field.flag(stages.is_none())? {
            let age = sequence.ticks_since(named.unwrap_or_default());
            let age = field.number(AGE_BITS, age.wrapping_sub(1).into())? as u16 + 1;
            BaselineId::Named {
                sequence: Sequence(sequence.0.wrapping_sub(age)),
                stages: None,
            }
        } else {
            let named = named.unwrap_or_default();
            BaselineId::Named {
                sequence: Sequence(field.number(16, named.0.into())? as u16),
                stages: Some(descriptor::code(&mut field, &target)?),
            }
        };
        Ok(Self { sequence, baseline })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::stages::{
        Delta, IllegalStages, Position, RelativeOrientation, RelativePosition, StageOptions,
    };

    #[test]
    fn every_legal_combination_has_a_descriptor_of_its_own() {
        let mut seen = HashSet::new();
        let bits: Vec<u8> = (2..=15).collect();
        for stages in Stages::every_legal(&bits) {
            let header = Header {
                sequence: Sequence(7),
                baseline: BaselineId::Initial { stages },
            };
            let bytes = header.encode();
            assert_eq!(bytes.len(), 5);
            assert_eq!(Header::decode(&bytes), Ok(header));
            assert!(seen.insert(bytes));
        }
    }

    #[test]
    fn a_baseline_of_the_same_stages_takes_eight_bits() {
        for (sequence, baseline) in [(7, 6), (256, 0), (2, u16::MAX), (100, 65_380)] {
            let header = Header {
                sequence: Sequence(sequence),
                baseline: BaselineId::Named {
                    sequence: Sequence(baseline),
                    stages: None,
                },
            };
            let bytes = header.encode();
            assert_eq!(Header::decode(&bytes), Ok(header));
            assert_eq!(bytes.len(), 4);
            assert!(matches!(
                Header::decode(&bytes[..3]),
                Err(DecodeError::Truncated { .. })
            ));
        }
    }

    #[test]
    fn an_older_baseline_is_named_with_the_stages() {
        let stages = ladder::ARITHMETIC.stages;
        let mut baseline = Baseline::default();
        let snapshot = crate::QuantizedSnapshot::new(crate::Plan::cubes(), stages.precision());
        baseline.record(Sequence(10), stages, &snapshot, None);
        for (age, written) in [(0, true), (1, false), (256, false), (257, true)] {
            let header = Header::new(Sequence(10 + age), stages, Some(&baseline));
            let baseline = BaselineId::Named {
                sequence: Sequence(10),
                stages: written.then_some(stages),
            };
            assert_eq!(header.baseline, baseline, "{age}");
            assert_eq!(Header::decode(&header.encode()), Ok(header));
        }
    }

    /// Decodes stages that no encoder writes, as a header.
    fn decode_stages(bits: &str) -> Result<Header, DecodeError> {
        let bits = format!("{:017b}{}", 1, bits.replace(' ', ""));
        let bytes: Vec<u8> = bits
            .as_bytes()
            .chunks(8)
            .map(|bits| {
                let bits = bits.iter().chain([&b'0'; 8]).take(8);
                bits.fold(0, |byte, bit| 2 * byte + (bit - b'0'))
            })
            .collect();
        Header::decode(&bytes)
    }

    #[test]
    fn every_legal_parameter_has_a_descriptor_of_its_own() {
        let top = *ladder::CHANGED_FLAGS.stages;
        let ranges = (1..=18).flat_map(|large| (1..=large).map(move |small| (small, large)));
        let steps = (5..=12).map(|log| StageOptions {
            position: Position::Quantized {
                steps_per_metre: 1 << log,
            },
            ..top
        });
        let of_ranges = ranges.flat_map(|(small, large)| {
            let mut all = [top; 4];
            all[0].delta = Delta::RelativeIndices { small, large };
            all[1].relative_position = RelativePosition::TwoRanges { small, large };
            all[2].relative_orientation = RelativeOrientation::TwoRanges { small, large };
            // All at once.
            all[3] = StageOptions {
                position: Position::Quantized {
                    steps_per_metre: 1 << (5 + large % 8),
                },
                delta: all[0].delta,
                relative_position: all[1].relative_position,
                relative_orientation: all[2].relative_orientation,
                ..top
            };
            all
        });
        let (mut seen, mut distinct) = (HashMap::new(), HashSet::new());
        for stages in steps
            .chain(of_ranges)
            .filter_map(|options| options.check().ok())
        {
            for baseline in [
                BaselineId::Initial { stages },
                BaselineId::Named {
                    sequence: Sequence(9),
                    stages: Some(stages),
                },
            ] {
                let header = Header {
                    sequence: Sequence(7),
                    baseline,
                };
                let bytes = header.encode();
                assert_eq!(Header::decode(&bytes), Ok(header));
                // What is cut off is missed.
                let cut = Header::decode(&bytes[..bytes.len() - 1]);
                assert!(matches!(cut, Err(DecodeError::Truncated { .. })));
                assert_eq!(*seen.entry(bytes).or_insert(stages), stages);
            }
            distinct.insert(stages);
        }
        assert_eq!(seen.len(), 2 * distinct.len());
        assert!(distinct.len() > 400);
    }

    #[test]
    fn unusual_parameters_follow_in_the_order_of_the_stages() {
        let options = StageOptions {
            position: Position::Quantized {
                steps_per_metre: 1024,
            },
            relative_position: RelativePosition::TwoRanges { small: 4, large: 8 },
            ..*ladder::CHANGED_FLAGS.stages
        };
        let stages = options.check().unwrap();
        let header = Header {
            sequence: Sequence(0),
            baseline: BaselineId::Initial { stages },
        };
        // Orientation 9, velocity omitted, and 3 and 3 instead of 1 and 1.
        let bits = "1001 011 11 011 11 01 01  101  00011 00111";
        assert_eq!(decode_stages(bits), Ok(header));
        assert_eq!(header.encode().len(), 6);
    }

    #[test]
    fn whether_a_scene_is_simulated_follows_last() {
        for (bits, delta) in [
            ("1001 011 01 110 00 00 00  0", Delta::ArithmeticPredicted),
            ("1001 011 01 110 00 00 00  1", Delta::ArithmeticSimulated),
        ] {
            let options = StageOptions {
                delta,
                ..*ladder::DELTA.stages
            };
            let stages = options.check().unwrap();
            let header = Header {
                sequence: Sequence(0),
                baseline: BaselineId::Initial { stages },
            };
            assert_eq!(decode_stages(bits), Ok(header));
        }
    }

    #[test]
    fn usual_parameters_are_not_written() {
        for (bits, at_bit, stage) in [
            ("1001 011 11 011 01 01 01  100", 38, "position"),
            ("1001 011 01 111 01 01 01  00010 00100", 45, "delta"),
            (
                "1001 011 01 011 11 01 01  00100 01000",
                45,
                "relative position",
            ),
            (
                "1001 011 01 011 01 11 01  00100 00111",
                45,
                "relative orientation",
            ),
        ] {
            let error = DecodeError::UsualParameters { at_bit, stage };
            assert_eq!(decode_stages(bits), Err(error));
        }
    }

    #[test]
    fn illegal_parameters_are_refused() {
        for (bits, reason) in [
            (
                "1001 011 01 111 01 01 01  00010 00001",
                IllegalStages::IndexRanges { small: 3, large: 2 },
            ),
            (
                "1001 011 01 011 11 01 01  00000 11111",
                IllegalStages::PositionRanges {
                    small: 1,
                    large: 32,
                },
            ),
            (
                "1001 011 01 011 01 11 01  00000 01010",
                IllegalStages::OrientationRanges {
                    small: 1,
                    large: 11,
                },
            ),
            (
                "1001 011 11 101 00 00 00  111",
                IllegalStages::ArithmeticNotAlone,
            ),
            (
                "1001 011 11 011 10 00 00  000",
                IllegalStages::PredictedPositionSteps,
            ),
        ] {
            assert_eq!(decode_stages(bits), Err(DecodeError::Stages(reason)));
        }
        assert!(matches!(
            decode_stages("1001 101 01 011 01 01 01"),
            Err(DecodeError::UnusedCode {
                stage: "velocity",
                code: 5,
                ..
            })
        ));
    }
}
