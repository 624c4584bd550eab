//! Renders a run offline, frame by frame, independent of the machine's speed.

mod sent;

use std::ops::Range;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

pub use self::sent::Sent;
use self::sent::count_newest;
use super::offscreen::{BYTES_PER_PIXEL, Interface, OffScreen};
use crate::game::{Failure, GameError};
use crate::recording::{
    Outcome, Place, ReplayCheck, Script, ScriptPlayback, Switch, Turn, begin, course,
    describe_change, set_players,
};
use crate::replication::{LaneMeter, LaneSettings};
use crate::simulation::CubeWorld;
use crate::view::{
    self, Canvas, Card, Column, Curves, FixedScale, Flag, GAP, Inset, Overlay, PaneContent, Part,
    Side, ViewMode, ViewState,
};

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
    pub shown: FilmContent,
    /// Whether the film starts with a title card of one second, unless [`Part::Card`] is hidden.
    pub has_card: bool,
    pub overlay: Overlay,
    /// With [`Quality::Auto`](crate::view::Quality::Auto), the quality depends only on the adapter.
    pub look: ViewState,
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "each film has only one")]
pub enum FilmContent {
    Halves {
        left: PaneContent,
        right: LaneSettings,
        /// Changes of settings, in ticks since the first visible frame.
        switches: Vec<Switch>,
    },
    /// Replicas in columns: lanes of the same run, over links with the same random seed.
    Columns {
        /// Initial lanes, 2 to [`MAX_COLUMNS`].
        lanes: Vec<LaneSettings>,
        /// Names of the columns. Further columns have the names of their rungs.
        labels: Vec<String>,
        /// Changes of settings, in ticks since the first visible frame. The columns that they name exist.
        switches: Vec<Switch>,
    },
}

pub const MAX_COLUMNS: usize = 4;

/// Numbers of columns, from 2 to [`MAX_COLUMNS`], at the start of a title.
const COUNTS: [&str; MAX_COLUMNS - 1] = ["Two", "Three", "Four"];

impl FilmContent {
    pub fn contents(&self) -> Vec<PaneContent> {
        match self {
            Self::Halves { left, right, .. } => {
                vec![left.clone(), PaneContent::Lane(right.clone())]
            }
            Self::Columns { lanes, .. } => lanes.iter().cloned().map(PaneContent::Lane).collect(),
        }
    }

    /// Index of a half, or of the column that shows it.
    const fn part(&self, column: usize, side: Side) -> usize {
        match self {
            Self::Halves { .. } => side as usize,
            Self::Columns { .. } => column,
        }
    }

    /// Changes of settings in the part at `index`. All halves are one part.
    fn switches(&self, index: usize) -> Vec<Switch> {
        let (Self::Halves { switches, .. } | Self::Columns { switches, .. }) = self;
        let is_here = |switch: &&Switch| match switch.place {
            Place::Column(column) => column == index + 1,
            Place::Unnamed | Place::Half(_) => true,
        };
        switches.iter().filter(is_here).cloned().collect()
    }

