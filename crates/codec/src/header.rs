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
        baseline: BaselineId::Initial { stages: ladder::UNCOMPRESSED.stages },
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
            BaselineId::Named { sequence: Sequence(sequence.0.wrapping_sub(age)), stages: None }
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
    use std::collections::HashSet;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::stages::{Delta, Position, RelativeOrientation, RelativePosition};

    const SEQUENCE: Sequence = Sequence(7);

    /// The same stages with the usual parameters.
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
        options.check_for_any().unwrap().with_coverage(stages.coverage()).unwrap()
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
            let named = BaselineId::Named { sequence: Sequence(9), stages: Some(stages) };
            for baseline in [BaselineId::Initial { stages }, named] {
                let sequence = SEQUENCE;
                let header = Header { sequence, baseline };
                let bytes = header.encode();
                assert_eq!(Header::decode(&bytes), Ok(header));
                let cut = Header::decode(&bytes[..bytes.len() - 1]);
                assert!(matches!(cut, Err(DecodeError::Truncated { .. })));
            }
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
    fn a_recent_baseline_of_the_same_stages_is_named_by_its_age() {
        let stages = ladder::ARITHMETIC.stages;
        let snapshot = crate::QuantizedSnapshot::new(crate::Plan::cubes(), stages.precision());
        for (age, bytes) in [(0, 7), (1, 4), (256, 4), (257, 7)] {
            for named in [10, 65_380, u16::MAX] {
                let mut baseline = Baseline::default();
                baseline.record(Sequence(named), stages, &snapshot, None);
                let sequence = Sequence(named.wrapping_add(age));
                let header = Header::new(sequence, stages, Some(&baseline));
                let expected = BaselineId::Named {
                    sequence: Sequence(named),
                    stages: (bytes == 7).then_some(stages),
                };
                assert_eq!(header.baseline, expected, "{age}");
                assert_eq!(header.encode().len(), bytes);
                assert_eq!(Header::decode(&header.encode()), Ok(header));
            }
        }
    }

    /// Bits of stages, each with the message of its error.
    const REFUSED: &str = "\
1001 011 11 011 01 01 01 100 | the stage descriptor at bit 38 writes out the default parameters of position
1001 011 01 111 01 01 01 00010 00100 | the stage descriptor at bit 45 writes out the default parameters of delta
1001 011 01 011 11 01 01 00100 01000 | the stage descriptor at bit 45 writes out the default parameters of relative position
1001 011 01 011 01 11 01 00100 00111 | the stage descriptor at bit 45 writes out the default parameters of relative orientation
1001 011 01 111 01 01 01 00010 00001 | not legal: ranges of relative indices must have 1 to 16 bits
1001 011 01 011 11 01 01 00000 11111 | not legal: ranges of relative positions must have 1 to 18 bits
1001 011 01 011 01 11 01 00000 01010 | not legal: ranges of relative orientations with components of nine bits must have 1 to 10 bits
1001 011 11 101 00 00 00 111 | not legal: arithmetic coding needs
1001 011 11 011 10 00 00 000 | not legal: predicted positions need 512 steps
1001 101 01 011 01 01 01 | the stage descriptor ending at bit 24 has the unused code 5 for velocity";

    #[test]
    fn other_bits_are_refused() {
        for row in REFUSED.lines() {
            let (stages, message) = row.split_once(" | ").unwrap();
            // A header without a baseline, in the high bits of a number.
            let bits = format!("{:016b}1{stages:0<200}", SEQUENCE.0).replace(' ', "");
            let header = u128::from_str_radix(&bits[..128], 2).unwrap();
            let error = Header::decode(&header.to_be_bytes()).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
