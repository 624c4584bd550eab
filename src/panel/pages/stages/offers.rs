//! The options of each switch, and what a click on one makes of the stages.

use std::mem;

use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};
use cubewire_codec::{StageOptions, Stages};

use super::repair::{NINE_BITS, fixed_bits, repaired};
use crate::panel::terms::{self, Tooltip};
use crate::panel::widgets::Choice;
use crate::replication::Part;

/// The options of the switch of a part, from left to right: each as the stages with it, and with as few others changed
/// as it takes.
pub(super) fn of(part: Part, present: Stages) -> Vec<Choice<Stages>> {
    let mut offers = Vec::new();
    let mut offer = |Tooltip { name, text }, set: &dyn Fn(&mut StageOptions)| {
        let mut options = *present;
        set(&mut options);
        let stages = repaired(options, part).unwrap_or(present);
        let mut choice = Choice::new(stages, name, text);
        choice.refusal = options.check().err().map(|illegal| {
            let illegal = terms::capital(&illegal.to_string());
            format!("{illegal}. A click changes what is in the way.")
        });
        offers.push(choice);
    };
    match part {
        Part::Orientation => {
            for it in with_chosen([Orientation::Full, NINE_BITS], present.orientation) {
                offer(terms::orientation(it), &|to| to.orientation = it);
            }
        }
        Part::Velocity => {
            for it in Velocity::ALL {
                offer(terms::velocity(it), &|to| to.velocity = it);
            }
        }
        Part::Position => {
            for it in with_chosen(Position::ALL, present.position) {
                offer(terms::position(it), &|to| to.position = it);
            }
        }
        Part::Delta => {
            let all = with_chosen(Delta::ALL, present.delta);
            for it in all.into_iter().filter(|it| !it.is_arithmetic()) {
                offer(terms::delta(it), &|to| to.delta = it);
            }
        }
        Part::RelativePosition => {
            for it in with_chosen(RelativePosition::ALL, present.relative_position) {
                offer(terms::relative_position(it), &|to| {
                    to.relative_position = it;
                });
            }
        }
        Part::RelativeOrientation => {
            for it in with_chosen(RelativeOrientation::ALL, present.relative_orientation) {
                let set = |to: &mut StageOptions| to.relative_orientation = it;
                offer(terms::relative_orientation(it), &set);
            }
        }
        Part::ChangedFlags => {
            for it in ChangedFlags::ALL {
                offer(terms::changed_flags(it), &|to| to.changed_flags = it);
            }
        }
        _ => {
            let fixed = fixed_bits(present.delta);
            offer(terms::FIXED_BITS, &|to| to.delta = fixed);
            for it in Delta::ALL.into_iter().filter(|it| it.is_arithmetic()) {
                offer(terms::delta(it), &|to| to.delta = it);
            }
        }
    }
    offers
}

/// The variants of a stage, the chosen one with its parameters instead of the usual ones.
fn with_chosen<T: Copy, const VARIANTS: usize>(
    variants: [T; VARIANTS],
    chosen: T,
) -> [T; VARIANTS] {
    let is_chosen = |variant: &T| mem::discriminant(variant) == mem::discriminant(&chosen);
    variants.map(|variant| if is_chosen(&variant) { chosen } else { variant })
}

#[cfg(test)]
mod tests {
    use super::super::SWITCHES;
    use super::*;

    #[test]
    fn the_chosen_option_keeps_its_parameters() {
        let chosen = RelativePosition::TwoRanges { small: 4, large: 8 };
        let options = with_chosen(RelativePosition::ALL, chosen);
        assert_eq!(
            options,
            [RelativePosition::Off, chosen, RelativePosition::Predicted]
        );
    }

    #[test]
    fn every_switch_has_one_option_on_but_for_the_selection_of_arithmetic_coding() {
        for present in Stages::every_legal(&[9, 10]) {
            for (part, name) in SWITCHES {
                let on = of(part, present)
                    .iter()
                    .filter(|it| it.value == present)
                    .count();
                let is_coded = part == Part::Delta && present.delta.is_arithmetic();
                assert_eq!(on, usize::from(!is_coded), "{present}: {name}");
            }
        }
    }
}
