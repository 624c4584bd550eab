//! Ticks that wait to be encoded, and a background task that encodes them.

use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task, TaskPool, block_on};

use cubewire_codec::{Snapshot, Stages};

use super::encoders::{Batch, Encoders, ShadowTick};
use crate::replication::PacketRecord;
use crate::simulation::CubeWorld;

/// What a task returns.
type Done = (Box<Encoders>, Batch);

/// Encoders, and the task that has them while it encodes. Dropped, it lets go of the task without waiting.
#[derive(Debug)]
pub(super) struct Worker {
    /// Ticks to encode, oldest first.
    queue: Vec<ShadowTick>,
    /// None while the task has them.
    encoders: Option<Box<Encoders>>,
    task: Option<Task<Done>>,
    /// Snapshots that were encoded, kept to reuse their memory.
    spare: Vec<Snapshot>,
    /// Whether a task encodes while the frame goes on.
    pub(super) has_threads: bool,
}

impl Worker {
    pub(super) fn new(initial: Snapshot, stages: Vec<Stages>) -> Self {
        Self {
            queue: Vec::new(),
            encoders: Some(Box::new(Encoders::new(initial, stages))),
            task: None,
            spare: Vec::new(),
            has_threads: cfg!(not(target_arch = "wasm32")),
        }
    }

    /// Queues what a lane has sent in the newest tick.
    pub(super) fn push(&mut self, world: &CubeWorld, sent: Option<&PacketRecord>) {
        let spare = self.spare.pop().unwrap_or_default();
        self.queue.push(ShadowTick::new(world, sent, spare));
    }

    /// Ticks that wait, without those that the task has.
    pub(super) const fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Lets a task encode the oldest `most` ticks of the queue, unless one is at work. Without threads, encodes
    /// them at once, and returns them.
    pub(super) fn start(&mut self, most: usize) -> Option<Batch> {
        let most = most.min(self.queue.len());
        if most == 0 {
            return None;
        }
        let mut encoders = self.encoders.take()?;
        let ticks = self.queue.drain(..most).collect();
        let encode = move || {
            let batch = encoders.encode_all(ticks);
            (encoders, batch)
        };
        if !self.has_threads {
            return Some(self.take_back(encode()));
        }
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::default);
        self.task = Some(pool.spawn(async { encode() }));
        None
    }

    /// What the task has encoded, if it has ended.
    pub(super) fn poll(&mut self) -> Option<Batch> {
        let done = self.task.as_mut().and_then(check_ready)?;
        self.task = None;
        Some(self.take_back(done))
    }

    /// Encodes all that waits, and waits for it.
    pub(super) fn finish(&mut self) -> Vec<Batch> {
        let mut batches = Vec::from_iter(self.wait());
        batches.extend(self.start(usize::MAX));
        batches.extend(self.wait());
        batches
    }

    fn wait(&mut self) -> Option<Batch> {
        let done = block_on(self.task.take()?);
        Some(self.take_back(done))
    }

    fn take_back(&mut self, (encoders, mut batch): Done) -> Batch {
        self.encoders = Some(encoders);
        self.spare.append(&mut batch.spare);
        batch
    }
}
