//! The stages in a header, as section 5 of `WIRE.md` draws them.
//!
//! The code of a stage is its index in the `ALL` of its enum. If its parameters are not the usual ones, the code is the
//! length of `ALL`, and the parameters follow. The last bit, for arithmetic coding relative to predictions, says whether
//! the scene is simulated.

use crate::bits::{BitField, Direction};
use crate::decode_error::DecodeError;
use crate::stages::{
    ChangedFlags, Coverage, Delta, Orientation, Position, RelativeOrientation, RelativePosition,
    StageOptions, Stages, Velocity,
};

/// Code of a full orientation. Other codes are the bits of a smallest-three component.
const FULL_ORIENTATION: u32 = 0;

const STEPS_BITS: u32 = 3;
const MIN_STEPS_LOG: u32 = Position::MIN_STEPS.ilog2();
const RANGE_BITS: u32 = 5;

struct Codes<T: 'static> {
    stage: &'static str,
    bits: u32,
    all: &'static [T],
}

const VELOCITY: Codes<Velocity> = codes("velocity", 3, &Velocity::ALL);
const POSITION: Codes<Position> = codes("position", 2, &Position::ALL);
/// The last variant of [`Delta::ALL`] has the same code as the variant before.
const DELTA: Codes<Delta> = codes("delta", 3, Delta::ALL.split_last().expect("it is not empty").1);
const RELATIVE_POSITION: Codes<RelativePosition> =
    codes("relative position", 2, &RelativePosition::ALL);
const RELATIVE_ORIENTATION: Codes<RelativeOrientation> =
    codes("relative orientation", 2, &RelativeOrientation::ALL);
const CHANGED_FLAGS: Codes<ChangedFlags> = codes("changed flags", 2, &ChangedFlags::ALL);

const fn codes<T>(stage: &'static str, bits: u32, all: &'static [T]) -> Codes<T> {
    Codes { stage, bits, all }
}

// The code that announces parameters is the largest number of the field.
const _: () = assert!(
    POSITION.has_one_more()
        && DELTA.has_one_more()
        && RELATIVE_POSITION.has_one_more()
        && RELATIVE_ORIENTATION.has_one_more()
);

impl<T> Codes<T> {
    const fn has_one_more(&self) -> bool {
        self.all.len() + 1 == 1 << self.bits
    }
}

impl<T: Copy + PartialEq> Codes<T> {
    /// Codes a stage. If it is not listed, the code is the length of the list.
    fn code<D: Direction>(
        &self,
        field: &mut BitField<'_, '_, D>,
        stage: T,
    ) -> Result<u32, D::Error> {
        let code = self.all.iter().position(|listed| *listed == stage).unwrap_or(self.all.len());
        field.number(self.bits, code as u32)
    }

    /// Codes a stage that has no parameters.
    fn code_listed<D: Direction>(
        &self,
        field: &mut BitField<'_, '_, D>,
        stage: T,
    ) -> Result<T, D::Error> {
        let code = self.code(field, stage)?;
        let listed = self.all.get(code as usize).copied();
        D::check(listed.is_some(), || DecodeError::UnusedCode {
            at_bit: field.at_bit(),
            stage: self.stage,
            code,
        })?;
        Ok(listed.unwrap_or(stage))
    }

    /// Returns the listed stage of a code, or codes its `parameters`. It is an error if the parameters equal a listed
    /// stage's.
    fn stage<D: Direction>(
        &self,
        field: &mut BitField<'_, '_, D>,
        code: u32,
        parameters: impl FnOnce(&mut BitField<'_, '_, D>) -> Result<T, D::Error>,
    ) -> Result<T, D::Error> {
        if let Some(listed) = self.all.get(code as usize) {
            return Ok(*listed);
        }
        let stage = parameters(field)?;
        D::check(!self.all.contains(&stage), || DecodeError::UsualParameters {
            at_bit: field.at_bit(),
            stage: self.stage,
        })?;
        Ok(stage)
    }
}

