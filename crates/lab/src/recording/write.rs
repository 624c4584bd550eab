//! Writes recordings with a header.

use std::io::{self, Write};
use std::sync::Arc;

use cubewire_codec::{Plan, QuantizedSnapshot};

use super::header;
use super::layout::Layout;

/// Writes a recording frame by frame.
pub(crate) struct Writer<W> {
    out: W,
    layout: Layout,
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a recording of this scene. `slots` is the number of bodies if they are fixed, and otherwise the most.
    pub(crate) fn begin(mut out: W, plan: Arc<Plan>, slots: usize) -> io::Result<Self> {
        out.write_all(&header::write(&plan, slots))?;
        Ok(Self {
            out,
            layout: Layout::new(plan, slots),
            bytes: Vec::new(),
        })
    }

    /// Writes a frame.
    ///
    /// # Panics
    /// If it is of another scene, or has another number of slots.
    pub(crate) fn frame(&mut self, frame: &QuantizedSnapshot) -> io::Result<()> {
        self.bytes.clear();
        self.layout.write(frame, &mut self.bytes);
        self.out.write_all(&self.bytes)
    }
}
