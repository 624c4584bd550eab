//! The real window under Xvfb, with software Vulkan and real key events. The window is small because software
//! rendering is slow. The clock advances by a fixed time per frame, so tests do not depend on the rendering time.
//!
//! Needs `Xvfb`, `xdotool` and Mesa's Vulkan drivers, so the tests are ignored by default: `cargo test --workspace --
//! --ignored`.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio, exit};
use std::thread;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use clap::Parser;
use cubewire::commands::window::WindowArgs;
use cubewire::game::desktop::stop;
use cubewire::game::window;
use cubewire::web::report;
use cubewire_codec::ladder::LADDER;
use cubewire_palette::{LIGHT, Rgb};
use serde_json::Value;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat};

use crate::command_line::{cubewire, printed};
use crate::common::{eventually, names};
use crate::decode::read_mp4;
use crate::program::heeding_signals;

/// Size of the window in points, which is the size of a larger window so that the panel fits.
pub(crate) const WIDTH: f32 = 800.0;
pub(crate) const HEIGHT: f32 = 450.0;

/// Pixels per point.
const SCALE: f32 = 0.5;

/// Size of the window in pixels.
const COLUMNS: usize = (WIDTH * SCALE) as usize;
const ROWS: usize = (HEIGHT * SCALE) as usize;

/// Rows between the bandwidth at the top and the labels at the bottom.
const SCENE: Range<usize> = 66..ROWS - 35;

/// Time per frame. A click takes a few frames and must be shorter than 0.8 s to count for egui.
const FRAME: Duration = Duration::from_millis(100);

/// Higher than the centre of the player on the floor.
const HOVER_M: f64 = 1.5;

/// Environment variables for the process with the window: the path of its report, its arguments one per line, and the
/// milliseconds per frame, which are unset for the real clock.
const REPORT: &str = "CUBEWIRE_REPORT";
const ARGUMENTS: &str = "CUBEWIRE_ARGUMENTS";
const FRAME_MS: &str = "CUBEWIRE_FRAME_MS";

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    window: WindowArgs,
}

/// The program itself: if a test started this process, it opens the window and keeps writing its report.
#[test]
fn the_window_itself() {
    let (Ok(path), Ok(arguments)) = (env::var(REPORT), env::var(ARGUMENTS)) else { return };
    let settings = Cli::parse_from(arguments.lines()).window.settings();
    let settings = settings.unwrap();
    let mut app = window::open(&settings);
    window::add_game(&mut app, settings).unwrap();
    if let Ok(ms) = env::var(FRAME_MS) {
        let frame = Duration::from_millis(ms.parse().unwrap());
        app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    }
    let written = PathBuf::from(&path).with_extension("part");
    app.add_systems(Last, move |world: &mut World| {
        fs::write(&written, report(world).to_string()).unwrap();
        // Readers must never see a partial file.
        fs::rename(&written, &path).unwrap();
    });
    assert_eq!(app.run(), AppExit::Success);
    exit(stop::exit_code().into());
}

/// A process that is killed with its test.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The app on its own display.
pub(crate) struct Window {
    display: String,
    report: PathBuf,
    pub(crate) app: Killed,
    _server: Killed,
    folder: tempfile::TempDir,
}

impl Window {
    pub(crate) fn open(arguments: &[&str]) -> Self {
        Self::start(Some(FRAME), arguments)
    }

    /// Starts the app with a fixed time per frame, or with the real clock.
    pub(crate) fn start(frame: Option<Duration>, arguments: &[&str]) -> Self {
        let screen = format!("{COLUMNS}x{ROWS}x24");
        let mut server = Command::new("Xvfb")
            // A slow machine holds a key for long. Without auto-repeat (`-r`), it counts as one press.
            .args(["-r", "-displayfd", "1", "-screen", "0", &screen])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let server = Killed(server);

        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.json");
        let size = format!("{WIDTH}x{HEIGHT}");
        let arguments = [&["cubewire", "--theme", "light", "--size", &size], arguments].concat();
        let app = heeding_signals()
            .arg(env::current_exe().unwrap())
            .args(["--nocapture", "--exact", "window::the_window_itself"])
            .env(REPORT, &report)
            .env(ARGUMENTS, arguments.join("\n"))
            .envs(frame.map(|frame| (FRAME_MS, frame.as_millis().to_string())))
            .env("WINIT_X11_SCALE_FACTOR", SCALE.to_string())
            .current_dir(folder.path())
            .env("DISPLAY", &display)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_CONFIG_HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let window = Self { display, report, app: Killed(app), _server: server, folder };
        window.wait("the first frames", |report| report["frames"].as_u64() >= Some(5));
        window.xdotool(&["search", "--sync", "--name", "Cubewire", "windowfocus"]);
        window
    }

