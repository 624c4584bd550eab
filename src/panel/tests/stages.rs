//! The tab *Stages*: options, ranges, and the budget.

use super::*;

fn stages(harness: &Test) -> Stages {
    harness.state().settings.sender.stages
}

fn with_stages(page: Page, stages: Stages) -> Test {
    let mut panel = panel(page);
    panel.settings.sender.stages = stages;
    open(panel)
}

#[test]
fn marked_option_changes_others_and_dim_option_none() {
    let mut harness = with_stages(Page::Stages, ladder::POSITION.stages);
    let is_marked = |harness: &Test| paints(harness, |text| text == "separate*");
    assert!(is_marked(&harness) && !is_disabled(&harness, "separate"));
    click(&mut harness, "separate");
    let mut expected = *ladder::DELTA.stages;
    expected.changed_flags = cubewire_codec::stages::ChangedFlags::Separate;
    assert_eq!(*stages(&harness), expected);
    assert!(!is_marked(&harness));

    let mut harness = with_stages(Page::Stages, ladder::CHANGED_FLAGS.stages);
    click(&mut harness, "arithmetic");
    assert_eq!(stages(&harness), ladder::ARITHMETIC.stages);
    // The arithmetic coding has a selection of changed cubes built in.
    assert!(is_disabled(&harness, "indices"));
    click(&mut harness, "indices");
    assert_eq!(stages(&harness), ladder::ARITHMETIC.stages);
    click(&mut harness, "fixed bits");
    assert_eq!(stages(&harness), ladder::RELATIVE_INDEX.stages);
}

#[test]
fn every_stage_shows_its_measured_savings() {
    for rung in ladder::all() {
        let mut harness = open(measured(Page::Stages, rung.stages));
        for name in ["Orientation", "Coding", "Changed flags"] {
            assert!(says(&harness, &format!("{name}: saves ")), "{name}");
        }
        let is_uncompressed = rung.stages == ladder::UNCOMPRESSED.stages;
        assert_eq!(says(&harness, "Orientation: saves 0 kbps"), is_uncompressed);
        // The measurement lags behind a change of stages.
        let other = if is_uncompressed { ladder::DELTA } else { ladder::UNCOMPRESSED };
        change(&mut harness, |panel| panel.settings.sender.stages = other.stages);
        assert!(says(&harness, "Orientation: saves … kbps"), "{}", rung.name);
    }
    // Without measurements, the page shows no savings, not savings of 0.
    assert!(!says(&harness(Page::Stages), "saves"));
}

#[test]
fn savings_are_measured_while_stages_are_shown() {
    let mut app = App::new();
    app.insert_resource(panel(Page::Stages).state)
        .init_resource::<WantsAblation>()
        .add_systems(Update, want_ablation);
    for (page, is_measured) in [(Page::Stages, true), (Page::Ranges, false)] {
        app.world_mut().resource_mut::<PanelState>().page = page;
        app.update();
        assert_eq!(app.world().resource::<WantsAblation>().0, is_measured);
    }
}

/// Drags the knob of a slider to a distance from its left end.
fn drag(harness: &mut Test, name: &str, x: f32) {
    let slider = harness.get_by_role_and_label(Role::Slider, name).rect();
    let at = pos2(slider.left() + x, slider.center().y);
    harness.drag_at(at);
    harness.run();
    harness.drop_at(at);
    harness.run();
}

type IsSet = fn(Stages) -> bool;

#[test]
fn sliders_set_legal_values_of_present_stages() {
    let mut harness = with_stages(Page::Ranges, ladder::RELATIVE_ORIENTATION.stages);
    let set: [(_, IsSet); 3] = [
        ("Position grid", |it| {
            let steps_per_metre = Position::MIN_STEPS;
            it.position == Position::Quantized { steps_per_metre }
        }),
        ("Orientation", |it| it.orientation == Orientation::SmallestThree { bits: 2 }),
        ("Position difference, small", |it| it.relative_position.range_bits().unwrap()[0] == 1),
    ];
    for (name, is_set) in set {
        drag(&mut harness, name, 4.0);
        assert!(is_set(stages(&harness)), "{name}");
    }
    // Predicted positions have no such ranges and a fixed grid.
    change(&mut harness, |panel| panel.settings.sender.stages = ladder::PREDICTED_POSITION.stages);
    drag(&mut harness, "Position grid", 4.0);
    assert_eq!(stages(&harness), ladder::PREDICTED_POSITION.stages);
    assert!(harness.query_by_role_and_label(Role::Slider, "Position difference, small").is_none());
    assert!(says(&harness, "unlike the rung relative-position."));
}

