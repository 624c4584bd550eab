//! What is drawn, where it can be seen in the shapes: in a low window, and in lists.

use super::*;
use crate::theme::egui_color;

const LOW: egui::Vec2 = egui::vec2(800.0, 450.0);

/// A low window that offers the tour.
fn low(is_explained: bool, step: Option<usize>) -> Harness<'static, Panel> {
    let mut panel = panel(Page::Ladder);
    panel.state.explaining = is_explained;
    panel.status.tour = Some(Tour {
        index: step,
        ..Tour::default()
    });
    let mut harness = open(panel);
    harness.set_size(LOW);
    harness.run();
    harness
}

#[test]
fn one_button_at_a_time_is_the_one_to_press() {
    for (is_explained, step) in [(false, None), (true, None), (false, Some(3))] {
        let harness = low(is_explained, step);
        let filled = egui_color(Side::Right.color(Theme::default()));
        let buttons = shapes(&harness).filter(|shape| {
            matches!(shape, Shape::Rect(rect) if rect.fill == filled && rect.rect.height() > 20.0)
        });
        assert_eq!(buttons.count(), 1, "{is_explained}, {step:?}");
    }
}

#[test]
fn in_a_low_window_the_first_card_and_the_timeline_leave_the_ball_in_sight() {
    let mut harness = low(true, None);
    let picture = LOW.y - harness.state().drawn.inset.bottom;
    let card = harness.get_by_label("Start").rect();
    assert!(card.top() > 0.6 * picture, "{card:?} in {picture}");

    harness.state_mut().state.explaining = false;
    harness.state_mut().state.timeline = true;
    harness.run();
    let strip = picture - (LOW.y - harness.state().drawn.inset.bottom);
    assert!((60.0..100.0).contains(&strip), "{strip}");
}

#[test]
fn the_entries_of_a_list_begin_below_each_other() {
    let mut harness = harness(Page::Ladder);
    click(&mut harness, "Save");
    let left = |name: &str| {
        let found = shapes(&harness).find_map(|shape| match shape {
            Shape::Text(text) if text.galley.text() == name => Some(text.pos.x),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    let names = ["Video", "Replay", "Copy command", "Last minute, CSV"];
    assert_eq!(names.map(left), [left("Picture"); 4]);
}
