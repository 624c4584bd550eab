//! State of each body after a tick with a budget: sent, in flight or waiting. For displays.

use super::{Due, Schedule};

/// State of a body after a tick with a budget. Ticks are the sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SendState {
    /// The receiver is known to have the wanted state, from a packet or from the initial state.
    UpToDate {
        /// Tick of that packet, or `None` for the initial state.
        sent: Option<u64>,
    },
    /// The wanted state was sent and may still arrive.
    InFlight {
        /// Tick of the packet.
        sent: u64,
    },
    /// The body is due and waits for a packet.
    Waiting(Wait),
    /// The body is due, but its gain forbids sending it.
    Withheld {
        /// First tick when it was due.
        since: u64,
    },
}

/// A body that waits for a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// First tick when it was due.
    pub since: u64,
    /// Distance of its surface from the state that was last sent, in the scene's units of length. Estimated in one of
    /// the last four ticks.
    pub error: f32,
    /// Priority that has accumulated during the wait.
    pub priority: f32,
    /// Number of waiting bodies that will be sent before it.
    pub more_urgent: usize,
}

impl SendState {
    /// Returns how many ticks the body has been due at `tick`, or `None` if it is not due.
    pub const fn waiting_ticks(&self, tick: u64) -> Option<u64> {
        match self {
            Self::UpToDate { .. } | Self::InFlight { .. } => None,
            Self::Waiting(Wait { since, .. }) | Self::Withheld { since } => {
                Some(tick.saturating_sub(*since))
            }
        }
    }
}

impl Schedule {
    /// Appends the state of every body in the tick of the last `advance`.
    pub(crate) fn send_states(&self, send_states: &mut Vec<SendState>) {
        send_states.extend(self.bodies.iter().map(|body| match (body.due_since, body.sent_at) {
            (Some(since), _) => SendState::Withheld { since },
            (None, Some(sent)) if !body.is_confirmed => SendState::InFlight { sent },
            (None, sent) => SendState::UpToDate { sent },
        }));
        let mut due = self.due.clone();
        due.sort_unstable_by_key(Due::order);
        for (more_urgent, Due { slot, priority, .. }) in due.into_iter().enumerate() {
            let body = &self.bodies[slot];
            if let Some(since) = body.due_since {
                let error = body.change.error;
                send_states[slot] =
                    SendState::Waiting(Wait { since, error, priority, more_urgent });
            }
        }
    }
}
