//! Decodes postcard from untrusted peers within limits. Without them, a recursive type could overflow the stack, and a
//! `Vec<()>` could take unlimited time.
//!
//! A value has up to [`MAX_DEPTH`] levels: each option, newtype, tuple, struct, enum, sequence and map is one level
//! deeper than the value that contains it. All sequences and maps of a message together have at most as many elements
//! as the message has bytes. An element takes at least one byte, unless its type is zero-sized.

use std::fmt::Display;

use postcard::de_flavors::Slice;
use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

pub(crate) const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    /// The bytes are malformed, too few or too many.
    #[error("malformed")]
    Malformed,
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("more elements than bytes")]
    TooManyElements,
}

/// Decodes a value, which must use all bytes.
pub(crate) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ReadError> {
    let mut reader = Reader {
        postcard: postcard::Deserializer::from_bytes(bytes),
        depth: 0,
        elements: bytes.len(),
    };
    let value = T::deserialize(&mut reader)?;
    match reader.postcard.finalize()? {
        [] => Ok(value),
        _ => Err(ReadError::Malformed),
    }
}

/// A serde deserializer that enforces the limits and passes primitive values to postcard.
struct Reader<'de> {
    postcard: postcard::Deserializer<'de, Slice<'de>>,
    /// Levels around the next value.
    depth: usize,
    /// Number of elements that the rest of the message may have.
    elements: usize,
}

/// The values of a sequence, tuple, struct or map.
struct Values<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: usize,
}

impl<'de> Reader<'de> {
    /// Reads a value that is one level deeper.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if self.depth == MAX_DEPTH {
            return Err(ReadError::TooDeep);
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Reads the length of a sequence or map.
    fn length(&mut self) -> Result<usize, ReadError> {
        let length = u64::deserialize(&mut self.postcard)?;
        let left = usize::try_from(length).ok();
        let left = left.and_then(|length| self.elements.checked_sub(length));
        self.elements = left.ok_or(ReadError::TooManyElements)?;
        Ok(length as usize)
    }

    fn values<V: Visitor<'de>>(&mut self, left: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.nested(|reader| visitor.visit_seq(Values { reader, left }))
    }
}

macro_rules! single_values {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            Ok(self.postcard.$method(visitor)?)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = ReadError;

    single_values! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match u8::deserialize(&mut self.postcard)? {
            0 => visitor.visit_none(),
            1 => self.nested(|reader| visitor.visit_some(reader)),
            _ => Err(ReadError::Malformed),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.nested(|reader| visitor.visit_newtype_struct(reader))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let length = self.length()?;
        self.values(length, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.values(length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.values(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let left = self.length()?;
        self.nested(|reader| visitor.visit_map(Values { reader, left }))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.values(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.nested(|reader| visitor.visit_enum(reader))
    }
}

impl<'de> SeqAccess<'de> for Values<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> MapAccess<'de> for Values<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> EnumAccess<'de> for &mut Reader<'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let variant = u32::deserialize(&mut self.postcard)?;
        Ok((seed.deserialize(IntoDeserializer::<ReadError>::into_deserializer(variant))?, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Reader<'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let reader = self;
        visitor.visit_seq(Values { reader, left })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.tuple_variant(fields.len(), visitor)
    }
}

impl serde::de::Error for ReadError {
    fn custom<T: Display>(_: T) -> Self {
        Self::Malformed
    }
}

impl From<postcard::Error> for ReadError {
    fn from(_: postcard::Error) -> Self {
        Self::Malformed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;
    use std::net::IpAddr;

    use serde::Serialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Expression {
        Leaf,
        Not(Box<Self>),
        Both(Box<Self>, Box<Self>),
        Named { name: String, value: Option<f32> },
    }

    fn nested(levels: usize) -> Expression {
        (1..levels).map(|_| ()).fold(Expression::Leaf, |value, ()| Expression::Not(Box::new(value)))
    }

    #[track_caller]
    fn comes_back<T: PartialEq + Debug + Serialize + serde::de::DeserializeOwned>(value: T) {
        let bytes = postcard::to_allocvec(&value).unwrap();
        assert_eq!(read(&bytes), Ok(value));
        assert_eq!(read::<T>(&[&bytes[..], &[0]].concat()), Err(ReadError::Malformed));
    }

    #[test]
    fn all_forms_of_values_come_back() {
        comes_back((true, -3_i64, 'ä', "text".to_owned(), 0.5_f32, u128::MAX));
        comes_back(vec![Some(vec![1_u8, 2]), None, Some(Vec::new())]);
        comes_back(BTreeMap::from([(1_u16, ()), (2, ())]));
        comes_back([(); 32]);
        // Its encoding depends on whether the format is human readable.
        comes_back(IpAddr::from([127, 0, 0, 1]));
        let name = "x".to_owned();
        let named = Expression::Named { name, value: Some(1.0) };
        comes_back(Expression::Both(Box::new(named), Box::new(nested(63))));
    }

    #[test]
    fn depth_is_limited() {
        for (levels, expected) in
            [(MAX_DEPTH, Ok(nested(MAX_DEPTH))), (MAX_DEPTH + 1, Err(ReadError::TooDeep))]
        {
            let bytes = postcard::to_allocvec(&nested(levels)).unwrap();
            assert_eq!(read(&bytes), expected);
        }
        assert_eq!(read::<Expression>(&[1; 65_000]), Err(ReadError::TooDeep));
        // Levels in separate elements do not add up.
        comes_back(vec![Some(Some(0_u8)); 1_000]);
    }

    #[test]
    fn elements_are_limited_by_bytes() {
        let ten_billion = postcard::to_allocvec(&10_000_000_000_u64).unwrap();
        let refused = ReadError::TooManyElements;
        assert_eq!(read::<Vec<()>>(&ten_billion), Err(refused));
        assert_eq!(read::<BTreeMap<(), ()>>(&ten_billion), Err(refused));
        assert_eq!(read::<Vec<u64>>(&ten_billion), Err(refused));
        comes_back(vec![()]);
        assert_eq!(read::<Vec<()>>(&[2]), Err(refused));
        // Each sequence has fewer elements than there are bytes, but together they have more.
        let many = [&[100][..], &[50; 100]].concat();
        assert_eq!(read::<Vec<Vec<()>>>(&many), Err(refused));
        comes_back(vec![vec![7_u8; 50]; 100]);
    }
}