#[test]
fn adjustable_ranges_come_first() {
    let (position, index) = ("Position difference", "Distance to the next cube");
    for (rung, first, second) in
        [(ladder::CHANGED_FLAGS, position, index), (ladder::RELATIVE_INDEX, index, position)]
    {
        let harness = with_stages(Page::Ranges, rung.stages);
        let [first, second] = [first, second].map(|name| harness.get_by_label(name).rect());
        assert!(first.top() < second.top(), "{}", rung.name);
        // The plot below its heading is visible, too.
        let heading = bottom(&harness, "Cost and error");
        assert!(heading + 76.0 <= toolbar(&harness), "{heading}");
    }
}

/// Opens the page of the budget with waiting cubes. Cube 3 waited longest.
fn waiting(count: usize) -> Test {
    let mut panel = panel(Page::Budget);
    panel.settings.sender.budget = Some(64);
    let wait = |index: usize| {
        let (since, error) = match index {
            3 => (370, 0.012),
            30.. => (386, 0.0),
            _ => (386, 0.006),
        };
        SendState::Waiting(Wait { since, error, priority: 11.3, more_urgent: index })
    };
    let up_to_date = SendState::UpToDate { sent: Some(300) };
    panel.send_states.now = (0..count).map(wait).chain((count..50).map(|_| up_to_date)).collect();
    panel.send_states.record(389);
    // The newest packet ended every wait.
    panel.send_states.now.fill(up_to_date);
    panel.send_states.record(390);
    open(panel)
}

#[test]
fn switched_off_budget_keeps_its_size() {
    let mut harness = harness(Page::Budget);
    let budget = |harness: &Test| harness.state().settings.sender.budget;
    click(&mut harness, "on");
    assert_eq!(budget(&harness), Some(64));
    drag(&mut harness, "Budget", 0.0);
    assert_eq!(budget(&harness), Some(16));
    click(&mut harness, "off");
    assert_eq!(budget(&harness), None);
    // Only the explanation and the switch.
    assert!(says(&harness, "A budget limits the bytes that the lane sends"));
    assert!(!says(&harness, "Nothing waited"));
    // The error without a budget, for comparison.
    let is_off = |text: &str| text == "4.0";
    assert!(paints(&harness, is_off) && paints(&harness, |text| text == "mean error"));
    assert!(harness.query_by_role(Role::Slider).is_none());
    click(&mut harness, "on");
    assert_eq!(budget(&harness), Some(16));
    drag(&mut harness, "Budget", 324.0);
    assert_eq!(budget(&harness), Some(1024));
    harness.run();
    let numbers = texts(&harness).filter(|(text, _)| *text == "1\u{2009}024");
    assert_eq!(numbers.count(), 2, "the field, and the end of the scale");
}

#[test]
fn farthest_cubes_are_named_first_others_counted() {
    let harness = waiting(40);
    assert!(says(&harness, "Waited in the last second: 40 cubes"));
    assert!(says(&harness, "Cube 3: moved 0.6 mm a tick, 317 ms, 12.0 mm"));
    let top = |cube: usize| {
        let name = format!("Cube {cube}: ");
        harness.query_by_label_contains(&name).map(|row| row.rect().min.y)
    };
    assert!(top(3) < top(0) && top(3).is_some());
    let shown = (0..40).filter(|cube| top(*cube).is_some()).count();
    assert!((5..40).contains(&shown), "{shown}");
    assert!(says(&harness, "10 cubes at rest, sent last: 50 ms"));
    assert!(bottom(&harness, &format!("{} more", 30 - shown)) <= toolbar(&harness));
    assert!(says(&waiting(0), "Nothing waited in the last second"));
}

#[test]
fn waiting_cube_is_hovered_and_selected() {
    let mut harness = waiting(10);
    harness.get_by_label_contains("Cube 3: ").hover();
    harness.run();
    assert_eq!(harness.state().selection.hovered, Some(3));
    click_on(&mut harness, "Cube 4: ");
    assert_eq!(harness.state().selection.cube, Some(4));
}
