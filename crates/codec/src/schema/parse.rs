//! Reads the text of a schema.

use std::str::{FromStr, SplitWhitespace};

use super::check::{
    ANCHOR, ANGLE_BITS, COMPONENT_BITS, DENOMINATOR, DRAG, FALL_HEIGHT, FIELDS, INT_MAX, INT_MIN,
    KINDS, LIVING, NUMERATOR, REST_HEIGHT, TICKS, Whole,
};
use super::error::{Fault, SchemaError, named, shown};
use super::text::{EVEN, ITEMS, axis_name};
use super::{Axis, Field, FieldForm, Kind, Levels, Linear, Range, Schema, Shape, Slots, World};

impl Schema {
    /// Reads a [text](super#text).
    ///
    /// # Errors
    /// The first fault, with its line and its item.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        if text.len() > Self::MAX_TEXT_BYTES {
            return Err(SchemaError::new("text", Fault::TooLong));
        }
        let mut draft = Draft::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            draft.line(index + 1, line)?;
        }
        draft.finish()
    }
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Draft {
    /// Items, and their lines.
    items: Vec<(String, usize)>,
    name: Option<String>,
    ticks_per_second: Option<u16>,
    up: Option<Axis>,
    position: [Option<Range>; 3],
    orientation: Option<(u8, Levels)>,
    anchor: Option<u16>,
    kinds: Vec<Kind>,
    fields: Vec<Field>,
    gravity: Option<f32>,
    floor: Option<f32>,
    max_speed: Option<f32>,
    linear: Option<Linear>,
    slots: Option<Slots>,
}

impl Draft {
    fn line(&mut self, number: usize, line: &str) -> Result<(), SchemaError> {
        let mut words = Words(line.split_whitespace());
        let Some(word) = words.0.next() else {
            return Ok(());
        };
        let item = match (word, words.0.clone().next()) {
            ("position" | "kind" | "field", Some(name)) => named(word, name),
            _ => shown(word),
        };
        let read = if self.items.iter().any(|(earlier, _)| *earlier == item) {
            Err(Fault::Duplicate)
        } else {
            self.item(word, &mut words).and_then(|()| words.end())
        };
        match read {
            Ok(()) => {
                self.items.push((item, number));
                Ok(())
            }
            Err(fault) => Err(SchemaError {
                line: Some(number),
                ..SchemaError::new(item, fault)
            }),
        }
    }

    fn item(&mut self, word: &str, words: &mut Words<'_>) -> Result<(), Fault> {
        match word {
            "scene" => self.name = Some(words.word("the name")?.into()),
            "ticks" => self.ticks_per_second = Some(words.whole(TICKS)?),
            "up" => self.up = Some(words.axis()?),
            "position" => {
                let axis = words.axis()?;
                self.position[axis.index()] = Some(words.range()?);
            }
            "orientation" => {
                self.orientation = Some((words.whole(COMPONENT_BITS)?, words.levels()?));
            }
            "anchor" => self.anchor = Some(words.whole(ANCHOR)?),
            "kind" => {
                KINDS.check(self.kinds.len() as i64 + 1)?;
                let name = words.word("the name")?.to_owned().into();
                let shape = words.shape()?;
                self.kinds.push(Kind { name, shape });
            }
            "field" => {
                FIELDS.check(self.fields.len() as i64 + 1)?;
                let name = words.word("the name")?.to_owned().into();
                let form = words.form()?;
                self.fields.push(Field { name, form });
            }
            "gravity" => self.gravity = Some(words.float("it")?),
            "floor" => self.floor = Some(words.float("it")?),
            "max-speed" => self.max_speed = Some(words.float("it")?),
            "linear" => self.linear = Some(words.linear()?),
            "slots" => self.slots = Some(words.slots()?),
            _ => return Err(unknown(word, &ITEMS)),
        }
        Ok(())
    }

    fn finish(self) -> Result<Schema, SchemaError> {
        let missing = |item: &str| SchemaError::new(item, Fault::Missing);
        let [x, y, z] = self.position;
        let range = |range: Option<Range>, axis| {
            range.ok_or_else(|| missing(&named("position", axis_name(axis))))
        };
        let orientation = || self.orientation.ok_or_else(|| missing("orientation"));
        let schema = Schema {
            name: self.name.ok_or_else(|| missing("scene"))?.into(),
            ticks_per_second: self.ticks_per_second.ok_or_else(|| missing("ticks"))?,
            up: self.up.ok_or_else(|| missing("up"))?,
            position: [range(x, Axis::X)?, range(y, Axis::Y)?, range(z, Axis::Z)?],
            component_bits: orientation()?.0,
            levels: orientation()?.1,
            anchor: self.anchor,
            kinds: self.kinds.into(),
            fields: self.fields.into(),
            world: World {
                gravity: self.gravity.ok_or_else(|| missing("gravity"))?,
                floor: self.floor,
                max_speed: self.max_speed.ok_or_else(|| missing("max-speed"))?,
                linear: self.linear,
            },
            slots: self.slots.ok_or_else(|| missing("slots"))?,
        };
        match schema.check() {
            Ok(()) => Ok(schema),
            Err(error) => {
                let mut items = self.items.into_iter();
                let line = items.find(|(item, _)| *item == error.item);
                Err(SchemaError {
                    line: line.map(|(_, line)| line),
                    ..error
                })
            }
        }
    }
}

