//! The real window: under Xvfb, with software Vulkan and real key events.
//!
//! Needs `Xvfb`, `xdotool` and Mesa's Vulkan drivers, so it runs when asked for:
//! `cargo test --workspace -- --ignored`.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio, exit};
use std::thread;
use std::time::Duration;

use bevy::prelude::*;
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
use crate::common::eventually;
use crate::decode::read_mp4;
use crate::program::heeding_signals;

pub(crate) const WIDTH: u16 = 800;
pub(crate) const HEIGHT: u16 = 450;

/// Rows at the top that hold the bandwidth, and at the bottom that hold the labels.
const TOP: usize = 120;
const BOTTOM: usize = 70;

/// Higher than the player's centre is on the floor.
const HOVER_M: f64 = 1.5;

/// For the process with the window: the file that it writes its report to, and its command line, an argument a line.
const REPORT: &str = "CUBEWIRE_REPORT";
const ARGUMENTS: &str = "CUBEWIRE_ARGUMENTS";

/// The command line without a command.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    window: WindowArgs,
}

/// In a process that a test has started, this is the program: it opens the window, and keeps writing its report.
#[test]
fn the_window_itself() {
    let (Ok(path), Ok(arguments)) = (env::var(REPORT), env::var(ARGUMENTS)) else {
        return;
    };
    let settings = Cli::parse_from(arguments.lines()).window.settings();
    let settings = settings.unwrap();
    let mut app = window::open(&settings);
    window::add_game(&mut app, settings).unwrap();
    let written = PathBuf::from(&path).with_extension("part");
    app.add_systems(Last, move |world: &mut World| {
        fs::write(&written, report(world).to_string()).unwrap();
        // Whoever reads it sees all of it.
        fs::rename(&written, &path).unwrap();
    });
    assert_eq!(app.run(), AppExit::Success);
    exit(stop::exit_code().into());
}

/// A process that does not outlive its test.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The app, on a display of its own.
pub(crate) struct Window {
    display: String,
    report: PathBuf,
    pub(crate) app: Killed,
    _server: Killed,
    folder: tempfile::TempDir,
}

