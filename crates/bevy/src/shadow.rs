//! Encodes the snapshots of a connection with other stages, without sending them, to measure the cost of these stages.
//!
//! A shadow packet uses baselines of the same ticks as the connection's packet. They are taken from earlier shadow packets
//! with the same stages. A background task encodes the queue:
//!
//! ```text
//! frame  ── queue tick 7 ──┐           count ── queue tick 8 ──┐           count ──
//! task                     └─ encode tick 7 ─┘                 └─ encode tick 8 ─┘
//! ```
//!
//! In a browser, which has no threads, the frame encodes.

mod encoders;
mod sampling;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::error::Result;
use bevy_ecs::prelude::*;
use bevy_tasks::futures::check_ready;
use bevy_tasks::{AsyncComputeTaskPool, Task, TaskPool, block_on};
use bevy_time::{Real, Time};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::record::{Accounting, HEADER_BYTES, PacketRecord, Record, Totals, kbps};

pub use encoders::ShadowSnapshot;
use encoders::{ChosenTick, Encoders};
use sampling::{Budget, Choice, Sampling};

/// Limit of the queued ticks if every tick is encoded: a quarter of a second of the demo. [`Shadow::poll`] waits until all are
/// encoded, so that a slow machine gets the same costs.
const MAX_QUEUED: usize = 15;

/// [`MAX_QUEUED`] without threads: two seconds, 7 MB. [`Shadow::poll`] encodes one tick, because encoding all would delay the
/// frame.
const MAX_QUEUED_WITHOUT_THREADS: usize = 120;

/// Costs of a list of stages for one connection, without a byte budget. `T` describes an item of the list.
///
/// Encoding uses at most a quarter of a core. If that is not enough for all ticks, a [fraction](Self::share) of the ticks is
/// encoded, unless the shadow is of [every tick](Self::every_tick). For other stages, replace the shadow with a new one.
/// Dropping it does not wait for the task.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub struct Shadow<T: Send + Sync + 'static> {
    plan: Arc<Plan>,
    initial: Arc<Snapshot>,
    rows: Vec<StageCosts<T>>,
    /// Oldest first.
    queue: VecDeque<ChosenTick>,
    /// Number of ticks that the task encodes.
    encoding: usize,
    /// `None` while the task has them.
    encoders: Option<Box<Encoders>>,
    task: Option<Task<Done>>,
    /// Chooses the ticks. `None` for every tick.
    sampling: Option<Sampling>,
    budget: Budget,
    /// The newest tick, even if it is not chosen.
    newest: Option<u64>,
    newest_counted: Option<u64>,
    /// Whether a background task encodes. Otherwise the frame encodes, as in a browser.
    has_threads: bool,
}

type Done = (Box<Encoders>, Result<Vec<ChosenTick>>);

/// Costs of one item of the list.
#[derive(Clone, Debug)]
pub struct StageCosts<T> {
    /// Description of the item.
    pub of: T,
    /// The measured stages.
    pub stages: Stages,
    /// Sums over the counted ticks since the start, or since [`Shadow::restart`]. Bytes on the wire are 0, because shadow
    /// packets are not sent.
    pub totals: Totals,
    /// Article bytes of the newest counted ticks, oldest first.
    bytes: VecDeque<u32>,
    ticks_per_second: u32,
}

