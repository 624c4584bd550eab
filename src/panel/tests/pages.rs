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
fn every_rung_is_in_sight_and_is_selected_by_a_click() {
    let mut harness = harness(Page::Ladder);
    for rung in LADDER.iter().chain([&ladder::AFFINE]) {
        let row = harness.get_all_by_label(rung.name).last().unwrap();
        assert!(
            row.rect().max.y < SIZE.y - 50.0,
            "{} at {:?}",
            rung.name,
            row.rect()
        );
        row.click();
        harness.run();
        assert_eq!(harness.state().settings.sender.stages, rung.stages);
    }
}

#[test]
fn the_bits_tab_names_every_kind_and_both_accountings() {
    let harness = harness(Page::Kinds);
    for kind in cubewire_codec::BitKind::DEMO {
        // No packet has them here.
        let is_simulated = matches!(kind.name(), "inputs" | "state");
        let is_there = harness.query_by_label(kind.name()).is_some();
        assert_eq!(is_there, !is_simulated, "{kind}");
    }
    for name in [
        "snapshots, article accounting",
        "snapshots, on the wire",
        "acks of snapshots, on the wire",
        "the transport's own acks, on the wire",
    ] {
        assert!(harness.query_by_label(name).is_some(), "{name}");
    }
}

#[test]
fn the_keys_tab_lists_every_key_and_sets_theme_and_size() {
    let mut harness = harness(Page::Help);
    for row in &crate::controls::BINDINGS {
        assert!(harness.query_by_label(row.about).is_some(), "{}", row.about);
    }
    click(&mut harness, "dark");
    assert_eq!(harness.state().state.theme, Theme::Dark);
    let before = harness.ctx.zoom_factor();
    harness.get_by_label("+").click();
    harness.run_steps(3);
    assert!(harness.ctx.zoom_factor() > before);
}

/// The panel of a lane on the top rung.
fn simulated(page: Page, sync: LaneSync) -> Harness<'static, Panel> {
    let mut panel = panel(page);
    panel.settings.sender.stages = ladder::SIMULATED.stages;
    panel.sync = Some(sync);
    panel.shadow = Some(ShadowLadder::of_bytes(60, |index, _| 2_000 - 100 * index));
    panel.tick = Some(60);
    open(panel)
}

#[test]
fn the_top_rung_says_whether_both_ends_are_in_sync_within_the_page() {
    let (mut synced, mut sending) = (LaneSync::default(), LaneSync::default());
    synced.tick = 800;
    synced.status = SyncStatus::Synced { since: 200 };
    sending.state_progress = Some((8, 21));
    for (sync, text) in [
        (synced, "In sync for 10.0 s"),
        (sending, "sending a state: 8 of 21 chunks"),
        (LaneSync::default(), "Predicted: waiting for a state"),
    ] {
        let harness = simulated(Page::Ladder, sync.clone());
        assert!(harness.query_by_label_contains(text).is_some(), "{text}");
        let bottom = harness.get_by_label("nudge").rect().max.y;
        let toolbar = harness.get_by_label_contains("Pause").rect().min.y;
        assert!(bottom <= toolbar, "{bottom}, {toolbar}");
        let panel = harness.state();
        assert_eq!(panel.drawn.inset.right, 408.0);
    }
    let harness = harness(Page::Ladder);
    assert!(harness.query_by_label("nudge").is_none());
}

#[test]
fn the_top_rung_is_nudged_by_a_click() {
    let mut harness = simulated(Page::Ladder, LaneSync::default());
    click(&mut harness, "nudge");
    harness.run();
    assert_eq!(harness.state().desyncs, 1);
}
