//! Recordings of the cube scene, as `assets/recordings/README.md` describes them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::quantize::bounded::{POSITION_XY, POSITION_Z};
use cubewire_codec::quantize::smallest_three::max_component;
use cubewire_codec::{QuantizedCube, QuantizedSnapshot, ladder};

/// Cubes in every frame.
pub(crate) const CUBES: usize = 901;

/// Bits of a smallest-three component.
pub(crate) const COMPONENT_BITS: u8 = 9;

/// Frames that a baseline is old: 100 ms.
pub(crate) const BASELINE_FRAMES: usize = 6;

const FIELDS: [&str; 8] = [
    "orientation_largest",
    "orientation_a",
    "orientation_b",
    "orientation_c",
    "position_x",
    "position_y",
    "position_z",
    "interacting",
];
const RECORD_BYTES: usize = FIELDS.len() * size_of::<i32>();
const FRAME_BYTES: usize = CUBES * RECORD_BYTES;

/// More than this is no recording: six hours of play.
const MAX_BYTES: u64 = 6 * 3600 * 60 * FRAME_BYTES as u64;

/// The frames of a recording, with the initial state in the first six.
#[derive(Debug)]
pub(crate) struct Recording {
    /// One snapshot a frame, in the precision of the `position` rung.
    pub(crate) frames: Vec<QuantizedSnapshot>,
}

/// Why a file is not a recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    /// It cannot be opened or read.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is longer than any recording.
    #[error("{path}: holds more than {MAX_BYTES} bytes, which is longer than six hours of play")]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to encode.
    #[error(
        "{path}: holds {frames} whole frames in {bytes} bytes, but the six copies of the initial state and one more are needed"
    )]
    TooShort {
        /// The file.
        path: PathBuf,
        /// Whole frames in it.
        frames: usize,
        /// Bytes in it, decompressed.
        bytes: usize,
    },
    /// It ends inside a frame.
    #[error("{path}: ends inside frame {frame}, at offset {bytes}: a frame is {FRAME_BYTES} bytes")]
    PartialFrame {
        /// The file.
        path: PathBuf,
        /// The frame that is cut off.
        frame: usize,
        /// Bytes in the file, decompressed.
        bytes: usize,
    },
    /// A value is outside its range.
    #[error(
        "{path}: {field} of cube {cube} in frame {frame}, at offset {offset}, is {value}, outside {min}..={max}"
    )]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// Name of the field.
        field: &'static str,
        /// Index of the cube.
        cube: usize,
        /// Index of the frame.
        frame: usize,
        /// Offset of the value in the decompressed file, in bytes.
        offset: usize,
        /// The value.
        value: i32,
        /// Smallest value allowed.
        min: i32,
        /// Largest value allowed.
        max: i32,
    },
    /// The first six frames differ.
    #[error("{path}: frame {frame} is not a copy of the initial state, as the first six must be")]
    InitialFrames {
        /// The file.
        path: PathBuf,
        /// The first frame that differs.
        frame: usize,
    },
}

impl Recording {
    /// Reads `path`, which is compressed if its name ends in `.zst`.
    ///
    /// # Errors
    /// [`RecordingError`] names the file and the offset at fault.
    pub(crate) fn read(path: &Path) -> Result<Self, RecordingError> {
        let bytes = read_bytes(path).map_err(|source| RecordingError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(RecordingError::TooLong {
                path: path.to_owned(),
            });
        }
        Self::parse(&bytes, path)
    }

