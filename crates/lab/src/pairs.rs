//! Frames of a recording with their baselines.

use cubewire_codec::{Baseline, QuantizedSnapshot, Sequence, Stages};
use cubewire_recording::{BASELINE_FRAMES, Recording};

/// Calls `each` for every frame after the first six, with the frame number, the frame and its baseline. The baseline
/// is the frame six earlier, as both ends store it with these stages. All frames have the recording's precision.
pub(crate) fn for_each(
    recording: &Recording,
    stages: Stages,
    mut each: impl FnMut(Sequence, &QuantizedSnapshot, &Baseline),
) {
    let mut ring: Vec<Baseline> = Vec::new();
    for frame in &recording.frames[..BASELINE_FRAMES] {
        let mut baseline = Baseline::default();
        baseline.record(Sequence(ring.len() as u16), stages, frame, None);
        ring.push(baseline);
    }
    let mut next = Baseline::default();
    for (index, current) in recording.frames.iter().enumerate().skip(BASELINE_FRAMES) {
        let sequence = Sequence(index as u16);
        let baseline = &mut ring[index % BASELINE_FRAMES];
        each(sequence, current, baseline);
        // Only copies of the initial state come before the first frame that is sent.
        let is_sent = index >= recording.first_sent() + BASELINE_FRAMES;
        let named = is_sent.then_some(&*baseline);
        next.record(sequence, stages, current, named);
        std::mem::swap(baseline, &mut next);
    }
}
