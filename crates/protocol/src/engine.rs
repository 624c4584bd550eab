//! The receiver's side of a simulated scene.

use std::fmt;

use cubewire_codec::{Inputs, QuantizedSnapshot};

/// An engine that simulates the scene at a receiver. What it does follows from its calls alone, and must be to the bit
/// what the sender's scene does.
pub trait Engine: fmt::Debug + Send + Sync {
    /// Simulates the snapshot of `tick`, in the precision of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    /// `None` if it does not have the world that the inputs start from.
    fn simulate(&mut self, tick: u64, inputs: &Inputs) -> Option<&QuantizedSnapshot>;

    /// Takes the state of the sender's world after `tick`, from which a packet may start: what it needs besides the
    /// snapshot of that tick. False if the bytes are no state.
    fn restore(&mut self, tick: u64, snapshot: &QuantizedSnapshot, state: &[u8]) -> bool;

    /// Ticks simulated so far.
    fn simulated_ticks(&self) -> u64;
}

/// An end that simulates nothing.
impl Engine for () {
    fn simulate(&mut self, _: u64, _: &Inputs) -> Option<&QuantizedSnapshot> {
        None
    }

    fn restore(&mut self, _: u64, _: &QuantizedSnapshot, _: &[u8]) -> bool {
        false
    }

    fn simulated_ticks(&self) -> u64 {
        0
    }
}
