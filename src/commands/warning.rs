//! Warnings on standard error: lanes that cannot show the effect of their settings, and files that are replaced.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use crate::recording::{Script, Switch, Turn, course};
use crate::replication::LaneSettings;
use crate::theme::without_glyph;
use crate::view::{PaneContent, Side};

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

/// Warns of characters that a film shows as boxes. Each text has a description.
pub(super) fn warn_of_boxes<'a>(texts: impl IntoIterator<Item = (&'a str, &'a String)>) {
    for (what, text) in texts {
        let missing = without_glyph(text);
        if !missing.is_empty() {
            say(format_args!("{what}: no font has {missing}, so the film shows boxes instead"));
        }
    }
}

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
        let PaneContent::Lane(lane) = content else { continue };
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

    #[test]
    fn each_lane_of_a_film_is_warned_of_once() {
        let script = "(ticks: 100, steps: [(at: 50, right: \"rung:delta,interpolation:hermite\")])";
        let script = Script::parse(script, Path::new("a.ron")).unwrap();
        let lacking = "rung:delta,interpolation:hermite";
        let start = "rung:at-rest,interpolation:hermite";
        let kept = "rung:predicted,budget:64kbps";
        let refused = "a budget requires a rung that lists changed cubes, unlike `uncompressed`";
        let of_halves = ["left", "right"].map(|side| format!("{side} half: {WARNING}"));
        let of_halves = of_halves.each_ref().map(String::as_str);
        for (left, right, switches, wanted) in [
            ("simulation", lacking, &[][..], &[WARNING][..]),
            ("simulation", start, &[], &[]),
            (lacking, lacking, &[], &of_halves),
            ("simulation", "rung:uncompressed,budget:64kbps", &[], &[refused]),
            ("simulation", kept, &[], &[]),
            ("simulation", kept, &["1s:rung:uncompressed"], &[refused]),
            ("simulation", start, &["2s:rung:delta"], &[WARNING]),
            ("simulation", start, &["2s:rung:delta,interpolation:linear"], &[]),
            // Switches apply by time, not in the order of the arguments.
            ("simulation", start, &["2s:rung:delta", "1s:interpolation:linear"], &[]),
            // There is no left lane to switch.
            ("simulation", start, &["1s:left.rung:delta"], &[]),
        ] {
            let case = format!("{left}, {right}, {switches:?}");
            let (left, right) = (left.parse().unwrap(), right.parse().unwrap());
            let switches: Vec<Switch> = switches.iter().map(|text| text.parse().unwrap()).collect();
            assert_eq!(sentences(&left, &right, None, &switches), wanted, "{case}");
        }
        let delta = "rung:delta".parse().unwrap();
        for switches in [vec![], vec!["1s:rung:index,interpolation:none".parse().unwrap()]] {
            let played = sentences(&PaneContent::Simulation, &delta, Some(&script), &switches);
            assert_eq!(played, [WARNING], "{switches:?}");
        }
    }
}
