//! The card of the tour, the button that opens it, and the cards that explain the screen.

use super::*;

fn at(index: usize, size: Vec2) -> Test {
    let mut panel = panel(Page::Ladder);
    panel.status.tour = Some(Tour { index: Some(index), plays: true, ..Tour::default() });
    let step = &STEPS[index];
    panel.halves.as_mut().unwrap().left_is_lane = step.left != "simulation";
    panel.settings = step.right.parse().unwrap();
    open_in(size, panel)
}

#[test]
fn every_step_has_its_text_and_buttons() {
    for (index, step) in STEPS.iter().enumerate() {
        let mut harness = at(index, SIZE);
        let number = format!("{} of {}", index + 1, STEPS.len());
        for text in [step.title, step.text, step.difference, &number] {
            assert!(harness.query_by_label(text).is_some(), "{text}");
        }
        if let Some(value) = step.article {
            let (name, value) = (step.article_name(), step.watch.text(value));
            let [_, unit] = step.watch.name_and_unit();
            let said = format!("{name}: {value} {unit}");
            assert!(says(&harness, &said), "{said}");
        }
        let next = if index + 1 == STEPS.len() { "Done F5" } else { "Next F5" };
        for (name, action) in
            [("Back F4", Action::TourBack), (next, Action::TourNext), ("Leave Esc", Action::Tour)]
        {
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
    click(&mut harness, &format!("10. {}", STEPS[9].title));
    assert_eq!(harness.state().actions, [Action::TourStep(9)]);
}

#[test]
fn card_below_the_halves_holds_its_text() {
    let mut outside = Vec::new();
    for (size, chosen, share) in [
        (SIZE, None, 0.36),
        (vec2(1920.0, 1080.0), None, 0.36),
        (LOW, None, 0.36),
        (LOW, Some(PanelSize::Whole), 0.6),
    ] {
        for (index, step) in STEPS.iter().enumerate() {
            let mut harness = at(index, size);
            change(&mut harness, |panel| panel.state.size_if_narrow = chosen);
            let inset = harness.state().drawn.inset;
            let window = harness.ctx.viewport_rect();
            let card = Rect::from_min_max(
                pos2(0.0, window.bottom() - inset.bottom),
                pos2(window.right() - inset.right, window.bottom()),
            );
            assert!(card.height() < share * window.height(), "{card:?}");
            let buttons = harness.get_by_label("Leave Esc").rect();
            let number = format!("{} of {}", index + 1, STEPS.len());
            let task = step.task.map(Task::text);
            let words = [step.title, step.text, &number, "Read the article"];
            for words in words.into_iter().chain(task) {
                let rect = harness.get_by_label(words).rect();
                if !card.contains_rect(rect) || rect.intersects(buttons) {
                    outside.push((index, size, words.to_owned(), rect));
                }
            }
            for (text, widths) in texts_in_rows(&harness) {
                let last = widths[widths.len() - 1] / widths.iter().fold(1.0, |a, b| b.max(a));
                assert!(last > 0.4, "the last row of {text} at {size}");
                assert!(text != step.text || size != SIZE || widths.len() <= 3, "{text}");
            }
        }
    }
    assert_eq!(outside, []);
}

/// Returns the texts with several rows, and the width of each row.
fn texts_in_rows(harness: &Test) -> impl Iterator<Item = (&str, Vec<f32>)> {
    painted(harness)
        .map(|(_, text)| &text.galley)
        .filter(|text| text.rows.len() > 1)
        .map(|text| (text.text(), text.rows.iter().map(|row| row.size.x).collect()))
}

#[test]
fn measured_figure_is_the_last_seconds_mean() {
    for (index, text) in [
        (0, "here, now: 4.0 mm"),
        // 520 bytes on average, plus 28 bytes of headers.
        (1, "here, now: 263 kbps"),
        (4, "here, now: …"),
        (12, "left, now: 0 ms"),
        (16, "right, now: 4.0 mm"),
    ] {
        assert!(says(&at(index, SIZE), text), "{index}: {text}");
    }
}

#[test]
fn tour_ends_with_a_card_of_all_rungs() {
    let mut harness = at(0, SIZE);
    harness.state_mut().status.tour = Some(Tour { index: Some(STEPS.len()), ..Tour::default() });
    change(&mut harness, |panel| {
        panel.shadow = Some(counted_ladder(60, |index, _| 36_000 >> index.min(9)));
    });
    assert!(says(&harness, "60 times a second; no packets arrive."));
    change(&mut harness, |panel| panel.meter = measured(Page::Ladder, ladder::DELTA.stages).meter);
    for text in ["The end of the tour", "kbps", "less. Rungs 1 to 12 are the article's"] {
        assert!(says(&harness, text), "{text}");
    }
    for (name, action) in [
        ("Play on", Action::Tour),
        ("Film it", Action::Film),
        ("Read the article", Action::Open(STEPS[0].address)),
    ] {
        click_on(&mut harness, name);
        assert_eq!(harness.state_mut().actions.pop(), Some(action), "{name}");
    }
}

#[test]
fn a_task_is_ticked_once_it_is_done() {
    let mut harness = at(0, SIZE);
    let label = Task::TakeOver.text();
    let ticked = |harness: &Test| {
        let tick = harness.get_by_label(label);
        tick.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    assert!(!ticked(&harness));
    change(&mut harness, |panel| panel.status.tour.as_mut().unwrap().is_done = true);
    assert!(ticked(&harness));
}

#[test]
fn explaining_cards_keep_the_ball_in_sight() {
    for (size, cards) in [(SIZE, 4), (LOW, 1), (vec2(1280.0, 660.0), 4), (vec2(1280.0, 600.0), 1)] {
        for rung in LADDER {
            let mut panel = panel(Page::Ladder);
            panel.settings.sender.stages = rung.stages;
            panel.state.explaining = true;
            panel.status.tour = Some(Tour::default());
            let mut harness = open_in(size, panel);
            harness.run();
            let picture = free(&harness.ctx, harness.state().drawn.inset);
            let (left, right) = picture.split_left_right_at_fraction(0.5);
            let titles = ["The simulation", "What another machine sees", "What it costs", "Start"];
            let ids = titles.iter().map(|title| Id::new(("explanation", *title)));
            let rect = |id| harness.ctx.memory(|memory| memory.area_rect(id));
            let shown: Vec<_> = ids.filter_map(rect).collect();
            assert_eq!(shown.len(), cards, "{size}");
            for half in [left, right] {
                let centre = half.center() - vec2(0.0, 0.02 * half.height());
                let size = Vec2::splat(0.25 * half.height());
                let ball = Rect::from_center_size(centre, size);
                for card in &shown {
                    assert!(!card.intersects(ball), "{card} at {size}, {}", rung.name);
                }
            }
        }
    }
}

#[test]
fn explanation_offers_an_available_tour() {
    let mut harness = harness(Page::Ladder);
    change(&mut harness, |panel| panel.state.explaining = true);
    assert!(!says(&harness, "Take the tour"));
    change(&mut harness, |panel| panel.status.tour = Some(Tour::default()));
    click_on(&mut harness, "Take the tour");
    assert_eq!(harness.state().actions, [Action::Tour]);
    // During the tour, no other cards are shown.
    change(&mut harness, |panel| panel.status.tour = Some(Tour::default().after(Action::Tour)));
    assert!(!says(&harness, "Take the tour"));
    assert!(harness.query_by_label(STEPS[0].title).is_some());
}

/// Opens a low window that offers the tour.
fn low(is_explained: bool, step: Option<usize>) -> Test {
    let mut panel = panel(Page::Ladder);
    panel.state.explaining = is_explained;
    panel.status.tour = Some(Tour { index: step, ..Tour::default() });
    open_in(LOW, panel)
}

#[test]
fn exactly_one_button_is_primary() {
    for (is_explained, step) in [(false, None), (true, None), (false, Some(3))] {
        let harness = low(is_explained, step);
        let filled = egui_color(Theme::default().colors().right);
        let is_button = |shape: &Shape| matches!(shape, Shape::Rect(rect) if rect.fill == filled && rect.rect.height() > 20.0);
        let buttons = shapes(&harness).filter(|(_, shape)| is_button(shape));
        assert_eq!(buttons.count(), 1, "{is_explained}, {step:?}");
    }
}

#[test]
fn low_window_keeps_the_ball_in_sight() {
    let mut harness = low(true, None);
    let picture = LOW.y - harness.state().drawn.inset.bottom;
    let card = harness.get_by_label("Start").rect();
    assert!(card.top() > 0.6 * picture, "{card:?} in {picture}");

    harness.state_mut().state.explaining = false;
    change(&mut harness, |panel| panel.state.timeline = true);
    let strip = picture - (LOW.y - harness.state().drawn.inset.bottom);
    assert!((60.0..100.0).contains(&strip), "{strip}");
}
