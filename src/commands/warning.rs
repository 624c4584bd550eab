//! Warnings on standard error: lanes that cannot show the effect of their settings, and files that are replaced.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use crate::recording::{Script, Switch, Turn, course};
use crate::replication::LaneSettings;
use crate::view::{PaneContent, Side};

/// Prints a warning.
pub(super) fn say(sentence: impl Display) {
    // Ignore a closed standard error.
    let _ = writeln!(io::stderr(), "warning: {sentence}");
}

/// Warns that an existing file will be replaced. All commands except `key` replace existing files, once the new file is
/// complete.
pub(super) fn of_replaced(path: &Path) {
    if path.is_file() {
        say(format_args!("{} exists and will be replaced", path.display()));
    }
}

/// Prints the warnings of [`sentences`].
pub(super) fn warn(
    left: &PaneContent,
    right: &LaneSettings,
    script: Option<&Script>,
    switches: &[Switch],
) {
    for sentence in sentences(left, right, script, switches) {
        say(sentence);
    }
}

/// Warnings about the initial lanes and about the lanes after each step of the script and each switch, without
/// repetitions. The ticks of the switches count from the start of the script.
fn sentences(
    left: &PaneContent,
    right: &LaneSettings,
    script: Option<&Script>,
    switches: &[Switch],
) -> Vec<String> {
    let turns = course(left, right, script, switches);
    let is_compared =
        turns.iter().any(|turn| turn.side == Side::Left && turn.content != PaneContent::Simulation);
    let mut sentences = Vec::new();
    for Turn { side, content, .. } in turns {
        let PaneContent::Lane(lane) = content else {
            continue;
        };
        let warnings = [lane.velocity_warning(), lane.sender.check_budget().err()];
        for warning in warnings.into_iter().flatten() {
            let warning = match is_compared {
                true => format!("{} half: {warning}", side.name()),
                false => warning,
            };
            if !sentences.contains(&warning) {
                sentences.push(warning);
            }
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const WARNING: &str = "hermite → linear: hermite needs velocities, which delta does not send; the \
                           rungs up to at-rest send them";

    fn lane(text: &str) -> LaneSettings {
        text.parse().unwrap()
    }

    #[test]
    fn lanes_without_velocities_are_warned_of_once() {
        let lacking = lane("rung:delta,interpolation:hermite");
        let of = |right: &LaneSettings| sentences(&PaneContent::Simulation, right, None, &[]);
        assert_eq!(of(&lacking), [WARNING]);
        assert_eq!(of(&lane("rung:at-rest,interpolation:hermite")), [""; 0]);
        let both = sentences(&PaneContent::Lane(lacking.clone()), &lacking, None, &[]);
        assert_eq!(both, ["left", "right"].map(|side| format!("{side} half: {WARNING}")));
    }

    #[test]
    fn budgets_that_cannot_be_kept_are_warned_of() {
        let of = |lane: &LaneSettings, switches: &[Switch]| {
            sentences(&PaneContent::Simulation, lane, None, switches)
        };
        let wanted = "a budget requires a rung that lists changed cubes, unlike `uncompressed`";
        let kept = lane("rung:predicted,budget:64kbps");
        assert_eq!(of(&lane("rung:uncompressed,budget:64kbps"), &[]), [wanted]);
        assert_eq!(of(&kept, &[]), [""; 0]);
        let switch = "1s:rung:uncompressed".parse().unwrap();
        assert_eq!(of(&kept, &[switch]), [wanted]);
    }

    #[test]
    fn switches_and_steps_of_a_script_are_followed() {
        let start = lane("rung:at-rest,interpolation:hermite");
        let switch = |text: &str| text.parse::<Switch>().unwrap();
        let after =
            |switches: &[Switch]| sentences(&PaneContent::Simulation, &start, None, switches);
        assert_eq!(after(&[switch("2s:rung:delta")]), [WARNING]);
        assert_eq!(after(&[switch("2s:rung:delta,interpolation:linear")]), [""; 0]);
        // Switches apply by time, not in the order of the arguments.
        let later = [switch("2s:rung:delta"), switch("1s:interpolation:linear")];
        assert_eq!(after(&later), [""; 0]);
        // There is no left lane to switch.
        assert_eq!(after(&[switch("1s:left.rung:delta")]), [""; 0]);
        let script = "(ticks: 100, steps: [(at: 50, right: \"rung:delta,interpolation:hermite\")])";
        let script = Script::parse(script, Path::new("a.ron")).unwrap();
        let played = |switches: &[Switch]| {
            sentences(&PaneContent::Simulation, &lane("rung:delta"), Some(&script), switches)
        };
        assert_eq!(played(&[]), [WARNING]);
        assert_eq!(played(&[switch("1s:rung:index,interpolation:none")]), [WARNING]);
    }
}