    /// Name of a part: its half, or the label of its column, or its column counted from 1.
    pub fn name(&self, index: usize) -> String {
        match self {
            Self::Halves { .. } => Side::ALL[index].name().to_owned(),
            Self::Columns { labels, .. } => match labels.get(index) {
                Some(label) => label.clone(),
                None => format!("column {}", index + 1),
            },
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    pub frames: u64,
    /// CRC-32 of the bytes of all frames.
    pub checksum: u32,
    /// Traffic of each part of the picture, left to right.
    pub sent: Vec<Sent>,
    pub replay: Option<Outcome>,
}

impl Film {
    /// Renders the film and calls `frame` with each frame: RGBA, one byte per channel, rows from the top. Ends early if
    /// `frame` returns an error or the program receives a signal.
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
        let mut curves = self.curves();
        let mut sent = vec![Sent::default(); self.shown.contents().len()];
        for _ in 0..self.frames {
            if parts.iter().any(|part| part.app.should_exit().is_some()) {
                break;
            }
            self.measure(&mut parts, &mut curves);
            let mut pictures = Vec::new();
            let mut first = None;
            for (index, part) in parts.iter_mut().enumerate() {
                let mut overlay = part.app.world_mut().resource_mut::<Overlay>();
                overlay.curves = curves.clone();
                if let Some(column) = &mut overlay.column {
                    column.first = first.clone();
                }
                let before = part.app.world().resource::<CubeWorld>().tick();
                pictures.push(part.frame()?);
                let tick = part.app.world().resource::<CubeWorld>().tick();
                let of = |side| self.shown.part(index, side);
                count_newest(&mut part.app, (tick - before) as usize, of, &mut sent);
                if index == 0 {
                    let world = part.app.world_mut();
                    let mut meters = world.query::<&LaneMeter>();
                    first = meters.iter(world).find_map(|meter| meter.second(None));
                }
            }
            add(self.beside(pictures))?;
        }
        let check = parts[0].app.world().get_resource::<ReplayCheck>();
        let replay = check.map(|check| check.outcome.clone());
        Ok(Take { frames, checksum: checksum.finalize(), sent, replay })
    }

    /// Updates the graph before a frame is drawn. Columns are drawn one after the other, so all of them show the measurements
    /// of the previous frame.
    fn measure(&self, parts: &mut [OffScreen], curves: &mut Curves) {
        let worlds = parts.iter_mut().map(|part| part.app.world_mut());
        let mut lanes: Vec<_> =
            worlds.map(|world| (world.query::<(&Side, &LaneMeter)>(), &*world)).collect();
        curves.show(lanes.iter_mut().enumerate().flat_map(|(index, (lanes, world))| {
            lanes.iter(world).map(move |(&side, meter)| (self.shown.part(index, side), meter))
        }));
    }

    /// The graph, still without measurements.
    fn curves(&self) -> Curves {
        let turns = self.turns();
        let lanes = turns.iter().flatten().filter_map(|turn| turn.content.lane());
        Curves::new(lanes, Self::flags(&turns))
    }

    /// Number of frames of the title card, one second or 0.
    pub fn card_frames(&self) -> u64 {
        let is_shown = self.has_card && self.overlay.shows(Part::Card);
        u64::from(is_shown) * u64::from(self.frames_per_second)
    }

    fn title(&self) -> String {
        if let Some(title) = &self.overlay.title {
            return title.clone();
        }
        match &self.shown {
            FilmContent::Columns { lanes, .. } => {
                let count = COUNTS[lanes.len() - 2];
                format!("{count} replicas of the same game")
            }
            FilmContent::Halves { .. } => {
                let left = &self.turns()[0];
                let is_lane = left.iter().map(|turn| turn.content.lane().is_some());
                view::title_of_halves(is_lane).to_owned()
            }
        }
    }

    /// Tick of the first visible frame, counted from the start of the script.
    fn begins_at(&self) -> u64 {
        self.script.as_ref().map_or(0, |script| script.lead_in).saturating_add(self.skipped_ticks)
    }

    /// Contents of each part over time, left to right. The first entry of a part is its content at the first frame.
    fn turns(&self) -> Vec<Vec<Turn>> {
        let begin = self.begins_at();
        let ticks = self.frames * u64::from(TICKS_PER_SECOND) / u64::from(self.frames_per_second);
        let delayed = |index| {
            let switches = self.shown.switches(index).into_iter();
            switches.map(|switch| switch.delayed(begin)).collect::<Vec<_>>()
        };
        let mut parts = vec![Vec::<Turn>::new(); self.shown.contents().len()];
        let mut add = |index: usize, turn: Turn| {
            let turns = &mut parts[index];
            if turn.from <= begin {
                turns.clear();
            }
            let is_new = turns.last().is_none_or(|last| last.content != turn.content);
            if is_new && turn.from <= begin.saturating_add(ticks) {
                turns.push(turn);
            }
        };
        match &self.shown {
            FilmContent::Halves { left, right, .. } => {
                for turn in course(left, right, self.script.as_ref(), &delayed(0)) {
                    add(turn.side as usize, turn);
                }
            }
            // Columns ignore the halves of the script.
            FilmContent::Columns { lanes, .. } => {
                for (index, lane) in lanes.iter().enumerate() {
                    for turn in course(&PaneContent::Simulation, lane, None, &delayed(index)) {
                        if turn.side == Side::Right {
                            add(index, turn);
                        }
                    }
                }
            }
        }
        parts
    }

    fn common(&self) -> Vec<String> {
        let turns = self.turns();
        let turns = turns.iter().flatten();
        view::common(turns.filter_map(|turn| turn.content.lane()))
    }

    /// Changes in ascending order. A change of all parts at once is one.
    fn flags(turns: &[Vec<Turn>]) -> Vec<Flag> {
        let of_part = |(part, turns): (usize, &Vec<Turn>)| {
            let changes = changes(turns).into_iter();
            changes.map(move |(tick, title)| Flag { tick, part: Some(part), title })
        };
        let mut flags: Vec<_> = turns.iter().enumerate().flat_map(of_part).collect();
        let place = |flag: &Flag| (flag.tick, flag.title.clone());
        flags.sort_by_key(place);
        let alike = flags.chunk_by(|one, other| place(one) == place(other));
        let merged = alike.flat_map(|alike| match alike.len() == turns.len() {
            true => vec![Flag { part: None, ..alike[0].clone() }],
            false => alike.to_vec(),
        });
        merged.collect()
    }

    fn card(&self, parts: &mut [OffScreen]) -> Result<Vec<u8>, Failure> {
        let turns = self.turns();
        let common = self.common();
        let shown = turns.iter().enumerate().map(|(index, turns)| {
            let text = match &turns[0].content {
                PaneContent::Simulation => "simulation".to_owned(),
                PaneContent::Lane(lane) => {
                    let mut parts = lane.describe_in_full();
                    parts.retain(|part| !common.contains(part));
                    parts.insert(0, lane.describe_rung());
                    parts.join(" · ")
                }
            };
            let text = [text].into_iter().chain(summary(turns)).collect::<Vec<_>>().join(" → ");
            match &self.shown {
                FilmContent::Halves { .. } => {
                    let side = Side::ALL[index];
                    (Some(side), format!("{}: {text}", side.name()))
                }
                FilmContent::Columns { labels, .. } => match labels.get(index) {
                    Some(label) => (None, format!("{label}: {text}")),
                    None => (None, text),
                },
            }
        });
        let card =
            Card { title: self.title(), shown: shown.collect(), play: self.play.clone(), common };
        let pictures = parts.iter_mut().map(|part| {
            part.app.world_mut().resource_mut::<Overlay>().card = Some(card.clone());
            let picture = part.draw(Duration::ZERO);
            part.app.world_mut().resource_mut::<Overlay>().card = None;
            picture
        });
        let pictures: Result<_, _> = pictures.collect();
        Ok(self.beside(pictures?))
    }

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
            FilmContent::Halves { left, right, .. } => {
                let mut part = self.open(self.size, None)?;
                let world = part.app.world_mut();
                view::show(world, Side::Left, left.clone()).map_err(GameError::from)?;
                self.begin(part, 0, right.clone()).map(|part| vec![part])
            }
            FilmContent::Columns { lanes, labels, .. } => {
                let slices = lanes.iter().zip(self.slices()).enumerate();
                let columns = slices.map(|(index, (lane, slice))| {
                    let column = Column {
                        lanes: lanes.clone(),
                        labels: labels.clone(),
                        common: self.common(),
                        first: None,
                        index,
                        start: slice.start,
                        whole: self.size.x,
                    };
                    let size = UVec2::new(slice.len() as u32, self.size.y);
                    let mut part = self.open(size, Some(column))?;
                    let gap = if slice.end < self.size.x { GAP } else { 0 };
                    let right = gap as f32 / part.app.world().resource::<Canvas>().scale_factor;
                    part.app
                        .insert_resource(ViewMode::Right)
                        .insert_resource(Inset { right, bottom: 0.0 });
                    self.begin(part, index, lane.clone())
                });
                columns.collect()
            }
        }
    }

    fn open(&self, size: UVec2, column: Option<Column>) -> Result<OffScreen, Failure> {
        let interface = Interface::Film { whole: self.size };
        let mut part = OffScreen::new(size, self.frames_per_second, interface)?;
        if let Some(script) = &self.script {
            set_players(part.app.world_mut(), script);
        }
        let (title, curves) = (Some(self.title()), self.curves());
        part.app.insert_resource(Overlay { title, curves, column, ..self.overlay.clone() });
        // With a changing scale, the same amount would change its colour during the film.
        let mut look = self.look;
        look.fixed = FixedScale(true);
        look.apply(part.app.world_mut());
        Ok(part)
    }

    /// Plays the part at `index` up to the first frame. Columns ignore the halves of the script.
    fn begin(
        &self,
        mut part: OffScreen,
        index: usize,
        right: LaneSettings,
    ) -> Result<OffScreen, Failure> {
        let world = part.app.world_mut();
        let right = PaneContent::Lane(right);
        view::show(world, Side::Right, right).map_err(GameError::from)?;
        let skipped = self.begins_at();
        let switches = self.shown.switches(index).into_iter();
        let switches = switches.map(|switch| switch.delayed(skipped)).collect();
        let playing = ScriptPlayback::new(self.script.clone().unwrap_or_default());
        let playing = match self.shown {
            FilmContent::Halves { .. } => playing.showing_halves(switches),
            FilmContent::Columns { .. } => playing.switching(switches),
        };
        begin(world, playing);
        part.skip(skipped);
        part.warm_up()?;
        Ok(part)
    }
}

