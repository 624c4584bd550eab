//! The smallest change of the other stages with which an option is legal.

use cubewire_codec::stages::{
    ChangedFlags, Delta, IllegalStages, Orientation, Position, RelativeOrientation,
    RelativePosition, Velocity,
};
use cubewire_codec::{StageOptions, Stages};

/// A stage of the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Orientation,
    Velocity,
    Position,
    Delta,
    RelativePosition,
    RelativeOrientation,
    ChangedFlags,
}

/// The stages in which these differ.
pub(super) fn changed(from: StageOptions, to: StageOptions) -> Vec<Stage> {
    let differs = [
        (Stage::Orientation, from.orientation != to.orientation),
        (Stage::Velocity, from.velocity != to.velocity),
        (Stage::Position, from.position != to.position),
        (Stage::Delta, from.delta != to.delta),
        (
            Stage::RelativePosition,
            from.relative_position != to.relative_position,
        ),
        (
            Stage::RelativeOrientation,
            from.relative_orientation != to.relative_orientation,
        ),
        (Stage::ChangedFlags, from.changed_flags != to.changed_flags),
    ];
    let differs = differs.into_iter().filter(|(_, differs)| *differs);
    differs.map(|(stage, _)| stage).collect()
}

/// Makes options legal without a change of the stage that is `kept`: takes away what does not go with it, and adds what it
/// needs. None if that is not possible.
pub(super) fn repaired(mut options: StageOptions, kept: Stage) -> Option<Stages> {
    // Each step settles a stage for good.
    for _ in 0..STEPS {
        match options.check() {
            Ok(stages) => return Some(stages),
            Err(error) => mend(&mut options, kept, error)?,
        }
    }
    None
}

/// Removes one reason.
fn mend(options: &mut StageOptions, kept: Stage, error: IllegalStages) -> Option<()> {
    use IllegalStages as Is;
    let needs_delta = matches!(
        error,
        Is::RelativePositionWithoutDelta
            | Is::RelativeOrientationWithoutDelta
            | Is::ChangedFlagsWithoutDelta
    );
    match error {
        _ if needs_delta && kept != Stage::Delta => options.delta = Delta::ChangedBits,
        Is::RelativePositionUnquantized | Is::PredictedPositionSteps | Is::GrowingRangesSteps
            if kept != Stage::Position =>
        {
            options.position = Position::QUANTIZED;
        }
        Is::RelativeOrientationUnquantized if kept != Stage::Orientation => {
            options.orientation = NINE_BITS;
        }
        Is::RelativePositionWithoutDelta
        | Is::RelativePositionUnquantized
        | Is::PredictedPositionSteps => options.relative_position = RelativePosition::Off,
        Is::RelativeOrientationWithoutDelta
        | Is::RelativeOrientationUnquantized
        | Is::GrowingRangesSteps => options.relative_orientation = RelativeOrientation::Off,
        Is::ChangedFlagsWithoutDelta => options.changed_flags = ChangedFlags::Off,
        Is::ArithmeticNotAlone if kept == Stage::Delta => {
            options.orientation = NINE_BITS;
            options.velocity = Velocity::Omitted;
            options.position = Position::QUANTIZED;
            options.relative_position = RelativePosition::Off;
            options.relative_orientation = RelativeOrientation::Off;
            options.changed_flags = ChangedFlags::Off;
        }
        Is::ArithmeticNotAlone => options.delta = fixed_bits(options.delta),
        _ => return None,
    }
    Some(())
}

/// How cubes are listed without arithmetic coding.
pub(super) const fn fixed_bits(delta: Delta) -> Delta {
    match delta {
        Delta::Arithmetic => Delta::RELATIVE_INDICES,
        Delta::ArithmeticPredicted | Delta::ArithmeticSimulated => Delta::PredictedIndices,
        listed => listed,
    }
}

const NINE_BITS: Orientation = Orientation::SmallestThree { bits: 9 };

/// There are seven stages, and one of them stays.
const STEPS: usize = 7;

#[cfg(test)]
mod tests {
    use super::super::offers;
    use super::super::switch::Switch;
    use super::*;

    #[test]
    fn an_option_keeps_its_stage_and_changes_as_few_others_as_it_can() {
        let legal: Vec<Stages> = Stages::every_legal(&[9]).collect();
        for &present in &legal {
            for switch in Switch::ALL {
                for offer in offers::of(switch, present) {
                    let changes = changed(*present, *offer.stages);
                    let is_changed = changes.contains(&switch.stage());
                    assert_eq!(is_changed, !offer.is_on, "{present}: {}", offer.name);
                    if offer.refusal.is_none() {
                        assert!(changes.len() <= 1);
                        continue;
                    }
                    let keeps =
                        |other: &Stages| !changed(*offer.stages, **other).contains(&switch.stage());
                    let others = legal.iter().filter(|other| keeps(other));
                    let least = others.map(|other| changed(*present, **other).len()).min();
                    assert_eq!(Some(changes.len()), least, "{present}: {}", offer.name);
                }
            }
        }
    }
}
