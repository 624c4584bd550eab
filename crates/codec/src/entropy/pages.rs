//! Tables in reference-counted pages. Tables that follow from each other share equal pages.

use std::sync::Arc;

use crate::memory::{SharedMemory, Spares};

/// A table of numbers in pages of `N`. A stored table shares its equal pages with the table that it was derived from.
/// Smaller pages share more memory, but each page takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pages<T, const N: usize> {
    pages: Vec<Arc<[T; N]>>,
    /// Length of the table. The rest of the last page has default values.
    len: usize,
}

/// Pages that no table uses, kept to reuse their memory.
pub(super) type SparePages<T, const N: usize> = Spares<[T; N]>;

/// Number of pages allocated at once. Packets change varying pages, so the number of pages in use keeps growing slowly
/// for a long time.
const GROWTH: usize = 32;

impl<T: Copy + Default + PartialEq, const N: usize> Pages<T, N> {
    pub(super) fn new(table: &[T]) -> Self {
        let pages = table.chunks(N).map(|chunk| Arc::new(page(chunk)));
        Self { pages: pages.collect(), len: table.len() }
    }

    /// Copies the numbers to `table`. Reuses memory.
    pub(super) fn load(&self, table: &mut Vec<T>) {
        table.clear();
        for page in &self.pages {
            let rest = self.len - table.len();
            table.extend_from_slice(&page[..N.min(rest)]);
        }
    }

    /// Sets the numbers to `table`, and shares equal pages with `other`, which must have the same length. Reuses
    /// memory.
    pub(super) fn store(&mut self, table: &[T], other: &Self, spares: &mut SparePages<T, N>) {
        debug_assert_eq!(table.len(), other.len);
        self.len = table.len();
        for page in self.pages.drain(other.pages.len().min(self.pages.len())..) {
            spares.release(page);
        }
        let (whole, rest) = table.as_chunks::<N>();
        let last = page(rest);
        let chunks = whole.iter().chain((!rest.is_empty()).then_some(&last));
        for (index, (chunk, theirs)) in chunks.zip(&other.pages).enumerate() {
            let is_shared = are_equal(chunk, theirs);
            let own = self.pages.get_mut(index);
            if is_shared && own.as_ref().is_some_and(|own| Arc::ptr_eq(own, theirs)) {
                continue;
            }
            let new = if is_shared {
                Arc::clone(theirs)
            } else if let Some(own) = own.and_then(Arc::get_mut) {
                *own = *chunk;
                continue;
            } else {
                let mut page = spares.take_or(GROWTH, || *chunk);
                *Arc::get_mut(&mut page).expect("a spare page is not shared") = *chunk;
                page
            };
            match self.pages.get_mut(index) {
                Some(page) => spares.release(std::mem::replace(page, new)),
                None => self.pages.push(new),
            }
        }
    }

    /// Returns the bytes of memory in use, except pages, which are added to `shared`.
    pub(super) fn count_memory(&self, shared: &mut SharedMemory) -> usize {
        for page in &self.pages {
            shared.count(page, size_of_val);
        }
        size_of_val(&*self.pages)
    }
}

fn page<T: Copy + Default, const N: usize>(numbers: &[T]) -> [T; N] {
    std::array::from_fn(|index| numbers.get(index).copied().unwrap_or_default())
}

/// Compares all numbers without stopping at the first difference, so that it compiles to SIMD instructions.
fn are_equal<T: PartialEq, const N: usize>(a: &[T; N], b: &[T; N]) -> bool {
    a.iter().zip(b).fold(true, |equal, (a, b)| equal & (a == b))
}
