//! Text parses as valid link conditions, which survive a round trip through text, or gives a one-line error.

#![no_main]

use std::time::Duration;

use cubewire_link::{Conditions, Link};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Conditions>() {
        Ok(conditions) => {
            assert_eq!(conditions.check(), Ok(()));
            let again = conditions.to_text().expect("only traces have no text");
            assert_eq!(again.parse::<Conditions>().as_ref(), Ok(&conditions), "{again}");
            let mut link = Link::new(conditions, 1);
            for number in 0..20 {
                link.send(Duration::from_millis(number), 1200, number);
            }
            while link.receive(Duration::from_secs(1)).is_some() {}
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
