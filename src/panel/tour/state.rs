//! Where the guided tour is.

use bevy::prelude::*;

use super::steps::{STEPS, TourStep};
use crate::controls::Action;

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
