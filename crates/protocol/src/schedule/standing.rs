//! What is on its way of each body, and what waits: for those who look on.

use super::Schedule;

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
    /// How far it is from what was last sent of it: of its surface, in the scene's units of length; as of one of the last
    /// four ticks.
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
    pub(crate) fn standings(&self, standings: &mut Vec<Standing>) {
        standings.extend((0..self.is_due.len()).map(|slot| {
            let sent = self.sent_at(slot);
            match sent.filter(|_| !self.is_confirmed[slot]) {
                _ if self.is_due[slot] => Standing::Withheld {
                    since: self.due_since[slot],
                },
                Some(sent) => Standing::InFlight { sent },
                None => Standing::UpToDate { sent },
            }
        }));
        let mut urgent = self.urgent.clone();
        urgent.sort_unstable();
        for (more_urgent, urgent) in urgent.into_iter().enumerate() {
            let due = self.due_of(urgent);
            standings[due.slot] = Standing::Waits(Wait {
                since: self.due_since[due.slot],
                error: self.changes[due.slot].error,
                priority: due.priority,
                more_urgent,
            });
        }
    }
}
