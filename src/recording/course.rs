//! Computes the contents of the halves over time from a script and from switches.

use super::{Script, Switch};
use crate::replication::LaneSettings;
use crate::view::{PaneContent, Side};

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Start of the content, in ticks since the start of the script. 0 for the initial content.
    pub from: u64,
    pub side: Side,
    pub content: PaneContent,
}

/// Returns the initial contents of the halves, and the new content after each step of the script and each switch, in
/// the order of their ticks. The ticks of the switches count from the start of the script.
pub fn course(
    left: &PaneContent,
    right: &LaneSettings,
    script: Option<&Script>,
    switches: &[Switch],
) -> Vec<Turn> {
    let mut halves = [left.clone(), PaneContent::Lane(right.clone())];
    let start = Side::ALL.into_iter().zip(halves.clone());
    let start = start.map(|(side, content)| Turn { from: 0, side, content });
    let mut turns: Vec<_> = start.collect();
    let steps = script.into_iter().flat_map(|script| &script.steps);
    let steps = steps.flat_map(|step| {
        let halves = [(Side::Left, &step.left), (Side::Right, &step.right)];
        let set = halves.into_iter();
        set.filter_map(|(side, content)| Some((step.at, side, Change::Set(content.as_deref()?))))
    });
    let switches = switches.iter();
    let switches = switches.map(|switch| (switch.at, switch.side(), Change::Switch(switch)));
    let mut changes: Vec<_> = steps.chain(switches).collect();
    // The sort is stable, so in the same tick the script comes first.
    changes.sort_by_key(|(at, ..)| *at);
    for (from, side, change) in changes {
        let content = &mut halves[side as usize];
        match (change, &mut *content) {
            (Change::Set(new), content) => *content = new.clone(),
            // The values were checked by the parser, so this cannot fail.
            (Change::Switch(switch), PaneContent::Lane(lane)) => drop(switch.apply(lane)),
            (Change::Switch(_), PaneContent::Simulation) => {}
        }
        turns.push(Turn { from, side, content: content.clone() });
    }
    turns
}

enum Change<'a> {
    Set(&'a PaneContent),
    Switch(&'a Switch),
}

/// Describes the change between two contents of a half. `None` if they do not differ.
pub fn describe_change(old: &PaneContent, new: &PaneContent) -> Option<String> {
    match (old, new) {
        (PaneContent::Lane(old), PaneContent::Lane(new)) => old.describe_change(new),
        (PaneContent::Simulation, PaneContent::Lane(new)) => Some(new.rung_name().to_owned()),
        (PaneContent::Lane(_), PaneContent::Simulation) => Some("simulation".to_owned()),
        (PaneContent::Simulation, PaneContent::Simulation) => None,
    }
}
