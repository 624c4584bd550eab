//! What shows where the bits go: packets, cubes, savings, ranges and the timeline.

use super::*;

/// The panel with the packets of `stages`.
fn inspecting(stages: Stages) -> Harness<'static, Panel> {
    let mut panel = panel(Page::Packet);
    panel.settings.sender.stages = stages;
    panel.meter = LaneMeter::from_samples((0..80).map(|tick| Sample {
        tick,
        stages,
        snapshots: vec![packet_of(stages)],
        ..Sample::default()
    }));
    open(panel)
}

#[test]
fn the_packet_is_shown_in_words_and_a_cube_with_its_packets() {
    for rung in [ladder::RELATIVE_ORIENTATION, ladder::PREDICTED] {
        let mut harness = inspecting(rung.stages);
        let bytes = packet_of(rung.stages).payload_bytes;
        assert!(
            harness
                .query_by_label_contains(&format!("{bytes} bytes"))
                .is_some()
        );
        assert!(
            harness
                .query_by_label_contains("Header: sequence 7")
                .is_some()
        );
        assert!(harness.query_by_label_contains("Cube 1").is_none());
        harness.state_mut().selection.cube = Some(1);
        harness.run();
        assert!(harness.query_by_label_contains("Cube 1").is_some());
        click(&mut harness, "follow");
        assert!(harness.state().selection.follows);
        click(&mut harness, "clear");
        assert_eq!(harness.state().selection, Selection::default());
    }
}

#[test]
fn the_selected_cube_says_how_it_stands_within_the_budget() {
    let mut harness = inspecting(ladder::PREDICTED.stages);
    harness.state_mut().selection.cube = Some(1);
    let says = |harness: &mut Harness<'_, Panel>, standings: &[Standing], text: &str| {
        harness.state_mut().standings = standings.to_vec();
        harness.run();
        harness.query_by_label_contains(text).is_some()
    };
    let up_to_date = Standing::UpToDate { sent: None };
    let wait = Standing::Waits(Wait {
        since: 70,
        error: 0.012,
        priority: 11.3,
        more_urgent: 40,
    });
    let waits = "Waits for 9 ticks: moved 12.0 mm, priority 11.3, 40 cubes are more urgent.";
    assert!(says(&mut harness, &[up_to_date, wait], waits));
    assert!(says(&mut harness, &[wait, up_to_date], "Up to date"));
    assert!(!says(&mut harness, &[], "Up to date"));
}

/// The page of savings, with figures of a lane that has these stages.
fn savings(view: Page, stages: Stages) -> Panel {
    let mut panel = panel(view);
    panel.settings.sender.stages = stages;
    // The fourth rung costs more than the third.
    let bytes = |index: usize| 36_000 / (index + 1) + 6_000 * usize::from(index == 3);
    panel.shadow = Some(ShadowLadder::of_bytes(1_500, move |index, tick| {
        bytes(index) + tick as usize % 50
    }));
    panel.ablation = Some(Ablation::of_bytes(stages, 1_495, |index| 100 + 900 * index));
    panel.tick = Some(1_500);
    panel
}

const SAVINGS: [Page; 3] = [Page::Savings, Page::OverTime, Page::WithoutEach];

#[test]
fn the_views_of_savings_are_chosen_by_a_click() {
    let mut harness = open(savings(Page::Savings, ladder::CHANGED_FLAGS.stages));
    let says = |harness: &Harness<'_, Panel>, text: &str| {
        let found = harness.query_all_by_label_contains(text).next();
        assert!(found.is_some(), "{text}");
    };
    says(&harness, "In all: ");
    says(&harness, "at-rest costs more than the rung before, now.");
    assert!(!harness.state().state.shows(Page::WithoutEach));
    click(&mut harness, "Over time");
    says(&harness, "mean of a second, kbps, log");
    click(&mut harness, "Ablation");
    says(&harness, "without changed flags");
    says(&harness, "5 ticks old");
    says(&harness, "CPU in the background");
    assert!(harness.state().state.shows(Page::WithoutEach));
    harness.state_mut().state.size = PanelSize::Slim;
    assert!(!harness.state().state.shows(Page::WithoutEach));
}

#[test]
fn every_row_of_the_savings_is_in_sight() {
    let mut low = Vec::new();
    for view in SAVINGS {
        for rung in ladder::all() {
            let harness = open(savings(view, rung.stages));
            let last = match view {
                Page::Savings => "costs more than the rung before",
                Page::OverTime => "mean of a second, kbps, log",
                _ => "CPU in the background",
            };
            let bottom = harness.get_by_label_contains(last).rect().max.y;
            let toolbar = harness.get_by_label_contains("Pause").rect().min.y;
            if bottom > toolbar {
                low.push(format!("{view:?}, {}: {bottom} below {toolbar}", rung.name));
            }
            assert_eq!(harness.state().drawn.inset.right, 408.0, "{view:?}");
        }
    }
    assert_eq!(low, Vec::<String>::new());
}

#[test]
fn savings_are_measured_where_the_simulation_runs() {
    for view in SAVINGS {
        let mut panel = panel(view);
        let harness = open(panel);
        let text = "This is measured where the simulation runs.";
        assert!(harness.query_by_label(text).is_some(), "{view:?}");
    }
}

