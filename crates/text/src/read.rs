//! Deserializes entries as structs.

use serde::Deserializer;
use serde::de::value::SeqDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess, Visitor,
};

use crate::{Entries, TextError, kebab_case};

type Result<T> = std::result::Result<T, TextError>;

/// Deserializer of a list or of a value in it.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) list: &'a Entries,
    /// `None` for the list and for nested structs.
    pub(crate) value: Option<&'a str>,
    pub(crate) slash: char,
}

impl<'a> Reader<'a> {
    const fn of(self, value: Option<&'a str>) -> Self {
        Self { value, ..self }
    }

    fn text(self) -> Result<&'a str> {
        let none = || TextError::Other("the value is missing".to_owned());
        self.value.ok_or_else(none)
    }

    /// Deserializes the parameters of a variant, or of a struct if `name` is empty.
    fn parameters<'de, V: Visitor<'de>>(
        self,
        name: &str,
        parameters: Option<&'a str>,
        fields: &[&str],
        visitor: V,
    ) -> Result<V::Value> {
        let given = parameters.into_iter().flat_map(|given| given.split(self.slash));
        // Count before collecting, because a long text can have any number of parameters.
        if given.clone().take(fields.len() + 1).count() == fields.len() {
            let given = given.map(|text| self.of(Some(text)));
            return visitor.visit_seq(SeqDeserializer::new(given));
        }
        let fields = fields.iter().map(|field| field.to_uppercase());
        let wanted: Vec<_> = [kebab_case(name)].into_iter().chain(fields).collect();
        let wanted = wanted.join(&self.slash.to_string());
        Err(TextError::value(self.text()?, wanted.trim_start_matches(self.slash)))
    }
}

impl IntoDeserializer<'_, TextError> for Reader<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident $number:ty: $wanted:expr;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let text = self.text()?;
            let number = text.parse::<$number>();
            visitor.$visit(number.map_err(|_| TextError::value(text, $wanted))?)
        }
    )+};
}

fn up_to(max: impl Into<u64>) -> String {
    format!("a whole number from 0 to {}", max.into())
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = TextError;

    numbers! {
        deserialize_u8 visit_u8 u8: up_to(u8::MAX);
        deserialize_u16 visit_u16 u16: up_to(u16::MAX);
        deserialize_u32 visit_u32 u32: up_to(u32::MAX);
        deserialize_u64 visit_u64 u64: up_to(u64::MAX);
        deserialize_f64 visit_f64 f64: "a number";
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.text()? {
            "" | "yes" => visitor.visit_bool(true),
            "no" => visitor.visit_bool(false),
            text => Err(TextError::value(text, "yes or no")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.text()? {
            "none" => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.value {
            Some(_) => self.parameters("", self.value, fields, visitor),
            None => visitor.visit_map(Fields { reader: self, fields }),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let text = self.text()?;
        let named = variants.iter().filter(|name| !name.is_empty());
        let names: Vec<_> = named.clone().map(|name| kebab_case(name)).collect();
        // Longest name that is a prefix of the text.
        let begun = names.iter().zip(named).filter_map(|(typed, name)| {
            let rest = text.strip_prefix(typed)?;
            let parameters = rest.strip_prefix(self.slash);
            (rest.is_empty() || parameters.is_some()).then_some((*name, parameters))
        });
        let begun = begun.max_by_key(|(name, _)| name.len());
        let (name, parameters) = begun.unwrap_or(("", Some(text)));
        if !variants.contains(&name) {
            return Err(TextError::unknown("", text, names));
        }
        let variant = Variant { reader: self, name, parameters };
        visitor.visit_enum(variant).map_err(|error| match error {
            TextError::Value { wanted, .. } if name.is_empty() => {
                TextError::value(text, format!("{}, or {wanted}", names.join(", ")))
            }
            // A longer name with a spelling mistake.
            TextError::Value { wanted, .. } if wanted == kebab_case(name) => {
                TextError::unknown("", text, names)
            }
            error => error,
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(self.text()?)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 f32 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Fields of a struct. A field without an entry is a nested struct.
struct Fields<'a> {
    reader: Reader<'a>,
    fields: &'static [&'static str],
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = TextError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let field = self.fields.first().map(|field| field.into_deserializer());
        field.map(|field| seed.deserialize(field)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let key = kebab_case(self.fields[0]);
        self.fields = &self.fields[1..];
        let entry = self.reader.list.iter().find(|(known, _)| *known == key);
        let value = entry.map(|(_, value)| value.as_str());
        seed.deserialize(self.reader.of(value)).map_err(|error| error.of(&key))
    }
}

struct Variant<'a> {
    reader: Reader<'a>,
    name: &'static str,
    parameters: Option<&'a str>,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = TextError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = TextError;

    fn unit_variant(self) -> Result<()> {
        self.tuple_variant(0, IgnoredAny).map(drop)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.reader.of(self.parameters.or(Some(""))))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.reader.parameters(self.name, self.parameters, fields, visitor)
    }
}
