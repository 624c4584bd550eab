//! Writes the simulated states as a recording, in the format of the data compression challenge: frames of
//! 901 records of eight little-endian i32. The first six frames are the initial state.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{Plan, QuantizeError, QuantizedSnapshot, Snapshot, ladder};

use crate::files::NewFile;
use crate::simulation::CubeWorld;

/// Copies of the initial state at the start.
const INITIAL_FRAMES: usize = 6;

/// Small, and still quick.
const ZSTD_LEVEL: i32 = 9;

/// Why a play cannot be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A state cannot be quantized.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
}

/// A recording that is being written; the file gets its name once it is finished.
pub(super) struct Capture {
    path: PathBuf,
    file: Output,
    quantized: QuantizedSnapshot,
    frame: Vec<u8>,
}

enum Output {
    Plain(NewFile),
    Zstd(zstd::Encoder<'static, NewFile>),
}

impl Capture {
    /// Begins a recording with the initial state.
    pub(super) fn create(path: &Path) -> Result<Self, CaptureError> {
        let mut capture = Self {
            path: path.to_owned(),
            file: open(path).map_err(|source| unwritable(path, source))?,
            quantized: QuantizedSnapshot::new(Plan::cubes(), ladder::POSITION.stages.precision()),
            frame: Vec::new(),
        };
        let initial = CubeWorld::default();
        for _ in 0..INITIAL_FRAMES {
            capture.add(initial.current())?;
        }
        Ok(capture)
    }

    /// Appends the state of a tick.
    pub(super) fn add(&mut self, snapshot: &Snapshot) -> Result<(), CaptureError> {
        self.quantized
            .quantize(snapshot, ladder::POSITION.stages.precision())?;
        self.frame.clear();
        for cube in 0..self.quantized.len() {
            let SmallestThree {
                largest,
                components: [a, b, c],
            } = self.quantized.smallest_three(cube);
            let [x, y, z] = self.quantized.position(cube);
            let interacting = i32::from(self.quantized.is_interacting(cube));
            let orientation = [i32::from(largest), a.into(), b.into(), c.into()];
            let record = orientation.into_iter().chain([x, y, z, interacting]);
            self.frame.extend(record.flat_map(i32::to_le_bytes));
        }
        match &mut self.file {
            Output::Plain(file) => file.write_all(&self.frame),
            Output::Zstd(file) => file.write_all(&self.frame),
        }
        .map_err(|source| unwritable(&self.path, source))
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<(), CaptureError> {
        match self.file {
            Output::Plain(file) => file.finish(),
            Output::Zstd(file) => file.finish().and_then(NewFile::finish),
        }
        .map(drop)
        .map_err(|source| unwritable(&self.path, source))
    }
}

fn open(path: &Path) -> io::Result<Output> {
    let file = NewFile::create(path)?;
    if path.extension().is_some_and(|name| name == "zst") {
        Ok(Output::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?))
    } else {
        Ok(Output::Plain(file))
    }
}

fn unwritable(path: &Path, source: io::Error) -> CaptureError {
    CaptureError::Unwritable {
        path: path.to_owned(),
        source,
    }
}
