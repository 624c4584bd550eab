//! The header of a recording, which contains the schema of its scene.

use std::io::{BufRead, Cursor, Read};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use cubewire_codec::schema::Schema;
use cubewire_codec::{MAX_BODIES, Plan};

use crate::layout::Layout;
use crate::source::{RecordingError, Source};

/// Start of a recording with a header. Recordings without one start with a byte of at most 3.
const MAGIC: &[u8] = b"cubewire recording ";

/// Version of the header. Version 1 stored the schema as text, and version 2 without support and seats.
const VERSION: usize = 3;

/// Maximum number of digits of a number.
const MAX_DIGITS: usize = 5;

/// Encodes the header for a scene. `bodies` is written only for scenes with a fixed number of bodies.
pub(crate) fn write(plan: &Plan, bodies: usize) -> Vec<u8> {
    let schema = plan.schema().encode();
    let mut header = MAGIC.to_vec();
    header.extend(format!("{VERSION}\n{}\n", schema.len()).bytes());
    header.extend(schema);
    if !plan.has_lives() {
        header.extend(format!("{bodies}\n").bytes());
    }
    header
}

/// Reads the header, if there is one. Returns the layout of the frames, and the source to read them from.
pub(crate) fn read<R: BufRead>(
    mut reader: R,
    path: &Path,
) -> Result<(Layout, Source<'_, impl BufRead>), RecordingError> {
    let mut start = Vec::new();
    let first = reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start);
    first.map_err(|error| {
        let offset = start.len();
        RecordingError::new(
            path,
            format!("cannot be read at offset {offset} of its contents: {error}"),
        )
    })?;
    let is_bare = start != MAGIC;
    let mut source = Source::new(Cursor::new(start).chain(reader), path);
    if is_bare {
        return Ok((Layout::bare(), source));
    }
    source.expect(&mut [0; MAGIC.len()])?;
    source.number("the version", VERSION..=VERSION)?;
    let length = source.number("the length of the schema", 1..=Schema::MAX_BYTES)?;
    let offset = source.offset;
    let mut schema = vec![0; length];
    source.expect(&mut schema)?;
    let plan = Schema::decode(&schema).and_then(Plan::new);
    let plan =
        plan.map_err(|reason| source.fault(format!("the schema, at offset {offset}: {reason}")))?;
    let slots = match plan.max_slots() {
        Some(max) => max,
        None => source.number("the number of bodies", 1..=MAX_BODIES)?,
    };
    Ok((Layout::new(Arc::clone(&plan), slots), source))
}

impl<R: BufRead> Source<'_, R> {
    /// Fills `bytes` from the header.
    fn expect(&mut self, bytes: &mut [u8]) -> Result<(), RecordingError> {
        match self.fill(bytes)? {
            true => Ok(()),
            false => Err(self.fault(format!("ends inside the header, at offset {}", self.offset))),
        }
    }

    /// Reads a line with a number.
    fn number(
        &mut self,
        what: &'static str,
        bounds: RangeInclusive<usize>,
    ) -> Result<usize, RecordingError> {
        let offset = self.offset;
        let mut digits = Vec::new();
        let mut byte = [0];
        let ended = loop {
            self.expect(&mut byte)?;
            match byte {
                [b'\n'] => break true,
                [digit] if digit.is_ascii_digit() && digits.len() < MAX_DIGITS => {
                    digits.push(digit);
                }
                _ => break false,
            }
        };
        let number = digits.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
        if ended && !digits.is_empty() && bounds.contains(&number) {
            return Ok(number);
        }
        let (min, max) = bounds.into_inner();
        let expected = match min == max {
            true => format!("the number {min}"),
            false => format!("a whole number from {min} to {max}"),
        };
        Err(self.fault(format!("{what}, at offset {offset}, must be a line with {expected}")))
    }
}
