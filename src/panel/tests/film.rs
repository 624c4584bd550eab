//! *Film this*: the button, its card and the progress.

use super::*;

#[test]
fn the_card_films_the_chosen_length_and_copies_a_command() {
    let mut harness = harness(Page::Ladder);
    click_on(&mut harness, "Film this");
    assert_eq!(harness.state().actions, [Action::Film]);
    change(&mut harness, |panel| panel.state.film_card = true);
    assert!(!says(&harness, "Film this"));
    click(&mut harness, "60 s");
    harness.state_mut().actions.clear();
    click_on(&mut harness, "Copy command");
    click(&mut harness, "Film F11");
    assert_eq!(harness.state().actions, [Action::CopyFilm(60), Action::Film]);
    change(&mut harness, |panel| panel.status.plays = false);
    assert!(is_disabled(&harness, "Copy command"));
}

#[test]
fn while_a_film_is_rendered_its_progress_replaces_the_button() {
    let mut harness = harness(Page::Ladder);
    change(&mut harness, |panel| {
        panel.state.size = PanelSize::Hidden;
        panel.state.film_card = true;
        panel.status.film = Some(0.43);
    });
    assert_eq!(words(&harness, "43 %").count(), 1);
    assert!(!says(&harness, "Film this"));
    assert!(!harness.state().state.film_card);
    click_on(&mut harness, "Stop");
    assert_eq!(harness.state().actions, [Action::StopFilm]);
    change(&mut harness, |panel| panel.status.film = None);
    assert!(!says(&harness, "Film this"), "the panel is hidden");
}

#[test]
fn what_is_over_the_view_is_hidden_while_the_window_is_recorded() {
    let mut harness = harness(Page::Ladder);
    assert!(says(&harness, "Film this"));
    change(&mut harness, |panel| panel.status.records_video = true);
    assert!(!says(&harness, "Film this"));
}
