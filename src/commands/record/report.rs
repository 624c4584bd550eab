//! What became of a film.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::game::desktop::film::{Film, Take};
use crate::recording::Outcome;
use crate::replication::rung_or_stages;
use crate::view::Side;

/// A film that is finished.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    file: String,
    frames: u64,
    /// Frames that were asked for: more if the program was told to end.
    wanted_frames: u64,
    seconds: f64,
    width: u32,
    height: u32,
    /// Bytes of the file; null for pictures.
    bytes: Option<u64>,
    /// The same in megabits a second.
    mbps: Option<f64>,
    /// The left one and the right one.
    halves: [Half; Side::ALL.len()],
    /// CRC-32 of the frames, hexadecimal.
    crc32: String,
    /// What became of the comparison with a replay; null without one.
    replay: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Half {
    half: &'static str,
    /// What it showed at first.
    shows: String,
    /// Mean in article accounting; null for the simulation.
    mean_kbps: Option<f64>,
    /// The same by rung or stages, in the order in which they were used.
    by_stages: Vec<StagesKbps>,
}

#[derive(Debug, Serialize)]
struct StagesKbps {
    stages: String,
    mean_kbps: f64,
}

impl Report {
    pub(super) fn new(path: &Path, film: &Film, take: &Take) -> Self {
        let halves = Side::ALL.map(|side| {
            let content = match side {
                Side::Left => film.left.to_text(),
                Side::Right => film.right.to_text(),
            };
            let by_stages = take.kbps_of_stages[side as usize].iter();
            Half {
                half: side.name(),
                shows: content.unwrap_or_default(),
                mean_kbps: take.mean_kbps[side as usize],
                by_stages: by_stages
                    .map(|&(stages, mean_kbps)| StagesKbps {
                        stages: rung_or_stages(stages),
                        mean_kbps,
                    })
                    .collect(),
            }
        });
        let seconds = take.frames as f64 / f64::from(film.frames_per_second);
        let bytes = fs::metadata(path).ok().map(|file| file.len());
        Self {
            file: path.display().to_string(),
            frames: take.frames,
            wanted_frames: film.frames,
            seconds,
            width: film.size.x,
            height: film.size.y,
            bytes,
            mbps: bytes.map(|bytes| bytes as f64 * 8.0 / 1e6 / seconds),
            halves,
            crc32: format!("{:08x}", take.checksum),
            replay: take.replay.as_ref().map(|outcome| match outcome {
                Outcome::Same => "every state was as recorded",
                Outcome::Unfinished => {
                    "every state was as recorded so far; the replay was not played to its end"
                }
                Outcome::Different(_) => "a state was not as recorded",
            }),
        }
    }
}
