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
