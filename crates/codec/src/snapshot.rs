//! Quantized snapshots, which are compared, sent and kept.

use glam::{Quat, Vec3};

use crate::flags::flag_differing;
use crate::ledger::BitKind;
use crate::precision::{Orientation, Position, Precision, StepsPerMetreError, VelocityPrecision};
use crate::quantize::affine::AFFINE_VELOCITY;
use crate::quantize::bounded::{Bounded, POSITION, VELOCITY};
use crate::quantize::smallest_three::{ComponentBitsError, SmallestThree, max_component};
use crate::state::{CubeState, Snapshot};

/// A snapshot as integers, whose meaning is given by its [`Precision`]. Two snapshots can be compared, or one
/// sent relative to the other, only if they have the same precision.
///
/// Fields are stored as columns. A field that the precision lacks has an empty column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedSnapshot {
    precision: Precision,
    pub(crate) positions: Vec<[i32; 3]>,
    /// Bits of x, y, z, w, where orientations are full.
    pub(crate) quaternions: Vec<[u32; 4]>,
    /// [`SmallestThree`] as words, where orientations are not full.
    smallest_three: Vec<u64>,
    pub(crate) velocities: Vec<[i32; 3]>,
    pub(crate) interacting: Vec<bool>,
}

/// Why a snapshot cannot be quantized.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QuantizeError {
    /// The bits of a smallest-three component are outside 2..=15.
    #[error(transparent)]
    ComponentBits(#[from] ComponentBitsError),
    /// The steps of a position are no power of two from 32 to 4096 per metre.
    #[error(transparent)]
    StepsPerMetre(#[from] StepsPerMetreError),
    /// A component is NaN or infinite.
    #[error("cube {cube}: {field} has the component {value}, which is not a finite number")]
    NotFinite {
        /// Index of the cube.
        cube: usize,
        /// [`BitKind::Position`], [`BitKind::Orientation`] or [`BitKind::Velocity`].
        field: BitKind,
        /// The component.
        value: f32,
    },
    /// A quaternion is too short to have a direction.
    #[error("cube {cube}: the orientation is a quaternion of length zero")]
    NoDirection {
        /// Index of the cube.
        cube: usize,
    },
    /// An integer is outside the range of its precision.
    #[error("cube {cube}: {field} {value} is outside {min}..={max}")]
    OutOfRange {
        /// Index of the cube.
        cube: usize,
        /// [`BitKind::Position`] or [`BitKind::Orientation`].
        field: BitKind,
        /// The integer.
        value: i64,
        /// Smallest integer allowed.
        min: i64,
        /// Largest integer allowed.
        max: i64,
    },
}

/// A cube as the integers of a recording: smallest-three orientation, position in 1/512 m.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizedCube {
    /// Orientation; the number of bits per component is given separately.
    pub orientation: SmallestThree,
    /// Position, in 1/512 m.
    pub position: [i32; 3],
    /// Whether the cube is interacting.
    pub interacting: bool,
}

impl QuantizedSnapshot {
    /// A snapshot of no cubes.
    #[must_use]
    pub const fn new(precision: Precision) -> Self {
        Self {
            precision,
            positions: Vec::new(),
            quaternions: Vec::new(),
            smallest_three: Vec::new(),
            velocities: Vec::new(),
            interacting: Vec::new(),
        }
    }

    /// The meaning of the integers.
    #[must_use]
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of cubes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no cubes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Position integers of every cube, by index.
    #[must_use]
    pub fn positions(&self) -> &[[i32; 3]] {
        &self.positions
    }

    /// Orientation of a cube.
    ///
    /// # Panics
    /// If there is no such cube, or if orientations are full.
    #[must_use]
    pub fn smallest_three(&self, cube: usize) -> SmallestThree {
        SmallestThree::from_word(self.smallest_three[cube])
    }

    pub(crate) fn set_smallest_three(&mut self, cube: usize, orientation: SmallestThree) {
        self.smallest_three[cube] = orientation.to_word();
    }

    /// Velocity integers of every cube, by index; empty where velocities are omitted.
    #[must_use]
    pub fn velocities(&self) -> &[[i32; 3]] {
        &self.velocities
    }

    /// Whether each cube is interacting, by index.
    #[must_use]
    pub fn interacting(&self) -> &[bool] {
        &self.interacting
    }

