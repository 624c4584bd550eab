//! Report about a finished film.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::commands::warning::say;
use crate::game::desktop::film::{Film, Take};
use crate::recording::Outcome;
use crate::replication::rung_or_stages;

/// Figures of a finished film.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    file: String,
    frames: u64,
    /// Number of requested frames. Higher than `frames` if the program received a signal.
    wanted_frames: u64,
    seconds: f64,
    width: u32,
    height: u32,
    /// Bytes of the file. Null for numbered pictures.
    bytes: Option<u64>,
    /// Data rate of the file, megabits per second.
    mbps: Option<f64>,
    /// Halves or columns, left to right.
    parts: Vec<Part>,
    /// CRC-32 of the frames, hexadecimal.
    crc32: String,
    /// Result of the comparison with a replay. Null without one.
    replay: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Part {
    part: String,
    /// Initial content.
    shows: String,
    /// Mean bandwidth in article accounting. Null for the simulation.
    mean_kbps: Option<f64>,
    /// Mean distance of the interacting cubes from the simulation. Null for the simulation.
    mean_error_mm: Option<f64>,
    /// Bandwidth by rung or stages in the order of first use. Empty if they were not switched.
    by_stages: Vec<StagesKbps>,
}

#[derive(Debug, Serialize)]
struct StagesKbps {
    stages: String,
    mean_kbps: f64,
}

impl Report {
    /// Warns if the file is larger than it should be, because even the lowest quality takes more.
    pub(super) fn warn_if_over(&self, max_bytes: Option<u64>) {
        let (Some(bytes), Some(most)) = (self.bytes, max_bytes) else {
            return;
        };
        if bytes > most {
            let [is, most] = [bytes, most].map(|bytes| bytes as f64 / 1e6);
            say(format_args!(
                "{} has {is:.1} MB, more than --megabytes {most}: choose a smaller --size, fewer --fps or fewer --seconds",
                self.file
            ));
        }
    }

    pub(super) fn new(path: &Path, film: &Film, take: &Take) -> Self {
        let contents = film.shown.contents().into_iter().enumerate();
        let parts = contents.zip(&take.sent).map(|((index, content), sent)| {
            let mut by_stages = sent.kbps_of_stages();
            if by_stages.len() == 1 {
                by_stages.clear();
            }
            Part {
                part: film.shown.name(index),
                shows: content.to_text().unwrap_or_default(),
                mean_kbps: sent.mean_kbps(),
                mean_error_mm: sent.mean_error_m().map(|metres| metres * 1000.0),
                by_stages: by_stages
                    .into_iter()
                    .map(|(stages, mean_kbps)| StagesKbps {
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
            wanted_frames: film.card_frames() + film.frames,
            seconds,
            width: film.size.x,
            height: film.size.y,
            bytes,
            mbps: bytes.map(|bytes| bytes as f64 * 8.0 / 1e6 / seconds),
            parts: parts.collect(),
            crc32: format!("{:08x}", take.checksum),
            replay: take.replay.as_ref().map(|outcome| match outcome {
                Outcome::Same => "every state matches the recording",
                Outcome::Unfinished => {
                    "every state so far matches the recording; the replay was not played to its end"
                }
                Outcome::Different(_) => "a state differs from the recording",
            }),
        }
    }
}
