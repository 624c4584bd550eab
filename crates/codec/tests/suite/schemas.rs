//! Bytes and texts of schemas.

use cubewire_codec::schema::{Schema, first_difference};
use proptest::prelude::*;

use crate::random;

/// Legal schemas of any size.
fn schema() -> impl Strategy<Value = Schema> {
    random::schema(65_536)
}

proptest! {
    #[test]
    fn fields_of_legal_schemas_have_1_to_32_bits(schema in schema()) {
        for field in &*schema.fields {
            prop_assert!((1..=32).contains(&field.form.bits()), "{field:?}");
        }
    }

    #[test]
    fn schemas_differ_where_their_texts_do(ours in schema(), theirs in schema()) {
        let texts = [ours.text(), theirs.text()];
        prop_assert_eq!(first_difference(&texts[0], &texts[0]), None);
        prop_assert_eq!(first_difference(&texts[0], &texts[1]).is_some(), ours != theirs);
        prop_assert_eq!(ours.hash() == theirs.hash(), ours == theirs);
    }

    #[test]
    fn the_bytes_of_a_legal_schema_are_read_as_that_schema(schema in schema()) {
        let bytes = schema.encode();
        prop_assert!(bytes.len() < Schema::MAX_BYTES);
        prop_assert_eq!(Schema::decode(&bytes), Ok(schema));
    }

    #[test]
    fn damaged_bytes_are_a_legal_schema_or_an_error(
        schema in schema(),
        damage in prop::collection::vec(damage(), 1..6),
    ) {
        let mut bytes = schema.encode();
        for (place, removed, inserted) in damage {
            let start = place.index(bytes.len() + 1);
            let end = (start + removed).min(bytes.len());
            bytes.splice(start..end, inserted);
        }
        holds_promises(&bytes)?;
    }
}

fn holds_promises(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Schema::decode(bytes) {
        Ok(schema) => {
            prop_assert_eq!(schema.check(), Ok(()));
            prop_assert_eq!(schema.encode(), bytes);
        }
        Err(error) => prop_assert!(error.to_string().len() < 400),
    }
    Ok(())
}

/// Position, number of removed bytes, and the bytes in their place.
fn damage() -> impl Strategy<Value = (prop::sample::Index, usize, Vec<u8>)> {
    let removed = prop_oneof![4 => 0..3usize, 1 => 0..200usize];
    let inserted = prop::collection::vec(any::<u8>(), 0..4);
    (any::<prop::sample::Index>(), removed, inserted)
}
