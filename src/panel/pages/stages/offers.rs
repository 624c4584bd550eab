//! The options of each switch, and the stages after a click on one.

use std::mem;

use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};
use cubewire_codec::{StageOptions, Stages};

use super::parts::NINE_BITS;
use super::repair::{fixed_bits, repaired};
use crate::panel::terms;
use crate::panel::widgets::Choice;
use crate::replication::Part;

/// Returns the options of a part's switch, from left to right. Their values are the legal stages with that option and the
/// fewest other changes.
pub(super) fn of(part: Part, present: Stages) -> Vec<Choice<Stages>> {
    let is_coded = part == Part::Delta && present.delta.is_arithmetic();
    let offers = variants(part, *present).into_iter().map(|options| {
        let [name, about] = match part {
            Part::Coding if !options.delta.is_arithmetic() => terms::FIXED_BITS,
            _ => terms::stage(part, options),
        };
        let stages = repaired(options, part).unwrap_or(present);
        let mut offer = Choice::new(stages, name, about);
        offer.refusal = is_coded.then_some(CODED.into());
        if let Err(illegal) = options.check() {
            let illegal = terms::capital(&illegal.to_string());
            let repair = "A click also changes the conflicting stages.";
            offer.about = format!("{illegal}. {repair}\n{about}").into();
            offer.is_marked = !is_coded;
        }
        offer
    });
    offers.collect()
}

/// Returns the present options with each variant of a part, legal or not.
fn variants(part: Part, now: StageOptions) -> Vec<StageOptions> {
    let deltas = Delta::ALL.into_iter();
    match part {
        Part::Orientation => {
            let all = [Orientation::Full, NINE_BITS];
            each(now, |it| &mut it.orientation, all)
        }
        Part::Velocity => each(now, |it| &mut it.velocity, Velocity::ALL),
        Part::Position => each(now, |it| &mut it.position, Position::ALL),
        Part::Delta => {
            let listed = deltas.filter(|it| !it.is_arithmetic());
            each(now, |it| &mut it.delta, listed)
        }
        Part::RelativePosition => each(now, |it| &mut it.relative_position, RelativePosition::ALL),
        Part::RelativeOrientation => {
            let all = RelativeOrientation::ALL;
            each(now, |it| &mut it.relative_orientation, all)
        }
        Part::ChangedFlags => each(now, |it| &mut it.changed_flags, ChangedFlags::ALL),
        _ => {
            let coded = deltas.filter(|it| it.is_arithmetic());
            let all = [fixed_bits(now.delta)].into_iter().chain(coded);
            each(now, |it| &mut it.delta, all)
        }
    }
}

/// The present options with each variant of a stage. The chosen one keeps its parameters.
fn each<T: Copy>(
    present: StageOptions,
    stage: fn(&mut StageOptions) -> &mut T,
    variants: impl IntoIterator<Item = T>,
) -> Vec<StageOptions> {
    let variants = variants.into_iter().map(|variant| {
        let mut options = present;
        let chosen = stage(&mut options);
        if mem::discriminant(chosen) != mem::discriminant(&variant) {
            *chosen = variant;
        }
        options
    });
    variants.collect()
}

/// The refusal of variants of the delta while arithmetic coding is on.
pub(in crate::panel::pages) const CODED: &str =
    "Arithmetic coding includes the selection of cubes. Switch it off first.";

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;

    #[test]
    fn the_chosen_option_keeps_its_parameters() {
        let mut present = *ladder::RELATIVE_POSITION.stages;
        present.relative_position = RelativePosition::TwoRanges { small: 4, large: 8 };
        let present = present.check().unwrap();
        let offers = of(Part::RelativePosition, present);
        assert_eq!(offers[1].value, present);
    }
}
