//! What is on its way of each body, and what waits: for those who look on.

use super::{Due, NEVER, Schedule};

/// How a body stands after a tick with a budget. Ticks are the sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// The receiver has it as it is to be, from a packet of that tick, or from the initial state.
    UpToDate {
        /// When it was last sent.
        sent: Option<u64>,
    },
    /// It was sent as it is to be, and that may yet arrive.
    InFlight {
        /// When it was sent.
        sent: u64,
    },
    /// It is to be sent, and waits.
    Waits(Wait),
    /// It is to be sent, and its gain forbids that.
    Withheld {
        /// The first tick for which it was due.
        since: u64,
    },
}

/// A body that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The first tick for which it was due.
    pub since: u64,
    /// How far it is from what was last sent of it: of its surface, in the scene's units of length.
    pub error: f32,
    /// What has accumulated while it waited.
    pub priority: f32,
    /// How many bodies that wait, too, are to be sent before it.
    pub more_urgent: usize,
}

impl Standing {
    /// Ticks for which the body has been due until this one, if it is.
    #[must_use]
    pub const fn waits(&self, tick: u64) -> Option<u64> {
        match self {
            Self::UpToDate { .. } | Self::InFlight { .. } => None,
            Self::Waits(Wait { since, .. }) | Self::Withheld { since } => {
                Some(tick.saturating_sub(*since))
            }
        }
    }
}

impl Schedule {
    /// How every body stands in the tick that was advanced to.
    pub(crate) fn standings(&self, tick: u64, standings: &mut Vec<Standing>) {
        let bodies = 0..self.due_since.len();
        standings.extend(
            bodies.map(|slot| match (self.due_since[slot], self.sent_at[slot]) {
                (NEVER, NEVER) => Standing::UpToDate { sent: None },
                (NEVER, sent) if self.is_confirmed[slot] => Standing::UpToDate { sent: Some(sent) },
                (NEVER, sent) => Standing::InFlight { sent },
                (since, _) => Standing::Withheld { since },
            }),
        );
        let mut sorted: Vec<&Due> = self.due.iter().collect();
        sorted.sort_unstable_by(|due, other| due.order(other));
        for (more_urgent, due) in sorted.into_iter().enumerate() {
            standings[due.slot] = Standing::Waits(Wait {
                since: self.due_since[due.slot].min(tick),
                error: due.error,
                priority: due.priority,
                more_urgent,
            });
        }
    }
}
