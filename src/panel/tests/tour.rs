//! The box of the tour, and the button that opens it.

use super::*;

/// The panel with a step of the tour.
fn at(index: usize, size: egui::Vec2) -> Harness<'static, Panel> {
    let mut panel = panel(Page::Ladder);
    panel.status.tour = Some(Tour {
        index: Some(index),
        plays: true,
        ..Tour::default()
    });
    let step = &STEPS[index];
    panel.halves.as_mut().unwrap().left_is_lane = step.left != "simulation";
    panel.settings = step.right.parse().unwrap();
    let mut harness = open(panel);
    harness.set_size(size);
    harness.run();
    harness
}

#[test]
fn every_step_has_its_text_and_buttons_that_turn_the_pages() {
    for (index, step) in STEPS.iter().enumerate() {
        let mut harness = at(index, SIZE);
        for text in [
            step.title,
            step.text,
            step.difference,
            &format!("{} of {}", index + 1, STEPS.len()),
        ] {
            assert!(harness.query_by_label(text).is_some(), "{text}");
        }
        if let Some(Figure { name, value }) = step.article {
            let said = format!("{name}: {value} {}", step.watch.unit());
            assert!(says(&harness, &said), "{said}");
        }
        let is_last = index + 1 == STEPS.len();
        let next = if is_last { "Done F5" } else { "Next F5" };
        for (name, action) in [
            ("Back F4", Action::TourBack),
            (next, Action::TourNext),
            ("Leave Esc", Action::Tour),
        ] {
            harness.state_mut().actions.clear();
            let button = harness.get_by_label(name);
            if index == 0 && name == "Back F4" {
                assert!(button.accesskit_node().is_disabled());
                continue;
            }
            button.click();
            harness.run();
            assert_eq!(harness.state().actions, [action], "{name} of {index}");
        }
    }
}

#[test]
fn a_dot_leads_to_its_step() {
    let mut harness = at(2, SIZE);
    let name = format!("10. {}", STEPS[9].title);
    click(&mut harness, &name);
    assert_eq!(harness.state().actions, [Action::TourStep(9)]);
}

#[test]
fn the_card_is_below_the_halves_with_all_of_its_text() {
    let mut outside = Vec::new();
    for size in [SIZE, egui::vec2(1920.0, 1080.0), egui::vec2(800.0, 450.0)] {
        for (index, step) in STEPS.iter().enumerate() {
            let harness = at(index, size);
            let inset = harness.state().drawn.inset;
            let window = harness.ctx.viewport_rect();
            let card = egui::Rect::from_min_max(
                egui::pos2(0.0, window.bottom() - inset.bottom),
                egui::pos2(window.right() - inset.right, window.bottom()),
            );
            assert!(
                inset.bottom < 0.36 * window.height(),
                "{card:?} in {window:?}"
            );
            let buttons = harness.get_by_label("Leave Esc").rect();
            let link = harness.get_by_label("Read the article").rect();
            let text = harness.get_by_label(step.text).rect();
            let is_in = card.contains_rect(text) && card.contains_rect(link);
            let has_room = size != SIZE || rows(&harness, step.text) <= 3;
            if !is_in || !has_room || text.intersects(buttons) {
                outside.push((index, size, text));
            }
            for row in last_rows(&harness) {
                assert!(row > 0.4, "{row} of {} at {size}", step.title);
            }
        }
    }
    assert_eq!(outside, []);
}

/// How many rows a text has.
fn rows(harness: &Harness<'_, Panel>, words: &str) -> usize {
    let mut shapes = harness.output().shapes.iter();
    let rows = shapes.find_map(|clipped| match &clipped.shape {
        Shape::Text(text) if text.galley.text() == words => Some(text.galley.rows.len()),
        _ => None,
    });
    rows.expect("it is painted")
}

/// How long the last row of each text in several rows is, as a share of the longest.
fn last_rows(harness: &Harness<'_, Panel>) -> Vec<f32> {
    let shapes = harness.output().shapes.iter();
    let rows = shapes.filter_map(|clipped| match &clipped.shape {
        Shape::Text(text) if text.galley.rows.len() > 1 => {
            let mut widths = text.galley.rows.iter().map(|row| row.size.x);
            let longest = widths.clone().fold(1.0, f32::max);
            Some(widths.next_back()? / longest)
        }
        _ => None,
    });
    rows.collect()
}

#[test]
fn what_is_seen_now_is_the_mean_of_the_last_second() {
    for (index, text) in [
        (0, "here, now: 4.0 mm"),
        // 520 bytes in the mean, and 28 of headers.
        (1, "here, now: 263 kbps"),
        (4, "here, now: …"),
        (12, "left, now: 0 ms"),
        (16, "right, now: 4.0 mm"),
    ] {
        assert!(says(&at(index, SIZE), text), "{index}: {text}");
    }
}

#[test]
fn the_tour_ends_with_a_card_from_the_first_rung_to_the_last() {
    let mut harness = at(0, SIZE);
    harness.state_mut().status.tour = Some(Tour {
        index: Some(STEPS.len()),
        ..Tour::default()
    });
    harness.state_mut().shadow = Some(ShadowLadder::of_bytes(60, |index, _| {
        36_000 >> index.min(9)
    }));
    harness.run();
    for text in [
        "The end of the tour",
        "kbps",
        "less. Rungs 1 to 12 are the article's",
    ] {
        assert!(says(&harness, text), "{text}");
    }
    for (name, action) in [("Play on", Action::Tour), ("Film it", Action::Video)] {
        click_on(&mut harness, name);
        assert_eq!(harness.state_mut().actions.pop(), Some(action), "{name}");
    }
    click(&mut harness, "Read the article");
    let article = Action::Open(STEPS[0].address);
    assert_eq!(harness.state().actions, [article]);
}

#[test]
fn a_task_is_ticked_once_it_is_done() {
    let mut harness = at(0, SIZE);
    let label = Task::TakeOver.text();
    let ticked = |harness: &Harness<'_, Panel>| {
        let tick = harness.get_by_label(label);
        tick.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    assert!(!ticked(&harness));
    harness.state_mut().status.tour.as_mut().unwrap().is_done = true;
    harness.run();
    assert!(ticked(&harness));
}

#[test]
fn the_explanation_has_a_button_that_begins_the_tour_where_there_is_one() {
    let mut harness = harness(Page::Ladder);
    change(&mut harness, |panel| panel.state.explaining = true);
    assert!(!says(&harness, "Take the tour"));
    change(&mut harness, |panel| {
        panel.status.tour = Some(Tour::default());
    });
    click_on(&mut harness, "Take the tour");
    assert_eq!(harness.state().actions, [Action::Tour]);
    // In the tour nothing else is explained.
    change(&mut harness, |panel| {
        panel.status.tour = Some(Tour::default().after(Action::Tour));
    });
    assert!(!says(&harness, "Take the tour"));
    assert!(harness.query_by_label(STEPS[0].title).is_some());
}
