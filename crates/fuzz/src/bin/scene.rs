//! In a scene with living slots, decoding bytes gives slots that obey the schema, or an error that leaves the
//! receiver's state unchanged.

#![no_main]

use std::cell::RefCell;

use cubewire_codec::Sequence;
use cubewire_codec::schema::Slots;
use cubewire_fuzz::{Exchange, exchange_living};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static RECEIVER: RefCell<Exchange> = RefCell::new(exchange_living());
}

fuzz_target!(|bytes: &[u8]| {
    RECEIVER.with_borrow_mut(|Exchange { decoder, held, .. }| {
        let mut out = held[0].clone();
        let lookup = |sequence: Sequence| held.get(usize::from(sequence.0));
        if decoder.decode(bytes, lookup, &mut out).is_err() {
            assert_eq!(out, held[0]);
            return;
        }
        let snapshot = out.snapshot();
        let schema = snapshot.plan().schema();
        let Slots::Living { max } = schema.slots else { unreachable!("bodies come and go") };
        assert_eq!(snapshot.len(), max as usize);
        for slot in 0..snapshot.len() {
            for (index, field) in schema.fields.iter().enumerate() {
                let value = snapshot.value(slot, index);
                assert!(value <= field.form.max());
                assert!(snapshot.life(slot).is_some() || value == 0);
            }
            if let Some(life) = snapshot.life(slot) {
                assert!(usize::from(life.kind) < schema.kinds.len());
                let body = snapshot.body(slot);
                assert!(body.position.is_finite() && body.orientation.is_finite());
            }
        }
    });
});