impl Window {
    pub(crate) fn open(arguments: &[&str]) -> Self {
        let screen = format!("{WIDTH}x{HEIGHT}x24");
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &screen])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        let display = format!(":{}", number.trim());
        let server = Killed(server);

        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.json");
        let size = format!("{WIDTH}x{HEIGHT}");
        let arguments = [&["cubewire", "--size", &size], arguments].concat();
        let app = heeding_signals()
            .arg(env::current_exe().unwrap())
            .args(["--nocapture", "--exact", "window::the_window_itself"])
            .env(REPORT, &report)
            .env(ARGUMENTS, arguments.join("\n"))
            .current_dir(folder.path())
            .env("DISPLAY", &display)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_CONFIG_HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let window = Self {
            display,
            report,
            app: Killed(app),
            _server: server,
            folder,
        };
        window.wait("the first frames", |report| {
            report["frames"].as_u64() >= Some(5)
        });
        window.xdotool(&["search", "--sync", "--name", "Cubewire", "windowfocus"]);
        window
    }

    pub(crate) fn xdotool(&self, arguments: &[&str]) {
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

    /// Waits until the report says so.
    pub(crate) fn wait(&self, what: &str, done: impl Fn(&Value) -> bool) -> Value {
        eventually(what, || {
            self.report.exists().then(|| self.report()).filter(&done)
        })
    }

    /// Lets some ticks of play go by, and two frames at least.
    pub(crate) fn ticks(&self, ticks: u64) -> Value {
        // The report lags behind: what it says next is of now.
        let old = self.report()["frames"].as_u64().unwrap();
        let now = self.wait("a fresh report", |report| {
            report["frames"].as_u64() > Some(old)
        });
        let at = |report: &Value, counter: &str| report[counter].as_u64().unwrap();
        self.wait("ticks", |report| {
            at(report, "frames") >= at(&now, "frames") + 2
                && at(report, "simulation_tick") >= at(&now, "simulation_tick") + ticks
        })
    }

    /// Holds keys over several ticks, then lets go.
    fn hold(&self, keys: &[&str], ticks: u64) -> Value {
        for key in keys {
            self.xdotool(&["keydown", key]);
        }
        let report = self.ticks(ticks);
        for key in keys {
            self.xdotool(&["keyup", key]);
        }
        report
    }

    /// Presses a key long enough for a frame to see it.
    pub(crate) fn press(&self, key: &str) {
        self.hold(&[key], 1);
        self.ticks(1);
    }

    /// Presses a key over two frames, also while the game is paused.
    pub(crate) fn tap(&self, key: &str) {
        self.xdotool(&["keydown", key]);
        self.ticks(0);
        self.xdotool(&["keyup", key]);
        self.ticks(0);
    }

    /// Moves the pointer and clicks. A click that takes longer than 0.8 s is none for egui.
    pub(crate) fn click(&self, x: f32, y: f32) {
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
        self.ticks(0);
        self.xdotool(&["click", "1"]);
        self.ticks(0);
    }

    /// Drags with the left button, in a few steps.
    pub(crate) fn drag(&self, from: [f32; 2], to: [f32; 2]) {
        let go = |part: f32| {
            let at = [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
            let [x, y] = at.map(|coordinate| coordinate.to_string());
            self.xdotool(&["mousemove", &x, &y]);
            self.ticks(0);
        };
        go(0.0);
        self.xdotool(&["mousedown", "1"]);
        self.ticks(0);
        for part in [0.3, 0.7, 1.0] {
            go(part);
        }
        self.xdotool(&["mouseup", "1"]);
        self.ticks(0);
    }

    /// Hides the panel.
    fn hide_panel(&self) {
        self.press("F2");
        self.press("F2");
        self.wait("the panel to hide", |report| {
            report["panel"]["size"] == "Hidden"
        });
    }

    /// Waits until the screen shows it. Takes at most one screenshot a frame.
    fn see(&self, what: &str, shows: impl Fn(&Picture) -> bool) -> Picture {
        let mut last = None;
        eventually(what, || {
            let frame = self.report()["frames"].as_u64();
            if last.replace(frame) == Some(frame) {
                return None;
            }
            Some(self.screenshot(what)).filter(&shows)
        })
    }

    /// What is on the screen: rows of red, green and blue. Kept as PNG in `CUBEWIRE_SCREENSHOTS`,
    /// if that is set.
    pub(crate) fn screenshot(&self, name: &str) -> Picture {
        let (connection, screen) = x11rb::connect(Some(&self.display)).unwrap();
        let root = connection.setup().roots[screen].root;
        let image = connection
            .get_image(ImageFormat::Z_PIXMAP, root, 0, 0, WIDTH, HEIGHT, !0)
            .unwrap()
            .reply()
            .unwrap();
        let pixels: Vec<[u8; 3]> = image
            .data
            .chunks_exact(4)
            .map(|pixel| [pixel[2], pixel[1], pixel[0]])
            .collect();
        assert_eq!(pixels.len(), usize::from(WIDTH) * usize::from(HEIGHT));
        let picture = Picture(pixels);
        if let Some(folder) = env::var_os("CUBEWIRE_SCREENSHOTS") {
            picture.save(&Path::new(&folder).join(name).with_extension("png"));
        }
        picture
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = fs::read_to_string(self.folder.path().join("log"));
            eprintln!("{}", log.unwrap_or_default());
        }
    }
}

pub(crate) struct Picture(Vec<[u8; 3]>);

impl Picture {
    fn save(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        let mut encoder = png::Encoder::new(file, WIDTH.into(), HEIGHT.into());
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(self.0.as_flattened()).unwrap();
    }

    /// The pixels of one half that are neither figures nor labels. The panel must be hidden.
    fn half(&self, right: bool) -> Vec<[u8; 3]> {
        let width = usize::from(WIDTH);
        let columns = if right {
            width / 2 + 4..width
        } else {
            0..width / 2 - 4
        };
        let rows = self
            .0
            .chunks_exact(width)
            .take(usize::from(HEIGHT) - BOTTOM);
        rows.skip(TOP)
            .flat_map(|row| row[columns.clone()].to_vec())
            .collect()
    }

    /// The lower pixels of one half: above them, a stale half says for how long it has been stale.
    fn frozen(&self, right: bool) -> Vec<[u8; 3]> {
        let half = self.half(right);
        half[half.len() / 3..].to_vec()
    }

