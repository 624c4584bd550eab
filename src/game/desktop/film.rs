//! Renders a run offline, frame by frame, independent of the machine's speed.

mod sent;

use std::ops::Range;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

pub use self::sent::Sent;
use self::sent::count_newest;
use super::offscreen::{BYTES_PER_PIXEL, Interface, OffScreen};
use crate::game::{Failure, GameError};
use crate::recording::{
    Outcome, ReplayCheck, Script, ScriptPlayback, Switch, Turn, begin, course, describe_change,
};
use crate::replication::{LaneMeter, LaneSettings, TARGET_KBPS};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{
    self, Canvas, Card, Column, CubeColors, Exaggeration, FixedScale, Flag, GAP, Inset, Overlay,
    PaneContent, Part, Quality, Side, ViewMode,
};

/// Settings of a film.
#[derive(Clone, Debug)]
pub struct Film {
    /// Size in pixels.
    pub size: UVec2,
    /// Frame rate, at least 1. If it divides 60, every frame shows a whole tick.
    pub frames_per_second: u32,
    /// Number of frames without the title card.
    pub frames: u64,
    /// Ticks that are played but not shown at the start, in addition to the script's lead-in.
    pub skipped_ticks: u64,
    /// Script to play. Without it, no keys are held.
    pub script: Option<Script>,
    /// Description of the played game for the title card.
    pub play: Option<String>,
    /// Content of the picture.
    pub shown: FilmContent,
    /// Whether the film starts with one second of title card, unless [`Part::Card`] is hidden.
    pub has_card: bool,
    /// Settings of the text over the scene.
    pub overlay: Overlay,
    /// Graphics settings.
    pub look: Look,
}

/// Content of a film.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "each film has only one")]
pub enum FilmContent {
    /// Two halves.
    Halves {
        /// Initial content of the left half.
        left: PaneContent,
        /// Initial lane of the right half.
        right: LaneSettings,
        /// Changes of settings, in ticks since the first visible frame.
        switches: Vec<Switch>,
    },
    /// Replicas in columns: 2 to [`MAX_COLUMNS`] lanes of the same run, over links with the same random seed.
    Columns(Vec<LaneSettings>),
}

/// Maximum number of columns of a film.
pub const MAX_COLUMNS: usize = 4;

impl FilmContent {
    /// Initial content of each part, left to right.
    #[must_use]
    pub fn contents(&self) -> Vec<PaneContent> {
        match self {
            Self::Halves { left, right, .. } => {
                vec![left.clone(), PaneContent::Lane(right.clone())]
            }
            Self::Columns(lanes) => lanes.iter().cloned().map(PaneContent::Lane).collect(),
        }
    }

    /// Name of a part: its half, or its column counted from 1.
    #[must_use]
    pub fn name(&self, index: usize) -> String {
        match self {
            Self::Halves { .. } => Side::ALL[index].name().to_owned(),
            Self::Columns(_) => format!("column {}", index + 1),
        }
    }
}

/// Graphics settings of a film.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Graphics quality. [`Quality::Auto`] depends only on the adapter.
    pub quality: Quality,
    /// Theme.
    pub theme: Theme,
    /// Quantity that the colours of the cubes show.
    pub colors: CubeColors,
    /// Factor of the drawn errors.
    pub exaggeration: Exaggeration,
}

/// Result of rendering a film.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// Number of rendered frames.
    pub frames: u64,
    /// CRC-32 of the bytes of all frames.
    pub checksum: u32,
    /// Traffic of each part of the picture, left to right.
    pub sent: Vec<Sent>,
    /// Result of comparing the states with a replay, or `None` without one.
    pub replay: Option<Outcome>,
}

