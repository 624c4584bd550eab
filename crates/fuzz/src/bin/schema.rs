//! Bytes decode as a valid schema that encodes to the same bytes and compiles, or give an error that names an item.

#![no_main]

use cubewire_codec::Plan;
use cubewire_codec::schema::Schema;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Schema::decode(bytes) {
        Ok(schema) => {
            assert_eq!(schema.encode(), bytes);
            Plan::new(schema).expect("a schema that was read is legal");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
