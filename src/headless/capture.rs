//! Writes a play as a recording, in the layout of the data compression challenge: frames of 901
//! records of eight little-endian i32, of which the first six are the initial state.

use std::path::{Path, PathBuf};

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{QuantizedSnapshot, Snapshot, ladder};

use crate::cli::CommandError;
use crate::files::write_whole;
use crate::simulation::World as CubeWorld;

/// Copies of the initial state at the start.
const INITIAL_FRAMES: usize = 6;

/// Small, and still quick.
const ZSTD_LEVEL: i32 = 12;

/// A recording under way; nothing is written until the end.
#[derive(Debug)]
pub(super) struct Capture {
    path: PathBuf,
    quantized: QuantizedSnapshot,
    bytes: Vec<u8>,
}

impl Capture {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            quantized: QuantizedSnapshot::new(ladder::POSITION.stages.precision()),
            bytes: Vec::new(),
        }
    }

    /// Takes in the state of a tick.
    pub(super) fn add(&mut self, world: &CubeWorld) -> Result<(), CommandError> {
        if self.bytes.is_empty() {
            let initial = CubeWorld::default();
            for _ in 0..INITIAL_FRAMES {
                self.frame(initial.current())?;
            }
        }
        self.frame(world.current())
    }

    fn frame(&mut self, snapshot: &Snapshot) -> Result<(), CommandError> {
        self.quantized
            .quantize(snapshot, ladder::POSITION.stages.precision())
            .map_err(|error| CommandError::Game(error.to_string()))?;
        for cube in 0..self.quantized.len() {
            let [x, y, z] = self.quantized.positions()[cube];
            let SmallestThree {
                largest,
                components: [a, b, c],
            } = self.quantized.smallest_three(cube);
            let interacting = i32::from(self.quantized.interacting()[cube]);
            let orientation = [i32::from(largest), a.into(), b.into(), c.into()];
            let record = orientation.into_iter().chain([x, y, z, interacting]);
            self.bytes.extend(record.flat_map(i32::to_le_bytes));
        }
        Ok(())
    }

    /// Writes the file.
    pub(super) fn write(self) -> Result<(), CommandError> {
        let compressed = self.path.extension().is_some_and(|name| name == "zst");
        let written = if compressed {
            zstd::encode_all(&self.bytes[..], ZSTD_LEVEL)
                .and_then(|bytes| write_whole(&self.path, &bytes))
        } else {
            write_whole(&self.path, &self.bytes)
        };
        written.map_err(|source| CommandError::Unwritable {
            path: self.path,
            source,
        })
    }
}
