//! The page that helps: theme, size, the command, and the keys.

use super::*;

#[test]
fn theme_and_size_are_set_by_clicks() {
    let mut harness = harness(Page::Help);
    click(&mut harness, "dark");
    assert_eq!(harness.state().state.theme, Theme::Dark);
    for (button, factor) in [
        ("+", Some(1.1)),
        ("+", Some(1.2)),
        ("−", Some(1.1)),
        ("by window", None),
    ] {
        click(&mut harness, button);
        assert_eq!(harness.state().state.scale, factor, "{button}");
    }
}

#[test]
fn the_command_is_shown_and_copied() {
    let mut harness = harness(Page::Help);
    let command = "--right rung:changed-flags";
    assert!(harness.query_by_label(command).is_some());
    click(&mut harness, "Copy command");
    assert_eq!(harness.state().actions, [Action::CopyLink]);
    harness.state_mut().halves.as_mut().unwrap().left_is_lane = true;
    harness.run();
    let both = "--left rung:changed-flags --right rung:changed-flags";
    assert!(harness.query_by_label(both).is_some());
}

#[test]
fn the_keys_of_most_use_are_in_sight_and_all_of_them_on_a_card() {
    let mut harness = harness(Page::Help);
    let toolbar = harness.get_by_label_contains("Pause").rect().min.y;
    for label in ["R: reset", "F3: tour", "All keys", "Reset the panel"] {
        let bottom = harness.get_by_label_contains(label).rect().max.y;
        assert!(bottom <= toolbar, "{label}: {bottom} below {toolbar}");
    }
    let rows = crate::controls::BINDINGS.iter();
    let rows = rows.map(|row| format!("{}: {}", row.keys, row.about.replace('`', "")));
    // Some are on the page, too.
    let rows = rows.filter(|row| harness.query_by_label(row).is_none());
    let rows: Vec<_> = rows.collect();
    let is_shown = |harness: &Harness<'_, Panel>| {
        let known = rows
            .iter()
            .filter(|row| harness.query_by_label(row).is_some());
        known.count()
    };
    for closes in ["Esc", "click"] {
        click(&mut harness, "All keys");
        assert_eq!(is_shown(&harness), rows.len());
        let last = harness.get_by_label(rows.last().unwrap()).rect();
        assert!(last.max.y < SIZE.y && last.max.x < SIZE.x - 408.0);
        match closes {
            "Esc" => harness.key_press(egui::Key::Escape),
            _ => harness.get_by_label(&rows[0]).click(),
        }
        harness.run();
        assert_eq!(is_shown(&harness), 0, "{closes}");
    }
}

#[test]
fn the_address_of_the_article_is_shown_and_copied() {
    let mut harness = harness(Page::Help);
    click(&mut harness, "Read the article");
    let address = "https://gafferongames.com/post/snapshot_compression/";
    assert!(harness.query_by_label(address).is_some());
    harness.get_by_label("Copy the address").click();
    harness.step();
    let mut commands = harness.output().platform_output.commands.iter();
    let copies = commands
        .any(|command| matches!(command, egui::OutputCommand::CopyText(text) if text == address));
    assert!(copies);
}

#[test]
fn the_panel_is_reset_when_that_is_confirmed() {
    let mut harness = harness(Page::Help);
    harness.state_mut().state.graph_seconds = 60;
    harness.run();
    click(&mut harness, "Reset the panel");
    assert_eq!(harness.state().state.graph_seconds, 60, "it asks");
    click(&mut harness, "Really reset it?");
    let state = &harness.state().state;
    assert_eq!((state.graph_seconds, state.page), (20, Page::Ladder));
    assert!(state.explained);
}
