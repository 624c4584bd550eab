//! Any text is a legal schema, which comes back from its canonical text and can be compiled, or an error that names an item.

#![no_main]

use cubewire_codec::Plan;
use cubewire_codec::schema::Schema;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Schema::parse(text) {
        Ok(schema) => {
            let canonical = schema.text();
            assert_eq!(Schema::parse(&canonical).as_ref(), Ok(&schema));
            assert!(canonical.len() <= Schema::MAX_TEXT_BYTES);
            let plan = Plan::new(schema).expect("a schema that was read is legal");
            assert_eq!(plan.schema().text(), canonical);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
