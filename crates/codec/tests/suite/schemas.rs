//! Texts of schemas.

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
    fn the_text_of_a_legal_schema_is_read_as_that_schema(schema in schema()) {
        let text = schema.text();
        prop_assert!(text.len() < Schema::MAX_TEXT_BYTES);
        let read = Schema::parse(&text);
        prop_assert_eq!(read.as_ref().map(Schema::text), Ok(text));
        prop_assert_eq!(read, Ok(schema));
    }

    #[test]
    fn damaged_texts_are_legal_schemas_or_an_error(
        schema in schema(),
        damage in prop::collection::vec(damage(), 1..6),
    ) {
        let mut text: Vec<char> = schema.text().chars().collect();
        for (place, removed, inserted) in damage {
            let start = place.index(text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, inserted.chars());
        }
        holds_promises(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_words_are_a_legal_schema_or_an_error(words in prop::collection::vec(word(), 0..40)) {
        holds_promises(&words.concat())?;
    }
}

fn holds_promises(text: &str) -> Result<(), TestCaseError> {
    match Schema::parse(text) {
        Ok(schema) => {
            prop_assert_eq!(schema.check(), Ok(()));
            prop_assert_eq!(Schema::parse(&schema.text()), Ok(schema));
        }
        Err(error) => prop_assert!(error.to_string().len() < 400),
    }
    Ok(())
}

/// Where, how many characters go, and what takes their place.
fn damage() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let removed = prop_oneof![4 => 0..3usize, 1 => 0..200usize];
    (any::<prop::sample::Index>(), removed, word())
}

fn word() -> impl Strategy<Value = String> {
    let words = "scene|ticks|up|x|position z|orientation|anchor|kind|field|gravity|floor|max-speed|linear|slots|fixed|even\
                 |living|box|ball|capsule|unknown|flag|int|float|angle|body|0|-0|1|-|.|e|9|1e39|1e309|-1e-50|inf|NaN\
                 |65536|2147483648|9223372036854775808|#|é|\u{a0}|\r";
    let words: Vec<_> = words.split('|').map(str::to_owned).collect();
    prop_oneof![
        6 => prop::sample::select(words),
        2 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        1 => any::<String>(),
    ]
}
