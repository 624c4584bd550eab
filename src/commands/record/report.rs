//! What became of a film, as text and as JSON.

use std::fs;
use std::io::{self, Write};
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
        Self {
            file: path.display().to_string(),
            frames: take.frames,
            wanted_frames: film.frames,
            seconds: take.frames as f64 / f64::from(film.frames_per_second),
            width: film.size.x,
            height: film.size.y,
            bytes: fs::metadata(path).ok().map(|file| file.len()),
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

    /// Prints it, for programs or for people.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub(super) fn print(&self, json: bool, out: &mut impl Write) -> io::Result<()> {
        if json {
            let json = serde_json::to_string_pretty(self).expect("a report is plain data");
            return writeln!(out, "{json}");
        }
        let size = self.bytes.map_or_else(String::new, |bytes| {
            let megabits = bytes as f64 * 8.0 / 1e6 / self.seconds;
            format!(", {:.1} MB, {megabits:.1} Mbps", bytes as f64 / 1e6)
        });
        writeln!(
            out,
            "{}: {} frames, {:.2} s, {}x{}{size}",
            self.file, self.frames, self.seconds, self.width, self.height
        )?;
        if self.frames < self.wanted_frames {
            let (frames, wanted) = (self.frames, self.wanted_frames);
            writeln!(out, "stopped early, after {frames} of {wanted} frames")?;
        }
        for half in &self.halves {
            let kbps = half.mean_kbps.map_or_else(String::new, |kbps| {
                format!("; {kbps:.1} kbps, mean of the film")
            });
            writeln!(out, "{}, at first: {}{kbps}", half.half, half.shows)?;
            if half.by_stages.len() > 1 {
                for StagesKbps { stages, mean_kbps } in &half.by_stages {
                    writeln!(out, "  {mean_kbps:.1} kbps with {stages}")?;
                }
            }
        }
        writeln!(out, "CRC-32 of the frames: {}", self.crc32)?;
        match self.replay {
            Some(sentence) => writeln!(out, "{sentence}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_are_told_the_same() {
        let half = |half, mean_kbps| Half {
            half,
            shows: "rung:delta".to_owned(),
            mean_kbps,
            by_stages: Vec::new(),
        };
        let report = Report {
            file: "a.mp4".to_owned(),
            frames: 30,
            wanted_frames: 60,
            seconds: 0.5,
            width: 64,
            height: 36,
            bytes: Some(500_000),
            halves: [half("left", None), half("right", Some(12.34))],
            crc32: "0000abcd".to_owned(),
            replay: Some("every state was as recorded"),
        };
        let print = |json| {
            let mut out = Vec::new();
            report.print(json, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let text = "a.mp4: 30 frames, 0.50 s, 64x36, 0.5 MB, 8.0 Mbps\nstopped early, after 30 of 60 frames\n\
            left, at first: rung:delta\nright, at first: rung:delta; 12.3 kbps, mean of the film\n\
            CRC-32 of the frames: 0000abcd\nevery state was as recorded\n";
        assert_eq!(print(false), text);
        let json: serde_json::Value = serde_json::from_str(&print(true)).unwrap();
        assert_eq!(json["halves"][1]["mean_kbps"], 12.34);
        assert_eq!(json["replay"], "every state was as recorded");
    }
}
