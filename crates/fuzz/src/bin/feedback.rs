//! A sender handles any messages and keeps sending.

#![no_main]

use cubewire_codec::Sequence;
use cubewire_fuzz::{messages, pair, send};
use cubewire_protocol::{Feedback, FeedbackError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut sender, _) = pair();
    let mut tick = 0;
    for (before, message) in messages(bytes) {
        // The longest gap exceeds the maximum age of a baseline.
        tick += u64::from(before) * 4 + 1;
        send(&mut sender, tick);
        let feedback = Feedback::decode(message);
        match sender.on_message(message) {
            Err(FeedbackError::NeverSent(number)) => {
                assert!(number.is_newer_than(Sequence(tick as u16)))
            }
            taken => assert_eq!(taken, feedback),
        }
        if let Ok(feedback) = feedback {
            assert_eq!(feedback.encode(), message);
        }
    }
    send(&mut sender, tick + 1);
});
