//! The first minute in the real window: a new user's keys, clicks and screens.
//!
//! Ignored by default, like [`window`](crate::window).

use serde_json::Value;

use crate::common::script_path;
use crate::window::{HEIGHT, WIDTH, Window};

/// Width of the whole panel in this window, points.
const PANEL: f32 = 360.0;

/// Distance from the top to the tabs, points.
const TABS: f32 = 64.0;

/// Height of the slim bar plus the timeline with two rows, points.
const BELOW: f32 = 228.0;

/// Clicks at a distance from the panel's left edge and from the window's top, points.
fn click(window: &Window, from_left: f32, from_top: f32) {
    window.click(WIDTH - PANEL + from_left, from_top);
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn explanation_tabs_buttons_and_sizes_are_clicked_and_typed() {
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

    // A held key repeats, so one press may count several times.
    let scale = |report: &Value| report["panel"]["scale"].as_f64().unwrap_or(1.0);
    let mut before = 1.0;
    for (key, grows) in [("equal", true), ("plus", true), ("minus", false)] {
        window.xdotool(&["keydown", "ctrl"]);
        window.press(key);
        window.xdotool(&["keyup", "ctrl"]);
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
    window.xdotool(&["keydown", "shift"]);
    window.press("Left");
    window.xdotool(&["keyup", "shift"]);
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
        window.click(x * WIDTH, 0.46 * (HEIGHT - BELOW));
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
    window.xdotool(&["keydown", "shift"]);
    window.drag([560.0, strip], [640.0, strip]);
    window.xdotool(&["keyup", "shift"]);
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
