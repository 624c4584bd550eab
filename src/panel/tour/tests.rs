use std::collections::HashSet;

use super::*;

/// Sentences, each of which ends with a full stop.
fn sentences(text: &str) -> usize {
    text.matches(". ").count() + usize::from(text.ends_with('.'))
}

#[test]
fn every_step_has_a_title_of_its_own_and_two_or_three_sentences() {
    let titles: HashSet<_> = STEPS.iter().map(|step| step.title).collect();
    assert_eq!(titles.len(), STEPS.len());
    for step in &STEPS {
        let count = sentences(step.text);
        assert!((2..=3).contains(&count), "{}: {count}", step.title);
        assert!(step.text.ends_with('.'), "{}", step.title);
        assert!(step.text.len() <= 270, "{}", step.title);
    }
}

#[test]
fn a_few_steps_have_something_to_do() {
    let tasks = STEPS.iter().filter(|step| step.task.is_some()).count();
    assert!((1..=3).contains(&tasks));
}

#[test]
fn the_tour_goes_forth_and_back_and_ends_after_its_last_step() {
    let mut tour = Tour::default();
    for action in [Action::TourNext, Action::TourBack, Action::LeaveTour] {
        assert_eq!(tour.after(action), tour);
    }
    tour = tour.after(Action::Tour);
    for index in 0..STEPS.len() {
        assert_eq!(tour.index, Some(index));
        assert_eq!(tour.after(Action::TourBack).index, Some(index.max(1) - 1));
        for leave in [Action::Tour, Action::LeaveTour] {
            assert_eq!(tour.after(leave), Tour::default());
        }
        tour.is_done = true;
        tour = tour.after(Action::TourNext);
        assert!(!tour.is_done);
    }
    assert_eq!(tour.index, None);
}

#[test]
fn values_have_few_digits() {
    assert_eq!(Watch::Kbps.text(17_368.8), "17.4 Mbps");
    assert_eq!(Watch::Kbps.text(329.5), "330 kbps");
    assert_eq!(Watch::Position.text(26.14), "26.1");
    assert_eq!(Watch::Lost.text(5.4), "5 %");
    assert_eq!(Watch::Error.text(0.001_23), "1.2 mm");
}