impl Film {
    /// Renders the film and calls `frame` with each frame: RGBA, one byte per channel, rows from the top. Ends early if
    /// `frame` returns an error or the program receives a signal.
    ///
    /// # Errors
    /// As [`set_up`](Self::set_up), if a frame cannot be drawn, or any error of `frame`.
    pub fn shoot(
        &self,
        mut frame: impl FnMut(Vec<u8>) -> Result<(), Failure>,
    ) -> Result<Take, Failure> {
        let mut checksum = crc32fast::Hasher::new();
        let mut frames = 0;
        let mut add = |pixels: Vec<u8>| {
            checksum.update(&pixels);
            frames += 1;
            frame(pixels)
        };
        let mut parts = self.set_up()?;
        if self.card_frames() > 0 {
            let card = self.card(&mut parts)?;
            (0..self.card_frames()).try_for_each(|_| add(card.clone()))?;
        }
        // All columns use the same scale.
        let contents = self.shown.contents();
        let lanes = contents.iter().filter_map(PaneContent::lane);
        let mut peak_kbps = lanes.fold(0.0, |peak, lane| {
            let budget = lane.sender.kept_budget().map(f64::from);
            budget.unwrap_or(TARGET_KBPS).max(peak)
        });
        let mut sent = vec![Sent::default(); contents.len()];
        for _ in 0..self.frames {
            if parts.iter().any(|part| part.app.should_exit().is_some()) {
                break;
            }
            for part in &mut parts {
                let world = part.app.world_mut();
                let mut meters = world.query::<&LaneMeter>();
                let peaks = meters.iter(world).map(view::peak_kbps);
                peak_kbps = peaks.fold(peak_kbps, f64::max);
            }
            let mut pictures = Vec::new();
            for (index, part) in parts.iter_mut().enumerate() {
                part.app.world_mut().resource_mut::<Overlay>().peak_kbps = peak_kbps;
                let before = part.app.world().resource::<CubeWorld>().tick();
                pictures.push(part.frame()?);
                let tick = part.app.world().resource::<CubeWorld>().tick();
                let side = |side: Side| match self.shown {
                    FilmContent::Halves { .. } => side as usize,
                    FilmContent::Columns(_) => index,
                };
                count_newest(&mut part.app, (tick - before) as usize, side, &mut sent);
            }
            add(self.beside(pictures))?;
        }
        let check = parts[0].app.world().get_resource::<ReplayCheck>();
        let replay = check.map(|check| check.outcome().clone());
        Ok(Take {
            frames,
            checksum: checksum.finalize(),
            sent,
            replay,
        })
    }

    /// Number of frames of the title card, one second or 0.
    #[must_use]
    pub fn card_frames(&self) -> u64 {
        let is_shown = self.has_card && self.overlay.shows(Part::Card);
        u64::from(is_shown) * u64::from(self.frames_per_second)
    }

    fn title(&self) -> String {
        let usual = match &self.shown {
            FilmContent::Columns(_) => "The same play, encoded in several ways",
            FilmContent::Halves {
                left: PaneContent::Simulation,
                ..
            } => "A simulation and its replica, rebuilt from packets",
            FilmContent::Halves { .. } => "The same snapshots, encoded in two ways",
        };
        let title = self.overlay.title.as_deref();
        title.unwrap_or(usual).to_owned()
    }

    /// Tick of the first visible frame, counted from the start of the script.
    fn begins_at(&self) -> u64 {
        let lead_in = self.script.as_ref().map_or(0, |script| script.lead_in);
        lead_in.saturating_add(self.skipped_ticks)
    }

    /// Contents of each part over time, left to right. The first entry of a part is its content at the first frame.
    fn turns(&self) -> Vec<Vec<Turn>> {
        let FilmContent::Halves {
            left,
            right,
            switches,
        } = &self.shown
        else {
            let turn = |content| Turn {
                from: 0,
                side: Side::Right,
                content,
            };
            let contents = self.shown.contents().into_iter();
            return contents.map(|content| vec![turn(content)]).collect();
        };
        let begin = self.begins_at();
        let ticks = self.frames * u64::from(TICKS_PER_SECOND) / u64::from(self.frames_per_second);
        let switches = switches
            .iter()
            .map(|switch| switch.clone().delayed(begin))
            .collect::<Vec<_>>();
        let mut halves = vec![Vec::<Turn>::new(); Side::ALL.len()];
        for turn in course(left, right, self.script.as_ref(), &switches) {
            let turns = &mut halves[turn.side as usize];
            if turn.from <= begin {
                turns.clear();
            }
            let is_new = turns.last().is_none_or(|last| last.content != turn.content);
            if is_new && turn.from <= begin.saturating_add(ticks) {
                turns.push(turn);
            }
        }
        halves
    }

