//! Figures of a run in the window, as JSON, for tests of the real app.
//!
//! Compares the replica's cubes on the screen with the simulation's states, interpolated at the tick that
//! the replica shows.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use bevy_egui::EguiPostUpdateSet;
use cubewire_codec::ladder;
use cubewire_scene::PLAYER;
use serde::Serialize;

use super::WindowError;
use crate::files::publish;
use crate::history::{Moment, Selection};
use crate::panel::{PanelSize, PanelState, SavingsView, Tab, Tour};
use crate::recording::{Outcome, ReplayCheck, ScriptPlayback};
use crate::replication::{
    Accounting, History, LaneCheck, LaneMeter, LinkSettings, SenderSettings, ShadowLadder,
};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{ReplicaPicture, Selected, Side, ViewCube, ViewMode, ViewSystems};

/// Interval at which the report is written, seconds.
const WRITE_EVERY: f32 = 0.2;

/// Figures of the run so far.
#[derive(Resource, Clone, Debug, Default, Serialize)]
struct Report {
    /// Frames drawn.
    frames: u64,
    /// Seconds since the start by the real clock, which a slow machine's simulation is behind.
    seconds: f64,
    /// Newest tick of the simulation.
    simulation_tick: u64,
    /// The tick that the replica shows.
    replica_tick: f64,
    /// Maximum horizontal distance of the player from the origin, metres.
    player_travelled_m: f32,
    /// Height of the player's centre above the floor, metres.
    player_height_m: f32,
    /// Cubes that are interacting.
    interacting: usize,
    /// Frames in which the replica was compared with the simulation.
    compared_frames: u64,
    /// Maximum position error of a cube in the replica, metres.
    worst_position_error_m: f32,
    /// Maximum orientation error of a cube in the replica, degrees.
    worst_orientation_error_degrees: f32,
    /// Current rung of the lane.
    rung: Option<&'static str>,
    /// Its stages, as text.
    stages: String,
    /// Every rung since the start.
    rungs_seen: Vec<&'static str>,
    article_kbps: f64,
    wire_kbps: f64,
    link_cut: bool,
    /// [`ViewMode`], by name.
    view: String,
    panel: Option<PanelReport>,
    /// What became of a replay that was played to its end: `same`, or where it differed.
    replay: Option<String>,
    /// Whether a script plays instead of the keyboard.
    plays_script: bool,
    received: u64,
    refused: u64,
    compared: u64,
    wrong: u64,
    /// Bytes of all snapshots since the start in article accounting, by rung of the shadow ladder.
    ladder: Vec<RungBytes>,
}

/// The state of the panel.
#[derive(Clone, Debug, Serialize)]
struct PanelReport {
    size: PanelSize,
    tab: Tab,
    theme: Theme,
    /// None if it follows the window.
    scale: Option<f32>,
    explaining: bool,
    /// The place of the tour's step, from 0; none outside of the tour.
    tour: Option<usize>,
    timeline: bool,
    /// What the colours of the cubes show.
    colors: String,
    /// What the tab of savings shows.
    savings: SavingsView,
    /// The tick of the past that is shown.
    moment: Option<u64>,
    /// First and last tick of the range in the timeline.
    range: Option<[u64; 2]>,
    /// The selected cube.
    cube: Option<usize>,
}

#[derive(Clone, Debug, Serialize)]
struct RungBytes {
    rung: &'static str,
    bytes: usize,
}

#[derive(Resource, Debug)]
struct ReportFile {
    path: PathBuf,
    since_written: f32,
}

/// Writes a report to `path` several times a second, and when the app exits.
pub(super) fn install(app: &mut App, path: PathBuf) -> Result<(), WindowError> {
    write_file(&path, &Report::default())?;
    app.insert_resource(ReportFile {
        path,
        since_written: 0.0,
    })
    .init_resource::<Report>()
    .add_systems(
        PostUpdate,
        (compare, note)
            .chain()
            .after(ViewSystems::Follow)
            .before(EguiPostUpdateSet::EndPass),
    )
    .add_systems(Last, write.after(exit_on_all_closed));
    Ok(())
}

