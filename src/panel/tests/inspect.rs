//! What shows where the bits go: ranges and the timeline.

use super::*;

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
