//! Recordings of the cube scene, in the format that `assets/recordings/README.md` describes.

mod error;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::quantize::bounded::{POSITION_XY, POSITION_Z};
use cubewire_codec::quantize::smallest_three::max_component;
use cubewire_codec::{Plan, QuantizedBody, QuantizedSnapshot, ladder};

pub(crate) use self::error::RecordingError;

/// Number of cubes in every frame.
pub(crate) const CUBES: usize = 901;

/// Bits of a smallest-three component.
pub(crate) const COMPONENT_BITS: u8 = 9;

/// Age of a baseline in frames: 100 ms.
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

/// The first bytes of every zstd file (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum number of frames, so that a recording fits in memory: 28 minutes of play, 2 GB.
const MAX_FRAMES: usize = 100_000;

/// The frames of a recording. The first six are the initial state.
#[derive(Debug)]
pub(crate) struct Recording {
    /// One snapshot per frame, in the precision of the `position` rung.
    pub(crate) frames: Vec<QuantizedSnapshot>,
}

impl Recording {
    /// Reads a file, which is decompressed if it starts with zstd's magic number or its name ends in
    /// `.zst`.
    ///
    /// # Errors
    /// [`RecordingError`] with the path and the offset of the fault.
    pub(crate) fn read(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|source| RecordingError::Unopenable {
            path: path.to_owned(),
            source,
        })?;
        Self::from_reader(BufReader::new(file), path)
    }

    /// Reads the contents of a file, as [`read`](Self::read).
    pub(crate) fn from_reader(mut file: impl BufRead, path: &Path) -> Result<Self, RecordingError> {
        let unopenable = |source| RecordingError::Unopenable {
            path: path.to_owned(),
            source,
        };
        let start = file.fill_buf().map_err(unopenable)?;
        let named = path.extension().is_some_and(|extension| extension == "zst");
        if named || start.starts_with(&ZSTD_MAGIC) {
            let contents = zstd::Decoder::with_buffer(file).map_err(unopenable)?;
            Self::parse(Unpacked(contents), path)
        } else {
            Self::parse(file, path)
        }
    }

    /// Reads several files.
    pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Self>, RecordingError> {
        paths.iter().map(|path| Self::read(path)).collect()
    }

    /// Number of frames to encode: all but the six copies of the initial state.
    pub(crate) fn packets(&self) -> usize {
        self.frames.len() - BASELINE_FRAMES
    }

    /// Identifies the recording: FNV-1a of every integer.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        for frame in &self.frames {
            for cube in 0..frame.len() {
                let orientation = frame.smallest_three(cube);
                add(orientation.largest.into());
                orientation
                    .components
                    .iter()
                    .for_each(|&word| add(word.into()));
                let position = frame.position(cube);
                position
                    .iter()
                    .for_each(|axis| add(u64::from(axis.cast_unsigned())));
                add(frame.is_interacting(cube).into());
            }
        }
        hash
    }

    fn parse(mut reader: impl Read, path: &Path) -> Result<Self, RecordingError> {
        let mut frames: Vec<QuantizedSnapshot> = Vec::new();
        let mut bytes = Vec::with_capacity(FRAME_BYTES);
        loop {
            let (frame, start) = (frames.len(), frames.len() * FRAME_BYTES);
            bytes.clear();
            let mut one = reader.by_ref().take(FRAME_BYTES as u64);
            let read = one.read_to_end(&mut bytes);
            let offset = start + bytes.len();
            let owned = || path.to_owned();
            match read {
                Err(source) => {
                    return Err(RecordingError::Unreadable {
                        path: owned(),
                        offset,
                        source,
                    });
                }
                Ok(0) if frame <= BASELINE_FRAMES => {
                    return Err(RecordingError::TooShort {
                        path: owned(),
                        frames: frame,
                        offset,
                    });
                }
                Ok(0) => return Ok(Self { frames }),
                Ok(1..FRAME_BYTES) => {
                    return Err(RecordingError::PartialFrame {
                        path: owned(),
                        frame,
                        offset,
                    });
                }
                Ok(_) if frame == MAX_FRAMES => {
                    return Err(RecordingError::TooLong {
                        path: owned(),
                        offset: start,
                    });
                }
                Ok(_) => frames.push(parse_frame(&bytes, frame, path)?),
            }
            if frame == 0
                && let Some(cube) = unquantizable(&frames[0])
            {
                return Err(RecordingError::InitialCode {
                    path: owned(),
                    cube,
                    offset: cube * RECORD_BYTES,
                });
            }
            if frame < BASELINE_FRAMES && frames[frame] != frames[0] {
                return Err(RecordingError::InitialFrames {
                    path: owned(),
                    frame,
                    offset: start,
                });
            }
        }
    }
}

/// The first cube whose orientation changes when it is dequantized and quantized again.
fn unquantizable(snapshot: &QuantizedSnapshot) -> Option<usize> {
    (0..snapshot.len()).find(|&cube| {
        let code = snapshot.smallest_three(cube);
        SmallestThree::quantize(code.dequantize(COMPONENT_BITS), COMPONENT_BITS) != Some(code)
    })
}

/// Marks its errors as the decompressor's.
struct Unpacked<R>(R);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes);
        read.map_err(|error| io::Error::new(error.kind(), format!("zstd: {error}")))
    }
}

fn parse_frame(
    bytes: &[u8],
    frame: usize,
    path: &Path,
) -> Result<QuantizedSnapshot, RecordingError> {
    let component = (0, i32::from(max_component(COMPONENT_BITS)));
    let ranges = [
        (0, 3),
        component,
        component,
        component,
        // The contest's recordings stay within a 32 m square; others may use the codec's whole range.
        (POSITION_XY.min, POSITION_XY.max),
        (POSITION_XY.min, POSITION_XY.max),
        (POSITION_Z.min, POSITION_Z.max),
        (0, 1),
    ];

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
        cubes.push(QuantizedBody {
            orientation: SmallestThree {
                largest: largest as u8,
                components: [a as u16, b as u16, c as u16],
            },
            position: [x, y, z],
            interacting: interacting == 1,
        });
    }
    let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), ladder::POSITION.stages.precision());
    snapshot
        .assign(COMPONENT_BITS, cubes)
        .expect("the ranges checked above are within the codec's");
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
    fn frames_are_read_in_order() {
        let mut bytes = frame(1).repeat(6);
        bytes.extend(frame(2));
        let recording = parse(&bytes).unwrap();
        assert_eq!(recording.packets(), 1);
        assert_eq!(recording.frames[0].position(0), [1, -7, 102]);
        assert_eq!(recording.frames[6].position(0), [2, -7, 102]);
    }

    #[test]
    fn errors_name_the_fault_and_its_offset() {
        let whole = frame(1).repeat(7);
        let message = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();

        assert!(message(&[]).contains("ends at offset 0, after 0 frames"));
        assert!(message(&whole[..FRAME_BYTES * 6]).contains("after 6 frames"));
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
        assert!(message(&differs).contains("frame 3, at offset 86496, differs from frame 0"));
    }
}
