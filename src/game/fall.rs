//! The fall: a ball rolls by itself, and the right half climbs down the ladder, from the most expensive rung to the
//! cheapest one.
//!
//! The window plays it until the user takes over. `record --fall` renders the same script.

use cubewire_codec::ladder::LADDER;
use cubewire_scene::TICKS_PER_SECOND;

use super::script_of;
use crate::panel::Scene;
use crate::recording::{Script, Step};
use crate::replication::LaneSettings;
use crate::view::PaneContent;

pub const TITLE: &str = "The same cubes, from 17 Mbps to 16 kbps";

/// Time on each rung: one second until its cost is measured, and one to read it. The last rung stays until the end of
/// the script.
const TICKS_PER_RUNG: u64 = 2 * TICKS_PER_SECOND as u64;

/// The script with the keys of [`Scene::Katamari`] and a rung of the ladder every two seconds.
pub fn fall() -> Script {
    let mut script = script_of(Scene::Katamari);
    for (index, rung) in (0..).zip(LADDER) {
        let lane = PaneContent::Lane(LaneSettings::with_stages(rung.stages));
        let right = Some(Box::new(lane));
        let at = index * TICKS_PER_RUNG;
        if index == 0 {
            script.right.clone_from(&right);
        }
        match script.steps.binary_search_by_key(&at, |step| step.at) {
            Ok(step) => script.steps[step].right = right,
            Err(place) => script.steps.insert(place, Step { at, right, ..Step::default() }),
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Side;

    #[test]
    fn every_rung_has_two_seconds_and_the_ball_rolls_as_before() {
        let (fall, rolling) = (fall(), script_of(Scene::Katamari));
        let mut shown = Vec::new();
        for tick in 0..fall.ticks {
            assert_eq!(fall.keys_at(tick), rolling.keys_at(tick), "{tick}");
            if let Some(PaneContent::Lane(lane)) = fall.content_at(tick, Side::Right) {
                shown.push((tick, lane.rung_name()));
            }
        }
        let rungs = (0..).zip(LADDER);
        let rungs: Vec<_> = rungs.map(|(index, rung)| (120 * index, rung.name)).collect();
        assert_eq!(shown, rungs);
        assert!(fall.ticks >= 120 * LADDER.len() as u64, "the last rung, too");
    }
}
