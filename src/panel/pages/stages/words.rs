//! Why options are not possible, and what a click on one has changed, in few words.

use cubewire_codec::Stages;
use cubewire_codec::stages::{ChangedFlags, RelativeOrientation, RelativePosition};

use super::offers::Offer;
use super::repair::{Stage, changed};
use super::switch::Switch;

/// Why some options of a switch are not possible, the longest wording first.
pub(super) fn reasons(switch: Switch, present: Stages, offers: &[Offer]) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for offer in offers.iter().filter(|offer| offer.refusal.is_some()) {
        let reason = reason(switch, present, offer.stages);
        match groups.iter_mut().find(|(_, known)| *known == reason) {
            Some((names, _)) => names.push(offer.name),
            None => groups.push((vec![offer.name], reason)),
        }
    }
    if groups.is_empty() {
        let is_coded = switch == Switch::Selection && present.delta.is_arithmetic();
        let is_coded = is_coded.then(|| "a part of the arithmetic coding".to_owned());
        return is_coded.into_iter().collect();
    }
    let [short, full] = [false, true].map(|is_full| {
        let words = groups.iter().map(|(names, reason)| {
            // Where several go for one reason, it is told by the first.
            let names = match is_full {
                true => names.join(", "),
                false => names[0].to_owned(),
            };
            format!("{names}: {reason}")
        });
        words.collect::<Vec<_>>()
    });
    let only = groups[0].1.clone();
    vec![full.join("; "), full[0].clone(), short[0].clone(), only]
}

/// What is in the way of an option, if these are the stages that a click on it leads to.
fn reason(switch: Switch, present: Stages, then: Stages) -> String {
    let mut others = changed(*present, *then);
    others.retain(|stage| *stage != switch.stage());
    if others.iter().all(|stage| is_off(*stage, then)) {
        let what = match &others[..] {
            [only] => name(*only).to_owned(),
            [_, _] => "two of those below".to_owned(),
            _ => "the three below".to_owned(),
        };
        return match switch {
            Switch::Coding => format!("in place of {what}"),
            _ => format!("not with {what}"),
        };
    }
    if present.delta.is_arithmetic() && others.contains(&Stage::Delta) {
        return "not with arithmetic coding".to_owned();
    }
    let needs = others.iter().filter(|stage| !is_off(**stage, then));
    let needs: Vec<&str> = needs.map(|stage| need(*stage)).collect();
    format!("needs {}", needs.join(", "))
}

/// What a click has changed besides, the longest wording first; nothing if there is nothing.
pub(super) fn changes(switch: Switch, before: Stages, after: Stages) -> Vec<String> {
    let mut others = changed(*before, *after);
    others.retain(|stage| *stage != switch.stage());
    if others.is_empty() {
        return Vec::new();
    }
    let part = |stage: &Stage| match is_off(*stage, after) {
        true => format!("{} off", name(*stage)),
        false => need(*stage).to_owned(),
    };
    let parts: Vec<String> = others.iter().map(part).collect();
    let stages = match others.len() {
        1 => "stage",
        _ => "stages",
    };
    vec![
        format!("now {}", parts.join(", ")),
        format!("changed {} other {stages}", others.len()),
    ]
}

const fn is_off(stage: Stage, stages: Stages) -> bool {
    let options = stages.options();
    match stage {
        Stage::RelativePosition => matches!(options.relative_position, RelativePosition::Off),
        Stage::RelativeOrientation => {
            matches!(options.relative_orientation, RelativeOrientation::Off)
        }
        Stage::ChangedFlags => matches!(options.changed_flags, ChangedFlags::Off),
        _ => false,
    }
}

const fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Orientation => "orientation",
        Stage::Velocity => "velocity",
        Stage::Position => "position",
        Stage::Delta => "selection",
        Stage::RelativePosition => "relative position",
        Stage::RelativeOrientation => "relative orientation",
        Stage::ChangedFlags => "changed flags",
    }
}

/// What a stage is changed to where an option needs it.
const fn need(stage: Stage) -> &'static str {
    match stage {
        Stage::Orientation => "smallest three",
        Stage::Velocity => "no velocity",
        Stage::Position => "512 steps a metre",
        Stage::Delta => "a selection",
        other => name(other),
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::super::offers;
    use super::*;

    #[test]
    fn reasons_name_the_options_and_what_is_in_their_way() {
        for (rung, switch, said) in [
            (
                ladder::CHANGED_FLAGS,
                Switch::Orientation,
                "full: not with relative orientation",
            ),
            (
                ladder::CHANGED_FLAGS,
                Switch::Position,
                "full, affine: not with relative position",
            ),
            (
                ladder::CHANGED_FLAGS,
                Switch::Selection,
                "all cubes: not with the three below",
            ),
            (
                ladder::CHANGED_FLAGS,
                Switch::Coding,
                "arithmetic, predicted, simulated: in place of the three below",
            ),
            (
                ladder::UNCOMPRESSED,
                Switch::ChangedFlags,
                "separate, joint: needs a selection",
            ),
            (
                ladder::PREDICTED,
                Switch::Selection,
                "a part of the arithmetic coding",
            ),
        ] {
            let stages = rung.stages;
            let reasons = reasons(switch, stages, &offers::of(switch, stages));
            assert_eq!(reasons[0], said, "{}: {switch:?}", rung.name);
        }
    }

    #[test]
    fn what_a_click_has_changed_besides_is_said() {
        let [before, after] = [ladder::POSITION, ladder::DELTA].map(|rung| rung.stages);
        assert!(changes(Switch::Selection, before, after).is_empty());
        let before = ladder::RELATIVE_ORIENTATION.stages;
        let offers = offers::of(Switch::Orientation, before);
        let said = changes(Switch::Orientation, before, offers[0].stages);
        assert_eq!(said[0], "now relative orientation off");
        assert_eq!(said[1], "changed 1 other stage");
    }
}
