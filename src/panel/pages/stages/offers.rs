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
    let options = match part {
        Part::Orientation => {
            let all = [Orientation::Full, NINE_BITS];
            each(present, |it| &mut it.orientation, all, terms::orientation)
        }
        Part::Velocity => {
            let all = Velocity::ALL;
            each(present, |it| &mut it.velocity, all, terms::velocity)
        }
        Part::Position => {
            let all = Position::ALL;
            each(present, |it| &mut it.position, all, terms::position)
        }
        Part::Delta => {
            let all = Delta::ALL.into_iter();
            let listed = all.filter(|it| !it.is_arithmetic());
            each(present, |it| &mut it.delta, listed, terms::delta)
        }
        Part::RelativePosition => {
            let (all, words) = (RelativePosition::ALL, terms::relative_position);
            each(present, |it| &mut it.relative_position, all, words)
        }
        Part::RelativeOrientation => {
            let (all, words) = (RelativeOrientation::ALL, terms::relative_orientation);
            each(present, |it| &mut it.relative_orientation, all, words)
        }
        Part::ChangedFlags => {
            let (all, words) = (ChangedFlags::ALL, terms::changed_flags);
            each(present, |it| &mut it.changed_flags, all, words)
        }
        _ => {
            let coded = Delta::ALL.into_iter().filter(|it| it.is_arithmetic());
            let all = [fixed_bits(present.delta)].into_iter().chain(coded);
            each(
                present,
                |it| &mut it.delta,
                all,
                |it| match it.is_arithmetic() {
                    true => terms::delta(it),
                    false => terms::FIXED_BITS,
                },
            )
        }
    };
    let is_coded = part == Part::Delta && present.delta.is_arithmetic();
    let offers = options.into_iter().map(|(words, options)| {
        let stages = repaired(options, part).unwrap_or(present);
        let mut offer = Choice::new(stages, words.name, words.text);
        offer.refusal = is_coded.then_some(CODED.into());
        if let Err(illegal) = options.check() {
            let illegal = terms::capital(&illegal.to_string());
            offer.about = format!(
                "{illegal}. A click changes what is in the way.\n{}",
                words.text
            )
            .into();
            offer.is_marked = !is_coded;
        }
        offer
    });
    offers.collect()
}

/// The present options with each variant of a stage, and what it is. The chosen one keeps its parameters.
fn each<T: Copy>(
    present: Stages,
    stage: fn(&mut StageOptions) -> &mut T,
    variants: impl IntoIterator<Item = T>,
    words: fn(T) -> Tooltip,
) -> Vec<(Tooltip, StageOptions)> {
    let variants = variants.into_iter().map(|variant| {
        let mut options = *present;
        let chosen = stage(&mut options);
        if mem::discriminant(chosen) != mem::discriminant(&variant) {
            *chosen = variant;
        }
        (words(*chosen), options)
    });
    variants.collect()
}

const CODED: &str = "Arithmetic coding says by itself which cubes have changed: choose fixed bits as the coding first.";

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::super::SWITCHES;
    use super::*;

    #[test]
    fn the_chosen_option_keeps_its_parameters() {
        let mut present = *ladder::RELATIVE_POSITION.stages;
        present.relative_position = RelativePosition::TwoRanges { small: 4, large: 8 };
        let present = present.check().unwrap();
        let offers = of(Part::RelativePosition, present);
        assert_eq!(offers[1].value, present);
    }

    #[test]
    fn every_switch_has_one_option_on_and_the_selection_of_arithmetic_coding_is_refused() {
        for present in Stages::every_legal(&[9, 10]) {
            for (part, name) in SWITCHES {
                let offers = of(part, present);
                let on = offers.iter().filter(|it| it.value == present).count();
                let is_coded = part == Part::Delta && present.delta.is_arithmetic();
                assert_eq!(on, usize::from(!is_coded), "{present}: {name}");
                for offer in offers {
                    assert_eq!(offer.refusal.is_some(), is_coded, "{present}: {name}");
                    assert!(!is_coded || !offer.is_marked, "{present}: {name}");
                }
            }
        }
    }
}
