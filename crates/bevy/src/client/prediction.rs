//! What a client has predicted, and how it compares with a snapshot.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubewire_codec::QuantizedSnapshot;

use crate::body::RemoteBody;
use crate::components::Mapper;
use crate::protocol::Compiled;
use crate::wire::BodyId;

/// Counts of a client's prediction, since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionStats {
    /// Number of inputs, each with a tick.
    pub ticks: u64,
    /// Number of snapshots that were not as predicted.
    pub corrections: u64,
    /// Number of ticks that were run again for them.
    pub ticks_again: u64,
    /// Sum of the distances between the pose of the controlled body before and after each correction, units.
    pub corrected_units: f64,
    /// Time of all this.
    pub time: Duration,
    /// From the last input to its effect at this client: with prediction, the time since it was sent; without, that of the newest
    /// input that has an effect in the tick that is shown. `None` without inputs.
    pub input_delay: Option<Duration>,
}

/// The prediction of a connection.
#[derive(Debug, Default)]
pub(super) struct Prediction {
    /// The body that the client controls, as of the last report.
    pub(super) own: Option<BodyId>,
    /// Tick of the snapshot that was compared last.
    pub(super) base: Option<u64>,
    /// What was predicted after the inputs that no compared snapshot contains, and after the last one that it contains.
    pub(super) records: VecDeque<Record>,
    /// By predicted body: its count of teleports in the last snapshot.
    pub(super) teleports: HashMap<BodyId, u32>,
    pub(super) is_off: bool,
    pub(super) stats: PredictionStats,
}

/// The predicted bodies after an input.
#[derive(Debug)]
pub(super) struct Record {
    /// Number of the input.
    pub(super) number: u64,
    pub(super) bodies: Vec<BodyRecord>,
}

#[derive(Debug)]
pub(super) struct BodyRecord {
    pub(super) body: BodyId,
    pub(super) entity: Entity,
    pub(super) pose: (Vec3, Quat),
    /// By index of the registered field.
    values: Vec<u32>,
    /// By index of the predicted component.
    pub(super) components: Vec<Option<Vec<u8>>>,
}

impl BodyRecord {
    pub(super) fn of(protocol: &Compiled, world: &World, (entity, id): (Entity, BodyId)) -> Self {
        let body = world.entity(entity);
        let at = body.get::<Transform>().copied().unwrap_or_default();
        let id_of = |other| world.get::<RemoteBody>(other).map(|&RemoteBody(id)| id);
        let fields = protocol.items.fields.iter();
        let components = protocol
            .items
            .predicted
            .iter()
            .map(|component| (component.read)(body, &mut Mapper::new(&|_| None))?.ok());
        Self {
            body: id,
            entity,
            pose: (at.translation, at.rotation),
            values: fields.map(|it| it.schema.form.quantize((it.read)(body, &id_of))).collect(),
            components: components.collect(),
        }
    }

    /// Whether a snapshot has the predicted values, and the pose but for rounding.
    pub(super) fn is_confirmed(&self, protocol: &Compiled, snapshot: &QuantizedSnapshot) -> bool {
        let slot = usize::from(self.body.slot);
        if snapshot.life(slot).is_none_or(|life| life.generation != self.body.generation) {
            return false;
        }
        let schema = protocol.plan.schema();
        let received = snapshot.body(slot);
        let off = (received.position - self.pose.0).abs().to_array();
        let steps = schema.position.map(|range| 1.0 / range.steps_per_unit as f32);
        // A component of an orientation is the sine of half an angle.
        let radians = 4.0 / f32::from(1_u16 << schema.component_bits);
        let mut values = (protocol.hidden_fields()..).zip(&self.values);
        values.all(|(index, value)| snapshot.value(slot, index) == *value)
            && off.iter().zip(steps).all(|(off, step)| *off <= step)
            && received.orientation.angle_between(self.pose.1) <= radians
    }

    pub(super) fn has_components(&self, received: &[Option<&[u8]>]) -> bool {
        self.components.iter().map(Option::as_deref).eq(received.iter().copied())
    }
}
