//! The guided tour through the article: its pages, and the card of a step.
//!
//! The panel only turns the pages. The owner of the game inserts [`Tour`], follows its step, and changes settings and
//! scene to match. Without the resource, there is no tour.

mod card;
mod end;
mod steps;
mod watch;

use bevy::prelude::*;

use crate::controls::Action;
use crate::history::Moment;

pub(super) use card::{Guide, draw};
pub(super) use end::draw_end;
pub use steps::{STEPS, Scene, Task, TourStep};
pub use watch::Watch;

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Tour {
    /// Index of the displayed step in [`STEPS`]. `STEPS.len()` is the card at the end; `None` is outside of the tour.
    pub index: Option<usize>,
    /// Whether a web page around the game shows the text of the step, so that the panel does not.
    pub is_elsewhere: bool,
    pub is_done: bool,
    /// Whether the script of the step plays instead of the player.
    pub plays: bool,
}

impl Tour {
    /// Returns the displayed step; `None` outside of the tour and on the card at the end.
    pub fn step(&self) -> Option<&'static TourStep> {
        STEPS.get(self.index?)
    }

    pub fn is_over(&self) -> bool {
        self.index == Some(STEPS.len())
    }

    /// Whether the panel shows a card of the tour.
    pub(super) fn has_card(&self) -> bool {
        self.is_over() || (self.step().is_some() && !self.is_elsewhere)
    }

    pub fn after(self, action: Action) -> Self {
        let index = match (action, self.index) {
            (Action::Tour, None) => Some(0),
            (Action::Tour | Action::LeaveTour, Some(_)) => None,
            // The card *Film this* replaces the one at the end.
            (Action::Film, Some(_)) if self.is_over() => None,
            (Action::TourNext, Some(index)) => (index < STEPS.len()).then_some(index + 1),
            (Action::TourStep(step), Some(_)) if step < STEPS.len() => Some(step),
            (Action::TourBack, Some(index)) => Some(index.saturating_sub(1)),
            (_, index) => index,
        };
        if index == self.index {
            return self;
        }
        Self { index, is_elsewhere: self.is_elsewhere && index.is_some(), ..Self::default() }
    }
}

pub(super) fn on_action(action: On<Action>, tour: Option<ResMut<Tour>>, moment: Res<Moment>) {
    // In the past, Escape returns to the present instead.
    let stays = *action == Action::LeaveTour && moment.0.is_some();
    if let Some(mut tour) = tour.filter(|_| !stays) {
        tour.set_if_neq(tour.after(*action));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Counts sentences that end with a full stop.
    fn sentences(text: &str) -> usize {
        text.matches(". ").count() + usize::from(text.ends_with('.'))
    }

    #[test]
    fn steps_have_distinct_short_texts_and_an_address() {
        let titles: HashSet<_> = STEPS.iter().map(|step| step.title).collect();
        assert_eq!(titles.len(), STEPS.len());
        for step in &STEPS {
            for (text, least, most, length) in [(step.text, 2, 3, 260), (step.difference, 1, 2, 90)]
            {
                assert!((least..=most).contains(&sentences(text)), "{text}");
                assert!(text.ends_with('.') && !text.contains('`'), "{text}");
                assert!(text.chars().count() <= length, "{text}");
            }
            assert!(step.address.starts_with("https://gafferongames.com/post/"));
        }
    }

    #[test]
    fn tour_moves_to_any_step_and_ends() {
        let mut tour = Tour::default();
        for action in [Action::TourNext, Action::TourBack, Action::LeaveTour] {
            assert_eq!(tour.after(action), tour);
        }
        tour = tour.after(Action::Tour);
        for index in 0..STEPS.len() {
            assert_eq!(tour.index, Some(index));
            assert_eq!(tour.after(Action::TourBack).index, Some(index.max(1) - 1));
            assert_eq!(tour.after(Action::Film), tour);
            for leave in [Action::Tour, Action::LeaveTour] {
                assert_eq!(tour.after(leave), Tour::default());
            }
            tour.is_done = true;
            tour = tour.after(Action::TourNext);
            assert!(!tour.is_done);
        }
        assert!(tour.is_over() && tour.step().is_none());
        assert_eq!(tour.after(Action::TourBack).index, Some(STEPS.len() - 1));
        for leave in [Action::Tour, Action::TourNext, Action::LeaveTour, Action::Film] {
            assert_eq!(tour.after(leave), Tour::default());
        }
        assert_eq!(tour.after(Action::TourStep(4)).index, Some(4));
        assert_eq!(tour.after(Action::TourStep(STEPS.len())), tour);
        let outside = Tour::default();
        assert_eq!(outside.after(Action::TourStep(4)), outside);
    }
}
