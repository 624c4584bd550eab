//! Decoding any bytes as a packet of a simulated scene gives what the engine says, or an error that leaves what the
//! receiver has. The engine is asked once at most.

#![no_main]

use std::cell::RefCell;

use cubewire_codec::Sequence;
use cubewire_fuzz::{CUBES, Engine, Exchange, exchange_simulated};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static RECEIVER: RefCell<Exchange> = RefCell::new(exchange_simulated());
}

fuzz_target!(|bytes: &[u8]| {
    RECEIVER.with_borrow_mut(|Exchange { decoder, held, .. }| {
        let mut out = held[0].clone();
        let mut engine = Engine::default();
        let lookup = |sequence: Sequence| held.get(usize::from(sequence.0));
        match decoder.decode_simulated(bytes, lookup, &mut engine, &mut out) {
            Ok(header) => {
                assert_eq!(out.sequence(), header.sequence);
                assert_eq!(out.snapshot().len(), CUBES);
                assert_eq!(out.origin().is_some(), engine.asked == 1);
            }
            Err(_) => assert_eq!(out, held[0]),
        }
        assert!(engine.asked <= 1);
    });
});
