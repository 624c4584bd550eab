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
pub(super) use end::End;
pub use steps::{STEPS, Scene, Task, TourStep};
pub use watch::Watch;

/// State of the guided tour.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Tour {
    /// Index of the displayed step in [`STEPS`]. `STEPS.len()` is the card at the end; `None` is outside of the tour.
    pub index: Option<usize>,
    /// Whether a web page around the game shows the text of the step, so that the panel does not.
    pub is_elsewhere: bool,
    /// Whether the task of the step is done.
    pub is_done: bool,
    /// Whether the script of the step plays instead of the player.
    pub plays: bool,
}

impl Tour {
    /// Returns the displayed step; `None` outside of the tour and on the card at the end.
    #[must_use]
    pub fn step(&self) -> Option<&'static TourStep> {
        STEPS.get(self.index?)
    }

    /// Whether the card at the end is shown.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.index == Some(STEPS.len())
    }

    /// Returns the tour after an action.
    #[must_use]
    pub fn after(self, action: Action) -> Self {
        let index = match (action, self.index) {
            (Action::Tour, None) => Some(0),
            (Action::Tour | Action::LeaveTour, Some(_)) => None,
            // The card must not be in the video.
            (Action::Video, Some(_)) if self.is_over() => None,
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

/// Turns the pages.
pub(super) fn on_action(action: On<Action>, tour: Option<ResMut<Tour>>, moment: Res<Moment>) {
    // In the past, Escape returns to the present instead.
    let stays = *action == Action::LeaveTour && moment.0.is_some();
    if let Some(mut tour) = tour.filter(|_| !stays) {
        let after = tour.after(*action);
        tour.set_if_neq(after);
    }
}

#[cfg(test)]
mod tests;
