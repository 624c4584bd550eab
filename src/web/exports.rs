//! What the page calls.

use std::hint;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use bevy::prelude::*;
use bevy::winit::WinitSettings;
use wasm_bindgen::prelude::wasm_bindgen;

use super::address::Address;
use super::report::report;
use crate::game::window::{self, WindowSettings};
use crate::game::{halves, headless, profile};
use crate::page;
use crate::panel::{PanelState, PanelSystems, STEPS, Tour};
use crate::recording::Script;
use crate::replication::LaneSettings;

#[cfg(not(target_feature = "simd128"))]
compile_error!(
    "without `-C target-feature=+simd128` the physics differs from the native program's"
);

/// What the game takes in its first minute, bytes.
const MEMORY: usize = 192 << 20;

/// What a lane for every rung takes, bytes.
const MEMORY_OF_ALL: usize = 576 << 20;

/// The page starts the game when it has loaded what the address names; this only reserves memory.
#[must_use]
pub fn main() -> ExitCode {
    reserve(MEMORY);
    ExitCode::SUCCESS
}

/// Asks the browser for memory. The allocator would ask for 64 KiB at a time, and each time the browser takes a
/// while.
fn reserve(bytes: usize) {
    let mut memory = Vec::<u8>::new();
    if memory.try_reserve(bytes).is_ok() {
        drop(hint::black_box(memory));
    }
}

/// Starts the game in the canvas.
///
/// # Errors
/// If the address or the script cannot be used: a sentence.
#[wasm_bindgen]
pub fn start(query: &str, script_name: &str, script: Option<String>) -> Result<(), String> {
    let address: Address = query.parse().map_err(sentence)?;
    let script = match script {
        Some(text) => Some(Script::parse(&text, Path::new(script_name)).map_err(sentence)?),
        None => None,
    };
    let (left, mut right) = halves(address.left.clone(), address.right.clone(), script.as_ref());
    let lane = address.lane.change().map_err(sentence)?;
    lane.apply(&mut right).map_err(sentence)?;
    let settings = WindowSettings {
        left,
        right,
        script,
        calm: address.calm || address.tour.is_some(),
        recordings: PathBuf::new(),
        seconds: address.seconds,
        // The canvas fills its element.
        size: UVec2::new(1280, 720),
        quality: address.quality,
        theme: address.theme,
        panel: Some(PathBuf::from("panel.ron")),
        tour: address.tour,
    };
    let mut app = window::open(&settings);
    window::add_game(&mut app, settings).map_err(sentence)?;
    let world = app.world_mut();
    let mut panel = world.resource_mut::<PanelState>();
    panel.has_touch = page::has_touch();
    // What is watched is not covered.
    if address.script.is_some() {
        panel.explaining = false;
    }
    if let Some(size) = address.panel {
        panel.size = size;
    }
    // Between frames nothing runs: a frame that sleeps costs nothing.
    app.insert_resource(WinitSettings::continuous());
    app.add_systems(Update, follow_page.before(PanelSystems::Notices));
    if address.report {
        app.add_systems(Last, say_report);
    }
    app.add_systems(Last, (say_drawn, say_ended.run_if(on_message::<AppExit>)));
    app.run();
    Ok(())
}

/// Takes the tour to a step, counted from 1, whose text the page shows.
#[wasm_bindgen]
pub fn tour_step(step: usize) {
    STEP.store(step, Ordering::Relaxed);
}

/// The step that the page wants; 0 if it has said nothing.
static STEP: AtomicUsize = AtomicUsize::new(0);

/// Where a replay is played there is no tour.
fn follow_page(tour: Option<ResMut<Tour>>) {
    let step = STEP.swap(0, Ordering::Relaxed);
    if let Some(mut tour) = tour
        && (1..=STEPS.len()).contains(&step)
    {
        *tour = Tour {
            index: Some(step - 1),
            is_elsewhere: true,
            ..Tour::default()
        };
    }
}

/// What is wrong with a script; nothing if it can be played.
#[wasm_bindgen]
#[must_use]
pub fn check_script(name: &str, text: &str) -> Option<String> {
    Script::parse(text, Path::new(name)).err().map(sentence)
}

/// Plays a script without drawing, and returns for each tick the hash of the states and the bytes of each
/// rung: see [`headless::tick_by_tick`].
///
/// # Errors
/// If the script cannot be played: a sentence.
#[wasm_bindgen]
pub fn tick_by_tick(name: &str, text: &str, ticks: u32, lane: &str) -> Result<String, String> {
    let script = Script::parse(text, Path::new(name)).map_err(sentence)?;
    let lane = lane.parse::<LaneSettings>().map_err(sentence)?;
    reserve(MEMORY_OF_ALL);
    headless::tick_by_tick(script, ticks.into(), &lane).map_err(sentence)
}

/// Plays a script with the panel laid out but nothing drawn, and returns how long the frames take as JSON: see
/// [`profile::FrameTimes`].
///
/// # Errors
/// If the script cannot be played: a sentence.
#[wasm_bindgen(js_name = profile)]
pub fn frame_times(name: &str, text: &str, ticks: u32) -> Result<String, String> {
    let script = Script::parse(text, Path::new(name)).map_err(sentence)?;
    let times = profile::measure(Some(script), LaneSettings::default(), ticks as usize);
    serde_json::to_string_pretty(&times.map_err(sentence)?).map_err(sentence)
}

/// Publishes a new report for the page's scripts five times a second.
fn say_report(world: &mut World, mut due: Local<f64>) {
    let now = world.resource::<Time<Real>>().elapsed_secs_f64();
    if now >= *due {
        *due = now + 0.2;
        page::publish(&report(world).to_string());
    }
}

/// The canvas has a picture after the second frame at the latest.
fn say_drawn(mut frames: Local<u32>) {
    *frames = frames.saturating_add(1);
    if *frames == 2 {
        page::drawn();
    }
}

/// A renderer that has lost its device ends the game with an error.
fn say_ended(mut exits: MessageReader<AppExit>) {
    match exits.read().any(AppExit::is_error) {
        true => page::failed(),
        false => page::ended(),
    }
}

fn sentence(error: impl ToString) -> String {
    error.to_string()
}
