//! Layout of frames: slots, each with the same columns.

use std::borrow::Cow;
use std::io::BufRead;
use std::sync::Arc;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{Life, Plan, Precision, QuantizedBody, QuantizedSnapshot, ladder};

use crate::source::{RecordingError, Source};
use crate::{CUBES, MAX_BYTES, MAX_FRAMES};

#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) plan: Arc<Plan>,
    precision: Precision,
    slots: usize,
    /// Column for whether the slot has a body. `None` in the bare layout.
    presence: Option<Column>,
    columns: Vec<Column>,
    /// Name of a slot's content in messages.
    pub(crate) noun: &'static str,
}

/// A little-endian number of a body.
#[derive(Debug)]
struct Column {
    name: Cow<'static, str>,
    bytes: usize,
    is_signed: bool,
    min: i64,
    max: i64,
}

/// Names of the components of orientations and positions.
const ORIENTATION: [&str; 4] =
    ["orientation_largest", "orientation_a", "orientation_b", "orientation_c"];
const POSITION: [&str; 3] = ["position_x", "position_y", "position_z"];

impl Column {
    fn unsigned(name: impl Into<Cow<'static, str>>, bytes: usize, max: u32) -> Self {
        Self { name: name.into(), bytes, is_signed: false, min: 0, max: max.into() }
    }

    fn get(&self, bytes: &[u8]) -> i64 {
        let mut word = [0; 8];
        word[..self.bytes].copy_from_slice(bytes);
        let number = i64::from_le_bytes(word);
        match self.is_signed {
            true => i64::from(number as i32),
            false => number,
        }
    }

    fn put(&self, number: i64, bytes: &mut Vec<u8>) {
        bytes.extend(&number.to_le_bytes()[..self.bytes]);
    }
}

impl Layout {
    /// Creates the layout of recordings with a header.
    pub(crate) fn new(plan: Arc<Plan>, slots: usize) -> Self {
        let schema = plan.schema();
        let has_lives = plan.has_lives();
        let mut columns = Vec::new();
        if has_lives {
            columns.push(Column::unsigned("kind", 1, schema.kinds.len() as u32 - 1));
            columns.push(Column::unsigned("generation", 1, u8::MAX.into()));
        }
        let component = schema.levels.max_component(schema.component_bits);
        let most = [3, component, component, component].map(u32::from);
        let orientation = ORIENTATION.into_iter().zip(most);
        columns.extend(orientation.map(|(name, max)| Column::unsigned(name, 2, max)));
        columns.extend(POSITION.into_iter().zip(plan.bounds()).map(|(name, bounds)| Column {
            is_signed: true,
            min: bounds.min.into(),
            max: bounds.max.into(),
            ..Column::unsigned(name, 4, 0)
        }));
        let fields = schema.fields.iter();
        columns
            .extend(fields.map(|field| Column::unsigned(field.name.clone(), 4, field.form.max())));
        let stages = plan.legal(*ladder::POSITION.stages);
        Self {
            precision: stages.expect("every scene has these").precision(),
            slots,
            presence: Some(Column {
                min: i64::from(!has_lives),
                ..Column::unsigned("alive", 1, 1)
            }),
            columns,
            noun: "slot",
            plan,
        }
    }

    /// Creates the layout of the contest's recordings. They have 901 cubes and the same columns, with 32 bits each.
    pub(crate) fn bare() -> Self {
        let mut layout = Self::new(Plan::cubes(), CUBES);
        for column in &mut layout.columns {
            (column.bytes, column.is_signed) = (4, true);
        }
        Self { presence: None, noun: "cube", ..layout }
    }

    /// Maximum number of frames that fit in memory.
    pub(crate) fn max_frames(&self) -> usize {
        (MAX_BYTES / self.empty().memory_bytes().max(1)).min(MAX_FRAMES)
    }

    /// Offset of a fixed body's orientation in its frame.
    pub(crate) fn orientation_offset(&self, index: usize) -> usize {
        let presence = self.presence.iter().map(|column| column.bytes).sum::<usize>();
        let body = self.columns.iter().map(|column| column.bytes).sum::<usize>();
        index * (presence + body) + presence
    }