    /// Frames that are encoded: all but the six copies of the initial state.
    pub(crate) fn packets(&self) -> usize {
        self.frames.len() - BASELINE_FRAMES
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self, RecordingError> {
        let whole = bytes.len() / FRAME_BYTES;
        if !bytes.is_empty() && !bytes.len().is_multiple_of(FRAME_BYTES) {
            return Err(RecordingError::PartialFrame {
                path: path.to_owned(),
                frame: whole,
                bytes: bytes.len(),
            });
        }
        if whole <= BASELINE_FRAMES {
            return Err(RecordingError::TooShort {
                path: path.to_owned(),
                frames: whole,
                bytes: bytes.len(),
            });
        }
        let mut frames = Vec::with_capacity(whole);
        for (index, frame) in bytes.chunks_exact(FRAME_BYTES).enumerate() {
            frames.push(parse_frame(frame, index, path)?);
        }
        for frame in 1..BASELINE_FRAMES {
            if frames[frame] != frames[0] {
                return Err(RecordingError::InitialFrames {
                    path: path.to_owned(),
                    frame,
                });
            }
        }
        Ok(Self { frames })
    }
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    let compressed = path.extension().is_some_and(|extension| extension == "zst");
    let reader: Box<dyn Read> = if compressed {
        Box::new(zstd::Decoder::new(file)?)
    } else {
        Box::new(file)
    };
    // A small compressed file can stand for any number of bytes.
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse_frame(
    bytes: &[u8],
    frame: usize,
    path: &Path,
) -> Result<QuantizedSnapshot, RecordingError> {
    let component = (0, i32::from(max_component(COMPONENT_BITS)));
    let xy = (POSITION_XY.min, POSITION_XY.max);
    let z = (POSITION_Z.min, POSITION_Z.max);
    let ranges = [(0, 3), component, component, component, xy, xy, z, (0, 1)];

    let mut cubes = Vec::with_capacity(CUBES);
    for (cube, record) in bytes.chunks_exact(RECORD_BYTES).enumerate() {
        let mut values = [0; FIELDS.len()];
        for (slot, word) in record.chunks_exact(size_of::<i32>()).enumerate() {
            let value = i32::from_le_bytes(word.try_into().expect("chunks of four bytes"));
            let (min, max) = ranges[slot];
            if !(min..=max).contains(&value) {
                return Err(RecordingError::OutOfRange {
                    path: path.to_owned(),
                    field: FIELDS[slot],
                    cube,
                    frame,
                    offset: frame * FRAME_BYTES + cube * RECORD_BYTES + slot * size_of::<i32>(),
                    value,
                    min,
                    max,
                });
            }
            values[slot] = value;
        }
        let [largest, a, b, c, x, y, z, interacting] = values;
        cubes.push(QuantizedCube {
            orientation: SmallestThree {
                largest: largest as u8,
                components: [a as u16, b as u16, c as u16],
            },
            position: [x, y, z],
            interacting: interacting == 1,
        });
    }
    let mut snapshot = QuantizedSnapshot::new(ladder::POSITION.stages.precision());
    snapshot
        .assign(COMPONENT_BITS, cubes)
        .expect("the ranges checked above are the codec's");
    Ok(snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(cube_0_x: i32) -> Vec<u8> {
        let mut words = Vec::new();
        for cube in 0..CUBES {
            let x = if cube == 0 { cube_0_x } else { 5 };
            words.extend([3, 256, 256, 256, x, -7, 102, 0]);
        }
        words.into_iter().flat_map(i32::to_le_bytes).collect()
    }

    fn parse(bytes: &[u8]) -> Result<Recording, RecordingError> {
        Recording::parse(bytes, Path::new("some.bin"))
    }

    #[test]
    fn frames_come_out_in_order() {
        let mut bytes = frame(1).repeat(6);
        bytes.extend(frame(2));
        let recording = parse(&bytes).unwrap();
        assert_eq!(recording.packets(), 1);
        assert_eq!(recording.frames[0].positions()[0], [1, -7, 102]);
        assert_eq!(recording.frames[6].positions()[0], [2, -7, 102]);
    }

    #[test]
    fn each_fault_is_named_with_its_place() {
        let whole = frame(1).repeat(7);
        let message = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();

        assert!(message(&[]).contains("holds 0 whole frames in 0 bytes"));
        assert!(message(&whole[..FRAME_BYTES * 6]).contains("holds 6 whole frames"));
        let cut = message(&whole[..whole.len() - 1]);
        assert!(
            cut.contains("ends inside frame 6, at offset 201823"),
            "{cut}"
        );

        let mut wrong = whole.clone();
        let offset = FRAME_BYTES * 6 + RECORD_BYTES * 2 + 4;
        wrong[offset..offset + 4].copy_from_slice(&512_i32.to_le_bytes());
        let out_of_range = message(&wrong);
        assert!(
            out_of_range.contains(&format!(
                "orientation_a of cube 2 in frame 6, at offset {offset}, is 512, outside 0..=511"
            )),
            "{out_of_range}"
        );

        let mut differs = frame(1).repeat(3);
        differs.extend(frame(2).repeat(4));
        assert!(message(&differs).contains("frame 3 is not a copy"));
    }
}
