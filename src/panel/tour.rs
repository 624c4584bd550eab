//! The guided tour through the article: turns its pages, and draws the card that explains a step.
//!
//! The panel only turns the pages. What a step switches and plays is thrown by whoever owns the game, which
//! inserts the [`Tour`] and follows its step; without that resource there is no tour.

mod card;
mod end;
pub(super) mod state;
mod steps;
mod watch;

use bevy::prelude::*;

use super::settings::PanelState;
use crate::controls::Action;
use crate::history::Moment;

pub(super) use card::{Guide, draw};
pub(super) use end::End;
pub use state::Tour;
pub use steps::{Figure, STEPS, Scene, Task, TourStep};
pub use watch::Watch;

/// Turns the pages.
pub(super) fn on_action(
    action: On<Action>,
    tour: Option<ResMut<Tour>>,
    moment: Res<Moment>,
    mut state: ResMut<PanelState>,
) {
    let Some(mut tour) = tour else {
        return;
    };
    // Escape returns from the past first.
    if *action == Action::LeaveTour && moment.0.is_some() {
        return;
    }
    let was_there = tour.step().is_some();
    let after = tour.after(*action);
    tour.set_if_neq(after);
    // Whoever takes the tour needs no other explanation.
    if !was_there && after.step().is_some() && state.explaining {
        state.explaining = false;
        state.explained = true;
    }
}

#[cfg(test)]
mod tests;