    /// Flags of all switches after the first frame.
    fn flags(&self) -> Vec<Flag> {
        let turns = self.turns();
        let pairs = turns.iter().flat_map(|turns| turns.windows(2));
        let flags = pairs.filter_map(|pair| {
            Some(Flag {
                tick: pair[1].from,
                side: pair[1].side,
                title: describe_change(&pair[0].content, &pair[1].content)?,
            })
        });
        let mut flags: Vec<_> = flags.collect();
        flags.sort_by_key(|flag| flag.tick);
        flags
    }

    /// Renders the title card over the first picture of the film.
    fn card(&self, parts: &mut [OffScreen]) -> Result<Vec<u8>, Failure> {
        let turns = self.turns();
        let lanes = turns
            .iter()
            .flatten()
            .filter_map(|turn| turn.content.lane());
        let common = view::common(lanes);
        let shown = turns.iter().enumerate().map(|(index, turns)| {
            let mut text = match &turns[0].content {
                PaneContent::Simulation => "simulation".to_owned(),
                PaneContent::Lane(lane) => {
                    let mut parts = lane.describe_in_full();
                    parts.retain(|part| !common.contains(part));
                    parts.insert(0, lane.describe_rung());
                    parts.join(" · ")
                }
            };
            let changes = turns.windows(2);
            let changes =
                changes.filter_map(|pair| describe_change(&pair[0].content, &pair[1].content));
            for change in changes {
                text = format!("{text} → {change}");
            }
            let side = match self.shown {
                FilmContent::Halves { .. } => Some(Side::ALL[index]),
                FilmContent::Columns(_) => None,
            };
            if let Some(side) = side {
                text = format!("{}: {text}", side.name());
            }
            (side, text)
        });
        let card = Card {
            title: self.title(),
            shown: shown.collect(),
            play: self.play.clone(),
            common: common.clone(),
        };
        let pictures = parts.iter_mut().map(|part| {
            part.app.world_mut().resource_mut::<Overlay>().card = Some(card.clone());
            let picture = part.still();
            part.app.world_mut().resource_mut::<Overlay>().card = None;
            picture
        });
        let pictures: Result<_, _> = pictures.collect();
        Ok(self.beside(pictures?))
    }

    /// Joins the pictures of the parts from left to right.
    fn beside(&self, mut pictures: Vec<Vec<u8>>) -> Vec<u8> {
        if pictures.len() == 1 {
            return pictures.remove(0);
        }
        let mut whole = Vec::new();
        for row in 0..self.size.y as usize {
            for (picture, slice) in pictures.iter().zip(self.slices()) {
                let bytes = slice.len() * BYTES_PER_PIXEL;
                whole.extend_from_slice(&picture[row * bytes..][..bytes]);
            }
        }
        whole
    }

    /// Horizontal pixels of each column. All but the last include the gap on their right.
    fn slices(&self) -> impl Iterator<Item = Range<u32>> {
        let columns = self.shown.contents().len() as u32;
        let width = self.size.x;
        let start = move |index| (width + GAP) * index / columns;
        (0..columns).map(move |index| start(index)..start(index + 1).min(width))
    }