#[test]
fn pointing_at_bits_hovers_their_cube() {
    let mut harness = inspecting(ladder::RELATIVE_ORIENTATION.stages);
    // The third row of the chart has the cubes, by kind.
    let order = harness.get_by_label("by kind").rect();
    let mut cubes = std::collections::HashSet::new();
    for step in 0..40 {
        let x = order.left() + step as f32 * 9.0;
        harness.hover_at(egui::pos2(x, order.bottom() + 50.0));
        harness.run();
        cubes.extend(harness.state().selection.hovered);
    }
    assert!(
        [0, 1, 2].iter().all(|cube| cubes.contains(cube)),
        "{cubes:?}"
    );
}

/// A panel with the timeline of 400 ticks, all recorded.
fn timeline() -> Harness<'static, Panel> {
    let mut panel = panel(Page::Kinds);
    panel.state.timeline = true;
    panel.past.first = Some(0);
    open(panel)
}

/// Where a tick of the last minute is in the strip.
fn position_of(harness: &Harness<'_, Panel>, tick: f32) -> egui::Pos2 {
    let inset = harness.state().drawn.inset;
    let margin = 8.0;
    let width = SIZE.x - inset.right - 2.0 * margin;
    // The newest tick is 399, at the right end.
    let fraction = 1.0 - (399.0 - tick) / METER_TICKS as f32;
    egui::pos2(margin + fraction * width, SIZE.y - inset.bottom / 3.0)
}

fn drag(harness: &mut Harness<'_, Panel>, from: egui::Pos2, to: egui::Pos2, modifiers: Modifiers) {
    harness.hover_at(from);
    harness.run();
    for (at, pressed) in [(from, true), (to, false)] {
        harness.event_modifiers(egui::Event::PointerMoved(at), modifiers);
        harness.step();
        let event = egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers,
        };
        harness.event_modifiers(event, modifiers);
        harness.step();
    }
}

#[test]
fn a_drag_over_the_timeline_goes_to_its_tick_and_with_shift_marks_a_range() {
    let mut harness = timeline();
    let (from, to) = (position_of(&harness, 100.0), position_of(&harness, 300.0));
    drag(&mut harness, from, to, Modifiers::NONE);
    let moment = *harness.state().moments.last().unwrap();
    assert!(moment.abs_diff(300) <= 3, "{moment}");
    assert_eq!(harness.state().state.range, None);

    drag(&mut harness, from, to, Modifiers::SHIFT);
    let range = harness.state().state.range.unwrap();
    assert!(range.first.abs_diff(100) <= 3, "{range:?}");
    assert!(range.last.abs_diff(300) <= 3, "{range:?}");
    let moment = *harness.state().moments.last().unwrap();
    assert_eq!(moment, range.last);

    // F fits the range, so that its middle is the middle of the strip.
    harness.key_press(egui::Key::F);
    harness.run();
    let middle = position_of(&harness, 399.0 - METER_TICKS as f32 / 2.0);
    drag(&mut harness, middle, middle, Modifiers::NONE);
    let moment = *harness.state().moments.last().unwrap();
    assert!(moment.abs_diff(200) <= 5, "{moment}");
}

#[test]
fn a_viewer_cannot_colour_the_cubes_by_what_only_the_sender_knows() {
    let is_disabled = |harness: &Harness<'_, Panel>, name: &str| {
        let button = harness.get_by_label(name);
        button.accesskit_node().is_disabled()
    };
    let mut harness = harness(Page::Kinds);
    assert!(!is_disabled(&harness, "wait"));
    harness.state_mut().server = Some(ServerConnection {
        server: "192.168.1.5:7000".to_owned(),
        status: ConnectionStatus::Connected,
        round_trip: None,
        id: None,
        granted: None,
    });
    harness.run();
    for (name, expected) in [("form", false), ("error mm", true), ("wait", true)] {
        assert_eq!(is_disabled(&harness, name), expected, "{name}");
    }
}

#[test]
fn the_error_stands_beside_the_kilobits_where_it_is_measured() {
    let mut harness = harness(Page::Ladder);
    assert!(harness.query_by_label_contains("4.0 mm").is_some());
    harness.state_mut().meter = LaneMeter::from_samples([Sample::default()]);
    harness.run();
    assert!(harness.query_by_label_contains(" mm").is_none());
}

#[test]
fn the_figures_are_those_of_the_second_before_the_moment() {
    let mut panel = panel(Page::Ladder);
    panel.meter = LaneMeter::from_samples((0..400).map(|tick| Sample {
        tick,
        snapshots: vec![PacketRecord {
            payload_bytes: if tick < 200 { 97 } else { 997 },
            ..PacketRecord::default()
        }],
        ..Sample::default()
    }));
    let mut harness = open(panel);
    assert!(harness.query_by_label_contains("492.0 kbps").is_some());
    harness.state_mut().past.moment = Some(150);
    harness.run();
    assert!(harness.query_by_label_contains("60.0 kbps").is_some());
    let why = "the figures of the present";
    assert!(harness.query_by_label_contains(why).is_some());
}