/// Changes of a part, with their ticks.
fn changes(turns: &[Turn]) -> Vec<(u64, String)> {
    let changes = turns.windows(2).filter_map(|pair| {
        Some((pair[1].from, describe_change(&pair[0].content, &pair[1].content)?))
    });
    changes.collect()
}

/// Descriptions of the changes of a part for the title card. Of many changes, their number and the last one.
fn summary(turns: &[Turn]) -> Vec<String> {
    let mut changes: Vec<_> = changes(turns).into_iter().map(|(_, title)| title).collect();
    if changes.len() > MAX_CHANGES {
        let between = format!("{} more", changes.len() - 1);
        changes.splice(..changes.len() - 1, [between]);
    }
    changes
}

const MAX_CHANGES: usize = 6;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::game::fall::fall;

    fn film(shown: FilmContent) -> Film {
        Film {
            size: UVec2::splat(64),
            frames_per_second: 60,
            frames: 240,
            skipped_ticks: 60,
            script: None,
            play: None,
            shown,
            has_card: false,
            overlay: Overlay::default(),
            look: ViewState::default(),
        }
    }

    #[test]
    fn the_title_card_sums_up_many_changes() {
        let usual = LaneSettings::default();
        let listed = |script: &Script| {
            let turns = course(&PaneContent::Simulation, &usual, Some(script), &[]);
            let of_right = turns.into_iter().filter(|turn| turn.side == Side::Right);
            summary(&of_right.skip(1).collect::<Vec<_>>())
        };
        let mut script = fall();
        assert_eq!(listed(&script), ["14 more", "simulated"]);
        script.steps.retain(|step| step.at < 400);
        assert_eq!(listed(&script), ["smallest-three", "velocity", "at-rest"]);
    }

    #[test]
    fn what_is_switched_after_the_first_frame_has_a_flag() {
        let script = r#"(ticks: 600, lead_in: 60, steps: [
            (at: 30, right: "rung:index"), (at: 180, left: "rung:delta"),
        ])"#;
        let switches = ["1s:rung:predicted,link:4g", "9s:rung:delta"];
        let film = Film {
            frames_per_second: 30,
            frames: 120,
            skipped_ticks: 30,
            script: Some(Script::parse(script, Path::new("a.ron")).unwrap()),
            ..film(FilmContent::Halves {
                left: PaneContent::Simulation,
                right: LaneSettings::default(),
                switches: switches.map(|text| text.parse().unwrap()).to_vec(),
            })
        };
        let flags = Film::flags(&film.turns());
        let flags = flags.iter().map(|flag| (flag.tick, flag.part, &*flag.title));
        let wanted = [(150, Some(1), "predicted, link: 4G"), (180, Some(0), "delta")];
        assert_eq!(flags.collect::<Vec<_>>(), wanted);
        let [left, right] = &film.turns()[..] else {
            panic!("there are two halves");
        };
        assert_eq!(left[0].content, PaneContent::Simulation);
        let first = right[0].content.lane().unwrap();
        assert_eq!(first.rung_name(), "index");
    }

    #[test]
    fn a_column_has_its_own_switches_and_those_of_all() {
        let switches = ["1s:2.rung:index", "2s:link:4g", "3s:1.rung:delta", "9s:rate:10"];
        let lanes = ["rung:uncompressed", "rung:predicted,budget:64kbps", "rung:at-rest"];
        let film = film(FilmContent::Columns {
            lanes: lanes.map(|text| text.parse().unwrap()).to_vec(),
            labels: vec!["before".to_owned()],
            switches: switches.map(|text| text.parse().unwrap()).to_vec(),
        });
        let turns = film.turns();
        let flags = Film::flags(&turns);
        let flags = flags.iter().map(|flag| (flag.tick, flag.part, &*flag.title));
        let wanted = [(120, Some(1), "index"), (180, None, "link: 4G"), (240, Some(0), "delta")];
        assert_eq!(flags.collect::<Vec<_>>(), wanted);
        assert_eq!(film.shown.name(0), "before");
        assert_eq!(film.shown.name(1), "column 2");
        // The network changes.
        let common = film.common();
        assert!(!common.iter().any(|part| part.contains("round trip")), "{common:?}");
    }
}