    /// Whether the halves are apart: a line of one colour runs down the middle.
    fn has_gap(&self) -> bool {
        let width = usize::from(WIDTH);
        let rows = self
            .0
            .chunks_exact(width)
            .take(usize::from(HEIGHT) - BOTTOM);
        let middle: Vec<_> = rows.skip(TOP).map(|row| row[width / 2]).collect();
        middle.iter().all(|pixel| *pixel == middle[0])
    }

    fn count(&self, right: bool, is: impl Fn(i32, i32, i32) -> bool) -> usize {
        let half = self.half(right);
        let is = |pixel: &&[u8; 3]| {
            let [red, green, blue] = pixel.map(i32::from);
            is(red, green, blue)
        };
        half.iter().filter(is).count()
    }

    /// Pixels of the panel's background in the right half.
    fn surface(&self) -> usize {
        let Rgb(red, green, blue) = LIGHT.surface;
        let half = self.half(true);
        half.iter()
            .filter(|&&pixel| pixel == [red, green, blue])
            .count()
    }

    /// Pixels of large type at the top of a half.
    fn figures(&self, right: bool) -> usize {
        let width = usize::from(WIDTH);
        let top = self.0.chunks_exact(width).take(TOP);
        let half = |row: &[[u8; 3]]| {
            let (left_half, right_half) = row.split_at(width / 2);
            let half = if right { right_half } else { left_half };
            // The halves' colours; the sky is nearly grey.
            let is_type = |pixel: &&[u8; 3]| {
                let [red, _, blue] = pixel.map(i32::from);
                (red - blue).abs() > 80
            };
            half.iter().filter(is_type).count()
        };
        top.map(half).sum()
    }

    /// Pixels of the red dot in the corner.
    fn dot(&self) -> usize {
        let rows = self.0.chunks_exact(usize::from(WIDTH));
        let corner = rows.skip(80).take(40);
        let is_red = |pixel: &&[u8; 3]| {
            let [red, green, blue] = pixel.map(i32::from);
            red > green + 100 && red > blue + 100
        };
        corner
            .map(|row| row[..40].iter().filter(is_red).count())
            .sum()
    }

    fn player(&self, right: bool) -> usize {
        self.count(right, |red, _, blue| blue > red + 50)
    }

    fn red_cubes(&self, right: bool) -> usize {
        self.count(right, |red, green, blue| {
            red > green + 60 && red > blue + 60
        })
    }

