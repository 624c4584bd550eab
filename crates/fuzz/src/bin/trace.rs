//! Bytes parse as a trace with a delay or a loss at every time, or give a one-line error.

#![no_main]

use std::time::Duration;

use cubewire_link::{MAX_DELAY, Trace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Trace::from_csv(text) {
        Ok(trace) => {
            assert!((1..=Trace::MAX_ENTRIES).contains(&trace.entries()));
            let period = trace.period();
            for since_start in [Duration::ZERO, period / 2, period, Duration::MAX] {
                assert!(trace.delay(since_start).is_none_or(|delay| delay <= MAX_DELAY));
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});