/// The words of a line that are still to be read.
#[derive(Debug)]
struct Words<'a>(SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self, what: &'static str) -> Result<&'a str, Fault> {
        self.0.next().ok_or(Fault::MissingWord { what })
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.0.next() {
            None => Ok(()),
            Some(word) => Err(Fault::ExtraWord { word: shown(word) }),
        }
    }

    /// A number, of which [`Schema::check`] checks whether it is within its bounds.
    fn whole<T: TryFrom<i64>>(&mut self, bounds: Whole) -> Result<T, Fault> {
        let word = self.word(bounds.what())?;
        let value = word
            .parse()
            .ok()
            .and_then(|value: i64| value.try_into().ok());
        value.ok_or_else(|| bounds.refuse(word))
    }

    fn float<T: FromStr + Into<f64> + Copy>(&mut self, what: &'static str) -> Result<T, Fault> {
        let word = self.word(what)?;
        match word.parse::<T>() {
            Ok(value) if value.into().is_finite() => Ok(value),
            _ => Err(Fault::NotFinite {
                what,
                value: shown(word),
            }),
        }
    }

    fn axis(&mut self) -> Result<Axis, Fault> {
        let word = self.word("the axis")?;
        let mut axes = Axis::ALL.into_iter();
        axes.find(|&axis| axis_name(axis) == word)
            .ok_or_else(|| unknown(word, &Axis::ALL.map(axis_name)))
    }

    fn range(&mut self) -> Result<Range, Fault> {
        Ok(Range {
            min: self.float("min")?,
            max: self.float("max")?,
            steps_per_unit: self.float("the number of steps per unit")?,
        })
    }

    fn levels(&mut self) -> Result<Levels, Fault> {
        match self.0.next() {
            None => Ok(Levels::Odd),
            Some(EVEN) => Ok(Levels::Even),
            Some(word) => Err(unknown(word, &[EVEN])),
        }
    }

    fn shape(&mut self) -> Result<Shape, Fault> {
        Ok(match self.word("the shape")? {
            "box" => {
                let what = "half of a side";
                Shape::Box([self.float(what)?, self.float(what)?, self.float(what)?])
            }
            "ball" => Shape::Ball(self.float("the radius")?),
            "capsule" => Shape::Capsule {
                half: self.float("half of the length")?,
                radius: self.float("the radius")?,
            },
            "unknown" => Shape::Unknown,
            word => return Err(unknown(word, &["box", "ball", "capsule", "unknown"])),
        })
    }

    fn form(&mut self) -> Result<FieldForm, Fault> {
        Ok(match self.word("the form")? {
            "flag" => FieldForm::Flag,
            "int" => FieldForm::Int {
                min: self.whole(INT_MIN)?,
                max: self.whole(INT_MAX)?,
            },
            "float" => FieldForm::Float {
                min: self.float("min")?,
                max: self.float("max")?,
                step: self.float("the step")?,
            },
            "angle" => FieldForm::Angle {
                bits: self.whole(ANGLE_BITS)?,
            },
            "body" => FieldForm::Body,
            word => return Err(unknown(word, &["flag", "int", "float", "angle", "body"])),
        })
    }

    fn linear(&mut self) -> Result<Linear, Fault> {
        Ok(Linear {
            gravity: (self.whole(NUMERATOR)?, self.whole(DENOMINATOR)?),
            drag_per_tick: self.whole(DRAG)?,
            rest_height: self.whole(REST_HEIGHT)?,
            fall_height: self.whole(FALL_HEIGHT)?,
        })
    }

    fn slots(&mut self) -> Result<Slots, Fault> {
        Ok(match self.word("their form")? {
            "fixed" => Slots::Fixed,
            "living" => Slots::Living {
                max: self.whole(LIVING)?,
            },
            word => return Err(unknown(word, &["fixed", "living"])),
        })
    }
}

fn unknown(word: &str, expected: &[&str]) -> Fault {
    Fault::UnknownWord {
        word: shown(word),
        expected: expected.join(", "),
    }
}

#[cfg(test)]
mod tests;
