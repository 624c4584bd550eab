//! Report about a finished film.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::commands::warning::say;
use crate::game::desktop::film::{Film, Take};
use crate::recording::Outcome;
use crate::replication::rung_or_stages;

/// Warns if the file is larger than it should be, because even the lowest quality takes more.
pub(super) fn warn_if_over(path: &Path, max_bytes: Option<u64>) {
    let (Ok(file), Some(most)) = (fs::metadata(path), max_bytes) else { return };
    if file.len() > most {
        let [is, most] = [file.len(), most].map(|bytes| bytes as f64 / 1e6);
        say(format_args!(
            "{} has {is:.1} MB, more than --megabytes {most}: choose a smaller --size, fewer --fps or fewer --seconds",
            path.display()
        ));
    }
}

pub(super) fn report(path: &Path, film: &Film, take: &Take) -> Value {
    let contents = film.shown.contents().into_iter().enumerate();
    let parts = contents.zip(&take.sent).map(|((index, content), sent)| {
        let by_stages = sent.kbps_of_stages();
        let was_switched = by_stages.len() != 1;
        let by_stages = by_stages.into_iter().filter(|_| was_switched).map(
            |(stages, mean_kbps)| json!({ "stages": rung_or_stages(stages), "mean_kbps": mean_kbps }),
        );
        json!({
            "part": film.shown.name(index),
            "shows": content.to_text().unwrap_or_default(),
            // In article accounting. Null for the simulation.
            "mean_kbps": sent.mean_kbps(),
            // Of the interacting cubes. Null for the simulation.
            "mean_error_mm": sent.all.mean_error_m().map(|metres| metres * 1000.0),
            // In the order of first use.
            "by_stages": by_stages.collect::<Vec<_>>(),
        })
    });
    let seconds = take.frames as f64 / f64::from(film.frames_per_second);
    // Null for numbered pictures.
    let bytes = fs::metadata(path).ok().map(|file| file.len());
    json!({
        "file": path.display().to_string(),
        "frames": take.frames,
        // More than the frames if the program received a signal.
        "wanted_frames": film.card_frames() + film.frames,
        "seconds": seconds,
        "width": film.size.x,
        "height": film.size.y,
        "bytes": bytes,
        "mbps": bytes.map(|bytes| bytes as f64 * 8.0 / 1e6 / seconds),
        "parts": parts.collect::<Vec<_>>(),
        "crc32": format!("{:08x}", take.checksum),
        "replay": take.replay.as_ref().map(|outcome| match outcome {
            Outcome::Same => "every state matches the recording",
            Outcome::Unfinished => {
                "every state so far matches the recording; the replay was not played to its end"
            }
            Outcome::Different(_) => "a state differs from the recording",
        }),
    })
}
