//! Sets of bodies, as one `bool` or one bit per body.

use std::num::NonZero;

/// Number of flags compared at once. Larger chunks are faster to skip, and most flags are clear.
const CHUNK: usize = 16;

/// Returns the indices of set flags, ascending. It is fast if few flags are set, as after
/// [`compare`](crate::QuantizedSnapshot::compare).
pub fn flagged(flags: &[bool]) -> impl Iterator<Item = usize> {
    let (whole, rest) = flags.as_chunks::<CHUNK>();
    let mut last = [false; CHUNK];
    last[..rest.len()].copy_from_slice(rest);
    let chunks = whole.iter().copied().chain([last]);
    let words = chunks.map(|flags| u128::from_le_bytes(flags.map(u8::from)));
    let words = words.enumerate().filter(|&(_, word)| word != 0);
    words.flat_map(|(chunk, mut word)| {
        std::iter::from_fn(move || {
            let flag = NonZero::new(word)?.trailing_zeros() / u8::BITS;
            word &= word - 1;
            Some(chunk * CHUNK + flag as usize)
        })
    })
}

pub(crate) fn count(flags: &[bool]) -> usize {
    // A chunk is small enough for a sum in a byte, and SIMD instructions add many bytes at once.
    let chunks = flags.chunks(CHUNK);
    let set = |chunk: &[bool]| chunk.iter().map(|&flag| u8::from(flag)).sum::<u8>();
    chunks.map(|chunk| usize::from(set(chunk))).sum()
}

/// Sets the flags of the indices where two columns differ.
pub(crate) fn flag_differing<T: PartialEq>(flags: &mut [bool], ours: &[T], theirs: &[T]) {
    let (ours, our_rest) = ours.as_chunks::<CHUNK>();
    let (theirs, their_rest) = theirs.as_chunks::<CHUNK>();
    for (flags, (ours, theirs)) in flags.chunks_mut(CHUNK).zip(ours.iter().zip(theirs)) {
        // Compares all of a chunk without stopping at the first difference, so that it compiles to SIMD instructions.
        let pairs = || ours.iter().zip(theirs).map(|(ours, theirs)| ours != theirs);
        if pairs().fold(false, |any, differs| any | differs) {
            flag(flags, pairs());
        }
    }
    let pairs = our_rest.iter().zip(their_rest);
    let rest = flags.chunks_mut(CHUNK).nth(ours.len()).unwrap_or_default();
    flag(rest, pairs.map(|(ours, theirs)| ours != theirs));
}

fn flag(flags: &mut [bool], differ: impl Iterator<Item = bool>) {
    for (flag, differs) in flags.iter_mut().zip(differ) {
        *flag |= differs;
    }
}

/// One bit per body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Sets the number of flags and clears them. Reuses memory.
    pub(crate) fn clear(&mut self, flags: usize) {
        self.0.clear();
        self.0.resize(flags.div_ceil(64), 0);
    }

    /// Sets a flag if `set` is true. No branch, because it would often be mispredicted.
    pub(crate) fn set_if(&mut self, index: usize, set: bool) {
        self.0[index / 64] |= u64::from(set) << (index % 64);
    }

    pub(crate) fn set(&mut self, index: usize, value: bool) {
        self.0[index / 64] &= !(1 << (index % 64));
        self.set_if(index, value);
    }

    /// Sets the number of flags. New ones are clear.
    pub(crate) fn resize(&mut self, flags: usize) {
        self.0.resize(flags.div_ceil(64), 0);
    }

    pub(crate) fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// Returns the indices of set flags, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let flag = NonZero::new(word)?.trailing_zeros();
                word &= word - 1;
                Some(at * 64 + flag as usize)
            })
        })
    }

    /// Number of set flags before this index in the same word.
    pub(crate) fn before_in_word(&self, index: usize) -> usize {
        let word = self.0[index / 64];
        (word & !(u64::MAX << (index % 64))).count_ones() as usize
    }

    /// Returns the first set flag with at least this index.
    pub(crate) fn next(&self, index: usize) -> Option<usize> {
        let mut words = (index / 64..).zip(self.0.get(index / 64..)?);
        let (at, first) = words.next()?;
        let first = (at, first & u64::MAX << (index % 64));
        let mut words = std::iter::once(first).chain(words.map(|(at, word)| (at, *word)));
        let (at, word) = words.find(|&(_, word)| word != 0)?;
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_are_found_in_order() {
        let mut bits = Bits::default();
        assert_eq!(bits.next(0), None);
        bits.clear(200);
        assert_eq!(bits.next(0), None);
        let set = [0, 63, 64, 190];
        for index in set {
            bits.set_if(index, false);
            bits.set_if(index, true);
        }
        let mut from = 0;
        for index in set {
            assert_eq!(bits.next(from), Some(index));
            from = index + 1;
        }
        assert_eq!(bits.iter().collect::<Vec<_>>(), set);
        assert_eq!([from, 200, 256].map(|from| bits.next(from)), [None; 3]);
    }
}
