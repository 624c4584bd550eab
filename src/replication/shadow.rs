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
//! Every tick is encoded, in order, so the figures are those that encoding in the frame would give, of a
//! tick or a few [before](ShadowLadder::age_ticks). Without threads, in a browser, the frame encodes.

mod encoders;

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task, TaskPool, block_on};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{InitialStateError, Snapshot};
use cubewire_scene::TICKS_PER_SECOND;

use super::packet::PacketRecord;
use super::totals::Totals;
use super::{Accounting, LaneMeter, kbps};
use crate::simulation::CubeWorld;

use encoders::{Batch, Encoders, ShadowTick};

/// Ticks that may wait to be encoded: those of a frame that took a quarter of a second. If one more would
/// have to, the frame waits for all of them, so that a slow machine has the same figures.
const MAX_QUEUED: usize = 15;

/// Whether a task makes progress while the frame does something else.
const HAS_THREADS: bool = cfg!(not(target_arch = "wasm32"));

/// The encoders of all rungs, for one lane. If it is moved to another lane, it continues with what that
/// one sends.
#[derive(Component, Debug)]
pub struct ShadowLadder {
    rungs: Vec<ShadowRung>,
    /// Ticks to encode, oldest first.
    queue: Vec<ShadowTick>,
    /// None while the task has them.
    encoders: Option<Box<Encoders>>,
    task: Option<Task<Batch>>,
    /// The newest tick that the figures include.
    newest: Option<u64>,
    time_per_tick: Duration,
    /// Snapshots that were encoded, kept to reuse their memory.
    spare: Vec<Snapshot>,
}

/// One rung of the shadow ladder.
#[derive(Debug)]
pub struct ShadowRung {
    rung: Rung,
    /// Article bytes of each tick of the last second.
    bytes: VecDeque<usize>,
    /// Sums since the start, or since [`ShadowLadder::restart`]. Nothing is sent, so the transport's
    /// part of them is empty.
    pub totals: Totals,
}

impl ShadowLadder {
    /// A shadow of every rung.
    ///
    /// # Errors
    /// If the codec refuses the initial state.
    pub fn new(initial: &Snapshot) -> Result<Self, InitialStateError> {
        let rungs = ladder::all().map(|rung| ShadowRung {
            rung,
            bytes: VecDeque::new(),
            totals: Totals::default(),
        });
        Ok(Self {
            rungs: rungs.collect(),
            queue: Vec::new(),
            encoders: Some(Box::new(Encoders::new(initial)?)),
            task: None,
            newest: None,
            time_per_tick: Duration::ZERO,
            spare: Vec::new(),
        })
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

    /// How long it took to encode one tick with every rung, in the newest task.
    #[must_use]
    pub const fn time_per_tick(&self) -> Duration {
        self.time_per_tick
    }

    /// Waits until every tick so far is encoded and counted.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result {
        loop {
            self.wait()?;
            if self.queue.is_empty() {
                return Ok(());
            }
            self.start()?;
        }
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

    /// Queues what a lane has sent in the newest tick.
    fn push(&mut self, world: &CubeWorld, sent: Option<&PacketRecord>) {
        let mut snapshot = self.spare.pop().unwrap_or_default();
        if sent.is_some() {
            snapshot.cubes.clone_from(&world.current().cubes);
        }
        self.queue.push(ShadowTick {
            tick: world.tick(),
            acked_ages_ticks: sent.map(|sent| sent.acked_ages_ticks),
            snapshot,
        });
    }

    /// Lets a task encode the queue, unless one is at work.
    fn start(&mut self) -> Result {
        if self.queue.is_empty() {
            return Ok(());
        }
        let Some(encoders) = self.encoders.take() else {
            return Ok(());
        };
        let ticks = std::mem::take(&mut self.queue);
        if !HAS_THREADS {
            return self.count(encoders.encode_all(ticks));
        }
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::default);
        self.task = Some(pool.spawn(async { encoders.encode_all(ticks) }));
        Ok(())
    }

    /// Counts what the task has encoded, if it has ended.
    fn poll(&mut self) -> Result {
        let Some(batch) = self.task.as_mut().and_then(check_ready) else {
            return Ok(());
        };
        self.task = None;
        self.count(batch)
    }

    /// Waits until the task has ended, and counts what it has encoded.
    fn wait(&mut self) -> Result {
        match self.task.take() {
            Some(task) => self.count(block_on(task)),
            None => Ok(()),
        }
    }

    fn count(&mut self, batch: Batch) -> Result {
        self.encoders = Some(batch.encoders);
        if let Ok(ticks @ 1..) = u32::try_from(batch.encoded.len()) {
            self.time_per_tick = batch.time / ticks;
        }
        for (tick, packets) in batch.encoded {
            for (place, rung) in self.rungs.iter_mut().enumerate() {
                rung.count(packets.get(place));
            }
            self.newest = Some(tick.tick);
            self.spare.push(tick.snapshot);
        }
        batch.result
    }
}

impl ShadowRung {
    /// Which rung this is.
    #[must_use]
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Mean over the last second in article accounting, kilobits a second.
    #[must_use]
    pub fn kbps(&self) -> f64 {
        kbps(self.bytes.iter().sum(), self.bytes.len())
    }

    /// Mean since the start, likewise.
    #[must_use]
    pub fn mean_kbps(&self) -> f64 {
        self.totals.kbps(Accounting::Article)
    }

    /// Counts a tick, with the packet that would have been sent in it.
    fn count(&mut self, packet: Option<&PacketRecord>) {
        let bytes = packet.map_or(0, PacketRecord::article_bytes);
        if self.bytes.len() == TICKS_PER_SECOND as usize {
            self.bytes.pop_front();
        }
        self.bytes.push_back(bytes);
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
        shadow.push(&world, sent);
        if shadow.queue.len() > MAX_QUEUED {
            shadow.finish()?;
        }
    }
    Ok(())
}

/// Starts the tasks at the end of a frame: on one core, they would otherwise delay it.
pub(super) fn start(mut shadows: Query<&mut ShadowLadder>) -> Result {
    for mut shadow in &mut shadows {
        shadow.poll()?;
        shadow.start()?;
    }
    Ok(())
}
