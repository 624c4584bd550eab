//! Records a series of videos, one per rung next to the previous rung and one per kind of interpolation, and an HTML
//! page that plays them.

mod page;

use std::fs;
use std::io;
use std::path::Path;

use bevy::math::UVec2;
use clap::ValueEnum;
use cubewire_codec::ladder::{LADDER, Rung};
use cubewire_inspector::words::rounded;
use cubewire_protocol::Interpolation;
use cubewire_scene::TICKS_PER_SECOND;

use super::film::{Film, FilmContent, Take};
use super::progress;
use super::record::{check_adapter, record};
use super::stop::Stopped;
use crate::files::{FileError, write_whole};
use crate::game::{Failure, script_of};
use crate::panel::Scene;
use crate::recording::Script;
use crate::replication::LaneSettings;
use crate::view::{Overlay, PaneContent, ViewState};

pub use page::Section;

/// Length of the videos in a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Series {
    /// Eight seconds per video.
    Article,
    /// A tenth of a second per video, for tests.
    #[value(hide = true)]
    Quick,
}

impl Series {
    /// Default size of a video, pixels.
    pub const fn size(self) -> UVec2 {
        match self {
            Self::Article => UVec2::new(1280, 720),
            Self::Quick => UVec2::new(320, 180),
        }
    }

    /// Frames of a video at 60 frames per second.
    const fn frames(self) -> u64 {
        match self {
            Self::Article => 480,
            Self::Quick => 6,
        }
    }
}

/// Uneventful ticks at the start of both scripts that are not shown.
const SKIPPED_TICKS: u64 = 4 * TICKS_PER_SECOND as u64;

const FRAMES_PER_SECOND: u32 = 60;

#[derive(Clone, Debug)]
pub struct Episode {
    pub section: Section,
    /// File name without extension.
    pub name: String,
    /// Name of the rung or the kind of interpolation.
    pub title: &'static str,
    pub caption: String,
    pub film: Film,
}

/// The videos of a series in order, each of `size` pixels.
pub fn episodes(series: Series, size: UVec2) -> Vec<Episode> {
    let (katamari, ball) = (script_of(Scene::Katamari), script_of(Scene::Ball));
    let film = |script: &Script, left: PaneContent, right: LaneSettings| Film {
        size,
        frames_per_second: FRAMES_PER_SECOND,
        frames: series.frames(),
        skipped_ticks: SKIPPED_TICKS,
        script: Some(script.clone()),
        play: None,
        shown: FilmContent::Halves { left, right, switches: Vec::new() },
        // The page has the titles.
        has_card: false,
        overlay: Overlay::default(),
        look: ViewState::default(),
    };
    let rungs =
        (0..LADDER.len()).map(|index| of_rung(index, |left, right| film(&katamari, left, right)));
    let interpolations = INTERPOLATIONS.map(|(kind, caption)| {
        let title = match kind {
            Interpolation::None => "no interpolation",
            kind => kind.name(),
        };
        // Ten snapshots per second, on the last rung with velocities.
        let lane = format!("rung:at-rest,rate:10,interpolation:{}", kind.name());
        let lane = lane.parse().expect("a test parses it");
        let mut film = film(&ball, PaneContent::Simulation, lane);
        film.overlay.title = Some(format!("Ten snapshots a second, {title}"));
        Episode {
            section: Section::Interpolation,
            title,
            name: format!("interpolation-{}", kind.name()),
            caption: caption.to_owned(),
            film,
        }
    });
    rungs.chain(interpolations).collect()
}

/// The video of the rung at `index`, next to the previous rung or the simulation.
fn of_rung(index: usize, film: impl FnOnce(PaneContent, LaneSettings) -> Film) -> Episode {
    let lane = |rung: &Rung| LaneSettings::with_stages(rung.stages);
    let rung = &LADDER[index];
    let before = index.checked_sub(1).map(|before| lane(&LADDER[before]));
    let mut film = film(before.map_or(PaneContent::Simulation, PaneContent::Lane), lane(rung));
    if index > 0 {
        film.overlay.names = ["Before", "After"].map(|name| Some(name.to_owned()));
    }
    let what = match index.checked_sub(1) {
        Some(before) => format!("from {} to {}", LADDER[before].name, rung.name),
        None => rung.name.to_owned(),
    };
    film.overlay.title = Some(format!("Rung {} of {}: {what}", index + 1, LADDER.len()));
    Episode {
        section: Section::Rungs,
        title: rung.name,
        name: format!("{:02}-{}", index + 1, rung.name),
        caption: rung.summary.to_owned(),
        film,
    }
}

