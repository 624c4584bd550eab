//! The frames of a recording with their baselines.

use cubewire_codec::{Baseline, QuantizedSnapshot, Sequence, Stages};
use cubewire_recording::{BASELINE_FRAMES, Recording};

/// Calls `each` with the number of every frame from the seventh on, the frame, and its baseline: the
/// frame six before it as both sides keep it with these stages, in the recording's precision.
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
        // Frames that are not sent are copies of the initial state.
        let is_sent = index >= recording.first_sent() + BASELINE_FRAMES;
        let named = is_sent.then_some(&*baseline);
        next.record(sequence, stages, current, named);
        std::mem::swap(baseline, &mut next);
    }
}
