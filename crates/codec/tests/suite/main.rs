//! What the codec promises, tested from outside.

mod allocation;
mod conformance;
mod hostile;
mod recording;
mod recordings;
mod round_trip;
mod scene;
mod second_decoder;
mod sizes;
mod wire_document;
