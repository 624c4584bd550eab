//! The whole panel: buttons, sizes, graph, the cards over the view, and the page *Help*.

use super::*;
use crate::controls::PastFilm;
use crate::view::FilmProgress;

#[test]
fn every_button_and_entry_asks_for_its_action() {
    let mut harness = harness(Page::Ladder);
    for (list, name, action) in [
        (None, "Pause", Action::Pause),
        (None, "Reset", Action::Reset),
        (None, "Cut link", Action::CutLink),
        (Some("Look"), "View: both halves", Action::NextView),
        (Some("Look"), "Colours: as they are", Action::CubeColors),
        (Some("Look"), "Trails: hidden", Action::Trails),
        (Some("Look"), "Errors: as they are", Action::Exaggerate),
        (Some("Look"), "Timeline: hidden", Action::Timeline),
        (Some("Look"), "Camera: turn back", Action::ResetCamera),
        (Some("Look"), "What am I looking at?", Action::Help),
        (Some("Save"), "Picture", Action::Screenshot),
        (Some("Save"), "Film the last seconds", Action::Film),
        (Some("Save"), "Replay", Action::Replay),
        (Some("Save"), "Copy command", Action::CopyLink),
        (Some("Save"), "Last minute, CSV", Action::SaveCsv),
        (None, "Shrink the panel", Action::Panel),
    ] {
        harness.state_mut().actions.clear();
        if let Some(list) = list {
            click(&mut harness, list);
        }
        click_on(&mut harness, name);
        assert_eq!(harness.state().actions, [action], "{name}");
    }
}

#[test]
fn list_is_painted_in_the_frame_it_opens() {
    let is_open = |harness: &Test, entry| paints(harness, |text| text == entry);
    let mut harness = harness(Page::Help);
    harness.get_by_label_contains("Look").click();
    harness.step();
    assert!(is_open(&harness, "Camera: turn back"));
    let left = |name: &str| words(&harness, name).next().expect(name).1.pos.x;
    let names = ["View: both halves", "Trails: hidden", "Timeline: hidden"];
    assert_eq!(names.map(left), [left("Camera: turn back"); 3]);
    press(&mut harness, Key::Escape);
    harness.get_by_value("changed-flags").click();
    harness.step();
    assert!(is_open(&harness, "relative-index"));
    let mut entries = words(&harness, "relative-index");
    assert!(entries.all(|(_, text)| text.fallback_color.is_opaque()), "it does not fade in");
}

#[test]
fn list_of_rungs_shows_every_rung() {
    for (size, panel_size) in
        [(SIZE, PanelSize::Whole), (LOW, PanelSize::Whole), (LOW, PanelSize::Slim)]
    {
        let mut panel = panel(Page::Help);
        panel.state.size_if_narrow = Some(panel_size);
        let mut harness = open_in(size, panel);
        harness.get_by_value("changed-flags").click();
        harness.run();
        for rung in ladder::all() {
            let mut found = words(&harness, rung.name);
            let is_seen = found.any(|(clip, text)| clip.contains_rect(text.visual_bounding_rect()));
            assert!(is_seen, "{} at {size}, {panel_size:?}", rung.name);
        }
    }
}

#[test]
fn player_is_alone_without_near_cubes() {
    let mut world = CubeWorld::default().current().clone();
    assert!(!is_alone(&world));
    world.bodies[PLAYER].position.x += 100.0;
    assert!(is_alone(&world));
    // A ball of cubes rolls with the player.
    world.bodies[PLAYER + 1].position = world.bodies[PLAYER].position;
    assert!(!is_alone(&world));
}

#[test]
fn a_viewer_shows_only_what_works_there() {
    let mut harness = harness(Page::Help);
    change(&mut harness, |panel| panel.status.plays = false);
    for (list, shown, hidden) in [
        (None, &["Cut link", "Enter: connect again", "roll"][..], &["Pause", "Reset"][..]),
        (Some("Look"), &["Trails: hidden"], &["View: ", "Errors: "]),
        (Some("Save"), &["Film the last seconds", "Last minute, CSV"], &["Replay", "Copy command"]),
        (Some("All keys"), &["B: colour the cubes by bits or form"], &["tour", "R: reset"]),
    ] {
        if let Some(list) = list {
            click(&mut harness, list);
        }
        for name in shown {
            assert!(says(&harness, name), "{name}");
        }
        for name in hidden {
            // The button that resets the panel works.
            let found = texts(&harness).filter(|(text, _)| text.contains(name));
            assert!(found.count() == usize::from(*name == "Reset"), "{name}");
        }
    }
}

