//! The receiver's side of a simulated scene.

use std::any::Any;
use std::fmt;

use cubewire_codec::{Inputs, QuantizedSnapshot};

/// An engine that simulates the scene at a receiver. Its results must depend on its calls only, and must equal the
/// sender's scene bit by bit. A client can cast it to its type, to predict from the world that it has simulated.
pub trait Engine: Any + fmt::Debug + Send + Sync {
    /// Simulates the snapshot of `tick`, in the precision of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    /// Returns `None` if it does not have the world that the inputs start from.
    fn simulate(&mut self, tick: u64, inputs: &Inputs) -> Option<&QuantizedSnapshot>;

    /// Restores the sender's world after `tick` from the snapshot of that tick and further state. Packets may start
    /// from it later. Returns whether the bytes are a valid state.
    fn restore(&mut self, tick: u64, snapshot: &QuantizedSnapshot, state: &[u8]) -> bool;

    /// Number of ticks simulated so far.
    fn simulated_ticks(&self) -> u64;
}

/// An engine that does not simulate.
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
