//! Frames of a recording, quantized to the precision of a rung.

use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::{BodyState, Decoder, Encoder, Limits, Precision, QuantizedSnapshot, Snapshot};
use cubewire_recording::Recording;

/// Frames of a recording, quantized to the precision of a rung.
pub(crate) struct Frames<'a> {
    recording: &'a Recording,
    precision: Precision,
    quantized: QuantizedSnapshot,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(recording: &'a Recording, precision: Precision) -> Self {
        let quantized = QuantizedSnapshot::new(Arc::clone(&recording.plan), precision);
        Self { recording, precision, quantized }
    }

    /// Returns an encoder and a decoder that start from the initial state.
    pub(crate) fn codecs(&self, model: &Arc<TrainedModel>) -> (Encoder, Decoder) {
        let mut initial = Snapshot::default();
        if !self.recording.plan.has_lives() {
            self.recording.frames[0].dequantize(&mut initial);
        }
        let limits = Limits::default();
        let checked = "values are checked when a recording is read";
        let plan = || Arc::clone(&self.recording.plan);
        let encoder = Encoder::new(plan(), initial.clone(), limits).expect(checked);
        let decoder = Decoder::new(plan(), initial, limits).expect(checked);
        (encoder.with_model(Arc::clone(model)), decoder.with_model(Arc::clone(model)))
    }

    /// Quantizes a frame. Velocities are computed from the differences to the positions of the previous frame.
    pub(crate) fn quantize(&mut self, frame: usize) -> &QuantizedSnapshot {
        let recorded = &self.recording.frames[frame];
        if recorded.precision() == self.precision {
            return recorded;
        }
        let before = &self.recording.frames[frame.saturating_sub(1)];
        let rate = f32::from(self.recording.plan.schema().ticks_per_second);
        let moving = |slot: usize| {
            let body = recorded.body(slot);
            let is_new = recorded.life(slot) != before.life(slot);
            let from = if is_new { body.position } else { before.body(slot).position };
            BodyState { linear_velocity: (body.position - from) * rate, ..body }
        };
        let quantized = recorded.in_precision(self.precision, moving);
        self.quantized = quantized.expect("a recording's values are finite");
        &self.quantized
    }
}