    fn xdotool(&self, arguments: &[&str]) {
        let status = Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &self.display)
            .stdout(Stdio::null())
            .status()
            .expect("xdotool is installed");
        assert!(status.success(), "xdotool {arguments:?}");
    }

    fn report(&self) -> Value {
        serde_json::from_slice(&fs::read(&self.report).unwrap()).unwrap()
    }

    /// Waits until `done` accepts the report.
    pub(crate) fn wait(&self, what: &str, done: impl Fn(&Value) -> bool) -> Value {
        eventually(what, || self.report.exists().then(|| self.report()).filter(&done))
    }

    /// Waits until the value at a path of the report is `wanted`.
    pub(crate) fn expect(&self, path: &str, wanted: impl Into<Value>) -> Value {
        let wanted = wanted.into();
        self.wait(&format!("{path}: {wanted}"), |report| report.pointer(path) == Some(&wanted))
    }

    /// Waits for a frame that started after the input: the one after the next, because a frame may be in progress.
    pub(crate) fn frame(&self) -> Value {
        let old = self.report()["frames"].as_u64().unwrap();
        self.wait("a fresh frame", |report| report["frames"].as_u64() >= Some(old + 2))
    }

    /// Waits for some ticks of the simulation.
    pub(crate) fn ticks(&self, ticks: u64) -> Value {
        let tick = |report: &Value| report["simulation_tick"].as_u64().unwrap();
        let now = tick(&self.frame());
        self.wait("ticks", |report| tick(report) >= now + ticks)
    }

    /// Holds a key, or keys as in `shift+Left`, during an action.
    pub(crate) fn holding<T>(&self, keys: &str, action: impl FnOnce() -> T) -> T {
        self.xdotool(&["keydown", keys]);
        let result = action();
        self.xdotool(&["keyup", keys]);
        result
    }

    /// Presses keys for at least one frame, and waits another frame after the release.
    pub(crate) fn press(&self, keys: &str) {
        self.holding(keys, || self.frame());
        self.frame();
    }

    fn point(&self, [x, y]: [f32; 2]) {
        let [x, y] = [x, y].map(|points| (points * SCALE).to_string());
        self.xdotool(&["mousemove", &x, &y]);
        self.frame();
    }

    /// Moves the pointer and clicks.
    pub(crate) fn click(&self, x: f32, y: f32) {
        self.point([x, y]);
        self.xdotool(&["click", "1"]);
        self.frame();
    }

    /// Drags with the left button in a few steps.
    pub(crate) fn drag(&self, from: [f32; 2], to: [f32; 2]) {
        self.point(from);
        self.xdotool(&["mousedown", "1"]);
        self.frame();
        for part in [0.3, 0.7, 1.0] {
            self.point([0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis])));
        }
        self.xdotool(&["mouseup", "1"]);
        self.frame();
    }

    /// Presses F2 until the panel has this size. In a small window it starts as a slim bar.
    pub(crate) fn resize_panel(&self, wanted: &str) {
        let size = |report: &Value| report["panel"]["size"].as_str().map(str::to_owned);
        let mut now = size(&self.frame());
        while now.as_deref() != Some(wanted) {
            self.press("F2");
            let before = now;
            now = size(&self.wait("another size", |report| size(report) != before));
        }
    }

    /// Waits until `shows` accepts the screen. Takes at most one screenshot per frame.
    fn see(&self, what: &str, shows: impl Fn(&Picture) -> bool) -> Picture {
        let mut last = None;
        eventually(what, || {
            let frame = self.report()["frames"].as_u64();
            if last.replace(frame) == Some(frame) {
                return None;
            }
            Some(self.screenshot()).filter(&shows)
        })
    }

    /// Returns the screen as rows of red, green and blue.
    fn screenshot(&self) -> Picture {
        let (connection, screen) = x11rb::connect(Some(&self.display)).unwrap();
        let root = connection.setup().roots[screen].root;
        let image = connection
            .get_image(ImageFormat::Z_PIXMAP, root, 0, 0, COLUMNS as u16, ROWS as u16, !0)
            .unwrap()
            .reply()
            .unwrap();
        let pixels: Vec<[u8; 3]> =
            image.data.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
        assert_eq!(pixels.len(), COLUMNS * ROWS);
        Picture(pixels)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = fs::read_to_string(self.folder.path().join("log"));
            let report = fs::read_to_string(&self.report);
            eprintln!("{}\n{}", log.unwrap_or_default(), report.unwrap_or_default());
        }
    }
}

