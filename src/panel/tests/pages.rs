//! Each page of the panel.

use super::*;

#[test]
fn a_tab_opens_with_a_click_and_its_pages_with_another() {
    let mut harness = harness(Page::Help);
    for tab in Tab::ALL {
        click(&mut harness, tab.title());
        for page in tab.pages() {
            if tab.pages().len() > 1 {
                harness
                    .get_all_by_label(page.title())
                    .last()
                    .unwrap()
                    .click();
                harness.run();
            }
            assert_eq!(harness.state().state.page, *page);
            assert!(harness.query_by_label("freeze").is_some(), "{page:?}");
        }
    }
    click(&mut harness, "Network");
    assert_eq!(
        harness.state().state.page,
        Page::Halves,
        "the one that was open"
    );
    assert_eq!(harness.state().settings, LaneSettings::default());
}

#[test]
fn a_stage_is_switched_by_a_click_and_an_illegal_one_is_disabled() {
    let mut harness = harness(Page::Stages);
    harness.state_mut().settings.sender.stages = ladder::POSITION.stages;
    harness.run();
    click(&mut harness, "changed bits");
    let stages = harness.state().settings.sender.stages;
    assert_eq!(ladder::rung_of(stages), Some(ladder::DELTA));
    harness.state_mut().settings.sender.stages = ladder::POSITION.stages;
    harness.run();
    let separate = harness.get_by_label("separate");
    assert!(separate.accesskit_node().is_disabled());
}

#[test]
fn the_network_tab_cuts_resets_and_sets_rate_and_baseline() {
    let mut harness = harness(Page::Link);
    click(&mut harness, "cut");
    assert!(harness.state().settings.link.conditions.cut);
    click(&mut harness, "20");
    click(&mut harness, "smallest");
    let sender = harness.state().settings.sender;
    assert_eq!(sender.snapshots_per_second(), 20);
    assert_eq!(sender.baseline, BaselineChoice::Smallest);
    click(&mut harness, "reset");
    assert_eq!(harness.state().settings.link, LaneSettings::default().link);
}

#[test]
fn every_preset_is_in_sight_in_its_list() {
    let mut harness = harness(Page::Link);
    harness.get_by_value("50 ms each way").click();
    harness.run();
    for preset in &cubewire_link::PRESETS {
        let entry = harness.get_by_label(preset.title);
        assert!(entry.rect().max.y <= SIZE.y, "{}", preset.title);
    }
    click(&mut harness, "Satellite");
    let conditions = &harness.state().settings.link.conditions;
    assert_eq!(Preset::of(conditions).unwrap().name, "satellite");
}

#[test]
fn the_playout_tab_sets_interpolation_and_delay_and_warns_of_missing_velocities() {
    let mut harness = harness(Page::Link);
    click(&mut harness, "hermite");
    click(&mut harness, "adaptive");
    let playout = harness.state().settings.playout;
    assert_eq!(playout.interpolation, Interpolation::Hermite);
    assert_eq!(playout.delay, PlayoutDelay::Adaptive);
    assert!(
        harness
            .query_by_label_contains("hermite → linear")
            .is_some()
    );
    harness.state_mut().settings.sender.stages = ladder::AT_REST.stages;
    harness.run();
    assert!(harness.query_by_label_contains("→ linear").is_none());
}

#[test]
fn the_halves_tab_picks_a_second_lane_and_settings_of_each() {
    let mut harness = harness(Page::Halves);
    click(&mut harness, "a lane");
    assert!(harness.state().halves.as_ref().unwrap().left_is_lane);
    harness.get_all_by_label("30").last().unwrap().click();
    harness.run();
    let (side, content) = harness.state().typed[0].clone();
    let PaneContent::Lane(lane) = content else {
        panic!("a lane was picked");
    };
    assert_eq!(side, Side::Right);
    assert_eq!(lane.sender.snapshots_per_second(), 30);
}

#[test]
fn typed_lane_text_takes_effect_on_enter_and_an_error_is_shown_without_a_tooltip() {
    let mut harness = harness(Page::Halves);
    let type_text = |harness: &mut Harness<'_, Panel>, text: &str| {
        harness.get_by_role(Role::TextInput).focus();
        harness.run();
        harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::A);
        harness.event(egui::Event::Text(text.to_owned()));
        harness.run();
    };
    type_text(&mut harness, "rung:indxe");
    assert!(
        harness
            .query_by_label_contains("unknown rung `indxe`")
            .is_some()
    );
    let field = harness.get_by_role(Role::TextInput);
    field.hover();
    harness.run_steps(90);
    assert!(harness.query_by_label_contains("press Enter").is_none());
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(harness.state().typed.is_empty());
    // A click elsewhere does not lose it, Esc does.
    click(&mut harness, "Ladder");
    click(&mut harness, "Halves");
    assert!(
        harness
            .query_by_label_contains("unknown rung `indxe`")
            .is_some()
    );
    harness.get_by_role(Role::TextInput).focus();
    harness.run();
    harness.key_press(egui::Key::Escape);
    harness.run();
    assert!(harness.query_by_label_contains("unknown rung").is_none());

    type_text(&mut harness, "rung:index,link:4g");
    harness.key_press(egui::Key::Enter);
    harness.run();
    let lane = "rung:index,link:4g".parse().unwrap();
    assert_eq!(harness.state().typed, [(Side::Right, lane)]);
}

#[test]
fn the_copy_button_copies_and_says_so() {
    let mut harness = harness(Page::Halves);
    harness.get_by_label("Copy for the command line").click();
    harness.step();
    let copied = harness
        .output()
        .platform_output
        .commands
        .iter()
        .any(|command| {
            matches!(command, egui::OutputCommand::CopyText(text)
            if text == "--left simulation --right rung:changed-flags")
        });
    assert!(copied);
    harness.step();
    assert!(harness.query_by_label("Copied").is_some());
}