impl<T: Send + Sync + 'static> Shadow<T> {
    /// Returns costs of stages, not measured yet, for a connection with this plan and initial state.
    pub fn new(
        plan: &Arc<Plan>,
        initial: Snapshot,
        rows: impl IntoIterator<Item = (Stages, T)>,
    ) -> Self {
        let ticks_per_second = plan.schema().ticks_per_second.into();
        let totals = Totals::new(ticks_per_second);
        let rows = rows.into_iter().map(|(stages, of)| {
            let totals = totals.clone();
            StageCosts { of, stages, totals, bytes: VecDeque::new(), ticks_per_second }
        });
        let (rows, initial): (Vec<_>, _) = (rows.collect(), Arc::new(initial));
        let stages = rows.iter().map(|row| row.stages).collect();
        let encoders = Encoders::new(Arc::clone(plan), Arc::clone(&initial), stages);
        Self {
            plan: Arc::clone(plan),
            initial,
            rows,
            queue: VecDeque::new(),
            encoding: 0,
            encoders: Some(Box::new(encoders)),
            task: None,
            sampling: Some(Sampling::default()),
            budget: Budget::default(),
            newest: None,
            newest_counted: None,
            has_threads: cfg!(not(target_arch = "wasm32")),
        }
    }

    /// Encodes and counts every tick, at any cost of time, and keeps a minute of ticks instead of a second.
    #[must_use]
    pub fn every_tick(mut self) -> Self {
        self.sampling = None;
        self
    }

    /// Counts packets with `bytes` by index of the row and tick. For tests of displays.
    #[doc(hidden)]
    #[must_use]
    pub fn of_bytes(mut self, ticks: Range<u64>, bytes: impl Fn(usize, u64) -> usize) -> Self {
        for tick in ticks {
            let packet = |index| {
                let payload_bytes = bytes(index, tick) - HEADER_BYTES;
                PacketRecord { payload_bytes, ..PacketRecord::default() }
            };
            let packets: Vec<_> = (0..self.rows.len()).map(packet).collect();
            self.count(tick, &packets);
        }
        self
    }

    /// Returns the costs of each item, in the order of the list.
    pub fn rows(&self) -> &[StageCosts<T>] {
        &self.rows
    }

    /// Returns the connection's initial state.
    pub fn initial(&self) -> &Snapshot {
        &self.initial
    }

    /// Returns the newest counted tick.
    pub const fn newest_tick(&self) -> Option<u64> {
        self.newest_counted
    }

    /// Returns the age of the costs at tick `now`, in ticks. `None` before the first counted tick.
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest_counted?))
    }

    /// Returns the cost of stages in the second up to `tick`, or up to the newest counted tick, as [`StageCosts::kbps`]. `None`
    /// before it is known.
    pub fn kbps_until(&self, stages: Stages, tick: Option<u64>) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.stages == stages)?;
        let newest = self.newest_counted.unwrap_or(0);
        let ticks_ago = newest.saturating_sub(tick.unwrap_or(newest));
        row.kbps(ticks_ago as usize).filter(|&kbps| kbps > 0.0)
    }

    /// Returns the fraction of recent ticks that were chosen for encoding, 0 to 1.
    pub fn share(&self) -> f64 {
        self.sampling.as_ref().map_or(1.0, Sampling::share)
    }

    /// Returns the mean time to encode a tick. Zero before the first tick.
    pub fn mean_time(&self) -> Duration {
        self.budget.mean_time()
    }

    /// Queues a tick if it is chosen. `sent` is `None` if the connection sent no snapshot in it. [Poll](Self::poll) before each
    /// tick, to limit the queue.
    pub fn queue(&mut self, tick: u64, sent: Option<Arc<ShadowSnapshot>>) {
        self.newest = Some(tick);
        let waiting = self.queue.len() + self.encoding;
        let ages = sent.as_ref().map(|sent| sent.acked_ages_ticks);
        let choice = self.sampling.as_mut().map(|it| it.choose(tick, ages, waiting));
        let is_counted = match choice {
            Some(Choice::Skip) => return,
            Some(Choice::Encode) => false,
            Some(Choice::Count) | None => true,
        };
        let (packets, time) = (Vec::new(), Duration::ZERO);
        self.queue.push_back(ChosenTick { tick, sent, is_counted, packets, time });
    }

    /// Counts the packets of the task if it has ended. If the queue of every tick is full, encodes it first.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn poll(&mut self) -> Result {
        self.end_task()?;
        match (&self.sampling, self.has_threads, self.queue.len()) {
            (None, true, MAX_QUEUED..) => self.finish(),
            (None, false, MAX_QUEUED_WITHOUT_THREADS..) => self.start(1),
            _ => Ok(()),
        }
    }

    /// Waits until every chosen tick is encoded and counted.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result {
        self.wait()?;
        self.start(usize::MAX)?;
        self.wait()
    }

    /// Waits for the task and counts its ticks, without the ticks that were queued after its start.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn wait(&mut self) -> Result {
        self.task.take().map_or(Ok(()), |task| self.take_back(block_on(task)))
    }

    /// [Finishes](Self::finish), and clears the totals. Keeps the baselines.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn restart(&mut self) -> Result {
        self.finish()?;
        for row in &mut self.rows {
            row.totals = Totals::new(row.ticks_per_second);
        }
        Ok(())
    }

    /// Counts the packets of the task if it has ended, and starts the next task. `passed` is the real time since the last call.
    fn go_on(&mut self, passed: Duration) -> Result {
        self.end_task()?;
        if self.sampling.is_none() {
            self.budget.forgive_debt();
        }
        self.budget.earn(passed);
        self.start(match (&self.sampling, self.has_threads) {
            (Some(_), _) => self.budget.ticks(),
            (None, true) => usize::MAX,
            (None, false) => self.budget.ticks().max(1),
        })
    }

    /// Starts a task that encodes the oldest ticks, at most this number, unless a task is running. Without threads, encodes and
    /// counts them.
    fn start(&mut self, most: usize) -> Result {
        let count = most.min(self.queue.len());
        let Some(mut encoders) = self.encoders.take_if(|_| count > 0) else {
            return Ok(());
        };
        let mut ticks: Vec<_> = self.queue.drain(..count).collect();
        self.encoding = count;
        let encode = move || {
            let encoded = encoders.encode_all(&mut ticks).map(|()| ticks);
            (encoders, encoded)
        };
        if !self.has_threads {
            return self.take_back(encode());
        }
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::default);
        self.task = Some(pool.spawn(async { encode() }));
        Ok(())
    }

    fn end_task(&mut self) -> Result {
        let Some(done) = self.task.as_mut().and_then(check_ready) else {
            return Ok(());
        };
        self.task = None;
        self.take_back(done)
    }

    fn take_back(&mut self, (encoders, encoded): Done) -> Result {
        (self.encoders, self.encoding) = (Some(encoders), 0);
        for encoded in encoded? {
            self.budget.spend(encoded.time);
            if encoded.is_counted {
                self.count(encoded.tick, &encoded.packets);
            }
        }
        Ok(())
    }

    fn count(&mut self, tick: u64, packets: &[PacketRecord]) {
        let seconds = if self.sampling.is_some() { 1 } else { Record::SECONDS };
        for (index, row) in self.rows.iter_mut().enumerate() {
            row.count(packets.get(index), seconds);
        }
        self.newest_counted = Some(tick);
    }
}

