//! The plugin's reader of postcard enforces limits of depth and size. Within them it must give the same value as
//! `postcard`, and it may refuse a value that `postcard` reads only because of a limit.

#![no_main]

use std::collections::BTreeMap;
use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use serde::{Deserialize, Serialize};

#[allow(dead_code)]
#[path = "../../../bevy/src/wire/reader.rs"]
mod reader;

use reader::{MAX_DEPTH, ReadError, read};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Expression {
    Leaf,
    Not(Box<Self>),
    Both(Box<Self>, Box<Self>),
    All(Vec<Self>),
    Named { name: String, value: Option<Box<Self>> },
    Units(Vec<()>),
    Counts(BTreeMap<u8, Vec<u16>>),
}

impl Expression {
    /// Returns the depth, without levels inside the last variants, and the number of elements.
    fn size(&self) -> (usize, usize) {
        let inner: Vec<_> = match self {
            Self::Leaf => Vec::new(),
            Self::Units(units) => return (2, units.len()),
            Self::Counts(counts) => {
                let inner = counts.values().map(Vec::len).sum::<usize>();
                return (2, counts.len() + inner);
            }
            Self::Not(inner) => vec![inner.size()],
            Self::Both(a, b) => vec![a.size(), b.size()],
            Self::All(all) => all.iter().map(Self::size).chain([(0, all.len())]).collect(),
            Self::Named { value, .. } => value.iter().map(|value| value.size()).collect(),
        };
        let depth = inner.iter().map(|size| size.0).max();
        let elements = inner.iter().map(|size| size.1).sum();
        (1 + depth.unwrap_or(0), elements)
    }
}

fn as_postcard<'a, T: Deserialize<'a> + PartialEq + Debug>(bytes: &'a [u8]) -> Option<T> {
    let value = read::<T>(bytes);
    // Only within the limits, because `postcard` has no limits.
    if value == Err(ReadError::Malformed) || value.is_ok() {
        let expected = postcard::take_from_bytes(bytes).ok();
        let expected = expected.filter(|(_, rest)| rest.is_empty());
        assert_eq!(value.as_ref().ok(), expected.as_ref().map(|(value, _)| value));
    }
    value.ok()
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(value) = as_postcard::<Expression>(bytes) {
        let (depth, elements) = value.size();
        assert!(depth <= MAX_DEPTH && elements <= bytes.len());
    }
    as_postcard::<Vec<Vec<()>>>(bytes);
    as_postcard::<(u8, Option<&[u8]>, Vec<&str>)>(bytes);
    as_postcard::<(char, bool, i128, BTreeMap<String, (u64, i16)>)>(bytes);
});
