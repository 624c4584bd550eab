//! The server's queue of a client's tick inputs.

use std::collections::VecDeque;

/// Maximum number of inputs that wait. Beyond it, the oldest one is dropped: half a second at 60 Hz.
pub(super) const MAX_QUEUED: usize = 30;

/// Number of ticks for which the last input is repeated if none waits. Jitter rarely delays inputs for longer.
const MAX_REPEATED: u32 = 6;

/// Number of ticks without an arrival after which a client counts as one that sends no inputs.
const SILENT_TICKS: u32 = 60;

/// Inputs of one client, one per tick.
#[derive(Debug)]
pub(super) struct InputQueue {
    /// Inputs with their numbers, ascending.
    waiting: VecDeque<(u64, Vec<u8>)>,
    /// The last input that was used.
    last: Vec<u8>,
    /// Number of the last input that was used.
    used: u64,
    repeated: u32,
    /// Number of inputs that waited at the last [`take`](Self::take).
    queued: u8,
    silent_ticks: u32,
}

impl Default for InputQueue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            last: Vec::new(),
            used: 0,
            repeated: MAX_REPEATED,
            queued: 0,
            silent_ticks: SILENT_TICKS,
        }
    }
}

impl InputQueue {
    /// Adds an input with a higher number than all before it.
    pub(super) fn push(&mut self, number: u64, input: &[u8]) {
        self.silent_ticks = 0;
        if self.waiting.len() == MAX_QUEUED {
            self.waiting.pop_front();
        }
        self.waiting.push_back((number, input.to_vec()));
    }

    /// Takes the input for a tick. If none waits, the last one is repeated for up to [`MAX_REPEATED`] ticks.
    pub(super) fn take(&mut self) -> Option<&[u8]> {
        self.silent_ticks = (self.silent_ticks + 1).min(SILENT_TICKS);
        self.queued = self.waiting.len() as u8;
        match self.waiting.pop_front() {
            Some((number, input)) => {
                (self.used, self.last, self.repeated) = (number, input, 0);
            }
            None if self.repeated < MAX_REPEATED => self.repeated += 1,
            None => return None,
        }
        Some(&self.last)
    }

    /// Drops what waits. Until an input arrives, there is no report: see [`split`](super::tick_inputs::TickInputs::split).
    pub(super) fn stop(&mut self) {
        self.waiting.clear();
        self.silent_ticks = SILENT_TICKS;
    }

    /// Number of the last input that was used, and the number of inputs that waited then. `None` if the client sends no
    /// inputs.
    pub(super) fn report(&self) -> Option<(u64, u8)> {
        (self.silent_ticks < SILENT_TICKS).then_some((self.used, self.queued))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes inputs for some ticks, 0 for none.
    fn take(queue: &mut InputQueue, ticks: usize) -> Vec<u8> {
        (0..ticks).map(|_| queue.take().map_or(0, |input| input[0])).collect()
    }

    #[test]
    fn one_is_used_per_tick_and_the_last_is_repeated() {
        let mut queue = InputQueue::default();
        assert_eq!(take(&mut queue, 3), [0; 3]);
        assert_eq!(queue.report(), None);
        for number in 1..=3 {
            queue.push(number, &[number as u8]);
        }
        assert_eq!(take(&mut queue, 2), [1, 2]);
        assert_eq!(queue.report(), Some((2, 2)));
        assert_eq!(take(&mut queue, 8), [3, 3, 3, 3, 3, 3, 3, 0]);
        assert_eq!(queue.report(), Some((3, 0)));
        // A gap in the numbers is a lost input.
        queue.push(7, &[7]);
        assert_eq!(take(&mut queue, 1), [7]);
        assert_eq!(queue.report(), Some((7, 1)));
    }

    #[test]
    fn beyond_thirty_the_oldest_go() {
        let mut queue = InputQueue::default();
        for number in 1..=100 {
            queue.push(number, &[number as u8]);
        }
        let ticks: Vec<u8> = (71..=100).collect();
        assert_eq!(take(&mut queue, 30), ticks);
        assert_eq!(queue.report(), Some((100, 1)));
    }

    #[test]
    fn after_a_second_without_inputs_there_is_no_report() {
        let mut queue = InputQueue::default();
        queue.push(1, &[1]);
        take(&mut queue, 59);
        assert_eq!(queue.report(), Some((1, 0)));
        take(&mut queue, 1);
        assert_eq!(queue.report(), None);
        take(&mut queue, 1000);
        queue.push(2, &[2]);
        assert_eq!(take(&mut queue, 1), [2]);
        assert!(queue.report().is_some());
    }
}
