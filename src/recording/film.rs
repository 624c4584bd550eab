//! Films play: the same frames on any machine, however long each of them takes.

use bevy::prelude::*;

use super::{OffScreen, OffScreenError, Outcome, Playing, ReplayCheck, Script, Switch, begin};
use crate::replication::{Accounting, Half, LaneMeter, LaneSettings, Side, kbps};
use crate::simulation::World as CubeWorld;
use crate::view::{self, Overlay};

/// What to film, and how.
#[derive(Clone, Debug)]
pub struct Film {
    /// Pixels.
    pub size: UVec2,
    /// From 1 on. At 60, 30, 20 and other divisors of 60, each frame is of a whole tick.
    pub frames_per_second: u32,
    /// How many.
    pub frames: u64,
    /// Ticks at the start that are played and not seen, on top of the script's own lead-in.
    pub skipped_ticks: u64,
    /// What is pressed; without it, nobody plays.
    pub script: Option<Script>,
    /// What the left half shows at the start.
    pub left: Half,
    /// The lane in the right half at the start.
    pub right: LaneSettings,
    /// What changes in between, by ticks since the start of what is seen.
    pub switches: Vec<Switch>,
    /// What is written over the picture.
    pub overlay: Overlay,
}

/// What came of filming.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// Frames that were taken.
    pub frames: u64,
    /// CRC-32 of all frames, byte by byte.
    pub checksum: u32,
    /// Mean over the ticks in which a lane was seen, in article accounting, kilobits a second, left
    /// and right; none where there never was one.
    pub mean_kbps: [Option<f64>; Side::ALL.len()],
    /// Whether the states are those that a replay recorded; none if there is no replay.
    pub replay: Option<Outcome>,
}

/// Why there is no film.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// Nothing can be drawn.
    #[error(transparent)]
    OffScreen(#[from] OffScreenError),
    /// The game cannot be set up.
    #[error("{0}")]
    Game(BevyError),
}

impl Film {
    /// Films, and hands over each frame: RGBA, a byte each, rows from the top. It ends early if
    /// `frame` says that it does not go on, or if Ctrl-C is pressed.
    ///
    /// # Errors
    /// [`FilmError`], or what `frame` returns.
    pub fn shoot<E: From<FilmError>>(
        &self,
        mut frame: impl FnMut(Vec<u8>) -> Result<(), E>,
    ) -> Result<Take, E> {
        let mut stage = self.set_up()?;
        let mut checksum = crc32fast::Hasher::new();
        let mut sent = [Sent::default(); Side::ALL.len()];
        let mut tick = stage.app.world().resource::<CubeWorld>().tick();
        let mut frames = 0;
        while frames < self.frames && stage.app.should_exit().is_none() {
            let pixels = stage.frame().map_err(FilmError::from)?;
            checksum.update(&pixels);
            frame(pixels)?;
            frames += 1;
            let before = tick;
            tick = stage.app.world().resource::<CubeWorld>().tick();
            count_newest(&mut stage.app, (tick - before) as usize, &mut sent);
        }
        let check = stage.app.world().get_resource::<ReplayCheck>();
        Ok(Take {
            frames,
            checksum: checksum.finalize(),
            mean_kbps: sent.map(|sent| (sent.ticks > 0).then(|| kbps(sent.bytes, sent.ticks))),
            replay: check.map(|check| check.outcome().clone()),
        })
    }

    fn set_up(&self) -> Result<OffScreen, FilmError> {
        let mut stage = OffScreen::new(self.size, self.frames_per_second)?;
        let app = &mut stage.app;
        app.insert_resource(self.overlay.clone());
        let world = app.world_mut();
        view::show(world, Side::Left, self.left.clone()).map_err(FilmError::Game)?;
        view::show(world, Side::Right, Half::Lane(self.right.clone())).map_err(FilmError::Game)?;
        let script = self.script.clone().unwrap_or_default();
        let skipped = script.lead_in.saturating_add(self.skipped_ticks);
        let switches = self.switches.iter().cloned();
        let switches = switches.map(|switch| switch.delayed(skipped));
        let playing = Playing::new(script).showing_halves(switches.collect());
        begin(world, playing);
        stage.skip(skipped);
        stage.warm_up()?;
        Ok(stage)
    }
}

/// What a half's lane sent, in article accounting, and in how many ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    bytes: usize,
    ticks: usize,
}

fn count_newest(app: &mut App, ticks: usize, sent: &mut [Sent; Side::ALL.len()]) {
    let world = app.world_mut();
    let mut lanes = world.query::<(&Side, &LaneMeter)>();
    for (&side, meter) in lanes.iter(world) {
        let sent = &mut sent[side as usize];
        for sample in meter.newest(ticks) {
            sent.bytes += sample.bytes(Accounting::Article);
            sent.ticks += 1;
        }
    }
}
