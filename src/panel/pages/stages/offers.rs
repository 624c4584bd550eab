//! The options of each switch, and the smallest change of the other stages that makes an option legal.

use std::mem;

use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};

use super::name;
use crate::panel::prelude::*;
use crate::replication::{NINE_BITS, Repair, repaired};

/// Returns the options of a part's switch, from left to right. Their values are the legal stages with that option and the
/// fewest other changes.
pub(super) fn of(part: Part, present: Stages) -> Vec<Choice<Stages>> {
    let is_coded = part == Part::Delta && present.delta.is_arithmetic();
    let offers = variants(part, *present).into_iter().map(|options| {
        let [name, about] = match part {
            Part::Coding if !options.delta.is_arithmetic() => terms::FIXED_BITS,
            _ => terms::stage(part, options),
        };
        let stages = repaired_except(options, part).unwrap_or(present);
        let mut offer = Choice::new(stages, name, about);
        offer.refusal = is_coded.then_some(CODED.into());
        if let Err(illegal) = options.check() {
            let illegal = capital(&illegal.to_string());
            let repair = "A click also changes the conflicting stages.";
            offer.about = format!("{illegal}. {repair}\n{about}").into();
            offer.is_marked = !is_coded;
        }
        offer
    });
    offers.collect()
}

fn variants(part: Part, now: StageOptions) -> Vec<StageOptions> {
    let [coded, listed] = [true, false]
        .map(|coded| Delta::ALL.into_iter().filter(move |it| it.is_arithmetic() == coded));
    match part {
        Part::Orientation => each(now, |it| &mut it.orientation, [Orientation::Full, NINE_BITS]),
        Part::Velocity => each(now, |it| &mut it.velocity, Velocity::ALL),
        Part::Position => each(now, |it| &mut it.position, Position::ALL),
        Part::Delta => each(now, |it| &mut it.delta, listed),
        Part::RelativePosition => each(now, |it| &mut it.relative_position, RelativePosition::ALL),
        Part::RelativeOrientation => {
            each(now, |it| &mut it.relative_orientation, RelativeOrientation::ALL)
        }
        Part::ChangedFlags => each(now, |it| &mut it.changed_flags, ChangedFlags::ALL),
        _ => each(now, |it| &mut it.delta, [fixed_bits(now.delta)].into_iter().chain(coded)),
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

pub(crate) const CODED: &str =
    "Switch off arithmetic coding first: it includes the selection of cubes.";

/// Describes the changes of a click in other stages: their names, and their number. Returns `None` without such changes.
pub(super) fn besides(part: Part, present: Stages, then: Stages) -> Option<[String; 2]> {
    let mut others = Part::changed(*present, *then);
    others.retain(|other| *other != part.field());
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for other in &others {
        match other {
            Part::Orientation => on.push("smallest three".to_owned()),
            Part::Velocity => on.push("no velocity".to_owned()),
            Part::Position => on.push("512 steps a metre".to_owned()),
            Part::Delta if present.delta.is_arithmetic() => {
                off.push("arithmetic coding".to_owned());
            }
            Part::Delta => on.push("a selection".to_owned()),
            // The repairs only switch the other parts off.
            other => off.push(name(*other)),
        }
    }
    let parts = [("with", on), ("without", off)].into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<_> = parts.map(|(how, names)| format!("{how} {}", names.join(", "))).collect();
    let count = match others.len() {
        0 => return None,
        1 => "1 other stage".to_owned(),
        count => format!("{count} other stages"),
    };
    Some([parts.join(", "), count])
}

const REPAIRS: [Repair; 8] = [
    (Part::Delta, |it| it.delta = fixed_bits(it.delta)),
    (Part::Delta, |it| it.delta = Delta::ChangedBits),
    (Part::Position, |it| it.position = Position::QUANTIZED),
    (Part::Orientation, |it| it.orientation = NINE_BITS),
    (Part::Velocity, |it| it.velocity = Velocity::Omitted),
    (Part::RelativePosition, |it| it.relative_position = RelativePosition::Off),
    (Part::RelativeOrientation, |it| it.relative_orientation = RelativeOrientation::Off),
    (Part::ChangedFlags, |it| it.changed_flags = ChangedFlags::Off),
];

/// Makes options legal with the fewest repairs, without a repair of the part `kept`. Returns `None` if that is impossible.
fn repaired_except(options: StageOptions, kept: Part) -> Option<Stages> {
    let repairs = REPAIRS.into_iter().filter(|(part, _)| *part != kept.field());
    repaired(options, &repairs.collect::<Vec<_>>()).map(|(stages, _)| stages)
}

pub(super) const fn fixed_bits(delta: Delta) -> Delta {
    match delta {
        Delta::Arithmetic => Delta::RELATIVE_INDICES,
        Delta::ArithmeticPredicted | Delta::ArithmeticSimulated => Delta::PredictedIndices,
        listed => listed,
    }
}

#[cfg(test)]
mod tests {

    use super::super::SWITCHES;
    use super::*;

    #[test]
    fn the_chosen_option_keeps_its_parameters() {
        let mut present = *ladder::RELATIVE_POSITION.stages;
        present.relative_position = RelativePosition::TwoRanges { small: 4, large: 8 };
        let present = present.check().unwrap();
        assert_eq!(of(Part::RelativePosition, present)[1].value, present);
    }

    #[test]
    fn options_change_as_few_stages_as_possible() {
        let legal: Vec<Stages> = Stages::every_legal(&[9]).collect();
        for &present in &legal {
            for (part, name) in SWITCHES {
                let offers = of(part, present);
                let on = offers.iter().filter(|it| it.value == present).count();
                let is_coded = part == Part::Delta && present.delta.is_arithmetic();
                assert_eq!(on, usize::from(!is_coded), "{present}: {name}");
                for offer in offers {
                    assert_eq!(offer.refusal.is_some(), is_coded, "{present}: {name}");
                    assert!(!is_coded || !offer.is_marked, "{present}: {name}");
                    let changes = Part::changed(*present, *offer.value);
                    let is_changed = changes.contains(&part.field());
                    assert_eq!(is_changed, offer.value != present, "{present}: {}", offer.name);
                    if !offer.is_marked {
                        assert!(changes.len() <= 1 || offer.refusal.is_some());
                        continue;
                    }
                    let keeps = |other: &Stages| {
                        !Part::changed(*offer.value, **other).contains(&part.field())
                    };
                    let others = legal.iter().filter(|other| keeps(other));
                    let least = others.map(|other| Part::changed(*present, **other).len()).min();
                    assert_eq!(Some(changes.len()), least, "{present}: {}", offer.name);
                }
            }
        }
    }
}
