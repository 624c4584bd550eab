//! Trains a prior for arithmetic coding.

use std::fs;
use std::io::Write;
use std::path::Path;

use cubewire_codec::entropy::Prior;
use cubewire_codec::entropy::training::Trainer;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED};
use cubewire_codec::{Baseline, Sequence, Stages};

use crate::cli::TrainArgs;
use crate::error::LabError;
use crate::progress;
use crate::recording::{BASELINE_FRAMES, Recording};

/// Frames that are kept: the baseline, the two before it, and one's own place.
const KEPT: usize = 16;

/// Passes: the first counts, the others learn how to mix.
const PASSES: usize = 3;

/// Runs what the command line asks for.
pub(crate) fn run(args: &TrainArgs, out: &mut impl Write) -> Result<(), LabError> {
    let recordings = args
        .files
        .iter()
        .map(|file| Recording::read(file))
        .collect::<Result<Vec<_>, _>>()?;
    let mut trainer = Trainer::default();
    let frames: usize = recordings.iter().map(Recording::packets).sum();
    let bar = progress(PASSES * 2 * frames, "packets");
    for _ in 0..PASSES {
        for rung in [ARITHMETIC, PREDICTED] {
            for recording in &recordings {
                let bytes = pass(&mut trainer, rung.stages, recording, || bar.inc(1));
                let mean = bytes as f64 / recording.packets() as f64;
                bar.suspend(|| writeln!(out, "{}: {mean:.1} bytes a packet", rung.name))?;
            }
        }
        trainer.end_pass();
    }
    bar.finish_and_clear();
    let prior = trainer.finish(recordings.iter().map(Recording::hash).collect());
    fs::write(&args.out, prior.to_bytes()).map_err(|source| LabError::Unwritable {
        path: args.out.clone(),
        source,
    })
}

/// Sends a recording once. Gives the bytes of all packets.
fn pass(trainer: &mut Trainer, stages: Stages, recording: &Recording, tick: impl Fn()) -> usize {
    let mut kept: Vec<Baseline> = vec![Baseline::default(); KEPT];
    let mut bytes = 0;
    for (frame, current) in recording.frames.iter().enumerate() {
        let mut next = std::mem::take(&mut kept[frame % KEPT]);
        let sequence = Sequence(frame as u16);
        let baseline = frame
            .checked_sub(BASELINE_FRAMES)
            .map(|frame| &kept[frame % KEPT]);
        next.record(sequence, stages, current, baseline);
        if let Some(baseline) = baseline {
            let earlier = [1, 2].map(|more| {
                let frame = frame.checked_sub(BASELINE_FRAMES + more)?;
                Some(&kept[frame % KEPT])
            });
            let ticks = BASELINE_FRAMES as u16;
            bytes += trainer.learn(stages, current, baseline, ticks, earlier);
            trainer.teach(stages.delta, &mut next);
            tick();
        }
        kept[frame % KEPT] = next;
    }
    bytes
}

/// Reads a prior.
pub(crate) fn read_prior(path: &Path) -> Result<Prior, LabError> {
    let unreadable = |reason: String| LabError::Prior {
        path: path.to_owned(),
        reason,
    };
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    Prior::from_bytes(&bytes).map_err(|error| unreadable(error.to_string()))
}
