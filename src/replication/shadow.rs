//! The shadow ladder: encodes the snapshots of a lane with every rung, without sending them, to measure the
//! bandwidth of each.
//!
//! A rung uses baselines of the same ticks as the lane, but in its own precision, and as if they had been
//! carried by its own packets.
//!
//! This takes longer than all else that a lane does, so a task does it, which starts when a frame is over:
//!
//! ```text
//! frame  ── queue tick 7 ──┐           count ── queue tick 8 ──┐           count ──
//! task                     └─ encode tick 7 ─┘                 └─ encode tick 8 ─┘
//! ```
//!
//! Every tick is encoded, in order, so the figures are those that encoding in the frame would have, of a
//! tick or a few [before](ShadowLadder::age_ticks). Without threads, in a browser, the frame encodes, for at
//! most a quarter of its time.

pub(super) mod ablation;
mod encoders;
mod worker;

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::Snapshot;
use cubewire_codec::ladder::{self, Rung};
use cubewire_protocol::record::{Accounting, PacketRecord, Totals};
use cubewire_scene::TICKS_PER_SECOND;

use super::mean::Mean;
use super::meter::{LaneMeter, METER_TICKS, kbps};
use crate::clock;
use crate::simulation::CubeWorld;

use encoders::Batch;
use worker::Worker;

/// Ticks that may wait to be encoded: those of a frame that took a quarter of a second. If one more would
/// have to, the frame waits for all of them, so that a slow machine has the same figures.
const MAX_QUEUED: usize = 15;

/// [`MAX_QUEUED`] where there are no threads: two seconds, 7 MB. There a frame that waits is late.
const MAX_QUEUED_WITHOUT_THREADS: usize = 120;

/// The part of a frame's time for encoding where there are no threads.
const SHARE_OF_FRAME: f32 = 0.25;

/// The encoders of all rungs, for one lane. If it is moved to another lane, it continues with what that
/// one sends.
#[derive(Component, Debug)]
pub struct ShadowLadder {
    rungs: Vec<ShadowRung>,
    worker: Worker,
    /// The newest tick that the figures include.
    newest: Option<u64>,
    /// Seconds that a tick takes.
    mean_seconds: Mean,
}

/// One rung of the shadow ladder.
#[derive(Debug)]
pub struct ShadowRung {
    rung: Rung,
    /// Article bytes of each tick of the last minute.
    bytes: VecDeque<u32>,
    /// Sums since the start, or since [`ShadowLadder::restart`]. Nothing is sent, so the transport's
    /// part of them is empty.
    pub totals: Totals,
}

impl ShadowLadder {
    /// A shadow of every rung, of a lane that began with that state.
    #[must_use]
    pub fn new(initial: &Snapshot) -> Self {
        let rungs = ladder::all().map(|rung| ShadowRung {
            rung,
            bytes: VecDeque::new(),
            totals: Totals::default(),
        });
        let stages = ladder::all().map(|rung| rung.stages);
        Self {
            rungs: rungs.collect(),
            worker: Worker::new(initial.clone(), stages.collect()),
            newest: None,
            mean_seconds: Mean::default(),
        }
    }

    /// A ladder that has counted this many ticks, with `bytes` by index of the rung and tick.
    #[cfg(test)]
    pub(crate) fn of_bytes(ticks: u64, bytes: impl Fn(usize, u64) -> usize) -> Self {
        let mut shadow = Self::new(CubeWorld::default().current());
        for tick in 0..ticks {
            for (index, rung) in shadow.rungs.iter_mut().enumerate() {
                let payload_bytes = bytes(index, tick) - super::HEADER_BYTES;
                rung.count(Some(&PacketRecord {
                    payload_bytes,
                    ..PacketRecord::default()
                }));
            }
            shadow.newest = Some(tick);
        }
        shadow
    }

    /// The figures of every rung, in the order of [`ladder::all`]. They are complete up to a tick that is
    /// [a few ticks old](Self::age_ticks).
    #[must_use]
    pub fn rungs(&self) -> &[ShadowRung] {
        &self.rungs
    }

    /// How many ticks the figures are older than tick `now`; none before there are any.
    #[must_use]
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest?))
    }

    /// How long it takes to encode one tick with every rung, smoothed so that it can be read.
    #[must_use]
    pub fn mean_time_per_tick(&self) -> Duration {
        Duration::from_secs_f64(self.mean_seconds.get())
    }

    /// What a rung would have cost in the second up to that tick, or to the newest one, in article accounting, kilobits a second;
    /// none before it is known.
    #[must_use]
    pub fn kbps_until(&self, rung: &Rung, tick: Option<u64>) -> Option<f64> {
        let mut rungs = self.rungs.iter();
        let shadowed = rungs.find(|shadowed| shadowed.rung.stages == rung.stages)?;
        let ticks_ago = tick.map_or(0, |tick| self.newest.unwrap_or(0).saturating_sub(tick));
        Some(shadowed.kbps(ticks_ago as usize)).filter(|&kbps| kbps > 0.0)
    }

    /// The newest tick that the figures include; none before there is one.
    #[must_use]
    pub const fn newest_tick(&self) -> Option<u64> {
        self.newest
    }

    /// Waits until every tick so far is encoded and counted.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result {
        let batches = self.worker.finish();
        self.count(batches)
    }

    /// Finishes, and clears the totals. The baselines of the rungs stay.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn restart(&mut self) -> Result {
        self.finish()?;
        for rung in &mut self.rungs {
            rung.totals = Totals::default();
        }
        Ok(())
    }

    /// Lets a task encode the queue, unless one is at work. Without threads, encodes at once, until this time
    /// is over, but at least one tick.
    fn start(&mut self, time: Duration) -> Result {
        if self.worker.has_threads {
            let batch = self.worker.start(usize::MAX);
            return self.count(batch);
        }
        let start = clock::now();
        while let Some(batch) = self.worker.start(1) {
            self.count([batch])?;
            if start.elapsed() >= time {
                break;
            }
        }
        Ok(())
    }

    /// Counts what the task has encoded, if it has ended.
    fn poll(&mut self) -> Result {
        let batch = self.worker.poll();
        self.count(batch)
    }

    fn count(&mut self, batches: impl IntoIterator<Item = Batch>) -> Result {
        for batch in batches {
            if let Some(time) = batch.time_per_tick() {
                self.mean_seconds.add(time.as_secs_f64());
            }
            for (tick, packets) in batch.encoded {
                for (index, rung) in self.rungs.iter_mut().enumerate() {
                    rung.count(packets.get(index));
                }
                self.newest = Some(tick);
            }
            batch.result?;
        }
        Ok(())
    }
}

