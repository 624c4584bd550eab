//! The guided tour through the article: turns its pages, and draws the card that explains a step.
//!
//! The panel only turns the pages. What a step switches and plays is thrown by whoever owns the game, which
//! inserts the [`Tour`] and follows its step; without that resource there is no tour.

mod card;
mod end;
mod steps;
mod watch;

use bevy::prelude::*;

use crate::controls::Action;
use crate::history::Moment;

pub(super) use card::{Guide, draw};
pub(super) use end::End;
pub use steps::{STEPS, Scene, Task, TourStep};
pub use watch::Watch;

/// The guided tour.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Tour {
    /// Index in [`STEPS`] of the step that is shown, or their number for the card at the end; none outside of the tour.
    pub index: Option<usize>,
    /// Whether a page around the game says what the steps say, so that the panel need not.
    pub is_elsewhere: bool,
    /// Whether the task of this step is done.
    pub is_done: bool,
    /// Whether the script of this step plays, and not the player.
    pub plays: bool,
}

impl Tour {
    /// The step that is shown; none outside of the tour.
    #[must_use]
    pub fn step(&self) -> Option<&'static TourStep> {
        STEPS.get(self.index?)
    }

    /// Whether the card at the end is shown.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.index == Some(STEPS.len())
    }

    /// The tour after an action.
    #[must_use]
    pub fn after(self, action: Action) -> Self {
        let index = match (action, self.index) {
            (Action::Tour, None) => Some(0),
            (Action::Tour | Action::LeaveTour, Some(_)) => None,
            // What is filmed is the play, not the card.
            (Action::Video, Some(_)) if self.is_over() => None,
            (Action::TourNext, Some(index)) => (index < STEPS.len()).then_some(index + 1),
            (Action::TourStep(step), Some(_)) if step < STEPS.len() => Some(step),
            (Action::TourBack, Some(index)) => Some(index.saturating_sub(1)),
            (_, index) => index,
        };
        if index == self.index {
            return self;
        }
        Self {
            index,
            is_elsewhere: self.is_elsewhere && index.is_some(),
            ..Self::default()
        }
    }
}

/// Turns the pages.
pub(super) fn on_action(action: On<Action>, tour: Option<ResMut<Tour>>, moment: Res<Moment>) {
    // Escape returns from the past first.
    let stays = *action == Action::LeaveTour && moment.0.is_some();
    if let Some(mut tour) = tour.filter(|_| !stays) {
        let after = tour.after(*action);
        tour.set_if_neq(after);
    }
}

#[cfg(test)]
mod tests;
