//! Reads and writes recordings of scenes, in the formats that `assets/recordings/README.md` describes: with the schema
//! of the scene, or for the cube scene in the bare layout of a contest.
//!
//! In a scene with fixed bodies, the first six frames are copies of the initial state. Their fields are 0, except the
//! first field if it is a flag. A scene with births and deaths starts from empty slots, and its first six frames are
//! sent but not counted. So every counted packet can have a baseline.

mod file;
mod header;
mod layout;
mod source;
#[cfg(test)]
mod tests;
mod write;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{Plan, QuantizedSnapshot};

pub use self::file::RecordingFile;
use self::layout::Layout;
pub use self::source::RecordingError;
pub use self::write::Writer;

/// Number of cubes in every frame of the bare layout.
pub const CUBES: usize = 901;

/// Age of a baseline in frames: 100 ms. The first six frames have no baseline in the recording.
pub const BASELINE_FRAMES: usize = 6;

/// First bytes of every zstd file (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum number of frames, and of their bytes in memory: 28 minutes of play, 2 GB.
const MAX_FRAMES: usize = 100_000;
const MAX_BYTES: usize = 2_000_000_000;

/// Frames of a recording.
#[derive(Debug)]
pub struct Recording {
    /// Schema and layout of the scene.
    pub plan: Arc<Plan>,
    /// One snapshot per frame, in the precision of the scene's `position` rung.
    pub frames: Vec<QuantizedSnapshot>,
}

impl Recording {
    /// Reads a file. It is decompressed if it starts with zstd's magic number or its name ends in `.zst`.
    ///
    /// # Errors
    /// [`RecordingError`] with the path and the offset of the fault.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(RecordingError::unopenable(path))?;
        Self::from_reader(BufReader::new(file), path)
    }

    /// Reads the contents of a file. `path` is used for errors, and for its extension.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_reader(mut file: impl BufRead, path: &Path) -> Result<Self, RecordingError> {
        let unopenable = RecordingError::unopenable(path);
        let start = file.fill_buf().map_err(&unopenable)?;
        if has_zstd_name(path) || start.starts_with(&ZSTD_MAGIC) {
            let contents = zstd::Decoder::with_buffer(file).map_err(unopenable)?;
            Self::parse(BufReader::new(Unpacked(contents)), path)
        } else {
            Self::parse(file, path)
        }
    }

    /// Index of the first frame that is sent.
    pub fn first_sent(&self) -> usize {
        if self.plan.has_lives() { 0 } else { BASELINE_FRAMES }
    }

    /// Number of packets that count: all frames but the first six.
    pub fn packets(&self) -> usize {
        self.frames.len() - BASELINE_FRAMES
    }

    /// Returns an identifier of the recording: FNV-1a of all integers, and of the schema if it is not the cube scene's.
    pub fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        let is_cubes = self.plan == Plan::cubes();
        let fields = self.plan.schema().fields.len();
        if !is_cubes {
            add(self.plan.schema().hash());
        }
        for frame in &self.frames {
            for slot in 0..frame.len() {
                let orientation = frame.smallest_three(slot);
                add(orientation.largest.into());
                orientation.components.iter().for_each(|&word| add(word.into()));
                let position = frame.position(slot);
                position.iter().for_each(|axis| add(u64::from(axis.cast_unsigned())));
                add(frame.is_interacting(slot).into());
                if !is_cubes {
                    let life = frame.life(slot);
                    let life = life.map_or(0, |life| {
                        1 << 16 | u64::from(life.kind) << 8 | u64::from(life.generation)
                    });
                    add(life);
                    (0..fields).for_each(|field| add(frame.value(slot, field).into()));
                }
            }
        }
        hash
    }

    fn parse(reader: impl BufRead, path: &Path) -> Result<Self, RecordingError> {
        let (layout, mut source) = header::read(reader, path)?;
        let max_frames = layout.max_frames();
        let mut frames: Vec<QuantizedSnapshot> = Vec::new();
        while !source.is_at_end()? {
            let (frame, start) = (frames.len(), source.offset);
            if frame == max_frames {
                return Err(source.fault(format!(
                    "has more than the maximum of {frame} frames, which end at offset {start}"
                )));
            }
            frames.push(layout.read(&mut source, frame)?);
            if frame < BASELINE_FRAMES && !layout.plan.has_lives() {
                check_initial(&layout, &frames, start).map_err(|fault| source.fault(fault))?;
            }
        }
        if frames.len() <= BASELINE_FRAMES {
            return Err(source.fault(format!(
                "ends at offset {} after {} frames, but needs at least seven: six before the first packet, and one to \
                 encode",
                source.offset,
                frames.len()
            )));
        }
        Ok(Self { plan: layout.plan, frames })
    }
}

/// Whether the file name says that the file is compressed.
fn has_zstd_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Checks the last of the first six frames, which starts at offset `start`.
fn check_initial(
    layout: &Layout,
    frames: &[QuantizedSnapshot],
    start: usize,
) -> Result<(), String> {
    let frame = frames.len() - 1;
    // Sender and receiver must start from the same floats.
    if frame == 0
        && let Some(index) = unquantizable(&frames[0])
    {
        let (noun, offset) = (layout.noun, start + layout.orientation_offset(index));
        return Err(format!(
            "orientation of {noun} {index} in frame 0, at offset {offset}, is not the quantized form of any quaternion"
        ));
    }
    if frames[frame] != frames[0] {
        return Err(format!(
            "frame {frame}, at offset {start}, differs from frame 0; the first six frames must be copies of the initial \
             state"
        ));
    }
    Ok(())
}

/// Index of the first body with an orientation that dequantizing and quantizing changes.
fn unquantizable(snapshot: &QuantizedSnapshot) -> Option<usize> {
    let schema = snapshot.plan().schema();
    let (bits, levels) = (schema.component_bits, schema.levels);
    (0..snapshot.len()).find(|&body| {
        let code = snapshot.smallest_three(body);
        SmallestThree::quantize(code.dequantize(bits, levels), bits, levels) != Some(code)
    })
}

/// Reader that marks errors as errors of the decompressor.
struct Unpacked<R>(R);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes);
        read.map_err(|error| io::Error::new(error.kind(), format!("zstd: {error}")))
    }
}
