//! What was seen in the window, as JSON: for tests of the real app.
//!
//! The one place that reads both worlds: it compares the replica's cubes on the screen with where
//! the simulation's states, interpolated at the tick that the replica shows, put them.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use cubewire_codec::ladder;
use cubewire_scene::PLAYER;
use serde::Serialize;

use crate::cli::CommandError;
use crate::files::write_whole;
use crate::replication::{
    Accounting, History, LaneCheck, LaneMeter, LaneSettings, Selected, ShadowLadder, Side,
};
use crate::simulation::World as CubeWorld;
use crate::view::{ReplicaPicture, ViewCube, ViewMode, ViewSystems};

/// Seconds between two writings.
const WRITE_EVERY: f32 = 0.2;

/// Figures of the run so far.
#[derive(Resource, Clone, Debug, Default, Serialize)]
struct Report {
    /// Frames drawn.
    frames: u64,
    /// Newest tick of the simulation, and the one that the replica shows.
    simulation_tick: u64,
    replica_tick: f64,
    /// Metres that the player was from the origin, on the floor, at most.
    player_travelled_m: f32,
    /// Height of the player's centre above the floor, metres.
    player_height_m: f32,
    /// Cubes that are interacting.
    interacting: usize,
    /// Frames in which the replica was compared with the simulation.
    compared_frames: u64,
    /// Farthest that a cube of the replica stood from where it should, metres and degrees.
    worst_position_error_m: f32,
    worst_orientation_error_degrees: f32,
    /// Rung that is sent with, and all that were since the start.
    rung: Option<&'static str>,
    rungs_seen: Vec<&'static str>,
    article_kbps: f64,
    wire_kbps: f64,
    link_cut: bool,
    /// [`ViewMode`], by name.
    view: String,
    received: u64,
    refused: u64,
    compared: u64,
    wrong: u64,
    /// Article bytes of all snapshots since the start, by rung, in the shadow.
    ladder: Vec<RungBytes>,
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

/// Writes a report to `path` several times a second, and at the end.
pub(super) fn install(app: &mut App, path: PathBuf) -> Result<(), CommandError> {
    write_file(&path, &Report::default())?;
    app.insert_resource(ReportFile {
        path,
        since_written: 0.0,
    })
    .init_resource::<Report>()
    .add_systems(
        PostUpdate,
        (compare, note).chain().after(ViewSystems::Cubes),
    )
    .add_systems(Last, write);
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
        // A reset puts cubes back at once, and nothing is interpolated there.
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

fn note(
    world: Res<CubeWorld>,
    lanes: Query<(&LaneSettings, &LaneMeter, &LaneCheck, &ShadowLadder), With<Selected>>,
    mode: Res<ViewMode>,
    mut report: ResMut<Report>,
) {
    report.frames += 1;
    report.view = format!("{:?}", *mode);
    report.simulation_tick = world.tick();
    let cubes = &world.current().cubes;
    let player = cubes[PLAYER].position.truncate().length();
    report.player_travelled_m = report.player_travelled_m.max(player);
    report.player_height_m = cubes[PLAYER].position.z;
    report.interacting = cubes.iter().filter(|cube| cube.interacting).count();

    let Some((settings, meter, check, shadow)) = lanes.iter().next() else {
        return;
    };
    let rung = ladder::rung_of(settings.stages);
    report.rung = rung.map(|rung| rung.name);
    if let Some(rung) = rung
        && !report.rungs_seen.contains(&rung.name)
    {
        report.rungs_seen.push(rung.name);
    }
    report.article_kbps = meter.kbps(Accounting::Article);
    report.wire_kbps = meter.kbps(Accounting::Wire);
    report.link_cut = settings.link.cut;
    report.received = meter.received;
    report.refused = meter.refused;
    report.compared = check.compared;
    report.wrong = check.wrong;
    report.ladder.clear();
    report
        .ladder
        .extend(shadow.rungs().iter().map(|rung| RungBytes {
            rung: rung.rung().name,
            bytes: rung.total_bytes,
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

/// Readers see the old report or the new one, never half of it.
fn write_file(path: &Path, report: &Report) -> Result<(), CommandError> {
    let json = serde_json::to_vec_pretty(report).expect("a report is plain data");
    write_whole(path, &json).map_err(|source| CommandError::Unwritable {
        path: path.to_owned(),
        source,
    })
}