    /// Cubes cast shadows and have dark sides; floor and sky are bright.
    fn shade(&self, right: bool) -> usize {
        self.count(right, |red, green, blue| red + green + blue < 400)
    }
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn the_window_is_played_with_real_keys() {
    let window = Window::open(&[]);
    // The panel covers most of the right half of so small a window.
    window.see("panel", |picture| picture.surface() > 30_000);
    window.hide_panel();

    // Both halves show the player and the cubes.
    window.wait("the player to land", |report| {
        report["simulation_tick"].as_u64() >= Some(150)
    });
    window.see("start", |picture| {
        [false, true]
            .iter()
            .all(|&right| picture.player(right) > 500 && picture.shade(right) > 500)
    });

    // Arrow keys move the player, Space lifts it, Z gathers cubes.
    let report = window.hold(&["Right"], 60);
    let distance = report["player_distance_m"].as_f64().unwrap();
    assert!(distance > 1.0, "{distance} m");
    let height = |report: &Value| report["player_height_m"].as_f64().unwrap();
    window.xdotool(&["keydown", "space"]);
    window.wait("the player to hover", |report| height(report) > HOVER_M);
    window.xdotool(&["keyup", "space"]);
    window.hold(&["Left", "z"], 90);
    window.hold(&["Up", "z"], 60);
    window.xdotool(&["keydown", "z"]);
    let report = window.wait("a few cubes to be gathered", |report| {
        report["interacting"].as_u64() >= Some(15)
    });
    assert_eq!(report["wrong"], 0);
    window.see("gathered", |picture| {
        picture.red_cubes(false) > 300 && picture.red_cubes(true) > 300
    });
    window.xdotool(&["keyup", "z"]);

    // The whole ladder: the first rung by its digit, the rest one by one; the player is kept busy.
    window.press("1");
    window.wait("the first rung", |report| report["rung"] == LADDER[0].name);
    for rung in &LADDER[1..] {
        window.xdotool(&["keydown", "Up"]);
        window.press("Prior");
        window.xdotool(&["keyup", "Up"]);
        window.wait(rung.name, |report| report["rung"] == rung.name);
        window.screenshot(rung.name);
    }
    let report = window.ticks(60);
    assert_eq!(
        (&report["wrong"], &report["refused"]),
        (&0.into(), &0.into())
    );

    views_are_gone_through(&window);
    a_cut_link_freezes_the_replica(&window);
}

fn views_are_gone_through(window: &Window) {
    window.see("split", Picture::has_gap);
    for view in ["Left", "Right", "Difference"] {
        window.press("v");
        window.wait(view, |report| report["view"] == view);
        window.see(view, |picture| {
            !picture.has_gap() && picture.shade(false) + picture.shade(true) > 1_000
        });
    }
    window.press("v");
    window.wait("both halves", |report| report["view"] == "Split");
}

/// Without a link the right half stands still, and the left goes on.
fn a_cut_link_freezes_the_replica(window: &Window) {
    window.press("l");
    let cut = window.wait("the link to be cut", |report| report["link_cut"] == true);
    window.xdotool(&["keydown", "Down"]);
    window.ticks(60);
    let (first, at_first) = (window.screenshot("cut-1"), window.report());
    window.ticks(60);
    let (second, at_second) = (window.screenshot("cut-2"), window.report());
    window.xdotool(&["keyup", "Down"]);
    assert_eq!(at_first["replica_tick"], at_second["replica_tick"]);
    let ticks = |report: &Value| report["simulation_tick"].as_u64().unwrap();
    assert!(ticks(&at_second) > ticks(&cut) + 30);
    assert!(
        first.frozen(true) == second.frozen(true),
        "the replica is frozen"
    );
    assert!(
        first.half(false) != second.half(false),
        "the simulation is not"
    );
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn two_lanes_are_compared_and_recorded() {
    let window = Window::open(&[
        "--left",
        "rung:uncompressed",
        "--right",
        "rung:delta,link:lan",
    ]);
    window.hide_panel();
    let report = window.wait("the player to land", |report| {
        report["simulation_tick"].as_u64() >= Some(150)
    });
    assert_eq!(report["rung"], "delta");
    // Each half has figures of its own.
    window.see("figures of both", |picture| {
        [false, true]
            .iter()
            .all(|&right| picture.figures(right) > 200)
    });

    window.press("F9");
    window.see("a red dot", |picture| picture.dot() > 40);
    window.press("F10");
    // The video shows no sign of itself, nor of the replay.
    window.see("no red dot", |picture| picture.dot() == 0);
    window.xdotool(&[
        "search",
        "--sync",
        "--name",
        // xdotool does not match letters beyond ASCII in every locale.
        "[0-9] video, .*[0-9] replay",
    ]);
    window.hold(&["Right", "z"], 90);
    window.press("Prior");
    window.ticks(60);
    window.press("F10");
    window.see("the replay's red dot again", |picture| picture.dot() > 40);
    window.xdotool(&["search", "--sync", "--name", "^Cubewire$"]);
    window.press("F9");
    window.see("no red dot", |picture| picture.dot() == 0);
    let folder = window.folder.path();
    window.wait("the video", |_| folder.join("cubewire-1.mp4").exists());
    let (info, frames) = read_mp4(&folder.join("cubewire-1.mp4")).unwrap();
    assert_eq!(info.size, (usize::from(WIDTH), usize::from(HEIGHT)));
    assert!(frames.len() >= 4, "{} frames", frames.len());
    let last = *info.starts.last().unwrap();
    assert!(last > Duration::from_secs(2), "{last:?}");
    assert!(info.duration > last, "the last one is seen, too");
    assert!(frames.windows(2).any(|two| two[0] != two[1]));
    for frame in &frames {
        let frame = Picture(frame.as_chunks().0.to_vec());
        assert_eq!(frame.dot(), 0, "the video shows that it is recorded");
    }

    let replay = folder.join("cubewire-1.ron");
    window.wait("the replay", |_| replay.exists());
    printed(cubewire(&["play", "--headless"]).arg(&replay));
    let text = fs::read_to_string(&replay).unwrap();
    for part in [
        "left: \"rung:uncompressed\"",
        "right: \"rung:delta,link:lan\"",
        "right: \"rung:index,link:lan\"",
        "hold: [Right, Gather]",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}
