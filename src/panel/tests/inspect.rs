//! The page *Ranges* and the timeline.

use super::*;

fn timeline() -> Test {
    let mut panel = panel(Page::Kinds);
    panel.state.timeline = true;
    panel.past.first = Some(0);
    open(panel)
}

/// Time span of the timeline with 400 recorded ticks.
const ROOM: f32 = METER_TICKS as f32 / 8.0;

fn position_of(harness: &Test, tick: f32) -> Pos2 {
    let inset = harness.state().drawn.inset;
    let margin = 16.0;
    // The totals are at the right.
    let width = SIZE.x - inset.right - 2.0 * margin - 140.0;
    // The newest tick, 399, is at the right end.
    let fraction = 1.0 - (399.0 - tick) / ROOM;
    pos2(margin + fraction * width, SIZE.y - inset.bottom / 2.0)
}

/// Drags from one position to another. Returns the tick that the timeline then shows.
fn drag(harness: &mut Test, from: Pos2, to: Pos2, modifiers: Modifiers) -> u64 {
    point(harness, from);
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
    *harness.state().moments.last().unwrap()
}

/// Size of a window with room for the cost in the header.
const WIDE: Vec2 = vec2(1600.0, 900.0);

#[test]
fn drag_selects_a_tick_or_a_range() {
    let mut harness = timeline();
    let (from, to) = (position_of(&harness, 100.0), position_of(&harness, 300.0));
    let moment = drag(&mut harness, from, to, Modifiers::NONE);
    assert!(moment.abs_diff(300) <= 3, "{moment}");
    assert_eq!(harness.state().state.range, None);

    let moment = drag(&mut harness, from, to, Modifiers::SHIFT);
    let range = harness.state().state.range.unwrap();
    assert!(range[0].abs_diff(100) <= 3, "{range:?}");
    assert!(range[1].abs_diff(300) <= 3, "{range:?}");
    assert_eq!(moment, range[1]);

    // F zooms to the range, so the middle of the range is in the middle of the timeline.
    press(&mut harness, Key::F);
    let middle = position_of(&harness, 399.0 - ROOM / 2.0);
    let beside = middle - vec2(20.0, 0.0);
    let moment = drag(&mut harness, beside, middle, Modifiers::NONE);
    assert!(moment.abs_diff(200) <= 5, "{moment}");
}

#[test]
fn unrecorded_time_and_simulation_are_labelled() {
    let mut harness = timeline();
    change(&mut harness, |panel| {
        panel.meter = LaneMeter::from_samples(panel.meter.newest(200).cloned().collect::<Vec<_>>());
        panel.past.first = Some(200);
    });
    let [before, simulation] = ["not yet recorded", "simulation only, no packets"].map(|said| {
        let (_, found) = words(&harness, said).next().expect(said);
        found.visual_bounding_rect()
    });
    let begin = position_of(&harness, 200.0).x;
    assert!(before.right() < begin && begin < simulation.left());
    assert!(simulation.center().y + 10.0 < before.center().y);
}

#[test]
fn timeline_tooltip_appears_at_once_above_it() {
    let mut harness = timeline();
    let at = position_of(&harness, 200.0);
    point(&mut harness, at);
    let told = harness.get_by_label_contains("s ago: uncompressed").rect();
    let top = SIZE.y - harness.state().drawn.inset.bottom;
    assert!(told.bottom() <= top, "{told} above {top}");
}

#[test]
fn header_stays_in_place_with_more_digits() {
    let ends = [10, 1_000, 30_000].map(|payload_bytes| {
        let mut panel = panel(Page::Help);
        panel.meter = meter_of(400, &PacketRecord::default(), |_, _, packet| {
            packet.payload_bytes = payload_bytes;
            packet.arrival = Some(ARRIVAL);
        });
        let harness = open_in(WIDE, panel);
        let kbps = harness.get_by_label_contains("kbps").rect();
        [harness.get_by_value("changed-flags").rect().right(), kbps.right()]
    });
    assert_eq!(ends, [ends[0]; 3]);
}

#[test]
fn description_of_a_flag_ends_before_options() {
    let [from, to] = [ladder::RELATIVE_POSITION, ladder::RELATIVE_ORIENTATION];
    let mut panel = panel(Page::Help);
    panel.meter = meter_of(400, &PacketRecord::default(), |tick, sample, _| {
        sample.stages = if tick < 200 { from.stages } else { to.stages };
    });
    let mut harness = open(panel);
    let said = format!("3.3 s ago: {} to {}", from.name, to.name);
    harness.get_by_label(&said).hover();
    harness.run();
    let options = harness.get_by_label("auto").rect().left();
    let (clip, told) = words(&harness, &said).next().expect("it is painted");
    let told = clip.intersect(told.visual_bounding_rect());
    assert!(told.width() > 100.0 && told.right() <= options, "{told}");
}

#[test]
fn figures_show_the_second_before_the_moment() {
    for (page, now, past) in [
        (Page::Ladder, ["492 kbps"; 2], ["60 kbps"; 2]),
        (
            Page::Kinds,
            ["Last second", "Payload: mean 997 bytes"],
            ["The second before the displayed tick", "Payload: mean 97.0 bytes"],
        ),
    ] {
        let mut panel = panel(page);
        let packet = packet_of(ladder::DELTA.stages);
        panel.meter = meter_of(400, &packet, |tick, _, packet| {
            packet.payload_bytes = if tick < 200 { 97 } else { 997 };
        });
        let mut harness = open_in(WIDE, panel);
        for (moment, words) in [(None, now), (Some(150), past)] {
            change(&mut harness, |panel| panel.past.moment = moment);
            for words in words {
                assert!(says(&harness, words), "{page:?}: {words}");
            }
        }
    }
}

#[test]
fn timeline_waits_for_a_restarted_lane() {
    let mut harness = timeline();
    change(&mut harness, |panel| panel.past.first = Some(500));
    let (from, to) = (position_of(&harness, 100.0), position_of(&harness, 300.0));
    assert_eq!(drag(&mut harness, from, to, Modifiers::NONE), 399);
}