#[test]
fn narrow_window_starts_with_the_slim_bar() {
    let mut harness = harness(Page::Ladder);
    let whole = harness.state().drawn.inset;
    assert_eq!((whole.right, whole.bottom), (356.0, 0.0));
    let slim = Inset { right: 0.0, bottom: 88.0 };
    change(&mut harness, |panel| panel.state.resize());
    assert_eq!(harness.state().drawn.inset, slim);
    assert!(says(&harness, "kbps"));
    assert!(harness.query_by_value("changed-flags").is_some());
    change(&mut harness, |panel| panel.state.resize());
    assert_eq!(harness.state().drawn.inset, Inset::default());
    harness.state_mut().state.resize();
    harness.set_size(LOW);
    harness.run();
    assert_eq!(harness.state().drawn.inset, slim);
    for size in [PanelSize::Whole, PanelSize::Slim, PanelSize::Hidden, PanelSize::Whole] {
        change(&mut harness, |panel| panel.state.resize());
        assert_eq!(harness.state().state.shown_size(), size);
        // A choice in a narrow window does not apply to wide windows.
        assert_eq!(harness.state().state.size, PanelSize::Whole);
    }
    assert_eq!(harness.state().drawn.inset.right, 356.0);
}

#[test]
fn panel_leaves_460_points_for_each_half() {
    for (size, width) in [(SIZE, 356.0), (vec2(1440.0, 900.0), 400.0), (vec2(1600.0, 900.0), 408.0)]
    {
        let inset = open_in(size, panel(Page::Ladder)).state().drawn.inset.right;
        assert_eq!(inset, width);
        let half = (size.x - inset - crate::view::GAP as f32) / 2.0;
        assert!(half >= 460.0, "{half} at {size}");
    }
}

#[test]
fn clicks_start_and_end_a_comparison() {
    let (whole, slim) = (PanelSize::Whole, PanelSize::Slim);
    for (size, panel_size) in [(SIZE, whole), (SIZE, slim), (LOW, whole), (LOW, slim)] {
        let mut panel = panel(Page::Ladder);
        panel.state.size = panel_size;
        panel.state.size_if_narrow = Some(panel_size);
        let mut harness = open_in(size, panel);
        for (name, is_compared) in [("Compare", true), ("End", false), ("Compare", true)] {
            let button = harness.get_by_label(name).rect();
            let picker = harness.get_by_value("changed-flags").rect();
            assert!((button.center().y - picker.center().y).abs() < 1.0, "{name}");
            assert!(!button.intersects(picker), "{name}");
            click(&mut harness, name);
            let halves = harness.state().halves.as_ref().unwrap();
            assert_eq!(halves.left_is_lane, is_compared, "{name}");
        }
        // The halves of a remote server cannot be changed.
        change(&mut harness, |panel| panel.halves = None);
        assert!(!says(&harness, "Compare") && !says(&harness, "End"));
    }
}

#[test]
fn graph_changes_scale_and_span_and_freezes() {
    let mut harness = harness(Page::Ladder);
    for axis in [Axis::Linear, Axis::Logarithmic, Axis::Automatic] {
        let name = harness.state().state.axis.name();
        click(&mut harness, name);
        assert_eq!(harness.state().state.axis, axis);
    }
    for seconds in [30, 60, 10, 20] {
        let span = format!("{} s", harness.state().state.graph_seconds.0);
        click(&mut harness, &span);
        assert_eq!(harness.state().state.graph_seconds.0, seconds);
    }
    for is_frozen in [true, false] {
        click(&mut harness, "freeze");
        assert_eq!(harness.state().state.frozen.is_some(), is_frozen);
    }
}

#[test]
fn explanation_names_the_halves_and_keys() {
    let mut harness = harness(Page::Ladder);
    assert!(!says(&harness, "What another machine sees"));
    change(&mut harness, |panel| panel.state.explaining = true);
    for text in [
        "The simulation",
        "What another machine sees",
        "100 ms round trip, no loss",
        "What it costs",
        "gather cubes",
        "F1 shows them again",
    ] {
        assert!(says(&harness, text), "{text}");
    }
    change(&mut harness, |panel| panel.status.view = ViewMode::Right);
    assert!(!says(&harness, "The simulation"));
}

#[test]
fn axis_zero_is_level_with_its_line() {
    let harness = harness(Page::Ladder);
    let middle = |label: &str| {
        let mut found = texts(&harness).filter(|(text, _)| *text == label);
        found.next().unwrap().1.center().y
    };
    // The row of times begins at the line.
    let [zero, now] = ["0", "now"].map(middle);
    assert!((now - zero - 8.0).abs() < 1.5, "{zero}, {now}");
}

#[test]
fn card_films_the_chosen_length_or_copies_it() {
    let mut harness = harness(Page::Ladder);
    click_on(&mut harness, "Film this");
    assert_eq!(harness.state().actions, [Action::Film]);
    change(&mut harness, |panel| panel.state.film_card = true);
    assert!(!says(&harness, "Film this"));
    click(&mut harness, "60 s");
    click(&mut harness, "60 fps");
    harness.state_mut().actions.clear();
    click_on(&mut harness, "Copy command");
    click(&mut harness, "Film F11");
    let film = PastFilm { seconds: 60, ticks_per_frame: 1 };
    assert_eq!(harness.state().actions, [Action::CopyFilm(film), Action::Film]);
    change(&mut harness, |panel| panel.status.plays = false);
    assert!(!says(&harness, "Copy command"));
}

