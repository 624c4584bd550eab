//! Trains a model for arithmetic coding.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED, Rung};
use cubewire_codec::training::Trainer;
use cubewire_codec::{Baseline, Plan, Sequence, Stages};
use cubewire_files::write_whole;
use cubewire_recording::{BASELINE_FRAMES, Recording};

use crate::cli::TrainArgs;
use crate::error::{Failure, cannot_be};
use crate::rungs;

/// Number of frames in the ring: covers the baseline, the two frames before it and the current one.
const KEPT: usize = 16;

/// Number of passes. The first one counts, the first two train the blends, and all but the first fit the table and
/// the mixing weights.
const PASSES: usize = 6;

pub(crate) fn run(args: &TrainArgs, out: &mut impl Write) -> Result<(), Failure> {
    let recordings = read_one_scene(&args.files)?;
    let rungs = trained_rungs(&recordings[0].plan)?;
    let model = train(Trainer::default(), &rungs, &recordings, |rung, bytes, packets| {
        writeln!(out, "{}: {:.1} bytes a packet", rung.name, bytes as f64 / packets as f64)
    })?;
    write_whole(&args.out, |file| file.write_all(&model.to_bytes()))
        .map_err(cannot_be("written", &args.out))
}

/// Reads recordings, which must be of the same scene.
pub(crate) fn read_one_scene(files: &[PathBuf]) -> Result<Vec<Recording>, Failure> {
    let recordings = files.iter().map(|file| Recording::read(file));
    let recordings = recordings.collect::<Result<Vec<_>, _>>()?;
    for (file, recording) in files.iter().zip(&recordings) {
        if recording.plan != recordings[0].plan {
            let (first, other) = (files[0].display(), file.display());
            return Err(format!(
                "{first} and {other} are recordings of different scenes; a model is trained for one scene"
            )
            .into());
        }
    }
    Ok(recordings)
}

/// Returns the arithmetic rungs that the scene supports.
fn trained_rungs(plan: &Plan) -> Result<Vec<Rung>, Failure> {
    let plain = rungs::in_scene(&ARITHMETIC, plan)?;
    let predicted = rungs::in_scene(&PREDICTED, plan).ok();
    Ok([plain].into_iter().chain(predicted).collect())
}

/// Trains a model on recordings of one scene, for each of these rungs. Calls `report` after each pass over a
/// recording, with the rung and the size and number of its packets.
pub(crate) fn train(
    mut trainer: Trainer,
    rungs: &[Rung],
    recordings: &[Recording],
    mut report: impl FnMut(Rung, usize, usize) -> io::Result<()>,
) -> io::Result<TrainedModel> {
    for _ in 0..PASSES {
        for &rung in rungs {
            for recording in recordings {
                let bytes = pass(&mut trainer, rung.stages, recording);
                report(rung, bytes, recording.packets())?;
            }
        }
        trainer.end_pass();
    }
    Ok(trainer.finish(recordings.iter().map(Recording::hash).collect()))
}

/// Trains once on every packet of a recording. Returns the size of all packets in bytes.
fn pass(trainer: &mut Trainer, stages: Stages, recording: &Recording) -> usize {
    let mut kept: Vec<Baseline> = vec![Baseline::default(); KEPT];
    let mut bytes = 0;
    for (frame, current) in recording.frames.iter().enumerate() {
        let mut next = std::mem::take(&mut kept[frame % KEPT]);
        let sequence = Sequence(frame as u16);
        let baseline = frame.checked_sub(BASELINE_FRAMES).map(|frame| &kept[frame % KEPT]);
        next.record(sequence, stages, current, baseline);
        if let Some(baseline) = baseline {
            let earlier = [1, 2].map(|more| {
                let frame = frame.checked_sub(BASELINE_FRAMES + more)?;
                Some(&kept[frame % KEPT])
            });
            let ticks = BASELINE_FRAMES as u16;
            bytes += trainer.learn(stages, current, baseline, ticks, earlier);
            trainer.copy_state(stages.delta, &mut next);
        }
        kept[frame % KEPT] = next;
    }
    bytes
}

pub(crate) fn read_model(path: &Path) -> Result<TrainedModel, Failure> {
    let bytes = fs::read(path).map_err(cannot_be("read", path))?;
    TrainedModel::from_bytes(&bytes).map_err(cannot_be("read as a model", path))
}
