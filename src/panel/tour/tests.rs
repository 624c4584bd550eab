use std::collections::HashSet;

use super::*;

/// Counts sentences that end with a full stop.
fn sentences(text: &str) -> usize {
    text.matches(". ").count() + usize::from(text.ends_with('.'))
}

#[test]
fn every_step_says_something_of_its_own_in_a_few_sentences_and_leads_to_the_article() {
    let titles: HashSet<_> = STEPS.iter().map(|step| step.title).collect();
    assert_eq!(titles.len(), STEPS.len());
    for step in &STEPS {
        for (text, least, most, length) in [(step.text, 2, 3, 260), (step.difference, 1, 2, 90)] {
            assert!((least..=most).contains(&sentences(text)), "{text}");
            assert!(text.ends_with('.') && !text.contains('`'), "{text}");
            assert!(text.chars().count() <= length, "{text}");
        }
        assert!(step.address.starts_with("https://gafferongames.com/post/"));
    }
}

#[test]
fn the_tour_goes_forth_and_back_and_to_any_step_and_ends_with_a_card() {
    let mut tour = Tour::default();
    for action in [Action::TourNext, Action::TourBack, Action::LeaveTour] {
        assert_eq!(tour.after(action), tour);
    }
    tour = tour.after(Action::Tour);
    for index in 0..STEPS.len() {
        assert_eq!(tour.index, Some(index));
        assert_eq!(tour.after(Action::TourBack).index, Some(index.max(1) - 1));
        assert_eq!(tour.after(Action::Video), tour);
        for leave in [Action::Tour, Action::LeaveTour] {
            assert_eq!(tour.after(leave), Tour::default());
        }
        tour.is_done = true;
        tour = tour.after(Action::TourNext);
        assert!(!tour.is_done);
    }
    assert!(tour.is_over() && tour.step().is_none());
    assert_eq!(tour.after(Action::TourBack).index, Some(STEPS.len() - 1));
    for leave in [Action::Tour, Action::TourNext, Action::LeaveTour, Action::Video] {
        assert_eq!(tour.after(leave), Tour::default());
    }
    assert_eq!(tour.after(Action::TourStep(4)).index, Some(4));
    assert_eq!(tour.after(Action::TourStep(STEPS.len())), tour);
    let outside = Tour::default();
    assert_eq!(outside.after(Action::TourStep(4)), outside);
}
