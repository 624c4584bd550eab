//! Memory that baselines share.

use std::collections::HashSet;
use std::sync::Arc;

/// Counts each shared allocation once.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory {
    counted: HashSet<usize>,
    /// Bytes counted so far.
    pub(crate) bytes: usize,
}

impl SharedMemory {
    pub(crate) fn count<T>(&mut self, shared: &Arc<T>, bytes: impl FnOnce(&T) -> usize) {
        if self.counted.insert(Arc::as_ptr(shared).addr()) {
            self.bytes += bytes(shared);
        }
    }
}

/// Unused allocations, kept to reuse their memory.
#[derive(Debug)]
pub(crate) struct Spares<T>(Vec<Arc<T>>);

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A clone starts without spares.
impl<T> Clone for Spares<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> Spares<T> {
    /// Keeps an allocation for reuse if this was its last reference.
    pub(crate) fn release(&mut self, mut spare: Arc<T>) {
        if Arc::get_mut(&mut spare).is_some() {
            self.0.push(spare);
        }
    }

    /// Returns an unshared allocation with arbitrary content. Without spares, `new` makes `count` of them.
    pub(crate) fn take_or(&mut self, count: usize, new: impl Fn() -> T) -> Arc<T> {
        if self.0.is_empty() {
            self.0.extend((0..count).map(|_| Arc::new(new())));
        }
        self.0.pop().expect("spares were added above")
    }
}