impl<T> StageCosts<T> {
    /// Returns the mean over the second of counted ticks that ends `ticks_ago` ticks before the newest, in kilobits per second by
    /// article accounting. `None` without such ticks.
    pub fn kbps(&self, ticks_ago: usize) -> Option<f64> {
        let second = self.history().rev().skip(ticks_ago).take(self.ticks_per_second as usize);
        let ticks = second.len();
        (ticks > 0).then(|| kbps(second.sum(), ticks, self.ticks_per_second))
    }

    /// Returns the article bytes of the newest counted ticks, oldest first: of a minute, or of a second if ticks are sampled.
    pub fn history(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.bytes.iter().map(|&bytes| bytes as usize)
    }

    /// Returns the mean of the totals, in kilobits per second by article accounting.
    pub fn mean_kbps(&self) -> f64 {
        self.totals.kbps(Accounting::PayloadAndUdp)
    }

    fn count(&mut self, packet: Option<&PacketRecord>, kept_seconds: usize) {
        let bytes = packet.map_or(0, PacketRecord::article_bytes);
        if self.bytes.len() == kept_seconds * self.ticks_per_second as usize {
            self.bytes.pop_front();
        }
        self.bytes.push_back(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.totals.add_tick(packet.map_or(&[], std::slice::from_ref));
    }
}

/// Counts the encoded packets, and starts the next tasks. Runs at the end of a frame, because tasks would delay the frame on a
/// single core.
///
/// # Errors
/// If a snapshot cannot be encoded.
pub fn go_on<T: Send + Sync + 'static>(
    time: Res<Time<Real>>,
    mut shadows: Query<&mut Shadow<T>>,
) -> Result {
    for mut shadow in &mut shadows {
        shadow.go_on(time.delta())?;
    }
    Ok(())
}

