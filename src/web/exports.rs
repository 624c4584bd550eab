//! Functions that the page calls.

use std::hint;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::common_conditions::on_real_timer;
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

/// Bytes that the game allocates in its first minute.
const MEMORY: usize = 192 << 20;

/// Bytes that a lane for every rung allocates.
const MEMORY_OF_ALL: usize = 576 << 20;

/// Only reserves memory. The page starts the game after it has loaded the files that the address names.
pub fn main() -> ExitCode {
    reserve(MEMORY);
    ExitCode::SUCCESS
}

/// Grows the memory in one step. The allocator would request 64 KiB at a time, and each request is slow in a browser.
fn reserve(bytes: usize) {
    let mut memory = Vec::<u8>::new();
    if memory.try_reserve(bytes).is_ok() {
        drop(hint::black_box(memory));
    }
}

/// Starts the game in the canvas.
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
        calm: address.waits(),
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
    // Do not cover the script with the explanation of the screen.
    if address.script.is_some() {
        panel.explaining = false;
    }
    if let Some(size) = address.panel {
        panel.size = size;
    }
    // No work is done between frames, so update in every frame.
    app.insert_resource(WinitSettings::continuous());
    app.add_systems(Update, follow_page.before(PanelSystems::Notices));
    if address.report {
        let is_due = on_real_timer(Duration::from_millis(200));
        app.add_systems(Last, say_report.run_if(is_due));
    }
    app.add_systems(Last, (say_drawn, say_ended.run_if(on_message::<AppExit>)));
    app.run();
    Ok(())
}

/// Shows a step of the tour, counted from 1. The page shows its text.
#[wasm_bindgen]
pub fn tour_step(step: usize) {
    STEP.store(step, Ordering::Relaxed);
}

/// Step that the page requested, or 0.
static STEP: AtomicUsize = AtomicUsize::new(0);

/// Applies the step that the page requested. While a replay is played, there is no tour.
fn follow_page(tour: Option<ResMut<Tour>>) {
    let step = STEP.swap(0, Ordering::Relaxed);
    if let Some(mut tour) = tour
        && (1..=STEPS.len()).contains(&step)
    {
        *tour = Tour { index: Some(step - 1), is_elsewhere: true, ..Tour::default() };
    }
}

/// Returns the error of a script, or `None` if it is valid.
#[wasm_bindgen]
pub fn check_script(name: &str, text: &str) -> Option<String> {
    Script::parse(text, Path::new(name)).err().map(sentence)
}

/// Plays a script without drawing. Returns the hash of the states and the bytes of each rung per tick: see
/// [`headless::tick_by_tick`].
#[wasm_bindgen]
pub fn tick_by_tick(name: &str, text: &str, ticks: u32, lane: &str) -> Result<String, String> {
    let script = Script::parse(text, Path::new(name)).map_err(sentence)?;
    let lane = lane.parse::<LaneSettings>().map_err(sentence)?;
    reserve(MEMORY_OF_ALL);
    headless::tick_by_tick(script, ticks.into(), &lane).map_err(sentence)
}

/// Plays a script and lays out the panel without drawing. Returns the frame times of [`profile::measure`] as JSON.
#[wasm_bindgen(js_name = profile)]
pub fn frame_times(name: &str, text: &str, ticks: u32) -> Result<String, String> {
    let script = Script::parse(text, Path::new(name)).map_err(sentence)?;
    let times = profile::measure(Some(script), LaneSettings::default(), ticks as usize);
    Ok(format!("{:#}", times.map_err(sentence)?))
}

/// Publishes a new report for the page's scripts.
fn say_report(world: &mut World) {
    page::publish(&report(world).to_string());
}

/// Tells the page that the canvas is drawn, after the second frame.
fn say_drawn(mut frames: Local<u32>) {
    *frames = frames.saturating_add(1);
    if *frames == 2 {
        page::drawn();
    }
}

/// Tells the page that the game ended, with an error if the renderer lost its device.
fn say_ended(mut exits: MessageReader<AppExit>) {
    if exits.read().any(AppExit::is_error) { page::failed() } else { page::ended() }
}

fn sentence(error: impl ToString) -> String {
    error.to_string()
}
