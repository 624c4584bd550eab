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
mod sampled;
mod sampling;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::error::Result;
use bevy_tasks::futures::check_ready;
use bevy_tasks::{AsyncComputeTaskPool, Task, TaskPool, block_on};
use cubewire_codec::{Inputs, Plan, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::record::PacketRecord;

use encoders::Encoders;
pub(crate) use sampled::go_on;
pub use sampled::{LiveLadder, Sampled};

/// A tick of a connection, for encoding.
#[derive(Debug)]
pub struct ShadowTick {
    /// Number of the tick.
    pub tick: u64,
    /// `None` if the connection sent no snapshot in this tick.
    pub sent: Option<ShadowSnapshot>,
}

/// A snapshot that a connection sent.
#[derive(Debug)]
pub struct ShadowSnapshot {
    /// Ages of the three newest acked snapshots, as in [`PacketRecord::acked_ages_ticks`].
    pub acked_ages_ticks: [Option<u16>; 3],
    /// The snapshot as it was sent.
    pub quantized: Arc<QuantizedSnapshot>,
    /// The same bodies as floats. Required by stages with a precision other than the quantized snapshot's.
    pub floats: Option<Snapshot>,
    /// Simulation inputs of a receiver in sync, for stages that simulate.
    pub inputs: Option<Inputs>,
}

/// The packets of a tick, one for each item in a list of stages.
#[derive(Debug)]
pub struct Encoded {
    /// Number of the tick.
    pub tick: u64,
    /// Packets in the order of the stages. Empty if the connection sent no snapshot.
    pub packets: Vec<PacketRecord>,
    /// Time spent encoding.
    pub time: Duration,
}

type Done = (Box<Encoders>, Result<Vec<Encoded>>);

/// The queue of one connection, and the task that encodes it with each item in a list of stages. Dropping it does not wait for
/// the task.
#[derive(Debug)]
pub struct Shadow {
    /// Oldest first.
    queue: VecDeque<Arc<ShadowTick>>,
    /// `None` while the task has them.
    encoders: Option<Box<Encoders>>,
    task: Option<Task<Done>>,
    has_threads: bool,
}

impl Shadow {
    /// Returns a shadow with these stages, of a connection with this initial state.
    pub fn new(
        plan: Arc<Plan>,
        initial: Snapshot,
        stages: impl IntoIterator<Item = Stages>,
    ) -> Self {
        let stages = stages.into_iter().collect();
        Self {
            queue: VecDeque::new(),
            encoders: Some(Box::new(Encoders::new(plan, initial, stages))),
            task: None,
            has_threads: cfg!(not(target_arch = "wasm32")),
        }
    }

    /// Returns the shadow set to encode in the calling thread, as in a browser.
    #[must_use]
    pub fn without_threads(self) -> Self {
        Self { has_threads: false, ..self }
    }

    /// Whether a background task encodes.
    pub const fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// Queues a tick.
    pub fn push(&mut self, tick: &Arc<ShadowTick>) {
        self.queue.push_back(Arc::clone(tick));
    }

    /// Number of queued ticks, excluding ticks that the task is encoding.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Starts a task that encodes the oldest ticks, at most this number, unless a task is running. Without threads, encodes at
    /// once and returns the packets.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn start(&mut self, most: usize) -> Result<Vec<Encoded>> {
        let count = most.min(self.queue.len());
        let Some(mut encoders) = self.encoders.take_if(|_| count > 0) else {
            return Ok(Vec::new());
        };
        let ticks: Vec<_> = self.queue.drain(..count).collect();
        let encode = move || {
            let encoded = encoders.encode_all(&ticks);
            (encoders, encoded)
        };
        if !self.has_threads {
            return self.take_back(encode());
        }
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::default);
        self.task = Some(pool.spawn(async { encode() }));
        Ok(Vec::new())
    }

    /// Returns the packets of the task if it has ended.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn poll(&mut self) -> Result<Vec<Encoded>> {
        let Some(done) = self.task.as_mut().and_then(check_ready) else {
            return Ok(Vec::new());
        };
        self.task = None;
        self.take_back(done)
    }

    /// Encodes all queued ticks, and waits for the task.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result<Vec<Encoded>> {
        let mut encoded = self.wait()?;
        encoded.extend(self.start(usize::MAX)?);
        encoded.extend(self.wait()?);
        Ok(encoded)
    }

    /// Waits for the task, and returns its packets.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn wait(&mut self) -> Result<Vec<Encoded>> {
        self.task.take().map_or(Ok(Vec::new()), |task| self.take_back(block_on(task)))
    }

    fn take_back(&mut self, (encoders, encoded): Done) -> Result<Vec<Encoded>> {
        self.encoders = Some(encoders);
        encoded
    }
}
