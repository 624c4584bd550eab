//! Renders a run frame by frame, offline: the same frames whatever the speed of the machine.

use bevy::prelude::*;
use cubewire_codec::Stages;

use super::offscreen::{Interface, OffScreen};
use crate::game::{Failure, GameError};
use crate::recording::{Outcome, ReplayCheck, Script, ScriptPlayback, Switch, begin};
use crate::replication::{Accounting, Lane, LaneMeter, LaneSettings, Sample, Totals, kbps};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{self, CubeColors, FixedScale, Overlay, PaneContent, Quality, Side};

/// What to render, and how.
#[derive(Clone, Debug)]
pub struct Film {
    /// Size in pixels.
    pub size: UVec2,
    /// At least 1. At 60, 30, 20 and other divisors of 60, each frame shows a whole tick.
    pub frames_per_second: u32,
    /// Number of frames.
    pub frames: u64,
    /// Ticks at the start that are played but not shown, in addition to the script's lead-in.
    pub skipped_ticks: u64,
    /// The script that is played; without it, no keys are held.
    pub script: Option<Script>,
    /// What the left half shows at the start.
    pub left: PaneContent,
    /// The lane in the right half at the start.
    pub right: LaneSettings,
    /// Changes of settings, in ticks since the first visible frame.
    pub switches: Vec<Switch>,
    /// Settings of the text over the scene.
    pub overlay: Overlay,
    /// How it is drawn.
    pub look: Look,
}

/// How a film is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// How much work goes into a frame; [`Quality::Auto`] depends on the adapter alone.
    pub quality: Quality,
    /// The colours.
    pub theme: Theme,
    /// What the colours of the cubes show.
    pub colors: CubeColors,
}

/// The result of rendering a film.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// Frames that were rendered.
    pub frames: u64,
    /// CRC-32 of all frames, byte by byte.
    pub checksum: u32,
    /// Mean bandwidth of the left and the right half in article accounting, kilobits a second, over the
    /// ticks in which the half showed a lane; none if it never did.
    pub mean_kbps: [Option<f64>; Side::ALL.len()],
    /// Mean bandwidth by stages, in the order in which they were used.
    pub kbps_of_stages: [Vec<(Stages, f64)>; Side::ALL.len()],
    /// Whether the states were those that a replay recorded; none without a replay.
    pub replay: Option<Outcome>,
}

impl Film {
    /// Renders the film and calls `frame` with each frame: RGBA, one byte per channel, rows from the top.
    /// Ends early if `frame` returns an error, or if the program is told to end.
    ///
    /// # Errors
    /// As [`set_up`](Self::set_up); if a frame cannot be drawn, or what `frame` returns.
    pub fn shoot(
        &self,
        mut frame: impl FnMut(Vec<u8>) -> Result<(), Failure>,
    ) -> Result<Take, Failure> {
        let mut renderer = self.set_up()?;
        let mut checksum = crc32fast::Hasher::new();
        let mut sent = [Sent::default(), Sent::default()];
        let mut tick = renderer.app.world().resource::<CubeWorld>().tick();
        let mut frames = 0;
        while frames < self.frames && renderer.app.should_exit().is_none() {
            let pixels = renderer.frame()?;
            checksum.update(&pixels);
            frame(pixels)?;
            frames += 1;
            let before = tick;
            tick = renderer.app.world().resource::<CubeWorld>().tick();
            count_newest(&mut renderer.app, (tick - before) as usize, &mut sent);
        }
        let check = renderer.app.world().get_resource::<ReplayCheck>();
        Ok(Take {
            frames,
            checksum: checksum.finalize(),
            mean_kbps: sent.each_ref().map(Sent::mean_kbps),
            kbps_of_stages: sent.each_ref().map(Sent::kbps_of_stages),
            replay: check.map(|check| check.outcome().clone()),
        })
    }

