//! The header: the first bits of every packet.
//!
//! ```text
//! sequence 16 | initial 1 = 1 |                             stages 18
//! sequence 16 | initial 1 = 0 | baseline 16 | same 1 = 0 |  stages 18
//! sequence 16 | initial 1 = 0 | baseline 16 | same 1 = 1
//! ```
//!
//! `initial` means that the packet names no baseline. `same` means that its stages are those of the packet
//! that carried the baseline.

use bitstream_io::BitWrite;

use crate::baseline::Baseline;
use crate::ledger::{BitKind, BitLedger};
use crate::sequence::Sequence;
use crate::sink::Sink;
use crate::source::{DecodeError, Source};
use crate::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Stages,
    Velocity,
};

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the snapshot.
    pub sequence: Sequence,
    /// What the packet is relative to.
    pub reference: Reference,
}

/// What a packet is relative to, and its stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The initial state; or nothing, if the stages do not use a baseline.
    Initial {
        /// The packet's stages.
        stages: Stages,
    },
    /// A snapshot that the receiver holds.
    Baseline {
        /// Its number.
        sequence: Sequence,
        /// The packet's stages; `None` if they are those of the packet that carried the baseline.
        stages: Option<Stages>,
    },
}

impl Header {
    /// `named` is the baseline that the packet is relative to.
    pub(crate) fn new(sequence: Sequence, stages: Stages, named: Option<&Baseline>) -> Self {
        let reference = match named {
            Some(baseline) => Reference::Baseline {
                sequence: baseline.sequence(),
                stages: (baseline.stages() != stages).then_some(stages),
            },
            None => Reference::Initial { stages },
        };
        Self {
            sequence,
            reference,
        }
    }

    /// Reads only the header of a packet.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes end inside the header, or if its stages are unknown or
    /// illegal.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::take(&mut Source::new(bytes))
    }

    /// Writes only the header, padded with zeros to whole bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (mut bytes, mut ledger) = (Vec::new(), BitLedger::new());
        let mut sink = Sink::writer(&mut bytes, &mut ledger);
        self.put(&mut sink);
        sink.finish();
        bytes
    }

    pub(crate) fn put<W: BitWrite>(&self, sink: &mut Sink<'_, W>) {
        sink.put(BitKind::Header, 16, u32::from(self.sequence.0));
        let stages = match self.reference {
            Reference::Initial { stages } => {
                sink.put_flag(BitKind::Header, true);
                Some(stages)
            }
            Reference::Baseline { sequence, stages } => {
                sink.put_flag(BitKind::Header, false);
                sink.put(BitKind::Header, 16, u32::from(sequence.0));
                sink.put_flag(BitKind::Header, stages.is_none());
                stages
            }
        };
        if let Some(stages) = &stages {
            put_stages(sink, stages);
        }
    }

    pub(crate) fn take(source: &mut Source<'_>) -> Result<Self, DecodeError> {
        let sequence = Sequence(source.take(BitKind::Header, 16)? as u16);
        let initial = source.take_flag(BitKind::Header)?;
        let reference = if initial {
            let stages = take_stages(source)?;
            Reference::Initial { stages }
        } else {
            let sequence = Sequence(source.take(BitKind::Header, 16)? as u16);
            let same = source.take_flag(BitKind::Header)?;
            let stages = if same {
                None
            } else {
                Some(take_stages(source)?)
            };
            Reference::Baseline { sequence, stages }
        };
        Ok(Self {
            sequence,
            reference,
        })
    }
}

/// Code of a full orientation; any other is the bits of a smallest-three component.
const FULL_ORIENTATION: u32 = 0;

/// The stage descriptor: orientation 4, velocity 3, position 2, delta 3, relative position 2,
/// relative orientation 2, changed flags 2: 18 bits. A code is the place in the `ALL` of its enum.
fn put_stages<W: BitWrite>(sink: &mut Sink<'_, W>, stages: &Stages) {
    let mut put = |bits, code| sink.put(BitKind::Header, bits, code);
    put(
        4,
        match stages.orientation {
            Orientation::Full => FULL_ORIENTATION,
            Orientation::SmallestThree { bits } => u32::from(bits),
        },
    );
    put(3, place_in(&Velocity::ALL, stages.velocity));
    put(2, place_in(&Position::ALL, stages.position));
    put(3, place_in(&Delta::ALL, stages.delta));
    put(
        2,
        place_in(&RelativePosition::ALL, stages.relative_position),
    );
    put(
        2,
        place_in(&RelativeOrientation::ALL, stages.relative_orientation),
    );
    put(2, place_in(&ChangedFlags::ALL, stages.changed_flags));
}

fn take_stages(source: &mut Source<'_>) -> Result<Stages, DecodeError> {
    let stages = Stages {
        orientation: match source.take(BitKind::Header, 4)? {
            FULL_ORIENTATION => Orientation::Full,
            bits => Orientation::SmallestThree { bits: bits as u8 },
        },
        velocity: take_code(source, 3, "velocity", &Velocity::ALL)?,
        position: take_code(source, 2, "position", &Position::ALL)?,
        delta: take_code(source, 3, "delta", &Delta::ALL)?,
        relative_position: take_code(source, 2, "relative position", &RelativePosition::ALL)?,
        relative_orientation: take_code(
            source,
            2,
            "relative orientation",
            &RelativeOrientation::ALL,
        )?,
        changed_flags: take_code(source, 2, "changed flags", &ChangedFlags::ALL)?,
    };
    stages.check()?;
    Ok(stages)
}

fn place_in<T: PartialEq>(codes: &[T], stage: T) -> u32 {
    let place = codes.iter().position(|code| *code == stage);
    place.expect("every variant is listed") as u32
}

fn take_code<T: Copy>(
    source: &mut Source<'_>,
    bits: u32,
    stage: &'static str,
    codes: &[T],
) -> Result<T, DecodeError> {
    let code = source.take(BitKind::Header, bits)?;
    codes
        .get(code as usize)
        .copied()
        .ok_or(DecodeError::UnusedCode {
            at_bit: source.at_bit(),
            stage,
            code,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_legal_combination_has_a_descriptor_of_its_own() {
        let mut seen = std::collections::HashSet::new();
        let bits: Vec<u8> = (2..=15).collect();
        for stages in Stages::every_legal(&bits) {
            let header = Header {
                sequence: Sequence(7),
                reference: Reference::Initial { stages },
            };
            let bytes = header.encode();
            assert_eq!(bytes.len(), 5);
            assert_eq!(Header::decode(&bytes), Ok(header));
            assert!(seen.insert(bytes));
        }
    }
}
