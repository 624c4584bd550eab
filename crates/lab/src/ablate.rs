//! Ablation of arithmetic coding: measures sizes with models that were trained without one context or one candidate
//! prediction.

use std::io::Write;
use std::sync::Arc;

use cubewire_cli::{Table, number};
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED};
use cubewire_codec::training::{Feature, Trainer};

use crate::cli::AblateArgs;
use crate::error::Failure;
use crate::path::Path;
use crate::rungs;
use crate::train::{read_one_scene, train};
use crate::walkoff::{exchange, lossy};

pub(crate) fn run(args: &AblateArgs, out: &mut impl Write) -> Result<(), Failure> {
    let files = [&[args.file.clone()][..], &args.train].concat();
    let mut trained = read_one_scene(&files)?;
    let measured = trained.remove(0);
    for (file, recording) in args.train.iter().zip(&trained) {
        if recording.hash() == measured.hash() {
            let path = file.display();
            return Err(format!(
                "{path}: the recording to measure must not be one of the training recordings"
            )
            .into());
        }
    }
    let rungs = [
        rungs::in_scene(&ARITHMETIC, &measured.plan)?,
        rungs::in_scene(&PREDICTED, &measured.plan)?,
    ];
    let measure = |trainer: Trainer| -> Result<[f64; 2], Failure> {
        let model = train(trainer, &rungs, &trained, |_, _, _| Ok(()))?;
        let model = Arc::new(model);
        let mut bytes = [0.0; 2];
        for (bytes, rung) in bytes.iter_mut().zip(&rungs) {
            let outcome = exchange(&measured, rung, Path::PERFECT, &model);
            if !outcome.lossless {
                return Err(lossy(rung.name));
            }
            *bytes = outcome.body_bytes_per_packet;
        }
        Ok(bytes)
    };
    let whole = measure(Trainer::default())?;
    let mut table = Table::new(["decision", "without", "arithmetic", "%", "predicted", "%"]);
    let mut row = |decision: &str, without: &str, [arithmetic, predicted]: [f64; 2]| {
        let more = |bytes: f64, whole: f64| format!("{:+.2}", (bytes / whole - 1.0) * 100.0);
        table.row([
            decision.to_owned(),
            without.to_owned(),
            number(arithmetic, 1),
            more(arithmetic, whole[0]),
            number(predicted, 1),
            more(predicted, whole[1]),
        ]);
    };
    row("", "nothing", whole);
    for feature in Feature::all() {
        let bytes = measure(Trainer::default().without(feature))?;
        row(feature.decision, feature.name, bytes);
    }
    writeln!(out, "{}: bytes a packet without the header\n", args.file.display())?;
    Ok(writeln!(out, "{table}")?)
}
