//! Serializes structs as entries.

use serde::ser::{Impossible, SerializeStruct, SerializeStructVariant};
use serde::{Serialize, Serializer};

use crate::{Entries, TextError, kebab_case};

type Result<T = Written> = std::result::Result<T, TextError>;
type No = Impossible<Written, TextError>;

/// Serializer of a list or of a value in it.
#[derive(Clone, Copy)]
pub(crate) struct Writer {
    pub(crate) slash: char,
}

pub(crate) enum Written {
    Value(String),
    List(Entries),
}

impl Written {
    fn into_entries(self, key: &str) -> Entries {
        match self {
            Self::Value(value) => vec![(kebab_case(key), value)],
            Self::List(entries) => entries,
        }
    }
}

impl Writer {
    /// Serializes the parameters of a variant, or of a struct if `name` is empty.
    fn parameters(self, name: &str, fields: Entries) -> Result {
        let values = fields.into_iter().map(|(_, value)| value);
        let values: Vec<_> = [kebab_case(name)].into_iter().chain(values).collect();
        let values = values.join(&self.slash.to_string());
        self.serialize_str(values.trim_start_matches(self.slash))
    }
}

macro_rules! values {
    ($($method:ident $value:ty,)+) => {$(
        fn $method(self, value: $value) -> Result {
            Ok(Written::Value(value.to_string()))
        }
    )+};
}

macro_rules! without_text {
    ($($method:ident($($argument:ty),*) $written:ty,)+) => {$(
        fn $method(self, $(_: $argument),*) -> Result<$written> {
            Err(TextError::Other("it has no text".to_owned()))
        }
    )+};
}

impl Serializer for Writer {
    type Ok = Written;
    type Error = TextError;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    values! {
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_f32 f32,
        serialize_char char,
        serialize_str &str,
    }

    without_text! {
        serialize_bytes(&[u8]) Written,
        serialize_unit() Written,
        serialize_unit_struct(&'static str) Written,
        serialize_seq(Option<usize>) No,
        serialize_tuple(usize) No,
        serialize_tuple_struct(&'static str, usize) No,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) No,
        serialize_map(Option<usize>) No,
    }

    fn serialize_f64(self, number: f64) -> Result {
        // Adding 0.0 removes the sign of negative zero.
        self.serialize_str(&(number + 0.0).to_string())
    }

    fn serialize_bool(self, is_so: bool) -> Result {
        self.serialize_str(if is_so { "" } else { "no" })
    }

    fn serialize_none(self) -> Result {
        self.serialize_str("none")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, some: &T) -> Result {
        self.parameters("", some.serialize(self)?.into_entries(""))
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result {
        self.parameters(name, Entries::new())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, of: &T) -> Result {
        of.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        of: &T,
    ) -> Result {
        self.parameters(name, of.serialize(self)?.into_entries(""))
    }

    fn serialize_struct(self, name: &'static str, fields: usize) -> Result<Fields> {
        self.serialize_struct_variant(name, 0, "", fields)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Fields> {
        let entries = Entries::new();
        Ok(Fields { writer: self, name, entries })
    }
}

pub(crate) struct Fields {
    writer: Writer,
    name: &'static str,
    entries: Entries,
}

impl SerializeStruct for Fields {
    type Ok = Written;
    type Error = TextError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        let written = value.serialize(self.writer)?;
        self.entries.extend(written.into_entries(key));
        Ok(())
    }

    fn end(self) -> Result {
        Ok(Written::List(self.entries))
    }
}

impl SerializeStructVariant for Fields {
    type Ok = Written;
    type Error = TextError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        SerializeStruct::serialize_field(self, key, value)
    }

    fn end(self) -> Result {
        self.writer.parameters(self.name, self.entries)
    }
}