struct Picture(Vec<[u8; 3]>);

impl Picture {
    fn pixels(&self, columns: Range<usize>, rows: Range<usize>) -> Vec<[u8; 3]> {
        let rows = self.0.chunks_exact(COLUMNS).take(rows.end).skip(rows.start);
        rows.flat_map(|row| row[columns.clone()].to_vec()).collect()
    }

    /// Returns the pixels of a half without figures and labels. The panel must be hidden.
    fn half(&self, right: bool) -> Vec<[u8; 3]> {
        let columns = if right { COLUMNS / 2 + 2..COLUMNS } else { 0..COLUMNS / 2 - 2 };
        self.pixels(columns, SCENE)
    }

    /// Returns the lower pixels of a half: above them, a stale half shows for how long it has been stale.
    fn frozen(&self, right: bool) -> Vec<[u8; 3]> {
        let half = self.half(right);
        half[half.len() / 3..].to_vec()
    }

    /// Whether a line of one colour separates the halves.
    fn has_gap(&self) -> bool {
        let middle = self.pixels(COLUMNS / 2..COLUMNS / 2 + 1, SCENE);
        middle.iter().all(|pixel| *pixel == middle[0])
    }

    /// Number of pixels in the panel's background colour in the right half.
    fn surface(&self) -> usize {
        let Rgb(red, green, blue) = LIGHT.ground;
        self.half(true).iter().filter(|&&pixel| pixel == [red, green, blue]).count()
    }

    /// Number of pixels of large type at the top of a half. Type has the colours of the halves, while the sky is
    /// nearly grey.
    fn figures(&self, right: bool) -> usize {
        let middle = COLUMNS / 2;
        let columns = if right { middle..COLUMNS } else { 0..middle };
        let top = self.pixels(columns, 0..SCENE.start);
        count(&top, |red, _, blue| (red - blue).abs() > 40)
    }

    /// Number of pixels of the red dot in the corner.
    fn dot(&self) -> usize {
        let corner = self.pixels(0..20, 33..75);
        count(&corner, |red, green, blue| red > green + 100 && red > blue + 100)
    }

    fn player(&self, right: bool) -> usize {
        count(&self.half(right), |red, _, blue| blue > red + 50)
    }

    fn red_cubes(&self, right: bool) -> usize {
        count(&self.half(right), |red, green, blue| red > green + 60 && red > blue + 60)
    }

    /// Number of dark pixels: cubes have shadows and dark sides, while floor and sky are bright.
    fn shade(&self, right: bool) -> usize {
        count(&self.half(right), |red, green, blue| red + green + blue < 400)
    }
}