#[test]
fn progress_of_a_film_replaces_the_button() {
    let mut harness = harness(Page::Ladder);
    change(&mut harness, |panel| {
        panel.state.size = PanelSize::Hidden;
        panel.state.film_card = true;
        panel.status.film = Some(FilmProgress { fraction: 0.43, left_seconds: None });
    });
    assert_eq!(words(&harness, "43 %").count(), 1);
    for (seconds, text) in [(7, "43 %, about 7 s left"), (150, "43 %, about 3 min left")] {
        let film = FilmProgress { fraction: 0.43, left_seconds: Some(seconds) };
        change(&mut harness, |panel| panel.status.film = Some(film));
        assert_eq!(words(&harness, text).count(), 1, "{text}");
    }
    assert!(!says(&harness, "Film this"));
    assert!(!harness.state().state.film_card);
    click_on(&mut harness, "Stop");
    assert_eq!(harness.state().actions, [Action::StopFilm]);
    change(&mut harness, |panel| panel.status.film = None);
    assert!(!says(&harness, "Film this"), "the panel is hidden");
}

#[test]
fn the_button_that_films_stays_in_its_place() {
    let mut harness = harness(Page::Ladder);
    let closed = harness.get_by_label_contains("Film this").rect();
    change(&mut harness, |panel| panel.state.film_card = true);
    assert_eq!(harness.get_by_label("Film F11").rect(), closed);
    change(&mut harness, |panel| panel.status.film = Some(FilmProgress::default()));
    assert_eq!(harness.get_by_label("Stop").rect(), closed);
    // The entry of the list, too.
    click(&mut harness, "Save");
    let stop = harness.get_by_label_contains("Stop the film").rect();
    change(&mut harness, |panel| panel.status.film = None);
    assert_eq!(harness.get_by_label_contains("Film the last seconds").rect(), stop);
}

#[test]
fn text_size_changes_by_steps_or_follows_window() {
    let mut harness = harness(Page::Help);
    for (button, factor) in
        [("+", Some(1.1)), ("+", Some(1.2)), ("−", Some(1.1)), ("by window", None)]
    {
        click(&mut harness, button);
        assert_eq!(harness.state().state.scale, factor, "{button}");
    }
}

#[test]
fn common_keys_are_shown_and_all_on_request() {
    let mut harness = harness(Page::Help);
    for label in ["R: reset", "F3: take the tour", "Reset the panel"] {
        let bottom = bottom(&harness, label);
        assert!(bottom <= toolbar(&harness), "{label}: {bottom}");
    }
    let right = texts(&harness).map(|(_, rect)| rect.right()).fold(0.0, f32::max);
    assert!(right <= SIZE.x - 15.0, "{right}");
    let rows = crate::controls::BINDINGS.iter().filter_map(|row| {
        let (keys, about) = (row.names().join(", "), row.about_in(true)?);
        Some(format!("{keys}: {}", about.replace('`', "")))
    });
    // Some rows are on the page as well.
    let rows: Vec<_> = rows.filter(|row| harness.query_by_label(row).is_none()).collect();
    let is_shown = |harness: &Test| {
        let is_known = |row: &&String| harness.query_by_label(row).is_some();
        rows.iter().filter(is_known).count()
    };
    for closes in ["Esc", "click", "another tab"] {
        click(&mut harness, "All keys");
        assert_eq!(is_shown(&harness), rows.len());
        assert!(harness.ctx.any_popup_open(), "keys would reach the game");
        let last = harness.get_by_label(rows.last().unwrap()).rect();
        assert!(last.max.y < SIZE.y && last.max.x < SIZE.x - 356.0);
        match closes {
            "Esc" => harness.key_press(Key::Escape),
            "click" => harness.get_by_label(&rows[0]).click(),
            _ => {
                click(&mut harness, "Network");
                click(&mut harness, "Help");
            }
        }
        harness.run();
        assert_eq!(is_shown(&harness), 0, "{closes}");
        assert!(!harness.ctx.any_popup_open());
    }
}

#[test]
fn the_panel_is_reset_when_that_is_confirmed() {
    let mut harness = harness(Page::Help);
    change(&mut harness, |panel| panel.state.graph_seconds.0 = 60);
    click(&mut harness, "Reset the panel");
    assert_eq!(harness.state().state.graph_seconds.0, 60, "it asks");
    click(&mut harness, "Really reset it?");
    let state = &harness.state().state;
    assert_eq!((state.graph_seconds.0, state.page), (20, Page::Ladder));
    assert!(state.explained);
}