    pub(crate) fn empty(&self) -> QuantizedSnapshot {
        let mut empty = QuantizedSnapshot::new(Arc::clone(&self.plan), self.precision);
        empty.clear_slots(self.slots);
        empty
    }

    pub(crate) fn read(
        &self,
        source: &mut Source<'_, impl BufRead>,
        frame: usize,
    ) -> Result<QuantizedSnapshot, RecordingError> {
        let mut snapshot = self.empty();
        let mut numbers = Vec::new();
        for slot in 0..self.slots {
            let at = (frame, slot);
            if let Some(presence) = &self.presence
                && self.number(source, presence, at)? == 0
            {
                continue;
            }
            numbers.clear();
            if !self.plan.has_lives() {
                numbers.extend([0, 0]);
            }
            for column in &self.columns {
                numbers.push(self.number(source, column, at)?);
            }
            put(&mut snapshot, slot, &numbers);
        }
        Ok(snapshot)
    }

    /// Reads a column of a slot and checks its range.
    fn number(
        &self,
        source: &mut Source<'_, impl BufRead>,
        column: &Column,
        (frame, index): (usize, usize),
    ) -> Result<i64, RecordingError> {
        let offset = source.offset;
        let mut bytes = [0; 4];
        let bytes = &mut bytes[..column.bytes];
        if !source.fill(bytes)? {
            let offset = source.offset;
            return Err(source.fault(format!("ends inside frame {frame}, at offset {offset}")));
        }
        let value = column.get(bytes);
        let Column { name, min, max, .. } = column;
        match (*min..=*max).contains(&value) {
            true => Ok(value),
            false => Err(source.fault(format!(
                "{name} of {} {index} in frame {frame}, at offset {offset}, is {value}, outside {min}..={max}",
                self.noun
            ))),
        }
    }

    /// Appends a frame. It must have the layout's scene and number of slots.
    pub(crate) fn write(&self, snapshot: &QuantizedSnapshot, bytes: &mut Vec<u8>) {
        assert!(
            *snapshot.plan() == self.plan && snapshot.len() == self.slots,
            "a frame of the recording's scene"
        );
        for slot in 0..self.slots {
            let life = snapshot.life(slot);
            if let Some(presence) = &self.presence {
                presence.put(life.is_some().into(), bytes);
            }
            if let Some(life) = life {
                let numbers = numbers(snapshot, slot, life);
                let unused = numbers.len() - self.columns.len();
                for (column, &number) in self.columns.iter().zip(&numbers[unused..]) {
                    column.put(number, bytes);
                }
            }
        }
    }
}

/// Stores a body in a slot. `numbers` are kind, generation, orientation, position and fields.
fn put(snapshot: &mut QuantizedSnapshot, slot: usize, numbers: &[i64]) {
    let &[kind, generation, largest, a, b, c, x, y, z, ref fields @ ..] = numbers else {
        unreachable!("every layout has these columns");
    };
    let life = Life { kind: kind as u8, generation: generation as u8 };
    let body = QuantizedBody {
        orientation: SmallestThree {
            largest: largest as u8,
            components: [a, b, c].map(|component| component as u16),
        },
        position: [x, y, z].map(|axis| axis as i32),
    };
    let mut values = [0; cubewire_codec::schema::Schema::MAX_FIELDS];
    for (value, &field) in values.iter_mut().zip(fields) {
        *value = field as u32;
    }
    snapshot
        .put_integers(slot, life, body, &values[..fields.len()])
        .expect("the ranges of columns are the schema's");
}

/// Numbers of a body in the order of [`put`].
fn numbers(snapshot: &QuantizedSnapshot, slot: usize, life: Life) -> Vec<i64> {
    let orientation = snapshot.smallest_three(slot);
    let mut numbers = vec![life.kind.into(), life.generation.into()];
    numbers.push(orientation.largest.into());
    numbers.extend(orientation.components.map(i64::from));
    numbers.extend(snapshot.position(slot).map(i64::from));
    let fields = snapshot.plan().schema().fields.len();
    numbers.extend((0..fields).map(|field| i64::from(snapshot.value(slot, field))));
    numbers
}
