//! Decoding bytes as a packet of the rung `simulated` gives the result of the receiver's simulation, or an error that
//! leaves the receiver's state unchanged. The packet must not ask for more than 255 ticks of simulation.

#![no_main]

use std::cell::RefCell;

use cubewire_codec::simulation::MAX_SIMULATED_TICKS;
use cubewire_codec::{Inputs, Sequence};
use cubewire_fuzz::{CUBES, Exchange, exchange_simulated, simulated};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static RECEIVER: RefCell<Exchange> = RefCell::new(exchange_simulated());
}

fuzz_target!(|bytes: &[u8]| {
    RECEIVER.with_borrow_mut(|Exchange { decoder, held, .. }| {
        let mut out = held[0].clone();
        let lookup = |sequence: Sequence| held.get(usize::from(sequence.0));
        let Ok(begun) = decoder.begin(bytes, lookup) else {
            return;
        };
        let inputs = begun.inputs().copied();
        if let Some(inputs) = &inputs {
            // The inputs are ones that an encoder accepts.
            assert_eq!(Inputs::new(inputs.origin(), inputs.bytes()), Some(*inputs));
            assert!((1..=MAX_SIMULATED_TICKS).contains(&(inputs.bytes().len() / inputs.seats())));
        }
        let prediction = inputs.and_then(|_| simulated(begun.header().sequence));
        match decoder.finish(begun, lookup, prediction.as_ref(), &mut out) {
            Ok(header) => {
                assert_eq!(out.sequence(), header.sequence);
                assert_eq!(out.snapshot().len(), CUBES);
                assert_eq!(out.origin(), inputs.map(|inputs| inputs.origin()));
            }
            Err(_) => assert_eq!(out, held[0]),
        }
    });
});
