//! Records scenes.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use cubewire_codec::schema::Schema;
use cubewire_codec::{BodyState, Plan, QuantizedSnapshot, ladder};
use cubewire_recording::{RecordingFile, Writer};

use crate::cli::{RecordOptions, RecordScene};
use crate::error::{Failure, cannot_be};
use crate::scenes::{ARENA, ASTEROIDS, Arena, Asteroids, Frame, Scene};

pub(crate) fn run(scene: &RecordScene) -> Result<(), Failure> {
    match scene {
        RecordScene::Arena { play, options } => {
            record(Arena::new(*play, options.seed), ARENA, options)
        }
        RecordScene::Asteroids { options } => {
            record(Asteroids::new(options.seed), ASTEROIDS, options)
        }
    }
}

fn record(
    mut scene: impl Scene,
    mut schema: Schema,
    options: &RecordOptions,
) -> Result<(), Failure> {
    if options.without_fields {
        schema.fields = Cow::default();
    }
    let plan = Plan::new(schema).expect("the schemas of the scenes are legal");
    write(&mut scene, plan, options).map_err(cannot_be("written", &options.out))
}

fn write(scene: &mut impl Scene, plan: Arc<Plan>, options: &RecordOptions) -> io::Result<()> {
    let stages = plan.legal(*ladder::POSITION.stages);
    let precision = stages.expect("every scene has these").precision();
    let mut quantized = QuantizedSnapshot::new(Arc::clone(&plan), precision);
    let slots = plan.max_slots().expect("bodies of the scenes come and go");
    let mut writer = Writer::begin(RecordingFile::create(&options.out)?, plan, slots)?;
    for _ in 0..options.frames {
        quantize(&scene.step(), &mut quantized);
        writer.frame(&quantized)?;
    }
    writer.into_inner().finish()
}

/// Quantizes a frame of the scene into `quantized`, with the precision and plan that it already has.
fn quantize(frame: &Frame, quantized: &mut QuantizedSnapshot) {
    let plan = Arc::clone(quantized.plan());
    let fields = &plan.schema().fields;
    quantized.clear_slots(frame.len());
    let mut numbers = Vec::new();
    for (slot, body) in frame.iter().enumerate() {
        let Some(body) = body else { continue };
        let values = fields.iter().zip(&body.values);
        numbers.clear();
        numbers.extend(values.map(|(field, &value)| field.form.quantize(value)));
        let state = BodyState {
            position: body.position,
            orientation: body.orientation,
            ..BodyState::default()
        };
        quantized
            .put(slot, body.life, &state, &numbers)
            .expect("scenes have finite numbers, and values of their fields");
    }
}
