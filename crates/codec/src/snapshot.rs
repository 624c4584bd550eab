//! Quantized snapshots, which are compared, sent and stored.

mod batch;
mod fill;
mod life;
mod packed_position;
mod pool;
mod records;

use std::sync::Arc;

use glam::{Quat, Vec3};

pub use self::fill::{QuantizeError, QuantizedBody};
pub use self::life::Life;
use self::life::LifeWord;
pub(crate) use self::life::Slot;
pub(crate) use self::packed_position::PackedPosition;
pub use self::pool::SnapshotPool;
pub(crate) use self::pool::Spares;
use crate::flags::flag_differing;
use crate::plan::Plan;
use crate::precision::{Orientation, Precision};
use crate::quantize::bounded::Bounded;
use crate::quantize::smallest_three::{MAX_NARROW_BITS, SmallestThree};
use crate::stages::StageOptions;
use crate::state::{BodyState, Snapshot};

/// A snapshot as integers. Its [`Precision`] defines their meaning. Two snapshots can be compared, or one encoded
/// against the other, only if they have the same precision.
///
/// Methods that take the index of a body or of a slot panic if it is out of range.
///
/// Fields are stored as columns. With quantized positions, packed orientations and no velocities, they take as few bits
/// as the precision allows: 12 bytes per body at 512 steps per metre and nine bits per component. Columns that the
/// precision does not use are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedSnapshot {
    plan: Arc<Plan>,
    precision: Precision,
    /// Positions and flags of all bodies; empty if the precision does not pack them.
    pub(crate) packed_positions: Vec<PackedPosition>,
    /// [`SmallestThree`] as words: `narrow` with up to [`MAX_NARROW_BITS`] per component, `wide` with more.
    narrow: Vec<u32>,
    wide: Vec<u64>,
    /// Fields in precisions that do not fit the columns above.
    fields: Vec<Fields>,
    /// Lives, if bodies come and go.
    lives: Vec<LifeWord>,
    /// Packed values of the schema's fields: [`Plan::words`] words for each body.
    words: Vec<u32>,
}

/// The fields of a body. Fields that the precision does not use are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) position: [i32; 3],
    pub(crate) interacting: bool,
    pub(crate) quaternion: [i32; 4],
    pub(crate) smallest_three: SmallestThree,
    pub(crate) velocity: [i32; 3],
}

/// A snapshot of the demo's scene without bodies.
impl Default for QuantizedSnapshot {
    fn default() -> Self {
        Self::new(Plan::cubes(), StageOptions::UNCOMPRESSED.precision())
    }
}

impl QuantizedSnapshot {
    /// Creates a snapshot without bodies.
    pub const fn new(plan: Arc<Plan>, precision: Precision) -> Self {
        Self {
            plan,
            precision,
            packed_positions: Vec::new(),
            narrow: Vec::new(),
            wide: Vec::new(),
            fields: Vec::new(),
            lives: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Plan of the scene.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The meaning of the integers.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of bodies.
    pub const fn len(&self) -> usize {
        self.packed_positions.len() + self.fields.len()
    }

    /// Whether there are no bodies.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Position of a body.
    #[inline]
    pub fn position(&self, body: usize) -> [i32; 3] {
        match self.packed_positions.get(body) {
            Some(packed) => packed.position(),
            None => self.fields[body].position,
        }
    }

    /// The flag that is stored with the position: in the demo, whether the body is interacting.
    #[inline]
    pub fn is_interacting(&self, body: usize) -> bool {
        match self.packed_positions.get(body) {
            Some(packed) => packed.is_interacting(),
            None => self.fields[body].interacting,
        }
    }

    /// Orientation of a body; meaningless if orientations are full.
    #[inline]
    pub fn smallest_three(&self, body: usize) -> SmallestThree {
        if let Some(&word) = self.narrow.get(body) {
            return SmallestThree::from_narrow_word(word);
        }
        match self.wide.get(body) {
            Some(&word) => SmallestThree::from_word(word),
            None => self.fields[body].smallest_three,
        }
    }

    /// Velocity of a body; zero if velocities are omitted.
    pub fn velocity(&self, body: usize) -> [i32; 3] {
        self.fields.get(body).map_or([0; 3], |fields| fields.velocity)
    }

    #[inline]
    pub(crate) fn fields(&self, body: usize) -> Fields {
        self.fields.get(body).copied().unwrap_or_else(|| Fields {
            position: self.position(body),
            interacting: self.is_interacting(body),
            smallest_three: self.smallest_three(body),
            ..Fields::default()
        })
    }

    /// Sets the fields of a body. Those that the precision does not use must be zero.
    #[inline]
    pub(crate) fn set_fields(&mut self, body: usize, fields: &Fields) {
        let Some(packed) = self.packed_positions.get_mut(body) else {
            self.fields[body] = *fields;
            return;
        };
        *packed = PackedPosition::new(fields.position, fields.interacting);
        match self.narrow.get_mut(body) {
            Some(word) => *word = fields.smallest_three.to_narrow_word(),
            None => self.wide[body] = fields.smallest_three.to_word(),
        }
    }

    /// Number of bytes of all columns.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.packed_positions)
            + size_of_val(&*self.narrow)
            + size_of_val(&*self.wide)
            + size_of_val(&*self.fields)
            + size_of_val(&*self.lives)
            + size_of_val(&*self.words)
    }

    /// Converts all bodies to floats. Velocities are zero if the precision omits them. Reuses the memory of
    /// `snapshot`.
    pub fn dequantize(&self, snapshot: &mut Snapshot) {
        snapshot.bodies.clear();
        snapshot.bodies.extend((0..self.len()).map(|index| self.body(index)));
    }

    /// Converts one body to floats.
    #[inline]
    pub fn body(&self, index: usize) -> BodyState {
        let position = self.position(index);
        BodyState {
            position: self.plan.to_caller(
                match self.plan.position_bounds(self.precision.position) {
                    None => floats(position).into(),
                    Some(bounds) => dequantize(position, &bounds),
                },
            ),
            orientation: self.plan.rotation_to_caller(match self.precision.orientation {
                Orientation::Full => Quat::from_array(floats(self.fields[index].quaternion)),
                Orientation::SmallestThree { bits } => {
                    self.smallest_three(index).dequantize(bits, self.plan.schema().levels)
                }
            }),
            linear_velocity: self.plan.to_caller(
                match self.plan.velocity_bounds(self.precision.velocity) {
                    // Omitted velocities are words of zero.
                    None => floats(self.velocity(index)).into(),
                    Some(bounds) => dequantize(self.velocity(index), &[bounds; 3]),
                },
            ),
            interacting: self.is_interacting(index),
        }
    }

    /// Copies `other`. Reuses memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.plan.clone_from(&other.plan);
        self.precision = other.precision;
        self.packed_positions.clone_from(&other.packed_positions);
        self.narrow.clone_from(&other.narrow);
        self.wide.clone_from(&other.wide);
        self.fields.clone_from(&other.fields);
        self.lives.clone_from(&other.lives);
        self.words.clone_from(&other.words);
    }