    /// Bytes of memory of the columns.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.positions)
            + size_of_val(&*self.quaternions)
            + size_of_val(&*self.smallest_three)
            + size_of_val(&*self.velocities)
            + size_of_val(&*self.interacting)
    }

    /// Quantizes `snapshot` into this: values are rounded to nearest, and clamped to their ranges.
    /// Reuses its memory.
    ///
    /// # Errors
    /// [`QuantizeError`] for the first cube and field with NaN, infinity, or a quaternion of length zero,
    /// whether or not the precision has that field, or for an illegal number of bits or steps. `self` then
    /// has no cubes.
    pub fn quantize(
        &mut self,
        snapshot: &Snapshot,
        precision: Precision,
    ) -> Result<(), QuantizeError> {
        self.clear(precision);
        precision.orientation.check()?;
        precision.position.check()?;
        let bounds = precision.position.bounds();
        for (index, cube) in snapshot.cubes.iter().enumerate() {
            if let Err(error) = self.push(index, cube, bounds.as_ref()) {
                self.clear(precision);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sets this to the given integers, with the smallest three in `component_bits`, positions in
    /// 1/512 m, and no velocity. Reuses its memory.
    ///
    /// # Errors
    /// [`QuantizeError`] for the first integer out of range, or for illegal `component_bits`. `self` then has
    /// no cubes.
    pub fn assign(
        &mut self,
        component_bits: u8,
        cubes: impl IntoIterator<Item = QuantizedCube>,
    ) -> Result<(), QuantizeError> {
        let precision = Precision {
            orientation: Orientation::SmallestThree {
                bits: component_bits,
            },
            velocity: VelocityPrecision::Omitted,
            position: Position::QUANTIZED,
        };
        self.clear(precision);
        precision.orientation.check()?;
        for (index, cube) in cubes.into_iter().enumerate() {
            if let Err(error) = check_integers(index, &cube, component_bits) {
                self.clear(precision);
                return Err(error);
            }
            self.positions.push(cube.position);
            self.smallest_three.push(cube.orientation.to_word());
            self.interacting.push(cube.interacting);
        }
        Ok(())
    }

    /// Converts the integers back to floats. Velocities are zero where the precision has none. Reuses the
    /// memory of `snapshot`.
    pub fn dequantize(&self, snapshot: &mut Snapshot) {
        snapshot.cubes.clear();
        snapshot
            .cubes
            .extend((0..self.len()).map(|index| self.cube(index)));
    }

    /// One cube, converted back to floats.
    ///
    /// # Panics
    /// If there is no such cube.
    #[must_use]
    pub fn cube(&self, index: usize) -> CubeState {
        CubeState {
            position: match self.precision.position.bounds() {
                None => floats(self.positions[index]),
                Some(bounds) => dequantize(self.positions[index], &bounds),
            },
            orientation: match self.precision.orientation {
                Orientation::Full => Quat::from_array(self.quaternions[index].map(f32::from_bits)),
                Orientation::SmallestThree { bits } => self.smallest_three(index).dequantize(bits),
            },
            linear_velocity: match self.precision.velocity {
                VelocityPrecision::Full => floats(self.velocities[index]),
                VelocityPrecision::Quantized => dequantize(self.velocities[index], &[VELOCITY; 3]),
                VelocityPrecision::Affine => {
                    dequantize(self.velocities[index], &[AFFINE_VELOCITY; 3])
                }
                VelocityPrecision::Omitted => Vec3::ZERO,
            },
            interacting: self.interacting[index],
        }
    }

    /// Copies `other` into this, reusing its memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.precision = other.precision;
        self.positions.clone_from(&other.positions);
        self.quaternions.clone_from(&other.quaternions);
        self.smallest_three.clone_from(&other.smallest_three);
        self.velocities.clone_from(&other.velocities);
        self.interacting.clone_from(&other.interacting);
    }

    /// Writes, for each cube, whether any field differs from that of `other`. Reuses the memory of
    /// `changed`.
    ///
    /// # Panics
    /// If the precision or the number of cubes of the two differs.
    pub fn compare(&self, other: &Self, changed: &mut Vec<bool>) {
        assert_eq!(
            self.precision, other.precision,
            "both snapshots have the same precision"
        );
        assert_eq!(
            self.len(),
            other.len(),
            "both snapshots have the same number of cubes"
        );
        changed.clear();
        changed.resize(self.len(), false);
        self.flag_differing(other, changed);
    }

    /// Sets the flag of each cube of which a field differs from that of `other`, whose precision and number
    /// of cubes are the same.
    pub(crate) fn flag_differing(&self, other: &Self, changed: &mut [bool]) {
        flag_differing(changed, &self.positions, &other.positions);
        flag_differing(changed, &self.smallest_three, &other.smallest_three);
        flag_differing(changed, &self.quaternions, &other.quaternions);
        flag_differing(changed, &self.velocities, &other.velocities);
        flag_differing(changed, &self.interacting, &other.interacting);
    }

    /// Whether any field of a cube differs from that of `other`, whose precision is the same.
    pub(crate) fn differs(&self, other: &Self, cube: usize) -> bool {
        self.positions[cube] != other.positions[cube]
            || self.orientation_differs(other, cube)
            || self.velocities.get(cube) != other.velocities.get(cube)
            || self.interacting[cube] != other.interacting[cube]
    }

    pub(crate) fn orientation_differs(&self, other: &Self, cube: usize) -> bool {
        self.smallest_three.get(cube) != other.smallest_three.get(cube)
            || self.quaternions.get(cube) != other.quaternions.get(cube)
    }

    fn clear(&mut self, precision: Precision) {
        self.precision = precision;
        self.positions.clear();
        self.quaternions.clear();
        self.smallest_three.clear();
        self.velocities.clear();
        self.interacting.clear();
    }

    /// `bounds` are those of positions, unless these are floats.
    fn push(
        &mut self,
        index: usize,
        cube: &CubeState,
        bounds: Option<&[Bounded; 3]>,
    ) -> Result<(), QuantizeError> {
        let finite = |field, components: &[f32]| match components
            .iter()
            .find(|component| !component.is_finite())
        {
            Some(&value) => Err(QuantizeError::NotFinite {
                cube: index,
                field,
                value,
            }),
            None => Ok(()),
        };
        let position = cube.position.to_array();
        let velocity = cube.linear_velocity.to_array();
        finite(BitKind::Position, &position)?;
        finite(BitKind::Orientation, &cube.orientation.to_array())?;
        finite(BitKind::Velocity, &velocity)?;
        // Whether a quaternion has a direction does not depend on the number of bits.
        let bits = match self.precision.orientation {
            Orientation::Full => 9,
            Orientation::SmallestThree { bits } => bits,
        };
        let smallest_three = SmallestThree::quantize(cube.orientation, bits)
            .ok_or(QuantizeError::NoDirection { cube: index })?;

        self.positions.push(match bounds {
            None => words(position),
            Some(bounds) => quantize(position, bounds),
        });
        match self.precision.orientation {
            Orientation::Full => {
                let bits = cube.orientation.to_array().map(f32::to_bits);
                self.quaternions.push(bits);
            }
            Orientation::SmallestThree { .. } => {
                self.smallest_three.push(smallest_three.to_word());
            }
        }
        match self.precision.velocity {
            VelocityPrecision::Full => self.velocities.push(words(velocity)),
            VelocityPrecision::Quantized => {
                self.velocities.push(quantize(velocity, &[VELOCITY; 3]));
            }
            VelocityPrecision::Affine => {
                self.velocities
                    .push(quantize(velocity, &[AFFINE_VELOCITY; 3]));
            }
            VelocityPrecision::Omitted => {}
        }
        self.interacting.push(cube.interacting);
        Ok(())
    }
}

fn quantize(values: [f32; 3], bounds: &[Bounded; 3]) -> [i32; 3] {
    std::array::from_fn(|axis| bounds[axis].quantize(values[axis]))
}

fn dequantize(integers: [i32; 3], bounds: &[Bounded; 3]) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|axis| {
        bounds[axis].dequantize(integers[axis])
    }))
}

/// The bits of f32, as integers that can be compared.
fn words(values: [f32; 3]) -> [i32; 3] {
    values.map(|value| value.to_bits().cast_signed())
}

fn floats(words: [i32; 3]) -> Vec3 {
    Vec3::from_array(words.map(|word| f32::from_bits(word.cast_unsigned())))
}

fn check_integers(
    index: usize,
    cube: &QuantizedCube,
    component_bits: u8,
) -> Result<(), QuantizeError> {
    let check = |field, value: i64, min: i64, max: i64| {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(QuantizeError::OutOfRange {
            cube: index,
            field,
            value,
            min,
            max,
        })
    };
    let max = i64::from(max_component(component_bits));
    check(
        BitKind::Orientation,
        i64::from(cube.orientation.largest),
        0,
        3,
    )?;
    for component in cube.orientation.components {
        check(BitKind::Orientation, i64::from(component), 0, max)?;
    }
    for (value, bounds) in cube.position.into_iter().zip(POSITION) {
        check(
            BitKind::Position,
            i64::from(value),
            i64::from(bounds.min),
            i64::from(bounds.max),
        )?;
    }
    Ok(())
}
