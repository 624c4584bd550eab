//! The inputs that are still sent.

use std::collections::VecDeque;

use crate::wire::RECENT_INPUTS;

/// The last inputs on a channel.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Number of the last.
    pub(super) newest: u64,
    /// With the number of datagrams that each has been in.
    pub(super) recent: VecDeque<(Vec<u8>, usize)>,
}

impl Inputs {
    pub(super) fn push(&mut self, input: Vec<u8>) {
        self.newest += 1;
        self.recent.push_back((input, 0));
        if self.recent.len() > RECENT_INPUTS {
            self.recent.pop_front();
        }
    }

    /// One has been in enough datagrams.
    pub(super) fn sent(&mut self) {
        self.recent.iter_mut().for_each(|(_, sent)| *sent += 1);
        while self
            .recent
            .front()
            .is_some_and(|&(_, sent)| sent >= RECENT_INPUTS)
        {
            self.recent.pop_front();
        }
    }
}
