//! The first minute in the real window: a new user's keys, clicks and screens.
//!
//! Ignored by default, like [`window`](crate::window).

use std::time::Duration;

use serde_json::Value;

use crate::common::script_path;
use crate::window::{HEIGHT, WIDTH, Window};

/// Width of the whole panel in this window, points.
const PANEL: f32 = 360.0;

/// Frame time for tests with long waits.
const SECOND: Duration = Duration::from_secs(1);

/// Distances from the top to the tabs, and to the pages of a tab or the columns of the ladder, points.
const TABS: f32 = 64.0;
const PAGES: f32 = 100.0;

/// Height of the slim bar plus the timeline, points.
const BELOW: f32 = 178.0;

/// Clicks at a distance from the panel's left edge and from the window's top, points.
fn click(window: &Window, from_left: f32, from_top: f32) {
    window.click(WIDTH - PANEL + from_left, from_top);
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn the_screen_is_explained_until_the_first_key_and_again_on_request() {
    let window = Window::open(&["--calm"]);
    let explaining = |wanted: bool| window.expect("/panel/explaining", wanted);
    explaining(true);
    for (key, wanted) in [
        ("Right", false),
        ("F1", true),
        ("question", false),
        ("F1", true),
        ("space", false),
        ("question", true),
    ] {
        window.press(key);
        explaining(wanted);
    }
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn the_tour_begins_with_a_click_and_is_left_with_escape() {
    let window = Window::open(&["--calm"]);
    let at = |index: Value| window.expect("/panel/tour", index);
    window.expect("/panel/explaining", true);
    // On the card with the keys.
    window.click(683.0, 277.0);
    at(0.into());
    window.expect("/plays_script", true);
    window.press("F5");
    at(1.into());
    window.expect("/rung", "uncompressed");
    window.press("F4");
    at(0.into());
    window.press("Left");
    window.expect("/plays_script", false);
    window.press("F5");
    window.expect("/plays_script", true);
    window.press("Escape");
    at(Value::Null);
    window.expect("/rung", "changed-flags");
    window.press("F3");
    at(0.into());
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn tabs_buttons_and_sizes_are_clicked_and_typed() {
    let window = Window::open(&["--calm"]);
    window.resize_panel("Whole");
    for (from_left, page) in [(180.0, "Stages"), (246.0, "Link"), (49.0, "Ladder")] {
        click(&window, from_left, TABS);
        window.expect("/panel/page", page);
    }

    click(&window, 175.0, HEIGHT - 24.0);
    window.expect("/link_cut", true);
    // The first entry of the list above its button.
    click(&window, 245.0, HEIGHT - 24.0);
    click(&window, 200.0, HEIGHT - 248.0);
    window.expect("/view", "Left");

    let scale = |report: &Value| report["panel"]["scale"].as_f64().unwrap_or(1.0);
    let mut before = 1.0;
    for (key, grows) in [("ctrl+equal", true), ("ctrl+plus", true), ("ctrl+minus", false)] {
        window.press(key);
        let report = window.wait(key, |report| {
            let now = scale(report);
            now != before && (now > before) == grows
        });
        before = scale(&report);
    }
    // These keys do not select a rung.
    assert_eq!(window.ticks(1)["rung"], "changed-flags");

    for size in ["Slim", "Hidden", "Whole"] {
        window.press("F2");
        window.expect("/panel/size", size);
    }
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn the_game_plays_by_itself_until_somebody_presses_a_key() {
    let window = Window::start(Some(SECOND), &[]);
    for rung in ["uncompressed", "smallest-three", "delta"] {
        let report = window.wait(rung, |report| report["rung"] == rung);
        assert_eq!(report["plays_script"], true);
        assert_eq!(report["panel"]["explaining"], false);
    }
    window.press("Left");
    window.expect("/plays_script", false);
    window.expect("/panel/explaining", true);
    let report = window.frame();
    assert!(report["interacting"].as_u64() >= Some(5));
    let rung = report["rung"].clone();
    assert_eq!(window.ticks(300)["rung"], rung);
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn a_calm_game_waits() {
    let window = Window::start(Some(SECOND), &["--calm"]);
    let report = window.wait("half a minute", |report| report["seconds"].as_f64() >= Some(25.0));
    assert_eq!(report["plays_script"], false);
    assert_eq!(report["interacting"], 1);
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn the_past_the_colours_and_a_cube_are_looked_at_with_keys_and_mouse() {
    let script = script_path("katamari");
    let window = Window::open(&["--script", script.to_str().unwrap()]);
    for colors in ["Bits", "Form", "Distance", "Wait", "Interaction"] {
        window.press("b");
        window.expect("/panel/colors", colors);
    }
    window.press("h");
    window.expect("/panel/timeline", true);
    window.ticks(240);
    window.press("p");
    // Back by a second and forward by a tick.
    window.press("shift+Left");
    let moment = |report: &Value| report["panel"]["moment"].as_u64();
    let report = window.wait("the past", |report| moment(report).is_some());
    let newest = report["simulation_tick"].as_u64().unwrap();
    let before = moment(&report).unwrap();
    assert!(before + 60 <= newest, "{before} of {newest}");
    window.press("Right");
    let report = window.wait("a later tick", |report| moment(report) > Some(before));
    assert!(moment(&report).unwrap() < newest);
    // The player's cube is in the middle of each half.
    for x in [0.25, 0.75] {
        window.click(x * WIDTH, 0.48 * (HEIGHT - BELOW));
        window.wait("a cube", |report| report["panel"]["cube"].is_u64());
        window.click(10.0, 20.0);
        window.expect("/panel/cube", Value::Null);
    }
    // In the lower row of the strip, near its end.
    let strip = HEIGHT - 128.0;
    window.click(640.0, strip);
    window.wait("the clicked tick", |report| {
        moment(report).is_some() && moment(report) != Some(before)
    });
    // Select a range. Its totals are shown, and F zooms to it.
    window.holding("shift", || window.drag([560.0, strip], [640.0, strip]));
    let range = |report: &Value| {
        let ticks = report["panel"]["range"].as_array()?;
        Some([ticks[0].as_u64()?, ticks[1].as_u64()?])
    };
    let report = window.wait("a range", |report| range(report).is_some());
    let [first, last] = range(&report).unwrap();
    assert!((30..=200).contains(&(last - first)), "{first} to {last}");
    assert_eq!(moment(&report), Some(last));
    window.press("f");
    // The middle of the zoomed range.
    window.click(330.0, strip);
    let report = window.wait("a tick of the range", |report| moment(report) != Some(last));
    let clicked = moment(&report).unwrap();
    assert!((first..last).contains(&clicked), "{clicked} in {first} to {last}");
    window.press("Escape");
    window.expect("/panel/range", Value::Null);
    window.press("Escape");
    window.expect("/panel/moment", Value::Null);
    let report = window.ticks(5);
    assert!(report["simulation_tick"].as_u64().unwrap() > newest);
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn sliders_and_columns_are_moved_and_clicked_while_the_ball_rolls() {
    let script = script_path("katamari");
    let window = Window::open(&["--script", script.to_str().unwrap()]);
    let left = WIDTH - PANEL;
    window.resize_panel("Whole");
    window.press("Right");
    click(&window, 180.0, TABS);
    window.expect("/panel/page", "Stages");
    click(&window, 134.0, PAGES);
    window.expect("/panel/page", "Ranges");
    let stages = |report: &Value| report["stages"].as_str().unwrap_or_default().to_owned();
    let report = window.frame();
    let before = stages(&report);
    assert!(before.contains("position=quantized+"), "{before}");
    // Drag the steps per metre to the end of the slider.
    let y = 134.0;
    window.drag([left + 192.0, y], [left + 260.0, y]);
    let report = window
        .wait("finer positions", |report| stages(report).contains("position=quantized-4096+"));
    assert_eq!(report["rung"], Value::Null);
    // Check that the receiver accepted every packet.
    let report = window.ticks(60);
    assert_eq!(report["refused"], 0);
    assert!(report["received"].as_u64() > Some(30));

    click(&window, 49.0, TABS);
    window.expect("/panel/page", "Ladder");
    for (from_left, column) in [(313.0, "Without"), (188.0, "Savings")] {
        click(&window, from_left, PAGES);
        window.expect("/panel/column", column);
    }
}
