//! The page *Help*: theme, size, command, article, and keys.

use super::*;

#[test]
fn the_size_changes_by_steps_or_follows_the_window() {
    let mut harness = harness(Page::Help);
    for (button, factor) in
        [("+", Some(1.1)), ("+", Some(1.2)), ("−", Some(1.1)), ("by window", None)]
    {
        click(&mut harness, button);
        assert_eq!(harness.state().state.scale, factor, "{button}");
    }
}

#[test]
fn the_keys_of_most_use_are_in_sight_and_all_of_them_on_a_card() {
    let mut harness = harness(Page::Help);
    for label in ["R: reset", "F3: take the tour", "Reset the panel"] {
        let bottom = bottom(&harness, label);
        assert!(bottom <= toolbar(&harness), "{label}: {bottom}");
    }
    let right = texts(&harness).map(|(_, rect)| rect.right());
    let right = right.fold(0.0, f32::max);
    assert!(right <= SIZE.x - 15.0, "{right}");
    let rows = crate::controls::BINDINGS.iter();
    let rows = rows.map(|row| {
        let keys = row.names().join(", ");
        format!("{keys}: {}", row.about.replace('`', ""))
    });
    // Some rows are on the page as well.
    let rows = rows.filter(|row| harness.query_by_label(row).is_none());
    let rows: Vec<_> = rows.collect();
    let is_shown = |harness: &Harness<'_, Panel>| {
        let is_known = |row: &&String| harness.query_by_label(row).is_some();
        rows.iter().filter(is_known).count()
    };
    for closes in ["Esc", "click", "another tab"] {
        click(&mut harness, "All keys");
        assert_eq!(is_shown(&harness), rows.len());
        assert!(harness.ctx.any_popup_open(), "keys would reach the game");
        let last = harness.get_by_label(rows.last().unwrap()).rect();
        assert!(last.max.y < SIZE.y && last.max.x < SIZE.x - 356.0);
        match closes {
            "Esc" => harness.key_press(egui::Key::Escape),
            "click" => harness.get_by_label(&rows[0]).click(),
            _ => {
                click(&mut harness, "Network");
                click(&mut harness, "Help");
            }
        }
        harness.run();
        assert_eq!(is_shown(&harness), 0, "{closes}");
        assert!(!harness.ctx.any_popup_open());
    }
}

#[test]
fn the_panel_is_reset_when_that_is_confirmed() {
    let mut harness = harness(Page::Help);
    change(&mut harness, |panel| panel.state.graph_seconds.0 = 60);
    click(&mut harness, "Reset the panel");
    assert_eq!(harness.state().state.graph_seconds.0, 60, "it asks");
    click(&mut harness, "Really reset it?");
    let state = &harness.state().state;
    assert_eq!((state.graph_seconds.0, state.page), (20, Page::Ladder));
    assert!(state.explained);
}
