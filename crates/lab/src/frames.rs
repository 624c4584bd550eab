//! Frames of a recording, quantized to the precision of a rung.

use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::{BodyState, Decoder, Encoder, Limits, Precision, QuantizedSnapshot, Snapshot};
use cubewire_recording::Recording;
use glam::Vec3;

/// Frames of a recording, which are quantized one after another to the precision of a rung.
pub(crate) struct Frames<'a> {
    recording: &'a Recording,
    precision: Precision,
    /// The last frame, with velocities computed from the frame before it. The initial state until the first call of
    /// `quantize`.
    state: Snapshot,
    quantized: QuantizedSnapshot,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(recording: &'a Recording, precision: Precision) -> Self {
        let mut state = Snapshot::default();
        if !recording.plan.has_lives() {
            recording.frames[0].dequantize(&mut state);
        }
        Self {
            recording,
            precision,
            state,
            quantized: QuantizedSnapshot::new(Arc::clone(&recording.plan), precision),
        }
    }

    /// Returns an encoder and a decoder that start from the initial state. Call this before `quantize`.
    pub(crate) fn codecs(&self, model: &Arc<TrainedModel>) -> (Encoder, Decoder) {
        let limits = Limits::default();
        let checked = "values are checked when a recording is read";
        let plan = || Arc::clone(&self.recording.plan);
        let encoder = Encoder::new(plan(), self.state.clone(), limits).expect(checked);
        let decoder = Decoder::new(plan(), self.state.clone(), limits).expect(checked);
        (encoder.with_model(Arc::clone(model)), decoder.with_model(Arc::clone(model)))
    }

    /// Quantizes a frame. The call before must have been for the previous frame, because velocities are computed from
    /// position differences. Only rungs of the cube scene change the recording's precision.
    pub(crate) fn quantize(&mut self, frame: usize) -> &QuantizedSnapshot {
        let recorded = &self.recording.frames[frame];
        if recorded.precision() == self.precision {
            return recorded;
        }
        let rate = f32::from(self.recording.plan.schema().ticks_per_second);
        for (cube, state) in self.state.bodies.iter_mut().enumerate() {
            let next = recorded.body(cube);
            let moved: Vec3 = next.position - state.position;
            *state = BodyState { linear_velocity: moved * rate, ..next };
        }
        self.quantized
            .quantize(&self.state, self.precision)
            .expect("a recording's values are finite");
        &self.quantized
    }
}
