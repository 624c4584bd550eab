//! The cubes of a bit-packed packet.
//!
//! ```text
//! no flags          interacting 1                                        | position | orientation | velocity
//! separate flags    interacting 1 | position sent 1 | orientation sent 1 | …
//! joint flags       usual 1 = 1                                          | …
//!                   usual 1 = 0 | interacting toggled 1 | position sent 1 | orientation sent 1 | …
//! ```

mod orientation;
mod position;
mod velocity;

use bitstream_io::BitWrite;

use crate::baseline::Baseline;
use crate::ledger::BitKind;
use crate::predict::{LinearPredictor, Prediction};
use crate::sequence::Sequence;
use crate::sink::Sink;
use crate::snapshot::QuantizedSnapshot;
use crate::source::{DecodeError, Source};
use crate::stages::{ChangedFlags, RelativeOrientation, RelativePosition, Stages};

pub use orientation::GROWING_ORIENTATION_RANGES;
pub use position::PREDICTED_POSITION_RANGES;

/// Writes and reads the fields of the cubes of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    stages: Stages,
    baseline: &'a Baseline,
    predictor: LinearPredictor<'a>,
}

/// Which fields of a cube are in the packet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    position: bool,
    orientation: bool,
}

const BOTH_SENT: Sent = Sent {
    position: true,
    orientation: true,
};

impl<'a> Body<'a> {
    /// For the packet `sequence`, relative to `baseline`.
    pub(crate) fn new(stages: Stages, sequence: Sequence, baseline: &'a Baseline) -> Self {
        Self {
            stages,
            baseline,
            predictor: LinearPredictor::new(baseline, sequence),
        }
    }

    pub(crate) fn put<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        current: &QuantizedSnapshot,
        cube: usize,
    ) {
        sink.of_cube(cube);
        let sent = self.put_flags(sink, current, cube);
        let prediction = self.predict(cube);
        if sent.position {
            self.put_position(sink, current, cube, prediction);
        }
        if sent.orientation {
            self.put_orientation(sink, current, cube, prediction.class);
        }
        self.put_velocity(sink, current, cube);
    }

    /// Reads a cube into `decoded`, which holds its state in the reference.
    pub(crate) fn take(
        &self,
        source: &mut Source<'_>,
        decoded: &mut QuantizedSnapshot,
        cube: usize,
    ) -> Result<(), DecodeError> {
        source.of_cube(cube);
        let sent = self.take_flags(source, decoded, cube)?;
        let prediction = self.predict(cube);
        if sent.position {
            let position = self.take_position(source, cube, prediction)?;
            decoded.set_position(cube, position);
        }
        if sent.orientation {
            self.take_orientation(source, decoded, cube, prediction.class)?;
        }
        self.take_velocity(source, decoded, cube)
    }

    /// Writes whether the cube is interacting and which of its fields follow.
    fn put_flags<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        current: &QuantizedSnapshot,
        cube: usize,
    ) -> Sent {
        let interacting = current.is_interacting(cube);
        if self.stages.changed_flags == ChangedFlags::Off {
            sink.put_flag(BitKind::Interacting, interacting);
            return BOTH_SENT;
        }
        let before = &self.baseline.snapshot;
        let toggled = interacting != before.is_interacting(cube);
        let sent = Sent {
            position: current.position_differs(before, cube),
            orientation: current.orientation_differs(before, cube),
        };
        if self.stages.changed_flags == ChangedFlags::Joint {
            let usual = sent.position && sent.orientation && !toggled;
            sink.put_flag(BitKind::Flags, usual);
            if usual {
                return sent;
            }
            sink.put_flag(BitKind::Interacting, toggled);
        } else {
            sink.put_flag(BitKind::Interacting, interacting);
        }
        sink.put_flag(BitKind::Flags, sent.position);
        sink.put_flag(BitKind::Flags, sent.orientation);
        sent
    }

    fn take_flags(
        &self,
        source: &mut Source<'_>,
        decoded: &mut QuantizedSnapshot,
        cube: usize,
    ) -> Result<Sent, DecodeError> {
        match self.stages.changed_flags {
            ChangedFlags::Off => {
                decoded.set_interacting(cube, source.take_flag(BitKind::Interacting)?);
                return Ok(BOTH_SENT);
            }
            ChangedFlags::Separate => {
                decoded.set_interacting(cube, source.take_flag(BitKind::Interacting)?);
            }
            ChangedFlags::Joint => {
                if source.take_flag(BitKind::Flags)? {
                    return Ok(BOTH_SENT);
                }
                let toggled = source.take_flag(BitKind::Interacting)?;
                decoded.set_interacting(cube, decoded.is_interacting(cube) ^ toggled);
            }
        }
        Ok(Sent {
            position: source.take_flag(BitKind::Flags)?,
            orientation: source.take_flag(BitKind::Flags)?,
        })
    }

    /// The prediction of the cube, for the stages that use it.
    fn predict(&self, cube: usize) -> Prediction {
        let is_used = self.stages.relative_position == RelativePosition::Predicted
            || self.stages.relative_orientation == RelativeOrientation::GrowingRanges;
        if is_used {
            self.predictor.predict(cube)
        } else {
            Prediction {
                position: self.baseline.snapshot.position(cube),
                class: 0,
            }
        }
    }
}
