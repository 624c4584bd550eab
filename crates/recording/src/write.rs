//! Writes recordings with a header.

use std::io::{self, Write};
use std::sync::Arc;

use cubewire_codec::{Plan, QuantizedSnapshot};

use crate::header;
use crate::layout::Layout;

/// Writes a recording frame by frame.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    layout: Layout,
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a recording of a scene. `slots` is the number of bodies if it is fixed, and otherwise the maximum.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn begin(mut out: W, plan: Arc<Plan>, slots: usize) -> io::Result<Self> {
        out.write_all(&header::write(&plan, slots))?;
        Ok(Self { out, layout: Layout::new(plan, slots), bytes: Vec::new() })
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    ///
    /// # Panics
    /// If the frame has another scene or another number of slots.
    pub fn frame(&mut self, frame: &QuantizedSnapshot) -> io::Result<()> {
        self.bytes.clear();
        self.layout.write(frame, &mut self.bytes);
        self.out.write_all(&self.bytes)
    }

    /// Returns the output, which has all frames written so far.
    pub fn into_inner(self) -> W {
        self.out
    }
}
