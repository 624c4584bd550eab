//! Frames of the recordings in `assets/recordings`, for tests and benches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use cubewire_codec::QuantizedSnapshot;
use cubewire_recording::Recording;

/// All frames of a recording. It is read once and then cached.
pub(crate) fn frames(name: &'static str) -> &'static [QuantizedSnapshot] {
    static READ: Mutex<BTreeMap<&str, &[QuantizedSnapshot]>> = Mutex::new(BTreeMap::new());
    let mut recordings = READ.lock().unwrap();
    recordings.entry(name).or_insert_with(|| {
        // Every crate that compiles this file lies in `crates`.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/recordings");
        Recording::read(&folder.join(format!("{name}.bin.zst"))).unwrap().frames.leak()
    })
}
