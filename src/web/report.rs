//! Figures of the run, for scripts of the page and for tests of the window.

use bevy::diagnostic::FrameCount;
use bevy::prelude::*;
use cubewire_codec::ladder;
use cubewire_scene::PLAYER;
use serde_json::{Value, json};

use crate::history::{Moment, Selection};
use crate::panel::{PanelState, Tour};
use crate::recording::{Outcome, ReplayCheck, ScriptPlayback};
use crate::replication::{Accounting, LaneCheck, LaneMeter, LinkSettings, SenderSettings};
use crate::simulation::CubeWorld;
use crate::view::{DisplayedTicks, Selected, Side, ViewMode};

/// Returns the state of the game and figures of the selected lane as JSON.
///
/// # Panics
/// If the window has no game, as the window of a viewer.
pub fn report(world: &mut World) -> Value {
    let mut displayed = world.query::<(&Side, &DisplayedTicks)>();
    let displayed = displayed.iter(world).find(|(side, _)| **side == Side::Right);
    let replica_tick = displayed.and_then(|(_, displayed)| displayed.tick);
    let mut lanes = world
        .query_filtered::<(&SenderSettings, &LinkSettings, &LaneMeter, &LaneCheck), With<Selected>>(
        );
    let lane = lanes.iter(world).next().map(|(sender, link, meter, check)| {
        json!({
            "rung": ladder::rung_of(sender.stages).map(|rung| rung.name),
            "stages": sender.stages.to_string(),
            "link_cut": link.conditions.cut,
            "article_kbps": meter.kbps(Accounting::PayloadAndUdp),
            "received": meter.received,
            "refused": meter.refused,
            "compared": check.compared,
            "wrong": check.wrong,
        })
    });
    let cubes = world.resource::<CubeWorld>();
    let states = &cubes.current().bodies;
    let player = states[PLAYER].position;
    let panel = world.resource::<PanelState>();
    let replay = world.get_resource::<ReplayCheck>();
    let mut report = json!({
        "frames": world.resource::<FrameCount>().0,
        "seconds": world.resource::<Time<Real>>().elapsed_secs_f64(),
        "simulation_tick": cubes.tick(),
        "replica_tick": replica_tick,
        "player_distance_m": player.truncate().length(),
        "player_height_m": player.z,
        "interacting": states.iter().filter(|cube| cube.interacting).count(),
        "view": format!("{:?}", world.resource::<ViewMode>()),
        "plays_script": world.contains_resource::<ScriptPlayback>(),
        // None until a replay has been played to its end.
        "replay": replay.and_then(|check| match &check.outcome {
            Outcome::Unfinished => None,
            Outcome::Same => Some("same".to_owned()),
            Outcome::Different(difference) => Some(difference.to_string()),
        }),
        "panel": {
            "size": panel.shown_size(),
            "page": panel.page,
            "column": panel.column,
            "theme": panel.theme,
            "scale": panel.scale,
            "explaining": panel.explaining,
            "tour": world.get_resource::<Tour>().and_then(|tour| tour.index),
            "timeline": panel.timeline,
            "colors": format!("{:?}", panel.colors),
            "moment": world.resource::<Moment>().0,
            "range": panel.range,
            "cube": world.resource::<Selection>().cube,
        },
    });
    if let (Some(report), Some(Value::Object(lane))) = (report.as_object_mut(), lane) {
        report.extend(lane);
    }
    report
}
