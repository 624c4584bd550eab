//! Decoding bytes gives a header and a snapshot, or an error that leaves the receiver's state unchanged, with any
//! baselines.

#![no_main]

use std::cell::RefCell;

use cubewire_codec::{Baseline, Header, Sequence, Snapshot};
use cubewire_fuzz::{CUBES, Exchange, exchange};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static RECEIVER: RefCell<Exchange> = RefCell::new(exchange());
}

fuzz_target!(|bytes: &[u8]| {
    let alone = Header::decode(bytes);
    RECEIVER.with_borrow_mut(|Exchange { decoder, held, .. }| {
        let mut out = held[0].clone();
        let lookup = |sequence: Sequence| held.get(usize::from(sequence.0));
        match decoder.decode(bytes, lookup, &mut out) {
            Ok(header) => {
                assert_eq!(Ok(header), alone);
                assert_eq!(out.sequence(), header.sequence);
                assert_eq!(out.snapshot().len(), CUBES);
                assert_finite(&out);
            }
            Err(_) => assert_eq!(out, held[0]),
        }
    });
});

fn assert_finite(decoded: &Baseline) {
    let mut snapshot = Snapshot::default();
    decoded.snapshot().dequantize(&mut snapshot);
    for cube in &snapshot.bodies {
        assert!(cube.position.is_finite() && cube.linear_velocity.is_finite());
        assert!(cube.orientation.is_finite());
    }
}