fn compare(
    history: Res<History>,
    pictures: Query<(&Side, &ReplicaPicture)>,
    cubes: Query<(&Side, &ViewCube, &Transform)>,
    mut report: ResMut<Report>,
) {
    let right = pictures.iter().find(|&(&side, _)| side == Side::Right);
    let Some((picture, tick)) = right.and_then(|(_, picture)| Some((picture, picture.tick?)))
    else {
        return;
    };
    report.replica_tick = tick;
    let [from_tick, to_tick] = picture.between;
    let (Some(from), Some(to)) = (history.at(from_tick), history.at(to_tick)) else {
        return;
    };
    let span = to_tick - from_tick;
    let fraction = if span > 0 {
        ((tick - from_tick as f64) / span as f64) as f32
    } else {
        0.0
    };
    report.compared_frames += 1;
    for (&side, cube, shown) in &cubes {
        let (from, to) = (&from[cube.index], &to[cube.index]);
        // Cubes that a reset teleports are not interpolated.
        if side == Side::Left || from.position.distance(to.position) > 1.0 {
            continue;
        }
        let position = from.position.lerp(to.position, fraction);
        let orientation = from.orientation.slerp(to.orientation, fraction);
        let distance = shown.translation.distance(position);
        let angle = shown.rotation.angle_between(orientation).to_degrees();
        report.worst_position_error_m = report.worst_position_error_m.max(distance);
        report.worst_orientation_error_degrees = report.worst_orientation_error_degrees.max(angle);
    }
}

type SelectedLane<'a> = (
    &'a SenderSettings,
    &'a LinkSettings,
    &'a LaneMeter,
    &'a LaneCheck,
    &'a ShadowLadder,
);

/// What is played and looked at.
type Looked<'a> = (
    Option<Res<'a, ScriptPlayback>>,
    Option<Res<'a, ReplayCheck>>,
    Option<Res<'a, Tour>>,
    Res<'a, Moment>,
    Res<'a, Selection>,
);

fn note(
    world: Res<CubeWorld>,
    lanes: Query<SelectedLane<'_>, With<Selected>>,
    mode: Res<ViewMode>,
    time: Res<Time<Real>>,
    panel: Res<PanelState>,
    (script, replay, tour, moment, selection): Looked<'_>,
    mut report: ResMut<Report>,
) {
    report.frames += 1;
    report.seconds = time.elapsed_secs_f64();
    report.panel = Some(PanelReport {
        size: panel.size,
        tab: panel.tab,
        theme: panel.theme,
        scale: panel.scale,
        explaining: panel.explaining,
        tour: tour.and_then(|tour| tour.place),
        timeline: panel.timeline,
        colors: format!("{:?}", panel.colors),
        savings: panel.savings,
        moment: moment.0,
        range: panel.range(),
        cube: selection.cube,
    });
    report.replay = replay.and_then(|check| match check.outcome() {
        Outcome::Unfinished => None,
        Outcome::Same => Some("same".to_owned()),
        Outcome::Different(difference) => Some(difference.to_string()),
    });
    report.plays_script = script.is_some();
    report.view = format!("{:?}", *mode);
    report.simulation_tick = world.tick();
    let cubes = &world.current().cubes;
    let player = cubes[PLAYER].position.truncate().length();
    report.player_travelled_m = report.player_travelled_m.max(player);
    report.player_height_m = cubes[PLAYER].position.z;
    report.interacting = cubes.iter().filter(|cube| cube.interacting).count();

    let Some((sender, link, meter, check, shadow)) = lanes.iter().next() else {
        return;
    };
    let rung = ladder::rung_of(sender.stages);
    report.rung = rung.map(|rung| rung.name);
    report.stages = sender.stages.to_string();
    if let Some(rung) = rung
        && !report.rungs_seen.contains(&rung.name)
    {
        report.rungs_seen.push(rung.name);
    }
    report.article_kbps = meter.kbps(Accounting::Article);
    report.wire_kbps = meter.kbps(Accounting::Wire);
    report.link_cut = link.conditions.cut;
    report.received = meter.received;
    report.refused = meter.refused;
    report.compared = check.compared;
    report.wrong = check.wrong;
    report.ladder.clear();
    report
        .ladder
        .extend(shadow.rungs().iter().map(|rung| RungBytes {
            rung: rung.rung().name,
            bytes: rung.totals.article_bytes,
        }));
}

fn write(
    time: Res<Time<Real>>,
    report: Res<Report>,
    mut file: ResMut<ReportFile>,
    mut exits: MessageReader<AppExit>,
) {
    file.since_written += time.delta_secs();
    let exiting = exits.read().next().is_some();
    if !exiting && file.since_written < WRITE_EVERY {
        return;
    }
    file.since_written = 0.0;
    if let Err(error) = write_file(&file.path, &report) {
        error!("--report: {error}");
    }
}

fn write_file(path: &Path, report: &Report) -> Result<(), WindowError> {
    let json = serde_json::to_vec_pretty(report).expect("a report is plain data");
    publish(path, &json).map_err(|source| WindowError::Report {
        path: path.to_owned(),
        source,
    })
}
