//! Bytes, compressed or not, read as a recording or give a one-line error. Writing a recording and reading it again
//! must give the same.

#![no_main]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use cubewire_recording::{CUBES, Recording, Writer};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Size of twelve frames.
const MAX_BYTES: usize = 12 * CUBES * 32;

fuzz_target!(|bytes: &[u8]| {
    match Recording::from_reader(bytes, Path::new("a.bin")) {
        Ok(recording) => {
            assert!(recording.packets() > 0);
            let (plan, slots) = (Arc::clone(&recording.plan), recording.frames[0].len());
            let mut written = Vec::new();
            let mut writer = Writer::begin(&mut written, plan, slots).unwrap();
            for frame in &recording.frames {
                writer.frame(frame).unwrap();
            }
            let again = Recording::from_reader(&*written, Path::new("a.bin")).unwrap();
            assert_eq!(again.frames, recording.frames);
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});

// Changes the bytes of the file or, more often, its decompressed contents: zstd detects nearly every change of a
// file.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut contents = match seed % 4 {
        0 => return fuzzer_mutate(data, size, max_size),
        _ => zstd::bulk::decompress(&data[..size], MAX_BYTES).unwrap_or_default(),
    };
    let length = contents.len();
    contents.resize(MAX_BYTES, 0);
    let length = fuzzer_mutate(&mut contents, length, MAX_BYTES);
    let compressed = zstd::bulk::compress(&contents[..length], 1).unwrap();
    let kept = compressed.len().min(max_size);
    (&mut data[..kept]).write_all(&compressed[..kept]).unwrap();
    kept
});
