//! The header: the first bits of every packet.
//!
//! ```text
//! sequence 16 | initial 1 = 1 |                             stages
//! sequence 16 | initial 1 = 0 | same 1 = 0 | baseline 16 |  stages
//! sequence 16 | initial 1 = 0 | same 1 = 1 | age 8
//! ```
//!
//! `initial` is 1 if the packet names no baseline. `same` is 1 if its stages are equal to the stages of the packet
//! that carried the baseline; the baseline is then `age` + 1 ticks old. With the check of an arithmetically coded
//! packet, this form has five bytes. If the baseline is older than 256 ticks, the stages are written.

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
    /// Sequence number of the snapshot.
    pub sequence: Sequence,
    /// The baseline of the packet.
    pub baseline: BaselineId,
}

/// The baseline of a packet, and its stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineId {
    /// No baseline: the packet is relative to the initial state, or absolute if the stages do not use a baseline.
    Initial {
        /// The packet's stages.
        stages: Stages,
    },
    /// A snapshot that the receiver holds.
    Named {
        /// Sequence number of the baseline.
        sequence: Sequence,
        /// The packet's stages. `None` if they are equal to the stages of the packet that carried the baseline, which
        /// is then 1 to [`Header::MAX_AGE`] ticks old.
        stages: Option<Stages>,
    },
}

impl BaselineId {
    /// Sequence number of the baseline. `None` if the packet names no baseline.
    #[must_use]
    pub const fn sequence(&self) -> Option<Sequence> {
        match *self {
            Self::Initial { .. } => None,
            Self::Named { sequence, .. } => Some(sequence),
        }
    }
}

const AGE_BITS: u32 = 8;

impl Header {
    /// Maximum age of a baseline, in ticks, for the form that does not repeat the stages.
    pub const MAX_AGE: u16 = 1 << AGE_BITS;

    /// Creates the header of a packet that is relative to the baseline `named`.
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

