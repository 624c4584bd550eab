//! Records scenes.

use std::io::{self, Write};
use std::sync::Arc;

use cubewire_codec::schema::FieldForm;
use cubewire_codec::{BodyState, Life, Plan, QuantizedSnapshot, ladder};
use cubewire_files::write_whole;
use glam::Vec3;
use indicatif::ProgressBar;

use crate::cli::{ArenaPlay, RecordArgs, RecordOptions, RecordScene};
use crate::error::LabError;
use crate::progress;
use crate::recording::{Writer, has_zstd_name};
use crate::scenes::{
    ARENA, Arena, Play, SHIPS, Scene, SceneFrame, Ships, Surroundings, Value, schema,
};

/// The level at which recordings are compressed.
const ZSTD_LEVEL: i32 = 9;

/// Runs the command.
pub(crate) fn run(args: &RecordArgs) -> Result<(), LabError> {
    match &args.scene {
        RecordScene::Arena { play, options } => {
            let play = match play {
                ArenaPlay::Rolling => Play::Rolling,
                ArenaPlay::Damped => Play::Damped,
            };
            record(Arena::new(play, options.seed), ARENA, options)
        }
        RecordScene::Ships { options } => record(Ships::new(options.seed), SHIPS, options),
    }
}

fn record(
    mut scene: impl Scene,
    surroundings: Surroundings,
    options: &RecordOptions,
) -> Result<(), LabError> {
    let schema = schema(&scene, surroundings);
    let plan = Plan::new(schema).expect("the schemas of the scenes are legal");
    let bar = progress(options.frames as usize, "frames");
    let written = write_whole(&options.out, |file| match has_zstd_name(&options.out) {
        true => {
            let mut file = zstd::Encoder::new(file, ZSTD_LEVEL)?;
            write(&mut scene, &plan, options.frames, &mut file, &bar)?;
            file.finish().map(drop)
        }
        false => write(&mut scene, &plan, options.frames, file, &bar),
    });
    bar.finish_and_clear();
    written.map_err(|source| LabError::Unwritable {
        path: options.out.clone(),
        source,
    })
}

fn write(
    scene: &mut impl Scene,
    plan: &Arc<Plan>,
    frames: u32,
    out: impl Write,
    bar: &ProgressBar,
) -> io::Result<()> {
    let stages = plan.legal(*ladder::POSITION.stages);
    let precision = stages.expect("every scene has these").precision();
    let mut quantized = QuantizedSnapshot::new(Arc::clone(plan), precision);
    let mut writer = Writer::begin(out, Arc::clone(plan), scene.slots())?;
    for _ in 0..frames {
        quantize(scene.step(), &mut quantized);
        writer.frame(&quantized)?;
        bar.inc(1);
    }
    Ok(())
}

/// Quantizes a frame of the scene that `quantized` is of.
fn quantize(frame: &SceneFrame, quantized: &mut QuantizedSnapshot) {
    let plan = Arc::clone(quantized.plan());
    let fields = &plan.schema().fields;
    quantized.clear_slots(frame.slots.len());
    let mut numbers = Vec::new();
    for (slot, body) in frame.slots.iter().enumerate() {
        let Some(body) = body else { continue };
        let values = fields.iter().zip(&body.values);
        numbers.clear();
        numbers.extend(values.map(|(field, &value)| number(field.form, value)));
        let life = Life {
            kind: body.kind,
            generation: body.generation,
        };
        let state = BodyState {
            position: body.position,
            orientation: body.orientation,
            linear_velocity: Vec3::ZERO,
            interacting: false,
        };
        quantized
            .put(slot, life, &state, &numbers)
            .expect("scenes have finite numbers, and values of their fields");
    }
}

/// The number that stands for a value.
fn number(form: FieldForm, value: Value) -> u32 {
    match value {
        Value::Flag(flag) => flag.into(),
        Value::Integer(integer) if matches!(form, FieldForm::Angle { .. }) => integer as u32,
        Value::Integer(integer) => form.quantize(integer.into()),
        Value::Float(float) => form.quantize(float.into()),
        Value::Slot(slot) => form.quantize(slot.map_or(-1.0, f64::from)),
    }
}