impl ShadowRung {
    /// Which rung this is.
    #[must_use]
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Mean over a second in article accounting, kilobits a second: over the one that ended that many ticks before the newest.
    #[must_use]
    pub fn kbps(&self, ticks_ago: usize) -> f64 {
        let second = self.history().rev().skip(ticks_ago);
        let second: Vec<_> = second.take(TICKS_PER_SECOND as usize).collect();
        kbps(second.iter().sum(), second.len())
    }

    /// Bytes in article accounting of each tick of the last minute, oldest first, none skipped. The last one
    /// is [`ShadowLadder::newest_tick`].
    pub fn history(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.bytes.iter().map(|&bytes| bytes as usize)
    }

    /// Mean since the start in article accounting, kilobits a second.
    #[must_use]
    pub fn mean_kbps(&self) -> f64 {
        self.totals.kbps(Accounting::PayloadAndUdp)
    }

    /// Counts a tick, with the packet that would have been sent in it.
    fn count(&mut self, packet: Option<&PacketRecord>) {
        let bytes = packet.map_or(0, PacketRecord::article_bytes);
        if self.bytes.len() == METER_TICKS {
            self.bytes.pop_front();
        }
        self.bytes
            .push_back(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.totals
            .add_tick(packet.map_or(&[], std::slice::from_ref));
    }
}

/// Queues the newest tick of every lane that has a shadow.
pub(super) fn queue(
    world: Res<CubeWorld>,
    mut lanes: Query<(&mut ShadowLadder, &LaneMeter)>,
) -> Result {
    for (mut shadow, meter) in &mut lanes {
        let sent = meter.samples().back();
        let sent = sent.and_then(|sample| sample.snapshots.first());
        shadow.poll()?;
        shadow.worker.push(&world, sent);
        if !shadow.worker.has_threads {
            // A tick for a tick: encoding all that waits would take a second.
            if shadow.worker.queued() > MAX_QUEUED_WITHOUT_THREADS {
                shadow.start(Duration::ZERO)?;
            }
        } else if shadow.worker.queued() > MAX_QUEUED {
            shadow.finish()?;
        }
    }
    Ok(())
}

/// Starts the tasks at the end of a frame: on one core, they would otherwise delay it.
pub(super) fn start(time: Res<Time<Real>>, mut shadows: Query<&mut ShadowLadder>) -> Result {
    let time = time.delta().mul_f32(SHARE_OF_FRAME);
    for mut shadow in &mut shadows {
        shadow.poll()?;
        shadow.start(time)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_keeps_every_tick_of_the_last_minute() {
        let ticks = METER_TICKS as u64 + 100;
        let shadow = ShadowLadder::of_bytes(ticks, |index, tick| 1_000 + index + tick as usize);
        assert_eq!(shadow.newest_tick(), Some(ticks - 1));
        assert_eq!(shadow.rungs().len(), ladder::all().count());
        for (index, rung) in shadow.rungs().iter().enumerate() {
            let history = rung.history();
            assert_eq!(history.len(), METER_TICKS);
            assert!(history.eq((0..METER_TICKS).map(|tick| 1_100 + index + tick)));
        }
    }

    #[test]
    fn the_past_has_the_figures_of_its_own_second() {
        // A packet of 1000 bytes in the first second, of 2000 bytes from then on.
        let bytes = |_, tick| if tick < 60 { 1_000 } else { 2_000 };
        let shadow = ShadowLadder::of_bytes(180, bytes);
        let at = |tick| shadow.kbps_until(&ladder::LADDER[3], tick).unwrap();
        assert_eq!(at(None), 960.0);
        assert_eq!(at(Some(179)), at(None));
        assert_eq!(at(Some(59)), 480.0);
        assert_eq!(at(Some(89)), 720.0);
        assert_eq!(at(Some(500)), at(None), "what is not encoded yet");
    }

    #[test]
    fn without_threads_a_frame_encodes_only_as_long_as_it_may() {
        let world = CubeWorld::default();
        let mut shadow = ShadowLadder::new(world.current());
        shadow.worker.has_threads = false;
        let sent = PacketRecord::default();
        for _ in 0..3 {
            shadow.worker.push(&world, Some(&sent));
        }
        // One tick even where there is no time.
        shadow.start(Duration::ZERO).unwrap();
        assert_eq!(shadow.worker.queued(), 2);
        assert_eq!(shadow.rungs()[0].history().len(), 1);
        shadow.start(Duration::MAX).unwrap();
        assert_eq!(shadow.worker.queued(), 0);
        shadow.worker.push(&world, Some(&sent));
        shadow.finish().unwrap();
        assert_eq!(shadow.rungs()[0].history().len(), 4);
    }
}
