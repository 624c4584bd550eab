//! Counts memory that baselines share.

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
