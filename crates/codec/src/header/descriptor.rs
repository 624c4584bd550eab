//! The stages in a header.
//!
//! ```text
//! orientation 4 | velocity 3 | position 2 | delta 3 | relative position 2 | relative orientation 2 | changed flags 2
//! | [steps 3] | [index ranges 10] | [position ranges 10] | [orientation ranges 10] | [simulated 1]
//! ```
//!
//! The code of a stage is its place in the `ALL` of its enum, or, for other than the usual parameters, the number
//! after the last. The parameters of exactly those stages follow: binary logarithm of the steps per metre minus 5;
//! bits of the small range minus 1 and of the large range minus 1, 5 bits each; last, for arithmetic coding relative to
//! predictions, whether the scene is simulated.

use bitstream_io::BitWrite;

use crate::ledger::BitKind;
use crate::sink::Sink;
use crate::source::{DecodeError, Source};
use crate::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Stages,
    Velocity,
};

/// Code of a full orientation; any other is the bits of a smallest-three component.
const FULL_ORIENTATION: u32 = 0;

const STEPS_BITS: u32 = 3;
const MIN_STEPS_LOG: u32 = Position::MIN_STEPS.ilog2();
const RANGE_BITS: u32 = 5;

/// The last variant of [`Delta::ALL`] shares the code of the one before.
const DELTA_CODES: &[Delta] = Delta::ALL.split_last().expect("it is not empty").1;

// The code after the last is the largest of its bits.
const _: () = assert!(
    Position::ALL.len() == 3
        && DELTA_CODES.len() == 7
        && RelativePosition::ALL.len() == 3
        && RelativeOrientation::ALL.len() == 3
);

/// Writes legal stages.
pub(super) fn put<W: BitWrite>(sink: &mut Sink<'_, W>, stages: &Stages) {
    let mut put = |bits, code| sink.put(BitKind::Header, bits, code);
    put(
        4,
        match stages.orientation {
            Orientation::Full => FULL_ORIENTATION,
            Orientation::SmallestThree { bits } => u32::from(bits),
        },
    );
    put(3, code(&Velocity::ALL, stages.velocity));
    put(2, code(&Position::ALL, stages.position));
    let coded_delta = match stages.delta {
        Delta::ArithmeticSimulated => Delta::ArithmeticPredicted,
        delta => delta,
    };
    put(3, code(DELTA_CODES, coded_delta));
    put(2, code(&RelativePosition::ALL, stages.relative_position));
    put(
        2,
        code(&RelativeOrientation::ALL, stages.relative_orientation),
    );
    put(2, code(&ChangedFlags::ALL, stages.changed_flags));

    if let Position::Quantized { steps_per_metre } = stages.position
        && stages.position != Position::QUANTIZED
    {
        put(STEPS_BITS, steps_per_metre.ilog2() - MIN_STEPS_LOG);
    }
    let Stages {
        delta,
        relative_position,
        relative_orientation,
        ..
    } = stages;
    for (range_bits, usual) in [
        (delta.range_bits(), Delta::RELATIVE_INDICES.range_bits()),
        (
            relative_position.range_bits(),
            RelativePosition::TWO_RANGES.range_bits(),
        ),
        (
            relative_orientation.range_bits(),
            RelativeOrientation::TWO_RANGES.range_bits(),
        ),
    ] {
        for bits in range_bits
            .filter(|_| range_bits != usual)
            .into_iter()
            .flatten()
        {
            put(RANGE_BITS, u32::from(bits) - 1);
        }
    }
    if coded_delta == Delta::ArithmeticPredicted {
        put(1, u32::from(*delta != coded_delta));
    }
}

/// Reads what [`put`] wrote. Other bits for the same stages are refused.
pub(super) fn take(source: &mut Source<'_>) -> Result<Stages, DecodeError> {
    let orientation = match source.take(BitKind::Header, 4)? {
        FULL_ORIENTATION => Orientation::Full,
        bits => Orientation::SmallestThree { bits: bits as u8 },
    };
    let velocity = take_listed(source, 3, "velocity", &Velocity::ALL)?;
    let position = take_code(source, 2, &Position::ALL)?;
    let delta = take_code(source, 3, DELTA_CODES)?;
    let relative_position = take_code(source, 2, &RelativePosition::ALL)?;
    let relative_orientation = take_code(source, 2, &RelativeOrientation::ALL)?;
    let changed_flags = take_listed(source, 2, "changed flags", &ChangedFlags::ALL)?;
    let mut stages = Stages {
        orientation,
        velocity,
        position: or_parameters(source, position, "position", &Position::ALL, |source| {
            let log = MIN_STEPS_LOG + source.take(BitKind::Header, STEPS_BITS)?;
            Ok(Position::Quantized {
                steps_per_metre: 1 << log,
            })
        })?,
        delta: or_parameters(source, delta, "delta", DELTA_CODES, |source| {
            let [small, large] = take_ranges(source)?;
            Ok(Delta::RelativeIndices { small, large })
        })?,
        relative_position: or_parameters(
            source,
            relative_position,
            "relative position",
            &RelativePosition::ALL,
            |source| {
                let [small, large] = take_ranges(source)?;
                Ok(RelativePosition::TwoRanges { small, large })
            },
        )?,
        relative_orientation: or_parameters(
            source,
            relative_orientation,
            "relative orientation",
            &RelativeOrientation::ALL,
            |source| {
                let [small, large] = take_ranges(source)?;
                Ok(RelativeOrientation::TwoRanges { small, large })
            },
        )?,
        changed_flags,
    };
    if stages.delta == Delta::ArithmeticPredicted && source.take_flag(BitKind::Header)? {
        stages.delta = Delta::ArithmeticSimulated;
    }
    stages.check()?;
    Ok(stages)
}

/// The place of a stage, or the number after the last place for other than the usual parameters.
fn code<T: PartialEq>(listed: &[T], stage: T) -> u32 {
    let place = listed.iter().position(|other| *other == stage);
    place.unwrap_or(listed.len()) as u32
}

/// The stage of a code, or `None` if its parameters follow.
fn take_code<T: Copy>(
    source: &mut Source<'_>,
    bits: u32,
    listed: &[T],
) -> Result<Option<T>, DecodeError> {
    let code = source.take(BitKind::Header, bits)?;
    Ok(listed.get(code as usize).copied())
}

/// The stage of a code, where no variant has parameters.
fn take_listed<T: Copy>(
    source: &mut Source<'_>,
    bits: u32,
    stage: &'static str,
    listed: &[T],
) -> Result<T, DecodeError> {
    let code = source.take(BitKind::Header, bits)?;
    let found = listed.get(code as usize).copied();
    found.ok_or(DecodeError::UnusedCode {
        at_bit: source.at_bit(),
        stage,
        code,
    })
}

/// The stage that its code has given, or that of the parameters that follow, which are not the usual ones.
fn or_parameters<T: Copy + PartialEq>(
    source: &mut Source<'_>,
    given: Option<T>,
    stage: &'static str,
    listed: &[T],
    take: impl Fn(&mut Source<'_>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    if let Some(given) = given {
        return Ok(given);
    }
    let taken = take(source)?;
    if listed.contains(&taken) {
        return Err(DecodeError::UsualParameters {
            at_bit: source.at_bit(),
            stage,
        });
    }
    Ok(taken)
}

fn take_ranges(source: &mut Source<'_>) -> Result<[u8; 2], DecodeError> {
    let mut range_bits = [0; 2];
    for bits in &mut range_bits {
        *bits = source.take(BitKind::Header, RANGE_BITS)? as u8 + 1;
    }
    Ok(range_bits)
}