/// Measures the bandwidth of a connection on each rung that is legal in the game's schema. Insert it on the connection's
/// entity.
pub type LiveLadder = Shadow<Rung>;

impl LiveLadder {
    /// Returns a ladder for a server's connection in a game with this plan.
    pub fn of_game(plan: &Arc<Plan>) -> Self {
        Self::of_rungs(plan, Snapshot::default())
    }

    /// Returns a ladder for a connection with this plan and initial state.
    pub fn of_rungs(plan: &Arc<Plan>, initial: Snapshot) -> Self {
        let legal = |rung: Rung| Some((plan.legal(*rung.stages).ok()?, rung));
        Self::new(plan, initial, ladder::all().filter_map(legal))
    }

    /// Queues a tick of a server's connection: the ages of the newest acked snapshots and the snapshot, if one was sent. Starts
    /// again if the component comes from a connection with a later tick or another plan.
    pub(crate) fn push(
        &mut self,
        tick: u64,
        plan: &Arc<Plan>,
        sent: Option<([Option<u16>; 3], &Arc<QuantizedSnapshot>)>,
    ) {
        let is_same_plan = Arc::ptr_eq(&self.plan, plan) || self.plan.schema() == plan.schema();
        if !is_same_plan || self.newest.is_some_and(|newest| tick <= newest) {
            *self = Self::of_game(plan);
        }
        let sent = sent.map(|(acked_ages_ticks, quantized)| {
            let quantized = Arc::clone(quantized);
            Arc::new(ShadowSnapshot { acked_ages_ticks, quantized, floats: None, inputs: None })
        });
        self.queue(tick, sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder() -> LiveLadder {
        LiveLadder::of_rungs(&Plan::cubes(), Snapshot::default()).every_tick()
    }

    #[test]
    fn a_rung_keeps_every_tick_of_the_last_minute() {
        let ladder = ladder().of_bytes(0..3_700, |index, tick| 1_000 + index + tick as usize);
        assert_eq!(ladder.newest_tick(), Some(3_699));
        assert_eq!(ladder.rows().len(), ladder::all().count());
        for (index, rung) in ladder.rows().iter().enumerate() {
            let history = rung.history();
            assert_eq!(history.len(), 3_600);
            assert!(history.eq((0..3_600).map(|tick| 1_100 + index + tick)));
        }
    }

    #[test]
    fn the_past_has_the_figures_of_its_own_second() {
        // A packet of 1000 bytes in the first second, of 2000 bytes from then on.
        let ladder = ladder().of_bytes(0..180, |_, tick| if tick < 60 { 1_000 } else { 2_000 });
        let at = |tick| ladder.kbps_until(ladder::AT_REST.stages, tick).unwrap();
        assert_eq!(at(None), 960.0);
        assert_eq!(at(Some(179)), at(None));
        assert_eq!(at(Some(59)), 480.0);
        assert_eq!(at(Some(89)), 720.0);
        assert_eq!(at(Some(500)), at(None), "what is not encoded yet");
    }

    #[test]
    fn without_threads_a_frame_encodes_only_as_long_as_it_may() {
        let mut ladder = Shadow { has_threads: false, ..ladder() };
        let push = |ladder: &mut LiveLadder, tick| {
            let floats = Snapshot::default();
            let stages = ladder::UNCOMPRESSED.stages;
            let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
            quantized.quantize(&floats, stages.precision()).unwrap();
            let sent = ShadowSnapshot {
                acked_ages_ticks: [None; 3],
                quantized: Arc::new(quantized),
                floats: Some(floats),
                inputs: None,
            };
            ladder.queue(tick, Some(Arc::new(sent)));
        };
        (0..3).for_each(|tick| push(&mut ladder, tick));
        // Encodes one tick although no time is left.
        ladder.go_on(Duration::ZERO).unwrap();
        assert_eq!(ladder.queue.len(), 2);
        assert_eq!(ladder.rows()[0].history().len(), 1);
        ladder.go_on(Duration::MAX).unwrap();
        assert_eq!(ladder.queue.len(), 0);
        push(&mut ladder, 3);
        ladder.finish().unwrap();
        assert_eq!(ladder.rows()[0].history().len(), 4);
    }
}
