//! The box of the tour, and the button that opens it.

use super::*;
use crate::panel::tour::AREA;

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

fn area(harness: &Harness<'_, Panel>) -> egui::Rect {
    let id = egui::Id::new(AREA);
    harness.ctx.memory(|memory| memory.area_rect(id)).unwrap()
}

#[test]
fn every_step_has_its_text_and_buttons_that_turn_the_pages() {
    for (index, step) in STEPS.iter().enumerate() {
        let mut harness = at(index, SIZE);
        for text in [
            step.title,
            &step.plain_text(),
            &format!("{} of {}", index + 1, STEPS.len()),
        ] {
            assert!(harness.query_by_label(text).is_some(), "{text}");
        }
        if let Some(article) = step.article {
            assert!(harness.query_by_label(article).is_some(), "{article}");
        }
        if let Some(address) = step.address {
            assert!(harness.query_by_label(address).is_some(), "{address}");
        }
        let is_last = index + 1 == STEPS.len();
        let next = if is_last { "Done" } else { "Next" };
        for (name, action) in [
            ("Back", Action::TourBack),
            (next, Action::TourNext),
            ("Leave", Action::Tour),
        ] {
            harness.state_mut().actions.clear();
            let button = harness.get_by_label_contains(name);
            if index == 0 && name == "Back" {
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
fn the_box_is_below_the_player_and_above_the_captions() {
    for (index, step) in STEPS.iter().enumerate() {
        let harness = at(index, SIZE);
        let area = area(&harness);
        assert!(area.max.y <= SIZE.y - 60.0, "{index}: {area:?}");
        // The player is at 44 % of the height, and the ball ends in the middle.
        assert!(area.min.y >= 0.52 * SIZE.y, "{index}: {area:?}");
        assert!(
            area.min.x >= 0.0 && area.max.x <= 440.0,
            "{index}: {area:?}"
        );
        let wide: Vec<_> = [&step.plain_text(), step.title]
            .into_iter()
            .map(|text| harness.get_by_label(text).rect())
            .filter(|rect| !area.contains_rect(*rect))
            .collect();
        assert_eq!(wide, [], "{index}");
    }
}

#[test]
fn the_box_fits_into_small_windows_and_over_the_timeline() {
    for size in [egui::vec2(800.0, 450.0), egui::vec2(640.0, 360.0)] {
        for has_timeline in [false, true] {
            for index in 0..STEPS.len() {
                let mut harness = at(index, size);
                harness.state_mut().state.timeline = has_timeline;
                harness.run();
                let inset = harness.state().drawn.inset;
                let area = area(&harness);
                let what = format!("{index} at {size:?}: {area:?} next to {inset:?}");
                assert!(area.min.x >= 0.0 && area.min.y >= 0.0, "{what}");
                assert!(area.max.x <= size.x - inset.right, "{what}");
                assert!(area.max.y <= size.y - inset.bottom, "{what}");
            }
        }
    }
}

#[test]
fn what_is_seen_now_is_the_mean_of_the_last_second() {
    let says = |index: usize, text: &str| {
        let harness = at(index, SIZE);
        assert!(harness.query_by_label(text).is_some(), "{index}: {text}");
    };
    says(0, "4.0 mm");
    // 523 bytes in the mean, and 28 of headers.
    says(1, "264 kbps");
    says(6, "70");
    let ten = STEPS.iter().position(|step| step.has_trails).unwrap();
    says(ten, "right 4.0 mm, left 4.0 mm");
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
    harness.state_mut().state.explaining = true;
    harness.run();
    assert!(harness.query_by_label_contains("Take the tour").is_none());
    harness.state_mut().status.tour = Some(Tour::default());
    harness.run();
    harness.get_by_label_contains("Take the tour").click();
    harness.run();
    assert_eq!(harness.state().actions, [Action::Tour]);
    // In the tour nothing else is explained.
    harness.state_mut().status.tour = Some(Tour::default().after(Action::Tour));
    harness.run();
    assert!(harness.query_by_label_contains("Take the tour").is_none());
    assert!(harness.query_by_label(STEPS[0].title).is_some());
}
