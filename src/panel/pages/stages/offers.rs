//! The options of each switch, and what a click on one makes of the stages.

use std::mem;

use cubewire_codec::stages::{
    ChangedFlags, Delta, IllegalStages, Orientation, Position, RelativeOrientation,
    RelativePosition, Velocity,
};
use cubewire_codec::{StageOptions, Stages};

use super::repair::{fixed_bits, repaired};
use super::switch::Switch;
use crate::panel::terms::{self, Tooltip};

/// An option of a switch.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) is_on: bool,
    /// Why it does not go with the other stages as they are.
    pub(super) refusal: Option<IllegalStages>,
    /// The stages with it, and with as few others changed as it takes.
    pub(super) stages: Stages,
}

/// The options of a switch, from left to right.
pub(super) fn of(switch: Switch, present: Stages) -> Vec<Offer> {
    let with = |set: &dyn Fn(&mut StageOptions)| {
        let mut options = *present;
        set(&mut options);
        options
    };
    let offers: Vec<(Tooltip, StageOptions)> = match switch {
        Switch::Orientation => {
            let all = [Orientation::Full, Orientation::SmallestThree { bits: 9 }];
            let all = with_chosen(all, present.orientation).into_iter();
            all.map(|it| (terms::orientation(it), with(&|to| to.orientation = it)))
                .collect()
        }
        Switch::Velocity => {
            let all = Velocity::ALL.into_iter();
            all.map(|it| (terms::velocity(it), with(&|to| to.velocity = it)))
                .collect()
        }
        Switch::Position => {
            let all = with_chosen(Position::ALL, present.position).into_iter();
            all.map(|it| (terms::position(it), with(&|to| to.position = it)))
                .collect()
        }
        Switch::Selection => {
            let all = with_chosen(Delta::ALL, present.delta).into_iter();
            all.filter(|it| !it.is_arithmetic())
                .map(|it| (terms::delta(it), with(&|to| to.delta = it)))
                .collect()
        }
        Switch::Coding => {
            let fixed = fixed_bits(present.delta);
            let coded = Delta::ALL.into_iter().filter(|it| it.is_arithmetic());
            let coded = coded.map(|it| (terms::delta(it), with(&|to| to.delta = it)));
            let fixed = (terms::FIXED_BITS, with(&|to| to.delta = fixed));
            [fixed].into_iter().chain(coded).collect()
        }
        Switch::RelativePosition => {
            let all = with_chosen(RelativePosition::ALL, present.relative_position).into_iter();
            all.map(|it| {
                let options = with(&|to| to.relative_position = it);
                (terms::relative_position(it), options)
            })
            .collect()
        }
        Switch::RelativeOrientation => {
            let all = RelativeOrientation::ALL;
            let all = with_chosen(all, present.relative_orientation).into_iter();
            all.map(|it| {
                let options = with(&|to| to.relative_orientation = it);
                (terms::relative_orientation(it), options)
            })
            .collect()
        }
        Switch::ChangedFlags => {
            let all = ChangedFlags::ALL.into_iter();
            all.map(|it| (terms::changed_flags(it), with(&|to| to.changed_flags = it)))
                .collect()
        }
    };
    let offer = |(Tooltip { name, text }, options): (Tooltip, StageOptions)| Offer {
        name,
        about: text,
        is_on: options == *present,
        refusal: options.check().err(),
        stages: repaired(options, switch.stage()).unwrap_or(present),
    };
    offers.into_iter().map(offer).collect()
}

/// The variants of a stage, the chosen one with its parameters instead of the usual ones.
fn with_chosen<T: Copy, const VARIANTS: usize>(
    mut variants: [T; VARIANTS],
    chosen: T,
) -> [T; VARIANTS] {
    for variant in &mut variants {
        if mem::discriminant(variant) == mem::discriminant(&chosen) {
            *variant = chosen;
        }
    }
    variants
}

#[cfg(test)]
mod tests {
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
            for switch in Switch::ALL {
                let on = of(switch, present).iter().filter(|it| it.is_on).count();
                let is_coded = switch == Switch::Selection && present.delta.is_arithmetic();
                assert_eq!(on, usize::from(!is_coded), "{present}: {switch:?}");
            }
        }
    }
}