/// Counts the pixels that `is` accepts, given red, green and blue.
pub(crate) fn count(pixels: &[[u8; 3]], is: impl Fn(i32, i32, i32) -> bool) -> usize {
    let pixels = pixels.iter().map(|pixel| pixel.map(i32::from));
    pixels.filter(|&[red, green, blue]| is(red, green, blue)).count()
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn the_window_is_played_with_real_keys() {
    let window = Window::open(&["--calm"]);
    // The whole panel covers most of the right half of this small window.
    window.resize_panel("Whole");
    window.see("panel", |picture| picture.surface() > 7_500);
    window.resize_panel("Hidden");

    // Both halves show the player and the cubes.
    window.wait("the player to land", |report| report["simulation_tick"].as_u64() >= Some(150));
    window.see("start", |picture| {
        [false, true].iter().all(|&right| picture.player(right) > 125 && picture.shade(right) > 125)
    });

    // Arrow keys move the player, Space lifts it, Z gathers cubes.
    let report = window.holding("Right", || window.ticks(60));
    let distance = report["player_distance_m"].as_f64().unwrap();
    assert!(distance > 1.0, "{distance} m");
    let height = |report: &Value| report["player_height_m"].as_f64().unwrap();
    window.holding("space", || {
        window.wait("the player to hover", |report| height(report) > HOVER_M);
    });
    window.holding("Left+z", || window.ticks(90));
    window.holding("Up+z", || window.ticks(60));
    window.holding("z", || {
        let what = "a few cubes to be gathered";
        let report = window.wait(what, |report| report["interacting"].as_u64() >= Some(15));
        assert_eq!(report["wrong"], 0);
        window.see("red cubes", |picture| {
            picture.red_cubes(false) > 75 && picture.red_cubes(true) > 75
        });
    });

    // Every rung: the first by its digit, the others one after another. The player keeps moving.
    window.press("1");
    window.expect("/rung", LADDER[0].name);
    for rung in &LADDER[1..] {
        window.holding("Up", || window.press("Next"));
        window.expect("/rung", rung.name);
    }
    let report = window.ticks(60);
    assert_eq!((&report["wrong"], &report["refused"]), (&0.into(), &0.into()));

    views_are_gone_through(&window);
    a_cut_link_freezes_the_replica(&window);
}

fn views_are_gone_through(window: &Window) {
    window.see("split", Picture::has_gap);
    for view in ["Left", "Right", "Difference"] {
        window.press("v");
        window.expect("/view", view);
        window.see(view, |picture| {
            !picture.has_gap() && picture.shade(false) + picture.shade(true) > 250
        });
    }
    window.press("v");
    window.expect("/view", "Split");
}

/// Without a link the right half stands still while the left one goes on.
fn a_cut_link_freezes_the_replica(window: &Window) {
    window.press("l");
    let cut = window.expect("/link_cut", true);
    let seen = || {
        window.ticks(60);
        (window.screenshot(), window.report())
    };
    let [(first, at_first), (second, at_second)] =
        window.holding("Down", || [(); 2].map(|()| seen()));
    assert_eq!(at_first["replica_tick"], at_second["replica_tick"]);
    let ticks = |report: &Value| report["simulation_tick"].as_u64().unwrap();
    assert!(ticks(&at_second) > ticks(&cut) + 30);
    assert!(first.frozen(true) == second.frozen(true), "the replica is frozen");
    assert!(first.half(false) != second.half(false), "the simulation is not");
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn two_lanes_are_compared_and_filmed() {
    let window = Window::open(&["--left", "rung:uncompressed", "--right", "rung:delta,link:lan"]);
    window.resize_panel("Hidden");
    let report =
        window.wait("the player to land", |report| report["simulation_tick"].as_u64() >= Some(150));
    assert_eq!(report["rung"], "delta");
    // Each half has its own figures.
    window.see("figures of both", |picture| {
        [false, true].iter().all(|&right| picture.figures(right) > 8)
    });

    window.press("F9");
    window.see("a red dot", |picture| picture.dot() > 10);
    window.holding("Right+z", || window.ticks(90));
    window.press("Next");
    window.ticks(60);
    // Opens the card, and films.
    window.press("F11");
    window.press("F11");
    let folder = window.folder.path();
    let film = || names(folder).into_iter().find(|name| name.ends_with(".mp4"));
    window.wait("the film", |_| film().is_some_and(|name| !name.starts_with('.')));
    window.press("F9");
    window.see("no red dot", |picture| picture.dot() == 0);
    let (info, frames) = read_mp4(&folder.join(film().unwrap())).unwrap();
    assert_eq!(info.size, (1280, 720));
    assert!(frames.len() > 60, "{} frames", frames.len());
    assert!(frames.windows(2).any(|two| two[0] != two[1]));

    let replay = folder.join("cubewire-1.ron");
    window.wait("the replay", |_| replay.exists());
    printed(cubewire(&["play", "--headless"]).arg(&replay));
}