/// Codes legal stages. Each combination of stages has exactly one encoding.
pub(super) fn code<D: Direction>(
    field: &mut BitField<'_, '_, D>,
    target: &Stages,
) -> Result<Stages, D::Error> {
    let bits = match target.orientation {
        Orientation::Full => FULL_ORIENTATION,
        Orientation::SmallestThree { bits } => bits.into(),
    };
    let orientation = match field.number(4, bits)? {
        FULL_ORIENTATION => Orientation::Full,
        bits => Orientation::SmallestThree { bits: bits as u8 },
    };
    let is_simulated = target.delta == Delta::ArithmeticSimulated;
    let delta = if is_simulated { Delta::ArithmeticPredicted } else { target.delta };
    let velocity = VELOCITY.code_listed(field, target.velocity)?;
    let position = POSITION.code(field, target.position)?;
    let delta = DELTA.code(field, delta)?;
    let relative_position = RELATIVE_POSITION.code(field, target.relative_position)?;
    let relative_orientation = RELATIVE_ORIENTATION.code(field, target.relative_orientation)?;
    let (coverage, changed_flags) = changed_flags(field, target)?;
    let mut options = StageOptions {
        orientation,
        velocity,
        position: POSITION.stage(field, position, |field| steps(field, target.position))?,
        delta: DELTA.stage(field, delta, |field| {
            let [small, large] = ranges(field, target.delta.range_bits())?;
            Ok(Delta::RelativeIndices { small, large })
        })?,
        relative_position: RELATIVE_POSITION.stage(field, relative_position, |field| {
            let [small, large] = ranges(field, target.relative_position.range_bits())?;
            Ok(RelativePosition::TwoRanges { small, large })
        })?,
        relative_orientation: RELATIVE_ORIENTATION.stage(field, relative_orientation, |field| {
            let [small, large] = ranges(field, target.relative_orientation.range_bits())?;
            Ok(RelativeOrientation::TwoRanges { small, large })
        })?,
        changed_flags,
    };
    if options.delta == Delta::ArithmeticPredicted && field.flag(is_simulated)? {
        options.delta = Delta::ArithmeticSimulated;
    }
    let checked = options.check_for_any();
    match checked.and_then(|stages| stages.with_coverage(coverage)) {
        Ok(stages) => Ok(stages),
        Err(illegal) => D::check(false, || illegal.into()).map(|()| *target),
    }
}

/// Codes the changed flags. A partial packet has the unused code of changed flags before them.
fn changed_flags<D: Direction>(
    field: &mut BitField<'_, '_, D>,
    target: &Stages,
) -> Result<(Coverage, ChangedFlags), D::Error> {
    let listed = CHANGED_FLAGS.all;
    let index = listed.iter().position(|&flags| flags == target.changed_flags);
    let index = index.filter(|_| target.coverage() == Coverage::Complete);
    let code = field.number(CHANGED_FLAGS.bits, index.unwrap_or(listed.len()) as u32)?;
    match listed.get(code as usize) {
        Some(&flags) => Ok((Coverage::Complete, flags)),
        None => Ok((Coverage::Partial, CHANGED_FLAGS.code_listed(field, target.changed_flags)?)),
    }
}

fn steps<D: Direction>(
    field: &mut BitField<'_, '_, D>,
    target: Position,
) -> Result<Position, D::Error> {
    let log = match target {
        Position::Quantized { steps_per_metre } => steps_per_metre.ilog2(),
        _ => MIN_STEPS_LOG,
    };
    let log = field.number(STEPS_BITS, log - MIN_STEPS_LOG)?;
    Ok(Position::Quantized { steps_per_metre: 1 << (MIN_STEPS_LOG + log) })
}

fn ranges<D: Direction>(
    field: &mut BitField<'_, '_, D>,
    target: Option<[u8; 2]>,
) -> Result<[u8; 2], D::Error> {
    let mut range_bits = target.unwrap_or([1; 2]);
    for bits in &mut range_bits {
        *bits = field.number(RANGE_BITS, u32::from(*bits).wrapping_sub(1))? as u8 + 1;
    }
    Ok(range_bits)
}