    /// Plays up to the first frame, and returns the renderer of the halves, or one renderer per column.
    ///
    /// # Errors
    /// If the adapter does not support the size, or a lane cannot be set up.
    pub fn set_up(&self) -> Result<Vec<OffScreen>, Failure> {
        match &self.shown {
            FilmContent::Halves {
                left,
                right,
                switches,
            } => {
                let overlay = Overlay {
                    title: Some(self.title()),
                    flags: self.flags(),
                    ..self.overlay.clone()
                };
                let mut part = self.open(self.size, overlay)?;
                let world = part.app.world_mut();
                view::show(world, Side::Left, left.clone()).map_err(GameError::from)?;
                self.begin(part, right.clone(), Some(switches))
                    .map(|part| vec![part])
            }
            FilmContent::Columns(lanes) => {
                let slices = lanes.iter().zip(self.slices()).enumerate();
                let columns = slices.map(|(index, (lane, slice))| {
                    let mut hidden = self.overlay.hidden.clone();
                    // The heading of the column already shows these.
                    hidden.extend([Part::Labels, Part::Rung]);
                    let overlay = Overlay {
                        title: Some(self.title()),
                        column: Some(Column {
                            lanes: lanes.clone(),
                            index,
                            start: slice.start,
                            whole: self.size.x,
                        }),
                        hidden,
                        ..self.overlay.clone()
                    };
                    let width = slice.len() as u32;
                    let mut part = self.open(UVec2::new(width, self.size.y), overlay)?;
                    let gap = if slice.end < self.size.x { GAP } else { 0 };
                    let right = gap as f32 / part.app.world().resource::<Canvas>().scale_factor;
                    part.app
                        .insert_resource(ViewMode::Right)
                        .insert_resource(Inset { right, bottom: 0.0 });
                    self.begin(part, lane.clone(), None)
                });
                columns.collect()
            }
        }
    }

    /// Creates a renderer at tick 0.
    fn open(&self, size: UVec2, overlay: Overlay) -> Result<OffScreen, Failure> {
        let interface = Interface::Film { whole: self.size };
        let mut part = OffScreen::new(size, self.frames_per_second, interface)?;
        part.app
            .insert_resource(overlay)
            .insert_resource(self.look.quality)
            .insert_resource(self.look.theme)
            .insert_resource(self.look.colors)
            .insert_resource(self.look.exaggeration)
            // With a changing scale, the same amount would change its colour during the film.
            .insert_resource(FixedScale(true));
        Ok(part)
    }

    /// Plays up to the first frame. Columns ignore the halves of the script.
    fn begin(
        &self,
        mut part: OffScreen,
        right: LaneSettings,
        switches: Option<&[Switch]>,
    ) -> Result<OffScreen, Failure> {
        let world = part.app.world_mut();
        let right = PaneContent::Lane(right);
        view::show(world, Side::Right, right).map_err(GameError::from)?;
        let script = self.script.clone().unwrap_or_default();
        let skipped = self.begins_at();
        let mut playing = ScriptPlayback::new(script);
        if let Some(switches) = switches {
            let switches = switches.iter().cloned();
            let switches = switches.map(|switch| switch.delayed(skipped));
            playing = playing.showing_halves(switches.collect());
        }
        begin(world, playing);
        part.skip(skipped);
        part.warm_up()?;
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_switched_after_the_first_frame_has_a_flag() {
        let script = r#"(ticks: 600, lead_in: 60, steps: [
            (at: 30, right: "rung:index"), (at: 180, left: "rung:delta"),
        ])"#;
        let switches = ["1s:rung:predicted,link:4g", "9s:rung:delta"];
        let film = Film {
            size: UVec2::new(64, 64),
            frames_per_second: 30,
            frames: 120,
            skipped_ticks: 30,
            script: Some(Script::parse(script, Path::new("a.ron")).unwrap()),
            play: None,
            shown: FilmContent::Halves {
                left: PaneContent::Simulation,
                right: LaneSettings::default(),
                switches: switches.map(|text| text.parse().unwrap()).to_vec(),
            },
            has_card: false,
            overlay: Overlay::default(),
            look: Look::default(),
        };
        let flags = film.flags();
        let flags = flags
            .iter()
            .map(|flag| (flag.tick, flag.side, &*flag.title));
        let wanted = [
            (150, Side::Right, "predicted, link: 4G"),
            (180, Side::Left, "delta"),
        ];
        assert_eq!(flags.collect::<Vec<_>>(), wanted);
        let [left, right] = &film.turns()[..] else {
            panic!("there are two halves");
        };
        assert_eq!(left[0].content, PaneContent::Simulation);
        let first = right[0].content.lane().unwrap();
        assert_eq!(first.rung_name(), "index");
    }
}
