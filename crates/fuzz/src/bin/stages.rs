//! Text parses as stages, which survive a round trip through text, or gives an error.

#![no_main]

use cubewire_codec::Stages;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Stages>() {
        Ok(stages) => assert_eq!(stages.to_string().parse(), Ok(stages)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