    /// Ticks from the baseline to the packet. `None` if the packet names no baseline.
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
    /// If there are no stages and the baseline is not 1 to [`Self::MAX_AGE`] ticks old.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut stream = BitStream::writer(&mut bytes, None);
        let Ok(_) = self.code(&mut stream);
        stream.finish();
        bytes
    }

    /// Argument of [`code`](Self::code) for a reader, which ignores it.
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
            // Ages are 1 to 256, so they are written minus 1.
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

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::stages::{
        Delta, IllegalStages, Position, RelativeOrientation, RelativePosition, StageOptions,
    };

    const SEQUENCE: Sequence = Sequence(7);

    /// Header of a packet that names no baseline.
    fn initial(stages: Stages) -> Header {
        Header {
            sequence: SEQUENCE,
            baseline: BaselineId::Initial { stages },
        }
    }

    /// Stages with at least one unusual parameter.
    fn unusual() -> impl Iterator<Item = Stages> {
        let top = *ladder::CHANGED_FLAGS.stages;
        let steps = |log| Position::Quantized {
            steps_per_metre: 1_u16 << log,
        };
        let of_steps = (5..=12).map(move |log| StageOptions {
            position: steps(log),
            ..top
        });
        let ranges = (1..=18).flat_map(|large| (1..=large).map(move |small| (small, large)));
        let of_ranges = ranges.flat_map(move |(small, large)| {
            let mut all = [top; 4];
            all[0].delta = Delta::RelativeIndices { small, large };
            all[1].relative_position = RelativePosition::TwoRanges { small, large };
            all[2].relative_orientation = RelativeOrientation::TwoRanges { small, large };
            // All unusual at once.
            all[3] = StageOptions {
                position: steps(5 + large % 8),
                delta: all[0].delta,
                relative_position: all[1].relative_position,
                relative_orientation: all[2].relative_orientation,
                ..top
            };
            all
        });
        let all = of_steps.chain(of_ranges);
        all.filter_map(|options| options.check().ok())
    }

    #[test]
    fn all_legal_stages_have_a_descriptor_of_their_own() {
        let bits: Vec<u8> = (2..=15).collect();
        let usual: Vec<_> = Stages::every_legal(&bits).collect();
        for &stages in &usual {
            assert_eq!(initial(stages).encode().len(), 5);
        }
        let (mut seen, mut distinct) = (HashMap::new(), HashSet::new());
        for stages in usual.iter().copied().chain(unusual()) {
            let named = BaselineId::Named {
                sequence: Sequence(9),
                stages: Some(stages),
            };
            for baseline in [initial(stages).baseline, named] {
                let sequence = SEQUENCE;
                let header = Header { sequence, baseline };
                let bytes = header.encode();
                assert_eq!(Header::decode(&bytes), Ok(header));
                // Every truncation is detected.
                let cut = Header::decode(&bytes[..bytes.len() - 1]);
                assert!(matches!(cut, Err(DecodeError::Truncated { .. })));
                assert_eq!(*seen.entry(bytes).or_insert(stages), stages);
            }
            distinct.insert(stages);
        }
        assert_eq!(seen.len(), 2 * distinct.len());
        assert!(distinct.len() > usual.len() + 400);
    }

    /// The same stages with the usual parameters, if they are legal.
    fn with_usual_parameters(stages: Stages) -> Stages {
        let mut options = *stages;
        if options.delta.range_bits().is_some() {
            options.delta = Delta::RELATIVE_INDICES;
        }
        if options.relative_position.range_bits().is_some() {
            options.relative_position = RelativePosition::TWO_RANGES;
        }
        if options.relative_orientation.range_bits().is_some() {
            options.relative_orientation = RelativeOrientation::TWO_RANGES;
        }
        if let Position::Quantized { .. } = options.position {
            options.position = Position::QUANTIZED;
        }
        let usual = options.check_for_any().unwrap();
        usual.with_coverage(stages.coverage()).unwrap()
    }

    #[test]
    fn everything_readable_is_written_and_whatever_is_read_is_among_it() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut readable = HashSet::new();
        for _ in 0..4 {
            readable.extend(Stages::every_readable(|most| random.random_range(0..most)));
        }
        let mut ranges = [HashSet::new(), HashSet::new(), HashSet::new()];
        let mut positions = HashSet::new();
        for &stages in &readable {
            let header = initial(stages);
            assert_eq!(Header::decode(&header.encode()), Ok(header));
            ranges[0].extend(stages.delta.range_bits());
            ranges[1].extend(stages.relative_position.range_bits());
            ranges[2].extend(stages.relative_orientation.range_bits());
            positions.insert(stages.position);
        }
        let pairs = |most: usize| most * (most + 1) / 2;
        assert_eq!(
            ranges.map(|ranges| ranges.len()),
            [16, 18, 10].map(pairs),
            "all parameters appear"
        );
        assert_eq!(positions.len(), 2 + 8);
        // All combinations of codes, with random parameters. Partial packets have two bits more.
        let mut read = HashSet::new();
        // Four times, because few parameters are legal in some combinations.
        for codes in (0..4).flat_map(|_| 0..1_u128 << 20) {
            let parameters = u128::from(random.random::<u64>());
            let bits = 1 << 111 | codes << 91 | parameters << 27;
            if let Ok(header) = Header::decode(&bits.to_be_bytes())
                && let BaselineId::Initial { stages } = header.baseline
            {
                read.insert(with_usual_parameters(stages));
            }
        }
        let readable: HashSet<_> = readable.into_iter().map(with_usual_parameters).collect();
        assert!(read == readable, "{} and {}", read.len(), readable.len());
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

    /// Bytes of a header that names no baseline, followed by these bits of stages.
    fn with_stages(bits: &str) -> Vec<u8> {
        let bits = format!("{:016b}1{}", SEQUENCE.0, bits.replace(' ', ""));
        let bytes = bits.as_bytes().chunks(8).map(|bits| {
            let bits = bits.iter().chain([&b'0'; 8]).take(8);
            bits.fold(0, |byte, bit| 2 * byte + (bit - b'0'))
        });
        bytes.collect()
    }

    #[test]
    fn parameters_follow_in_the_order_of_the_stages() {
        const COMMON: &str = "orientation=smallest-three-9+velocity=omitted+position=quantized";
        for (bits, more) in [
            // Orientation 9, velocity omitted, and 3 and 3 instead of 1 and 1.
            (
                "1001 011 11 011 11 01 01  101  00011 00111",
                "-1024+delta=relative-indices+relative-position=two-ranges-4-8\
                 +relative-orientation=two-ranges+changed-flags=separate",
            ),
            // The last bit says whether the scene is simulated.
            ("1001 011 01 110 00 00 00  0", "+delta=arithmetic-predicted"),
            ("1001 011 01 110 00 00 00  1", "+delta=arithmetic-simulated"),
        ] {
            let stages = format!("{COMMON}{more}").parse().unwrap();
            assert_eq!(initial(stages).encode(), with_stages(bits));
        }
    }

    #[test]
    fn other_bits_are_refused() {
        let usual = |at_bit, stage| DecodeError::UsualParameters { at_bit, stage };
        let ranges = |of, max, small, large| {
            DecodeError::Stages(IllegalStages::Ranges {
                of,
                max,
                small,
                large,
            })
        };
        let orientations = "relative orientations with components of nine bits";
        for (bits, error) in [
            ("1001 011 11 011 01 01 01  100", usual(38, "position")),
            ("1001 011 01 111 01 01 01  00010 00100", usual(45, "delta")),
            (
                "1001 011 01 011 11 01 01  00100 01000",
                usual(45, "relative position"),
            ),
            (
                "1001 011 01 011 01 11 01  00100 00111",
                usual(45, "relative orientation"),
            ),
            (
                "1001 011 01 111 01 01 01  00010 00001",
                ranges("relative indices", 16, 3, 2),
            ),
            (
                "1001 011 01 011 11 01 01  00000 11111",
                ranges("relative positions", 18, 1, 32),
            ),
            (
                "1001 011 01 011 01 11 01  00000 01010",
                ranges(orientations, 10, 1, 11),
            ),
            (
                "1001 011 11 101 00 00 00  111",
                IllegalStages::ArithmeticNotAlone.into(),
            ),
            (
                "1001 011 11 011 10 00 00  000",
                IllegalStages::PredictedPositionSteps.into(),
            ),
            (
                "1001 101 01 011 01 01 01",
                DecodeError::UnusedCode {
                    at_bit: 24,
                    stage: "velocity",
                    code: 5,
                },
            ),
        ] {
            assert_eq!(Header::decode(&with_stages(bits)), Err(error));
        }
    }
}