    /// Sets `changed` to whether any field of each body differs from `other`. Reuses the memory of `changed`.
    ///
    /// # Panics
    /// If the two have different scenes, precisions or numbers of bodies.
    pub fn compare(&self, other: &Self, changed: &mut Vec<bool>) {
        assert!(
            self.plan == other.plan && self.precision == other.precision,
            "both snapshots are of the same scene and precision"
        );
        assert_eq!(self.len(), other.len(), "both snapshots have the same number of bodies");
        changed.clear();
        changed.resize(self.len(), false);
        self.flag_differing(other, changed);
    }

    /// Sets the flags of bodies that differ from `other`, which must have the same form. Other flags stay as they
    /// are.
    pub(crate) fn flag_differing(&self, other: &Self, changed: &mut [bool]) {
        flag_differing(changed, &self.packed_positions, &other.packed_positions);
        flag_differing(changed, &self.narrow, &other.narrow);
        flag_differing(changed, &self.wide, &other.wide);
        flag_differing(changed, &self.fields, &other.fields);
        flag_differing(changed, &self.lives, &other.lives);
        if self.plan.words > 0 {
            let stride = self.plan.words;
            let pairs = self.words.chunks(stride).zip(other.words.chunks(stride));
            for (changed, (own, others)) in changed.iter_mut().zip(pairs) {
                *changed |= own != others;
            }
        }
    }

    /// Whether scene, precision and number of bodies are the same as in `other`.
    pub fn has_form_of(&self, other: &Self) -> bool {
        self.plan == other.plan && self.precision == other.precision && self.len() == other.len()
    }

    /// Whether any field of a body differs from `other`, which must [have the same form](Self::has_form_of).
    pub fn differs(&self, other: &Self, body: usize) -> bool {
        self.packed_positions.get(body) != other.packed_positions.get(body)
            || self.narrow.get(body) != other.narrow.get(body)
            || self.wide.get(body) != other.wide.get(body)
            || self.fields.get(body) != other.fields.get(body)
            || self.plan.has_slots() && self.slot_differs(other, body)
    }

    fn clear(&mut self, precision: Precision) {
        self.precision = precision;
        self.packed_positions.clear();
        self.narrow.clear();
        self.wide.clear();
        self.fields.clear();
        self.lives.clear();
        self.words.clear();
    }

    /// Appends a body without life and values.
    fn push_fields(&mut self, fields: &Fields) {
        let Some(bits) = self.precision.packed_component_bits() else {
            self.fields.push(*fields);
            return;
        };
        self.packed_positions.push(PackedPosition::new(fields.position, fields.interacting));
        match bits {
            ..=MAX_NARROW_BITS => self.narrow.push(fields.smallest_three.to_narrow_word()),
            _ => self.wide.push(fields.smallest_three.to_word()),
        }
    }
}

fn dequantize(integers: [i32; 3], bounds: &[Bounded; 3]) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|axis| bounds[axis].dequantize(integers[axis])))
}

pub(crate) fn floats<const N: usize>(words: [i32; N]) -> [f32; N] {
    words.map(|word| f32::from_bits(word.cast_unsigned()))
}
