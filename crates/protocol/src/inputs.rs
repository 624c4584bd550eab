//! Inputs of the sender's scene in the last ticks.

use std::collections::VecDeque;

use cubewire_codec::simulation::MAX_SIMULATED_TICKS;

/// Inputs of the last [`MAX_SIMULATED_TICKS`] ticks, one byte for each seat. All senders of a scene share it.
#[derive(Clone, Debug)]
pub struct InputHistory {
    tick: u64,
    /// Of all ticks in turn.
    inputs: VecDeque<u8>,
    seats: usize,
    started: Option<u64>,
}

impl InputHistory {
    /// Creates an empty history at `tick`. `started` is true if the scene is at its start.
    pub fn new(tick: u64, started: bool) -> Self {
        Self {
            tick,
            inputs: VecDeque::with_capacity(MAX_SIMULATED_TICKS),
            seats: 1,
            started: started.then_some(tick),
        }
    }

    /// Sets the number of [seats](cubewire_codec::schema::Schema::seats) of an empty history. Default: 1.
    ///
    /// # Panics
    /// If there are no seats, or inputs.
    #[must_use]
    pub fn with_seats(mut self, seats: u8) -> Self {
        assert!(seats > 0 && self.inputs.is_empty(), "{seats} seats");
        self.seats = seats as usize;
        self
    }

    /// The newest tick.
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Records the next tick with the input of each seat. `starts` is true if the scene was reset before the tick.
    ///
    /// # Panics
    /// If the number of inputs differs from the number of seats.
    pub fn push(&mut self, inputs: &[u8], starts: bool) {
        assert_eq!(inputs.len(), self.seats, "one input per seat");
        if starts {
            self.started = Some(self.tick);
        }
        if self.ticks() == MAX_SIMULATED_TICKS as u64 {
            self.inputs.drain(..self.seats);
        }
        self.inputs.extend(inputs);
        self.tick += 1;
    }

    /// Number of ticks whose inputs are known.
    fn ticks(&self) -> u64 {
        (self.inputs.len() / self.seats) as u64
    }

    /// Returns the tick at which the scene was at its start, if all inputs since then are known.
    pub fn started(&self) -> Option<u64> {
        self.started.filter(|&started| self.tick - started <= self.ticks())
    }

    /// Whether the inputs of the ticks after `tick` are known and `tick` is not the newest tick.
    pub fn knows(&self, tick: u64) -> bool {
        let count = self.tick.checked_sub(tick);
        count.is_some_and(|count| (1..=self.ticks()).contains(&count))
    }

    /// Replaces `inputs` with the inputs of the ticks after `tick`. Leaves it empty if they are not
    /// [known](Self::knows).
    pub fn since(&self, tick: u64, inputs: &mut Vec<u8>) {
        inputs.clear();
        if self.knows(tick) {
            let first = self.inputs.len() - (self.tick - tick) as usize * self.seats;
            inputs.extend(self.inputs.range(first..));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_given_from_any_tick_that_is_kept() {
        let mut history = InputHistory::new(1000, true);
        let mut inputs = Vec::new();
        assert_eq!(history.started(), Some(1000));
        assert!(!history.knows(1000));
        for input in 1..=3 {
            history.push(&[input], false);
        }
        history.since(1000, &mut inputs);
        assert_eq!(inputs, [1, 2, 3]);
        history.since(1002, &mut inputs);
        assert_eq!(inputs, [3]);
        for unknown in [999, 1003] {
            assert!(!history.knows(unknown));
            history.since(unknown, &mut inputs);
            assert!(inputs.is_empty());
        }
        assert_eq!(history.tick(), 1003);
    }

    #[test]
    fn every_seat_has_an_input_in_each_tick() {
        let mut history = InputHistory::new(0, true).with_seats(3);
        let mut inputs = Vec::new();
        for tick in 1..=300 {
            history.push(&[tick as u8, 0, 7], false);
            let known = tick.min(MAX_SIMULATED_TICKS as u64);
            assert!(history.knows(tick - known) && !history.knows(tick));
            assert_eq!(history.started().is_some(), tick == known, "{tick}");
        }
        assert!(!history.knows(44));
        history.since(298, &mut inputs);
        assert_eq!(inputs, [43, 0, 7, 44, 0, 7]);
        history.since(45, &mut inputs);
        assert_eq!((inputs.len(), inputs[0]), (3 * 255, 46));
    }

    #[test]
    fn a_start_is_known_as_long_as_its_inputs() {
        let mut history = InputHistory::new(7, false);
        assert_eq!(history.started(), None);
        history.push(&[0], false);
        history.push(&[9], true);
        assert_eq!(history.started(), Some(8));
        for _ in 1..MAX_SIMULATED_TICKS {
            history.push(&[0], false);
        }
        assert_eq!(history.started(), Some(8));
        history.push(&[0], false);
        assert_eq!(history.started(), None);
    }
}