const INTERPOLATIONS: [(Interpolation, &str); Interpolation::ALL.len()] = [
    (
        Interpolation::None,
        "Without interpolation, each snapshot is shown as it arrives: the cubes jump.",
    ),
    (Interpolation::Linear, "Linear interpolation: motion has visible corners."),
    (
        Interpolation::Hermite,
        "Hermite interpolation, which also matches the velocities: motion is smooth.",
    ),
    (
        Interpolation::Extrapolate,
        "Extrapolation along the velocity instead of waiting for the next snapshot: cubes sink into the \
         floor and snap back.",
    ),
];

/// Records the videos of a series and an HTML page that plays them to a folder, which is created if necessary. Calls
/// `begins` with the path of each file before it is written, and `report` with a line per video.
///
/// # Errors
/// If a video cannot be recorded, or any error of `report`. Videos finished before the error remain.
pub fn record_series(
    series: Series,
    size: UVec2,
    look: ViewState,
    folder: &Path,
    begins: impl Fn(&Path),
    mut report: impl FnMut(&str) -> io::Result<()>,
) -> Result<(), Failure> {
    check_adapter()?;
    fs::create_dir_all(folder).map_err(FileError::at(folder))?;
    let mut episodes = episodes(series, size);
    for episode in &mut episodes {
        episode.film.look = look;
    }
    let frames = episodes.iter().map(|episode| episode.film.frames).sum();
    let bar = progress(frames, "frames");
    let mut clips = Vec::new();
    for episode in &episodes {
        bar.set_message(episode.name.clone());
        let file = format!("{}.mp4", episode.name);
        let path = folder.join(&file);
        let take = match record(&episode.film, &path, None, &bar, || begins(&path)) {
            // Write the page for the videos finished so far.
            Err(error) if error.is::<Stopped>() && !clips.is_empty() => break,
            take => take?,
        };
        let halves = halves(&episode.film, &take);
        let line = halves.join(" | ");
        clips.push((episode, halves));
        bar.suspend(|| report(&format!("{file}: {} frames; {line}", take.frames)))?;
        if take.frames < episode.film.frames {
            // The program received a signal.
            break;
        }
    }
    if bar.position() < frames {
        bar.suspend(|| report("stopped: the series is incomplete"))?;
    }
    bar.finish_and_clear();
    let path = folder.join("index.html");
    begins(&path);
    let page = page::html(&clips).map_err(io::Error::other);
    let written = page.and_then(|page| write_whole(&path, page.as_bytes()));
    Ok(written.map_err(FileError::at(&path))?)
}

fn halves(film: &Film, take: &Take) -> [String; 2] {
    let contents = film.shown.contents();
    [0, 1].map(|half| {
        let what = match &contents[half] {
            PaneContent::Simulation => "simulation",
            PaneContent::Lane(lane) => lane.rung_name(),
        };
        match take.sent[half].mean_kbps() {
            Some(kbps) => format!("{what} {} kbps", rounded(kbps)),
            None => what.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_and_every_interpolation_has_a_video() {
        let episodes = episodes(Series::Article, UVec2::new(640, 360));
        assert_eq!(episodes.len(), LADDER.len() + Interpolation::ALL.len());
        let last = &episodes[LADDER.len() - 1].film;
        let [before, shown] = [LADDER.len() - 2, LADDER.len() - 1]
            .map(|rung| PaneContent::Lane(LaneSettings::with_stages(LADDER[rung].stages)));
        assert_eq!(last.shown.contents(), [before, shown]);
        let mut names: Vec<_> = episodes.iter().map(|episode| &episode.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), episodes.len());
    }
}
