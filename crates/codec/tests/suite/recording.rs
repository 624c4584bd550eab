//! Frames of the recordings in `assets/recordings`, for tests and benches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{Life, Plan, QuantizedBody, QuantizedSnapshot, ladder};

const BODIES: usize = 901;

/// All frames of a recording. It is read once and then cached.
pub(crate) fn frames(name: &'static str) -> &'static [QuantizedSnapshot] {
    static READ: Mutex<BTreeMap<&str, &[QuantizedSnapshot]>> = Mutex::new(BTreeMap::new());
    let mut recordings = READ.lock().unwrap();
    recordings.entry(name).or_insert_with(|| read(name).leak())
}

fn read(name: &str) -> Vec<QuantizedSnapshot> {
    let file = format!("assets/recordings/{name}.bin.zst");
    // This file is compiled into crates at different depths of the repository.
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join(&file))
        .find(|path| path.exists())
        .expect("the repository has its recordings");
    let bytes = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    let words: Vec<i32> =
        bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect();
    words
        .chunks_exact(BODIES * 8)
        .map(|frame| {
            let precision = ladder::POSITION.stages.precision();
            let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), precision);
            snapshot.clear_slots(BODIES);
            for (slot, body) in frame.chunks_exact(8).enumerate() {
                let quantized = QuantizedBody {
                    orientation: SmallestThree {
                        largest: body[0] as u8,
                        components: [body[1] as u16, body[2] as u16, body[3] as u16],
                    },
                    position: [body[4], body[5], body[6]],
                };
                let flag = [body[7] as u32];
                snapshot.put_integers(slot, Life::default(), quantized, &flag).unwrap();
            }
            snapshot
        })
        .collect()
}