    const fn usual_title(&self) -> &'static str {
        match self.left {
            PaneContent::Simulation => "A simulation, and its replica from packets alone",
            PaneContent::Lane(_) => "The same snapshots, sent two ways",
        }
    }

    /// Plays what comes before the first frame, and is ready to draw it.
    ///
    /// # Errors
    /// If the adapter does not support the size, or a lane cannot be set up.
    pub fn set_up(&self) -> Result<OffScreen, Failure> {
        let mut renderer = OffScreen::new(self.size, self.frames_per_second, Interface::Film)?;
        let app = &mut renderer.app;
        let mut overlay = self.overlay.clone();
        overlay
            .title
            .get_or_insert_with(|| self.usual_title().to_owned());
        app.insert_resource(overlay)
            .insert_resource(self.look.quality)
            .insert_resource(self.look.theme)
            .insert_resource(self.look.colors)
            // A scale that changes would change the colours of the same amounts.
            .insert_resource(FixedScale(true));
        let world = app.world_mut();
        view::show(world, Side::Left, self.left.clone()).map_err(GameError::from)?;
        let right = PaneContent::Lane(self.right.clone());
        view::show(world, Side::Right, right).map_err(GameError::from)?;
        let script = self.script.clone().unwrap_or_default();
        let skipped = script.lead_in.saturating_add(self.skipped_ticks);
        let switches = self.switches.iter().cloned();
        let switches = switches.map(|switch| switch.delayed(skipped));
        let playing = ScriptPlayback::new(script).showing_halves(switches.collect());
        begin(world, playing);
        renderer.skip(skipped);
        renderer.warm_up()?;
        Ok(renderer)
    }
}

/// What a half sent, by stages, in the order in which they were first used.
#[derive(Default)]
struct Sent(Vec<(Stages, Totals)>);

impl Sent {
    fn add(&mut self, sample: &Sample) {
        let stages = sample.stages;
        let index = self.0.iter().position(|(of, _)| *of == stages);
        let index = index.unwrap_or_else(|| {
            self.0.push((stages, Totals::default()));
            self.0.len() - 1
        });
        self.0[index].1.add(sample);
    }

    fn mean_kbps(&self) -> Option<f64> {
        let bytes = self.0.iter().map(|(_, totals)| totals.article_bytes).sum();
        let ticks = self.0.iter().map(|(_, totals)| totals.ticks).sum();
        (ticks > 0).then(|| kbps(bytes, ticks))
    }

    fn kbps_of_stages(&self) -> Vec<(Stages, f64)> {
        let kbps = |(stages, totals): &(Stages, Totals)| {
            let kbps = totals.kbps(Accounting::PayloadAndUdp);
            (*stages, kbps)
        };
        self.0.iter().map(kbps).collect()
    }
}

/// Adds the samples of the last `ticks` of the lane in each half.
fn count_newest(app: &mut App, ticks: usize, sent: &mut [Sent; Side::ALL.len()]) {
    let world = app.world_mut();
    let mut lanes = world.query_filtered::<(&Side, &LaneMeter), With<Lane>>();
    for (&side, meter) in lanes.iter(world) {
        for sample in meter.newest(ticks) {
            sent[side as usize].add(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::replication::PacketRecord;

    #[test]
    fn what_was_sent_is_counted_by_stages() {
        let mut sent = Sent::default();
        assert_eq!((sent.mean_kbps(), sent.kbps_of_stages()), (None, vec![]));
        let [delta, index] = [ladder::DELTA.stages, ladder::INDEX.stages];
        for (stages, payload_bytes) in [(delta, 972), (index, 472), (delta, 972), (index, 472)] {
            sent.add(&Sample {
                stages,
                snapshots: vec![PacketRecord {
                    payload_bytes,
                    ..PacketRecord::default()
                }],
                ..Sample::default()
            });
        }
        // With 28 bytes of headers, sixty times a second.
        assert_eq!(sent.kbps_of_stages(), [(delta, 480.0), (index, 240.0)]);
        assert_eq!(sent.mean_kbps(), Some(360.0));
    }
}
