//! The bodies of a bit-packed packet.
//!
//! ```text
//! no flags          interacting 1                                        | position | orientation | velocity
//! separate flags    interacting 1 | position sent 1 | orientation sent 1 | …
//! joint flags       usual 1 = 1                                          | …
//!                   usual 1 = 0 | interacting toggled 1 | position sent 1 | orientation sent 1 | …
//! ```

mod orientation;
mod position;
mod slot;

use std::ops::RangeInclusive;

use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::ledger::BitKind;
use crate::predict::{LinearPredictor, Prediction};
use crate::quantize::Bounded;
use crate::sequence::Sequence;
use crate::snapshot::Fields;
use crate::stages::{ChangedFlags, Orientation, Stages};

pub use orientation::GROWING_ORIENTATION_RANGES;
pub use position::PREDICTED_POSITION_RANGES;
pub(crate) use slot::SlotCoder;

/// Codes the fields of the bodies of one packet.
#[derive(Clone, Debug)]
pub(crate) struct BodyCoder<'a> {
    stages: Stages,
    baseline: &'a Baseline,
    predictor: LinearPredictor<'a>,
    /// Bounds of quantized positions, and of the integers of both fields.
    bounds: [Bounded; 3],
    position_range: [RangeInclusive<i32>; 3],
    component_range: [RangeInclusive<i32>; 3],
}

/// Which fields follow the flags of a body. Other fields equal the reference's.
#[derive(Clone, Copy, Debug)]
struct Sent {
    position: bool,
    orientation: bool,
}

const BOTH_SENT: Sent = Sent { position: true, orientation: true };

impl<'a> BodyCoder<'a> {
    pub(crate) fn new(stages: Stages, sequence: Sequence, baseline: &'a Baseline) -> Self {
        let plan = baseline.snapshot.plan();
        let bounds = plan.position_bounds(stages.position).unwrap_or(*plan.bounds());
        let max_component = match stages.orientation {
            Orientation::SmallestThree { bits } => plan.schema().levels.max_component(bits),
            Orientation::Full => 0,
        };
        Self {
            stages,
            baseline,
            predictor: LinearPredictor::new(baseline, sequence),
            position_range: bounds.map(|bounds| bounds.range()),
            bounds,
            component_range: [(); 3].map(|()| 0..=max_component.into()),
        }
    }

    /// Codes a body in place. When reading, `fields` must start as the reference's.
    pub(crate) fn code<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        fields: &mut Fields,
    ) -> Result<(), D::Error> {
        stream.of_body(body);
        let sent = self.flags(stream, body, fields)?;
        let prediction = self.predict(body);
        if sent.position {
            self.position(stream, body, &mut fields.position, &prediction)?;
        }
        if sent.orientation {
            self.orientation(stream, body, fields, prediction.class)?;
        }
        self.velocity(stream, body, &mut fields.velocity)
    }

    /// Codes whether the body is interacting and which of its fields follow.
    fn flags<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        fields: &mut Fields,
    ) -> Result<Sent, D::Error> {
        if self.stages.changed_flags == ChangedFlags::Off {
            fields.interacting = stream.flag(BitKind::Interacting, fields.interacting)?;
            return Ok(BOTH_SENT);
        }
        let before = self.baseline.snapshot.fields(body);
        let sent = Sent {
            position: fields.position != before.position,
            orientation: fields.smallest_three != before.smallest_three
                || fields.quaternion != before.quaternion,
        };
        if self.stages.changed_flags == ChangedFlags::Joint {
            let toggled = fields.interacting != before.interacting;
            let usual = sent.position && sent.orientation && !toggled;
            if stream.flag(BitKind::Flags, usual)? {
                return Ok(BOTH_SENT);
            }
            let toggled = stream.flag(BitKind::Interacting, toggled)?;
            fields.interacting = before.interacting ^ toggled;
        } else {
            fields.interacting = stream.flag(BitKind::Interacting, fields.interacting)?;
        }
        let mut field = stream.field(BitKind::Flags);
        field.follow(2);
        Ok(Sent {
            position: field.flag(sent.position)?,
            orientation: field.flag(sent.orientation)?,
        })
    }

    fn predict(&self, body: usize) -> Prediction {
        match self.stages.predicts_positions() {
            true => self.predictor.predict(body),
            false => Prediction::default(),
        }
    }
}
