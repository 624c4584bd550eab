//! Why options are not possible, and what a click on one has changed, in few words.

use cubewire_codec::Stages;
use cubewire_codec::stages::{ChangedFlags, RelativeOrientation, RelativePosition};

use super::offers::Offer;
use super::repair::{Stage, changed};
use super::switch::{Switch, name};

/// A long wording, and a short one for less room.
pub(super) type Wordings = [String; 2];

/// Why some options of a switch are not possible.
pub(super) fn reasons(switch: Switch, present: Stages, offers: &[Offer]) -> Option<Wordings> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for offer in offers.iter().filter(|offer| offer.refusal.is_some()) {
        let reason = reason(switch, present, offer.stages);
        match groups.iter_mut().find(|(_, known)| *known == reason) {
            Some((names, _)) => names.push(offer.name),
            None => groups.push((vec![offer.name], reason)),
        }
    }
    let Some((names, reason)) = groups.first() else {
        let is_coded = switch == Switch::Selection && present.delta.is_arithmetic();
        let coded = [
            "a part of the arithmetic coding",
            "of the arithmetic coding",
        ];
        return is_coded.then(|| coded.map(str::to_owned));
    };
    // Where several go for one reason, it is told by the first.
    let short = format!("{}: {reason}", names[0]);
    let long = groups
        .iter()
        .map(|(names, reason)| format!("{}: {reason}", names.join(", ")));
    Some([long.collect::<Vec<_>>().join("; "), short])
}

/// What is in the way of an option, if these are the stages that a click on it leads to.
fn reason(switch: Switch, present: Stages, then: Stages) -> String {
    let mut others = changed(*present, *then);
    others.retain(|stage| *stage != switch.stage());
    if others.iter().all(|stage| is_off(*stage, then)) {
        let what = match &others[..] {
            [only] => name(|it| it.stage() == *only),
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
    let needs: Vec<String> = needs.map(|stage| need(*stage)).collect();
    format!("needs {}", needs.join(", "))
}

/// What a click has changed besides.
pub(super) fn changes(switch: Switch, before: Stages, after: Stages) -> Option<Wordings> {
    let mut others = changed(*before, *after);
    others.retain(|stage| *stage != switch.stage());
    let part = |stage: &Stage| match is_off(*stage, after) {
        true => format!("{} off", name(|it| it.stage() == *stage)),
        false => need(*stage),
    };
    let parts: Vec<String> = others.iter().map(part).collect();
    let stages = match others.len() {
        1 => "stage",
        _ => "stages",
    };
    let long = format!("now {}", parts.join(", "));
    let short = format!("changed {} other {stages}", others.len());
    (!others.is_empty()).then_some([long, short])
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

/// What a stage is changed to where an option needs it.
fn need(stage: Stage) -> String {
    let need = match stage {
        Stage::Orientation => "smallest three",
        Stage::Velocity => "no velocity",
        Stage::Position => "512 steps a metre",
        Stage::Delta => "a selection",
        other => return name(|it| it.stage() == other),
    };
    need.to_owned()
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
            assert_eq!(reasons.unwrap()[0], said, "{}: {switch:?}", rung.name);
        }
    }

    #[test]
    fn what_a_click_has_changed_besides_is_said() {
        let [before, after] = [ladder::POSITION, ladder::DELTA].map(|rung| rung.stages);
        assert!(changes(Switch::Selection, before, after).is_none());
        let before = ladder::RELATIVE_ORIENTATION.stages;
        let offers = offers::of(Switch::Orientation, before);
        let said = changes(Switch::Orientation, before, offers[0].stages).unwrap();
        assert_eq!(said[0], "now relative orientation off");
        assert_eq!(said[1], "changed 1 other stage");
    }
}
