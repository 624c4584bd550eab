//! The bodies of a bit-packed packet. `WIRE.md` draws the layouts of selections (section 6), of bodies and their fields
//! (7), and of slots (13 and 14).

mod orientation;
mod position;
mod slot;

use std::ops::RangeInclusive;

use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::flags::flagged;
use crate::ledger::BitKind;
use crate::predict::{LinearPredictor, Prediction};
use crate::quantize::Bounded;
use crate::selection;
use crate::sequence::Sequence;
use crate::snapshot::{Fields, QuantizedSnapshot};
use crate::stages::{ChangedFlags, Delta, Orientation, Stages};

pub use orientation::GROWING_ORIENTATION_RANGES;
pub use position::PREDICTED_POSITION_RANGES;
use slot::SlotCoder;

/// Codes all of the bodies. `current` has their fields: it is the snapshot to write or, for a reader, the reference's.
/// A reader also passes `decoded`, which starts as a copy of the reference's snapshot. `sent` flags the bodies to write;
/// a reader sets it. `indices` is scratch memory.
///
/// A function apart from its callers, so that its loops can use all registers.
#[inline(never)]
pub(crate) fn code_bodies<D: Direction>(
    stream: &mut BitStream<'_, D>,
    (sequence, stages): (Sequence, Stages),
    reference: &Baseline,
    current: &QuantizedSnapshot,
    mut decoded: Option<&mut QuantizedSnapshot>,
    sent: &mut [bool],
    indices: &mut Vec<u16>,
) -> Result<(), D::Error> {
    let before = &*reference.snapshot;
    let mut lives_change = false;
    if stages.delta == Delta::Off {
        sent.fill(true);
    } else {
        if current.plan().has_lives() {
            let mut slots = flagged(sent);
            let changes =
                slots.any(|slot| !before.is_present(slot) || !current.is_same_life(before, slot));
            lives_change = stream.flag(BitKind::Life, changes)?;
        }
        selection::code(stream, stages.delta, sent, &reference.motion.moved, indices)?;
    }
    if current.plan().has_slots() {
        let coder = SlotCoder::new(stages, sequence, reference, lives_change);
        for index in flagged(sent) {
            let mut slot = current.slot(index);
            coder.code(stream, index, &mut slot)?;
            if let Some(decoded) = &mut decoded {
                decoded.set_slot(index, &slot);
            }
        }
        return Ok(());
    }
    let coder = BodyCoder::new(stages, sequence, reference);
    for body in flagged(sent) {
        let mut fields = current.fields(body);
        coder.code(stream, body, &mut fields)?;
        if let Some(decoded) = &mut decoded {
            decoded.set_fields(body, &fields);
        }
    }
    Ok(())
}

/// Codes the fields of the bodies of one packet.
#[derive(Clone, Debug)]
struct BodyCoder<'a> {
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
    fn new(stages: Stages, sequence: Sequence, baseline: &'a Baseline) -> Self {
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
    fn code<D: Direction>(
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
