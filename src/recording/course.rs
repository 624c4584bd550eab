//! What the halves show in turn, by a script and by switches.

use super::{Script, Switch};
use crate::replication::LaneSettings;
use crate::view::{PaneContent, Side};

/// What a half shows from a tick on, counted from the start of the script.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The tick; 0 for what is shown at the start.
    pub from: u64,
    /// The half.
    pub side: Side,
    /// What it shows.
    pub content: PaneContent,
}

/// What the halves show at the start, and after each step of the script and each switch, in the order of their ticks. The
/// ticks of the switches count from the start of the script.
#[must_use]
pub fn course(
    left: &PaneContent,
    right: &LaneSettings,
    script: Option<&Script>,
    switches: &[Switch],
) -> Vec<Turn> {
    let mut halves = [left.clone(), PaneContent::Lane(right.clone())];
    let start = Side::ALL.into_iter().zip(halves.clone());
    let start = start.map(|(side, content)| Turn {
        from: 0,
        side,
        content,
    });
    let mut turns: Vec<_> = start.collect();
    let steps = script.into_iter().flat_map(|script| &script.steps);
    let steps = steps.flat_map(|step| {
        let halves = [(Side::Left, &step.left), (Side::Right, &step.right)];
        let set = halves.into_iter();
        set.filter_map(|(side, content)| Some((step.at, side, Change::Set(content.as_deref()?))))
    });
    let switches = switches.iter();
    let switches = switches.map(|switch| (switch.at, switch.side, Change::Switch(switch)));
    let mut changes: Vec<_> = steps.chain(switches).collect();
    // Stable: in the same tick the script comes first.
    changes.sort_by_key(|(at, ..)| *at);
    for (from, side, change) in changes {
        let content = &mut halves[side as usize];
        match (change, &mut *content) {
            (Change::Set(new), content) => *content = new.clone(),
            // Parsing has checked the values.
            (Change::Switch(switch), PaneContent::Lane(lane)) => drop(switch.apply(lane)),
            (Change::Switch(_), PaneContent::Simulation) => {}
        }
        turns.push(Turn {
            from,
            side,
            content: content.clone(),
        });
    }
    turns
}

enum Change<'a> {
    Set(&'a PaneContent),
    Switch(&'a Switch),
}

/// What differs in what a half shows then, in words; none if nothing does.
#[must_use]
pub fn describe_change(old: &PaneContent, new: &PaneContent) -> Option<String> {
    match (old, new) {
        (PaneContent::Lane(old), PaneContent::Lane(new)) => old.describe_change(new),
        (PaneContent::Simulation, PaneContent::Lane(new)) => Some(new.rung_name().to_owned()),
        (PaneContent::Lane(_), PaneContent::Simulation) => Some("simulation".to_owned()),
        (PaneContent::Simulation, PaneContent::Simulation) => None,
    }
}
