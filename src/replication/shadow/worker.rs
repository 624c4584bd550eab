//! Encodes in a background task.

use bevy::platform::time::Instant;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task, TaskPool, block_on};

use cubewire_codec::{Snapshot, Stages};

use super::encoders::{Batch, Encoders, ShadowTick};

/// Whether a task makes progress while the frame does something else.
const HAS_THREADS: bool = cfg!(not(target_arch = "wasm32"));

/// What a task returns. No encoders if they could not be set up.
type Done = (Option<Box<Encoders>>, Batch);

/// Encoders, and the task that has them while it encodes. Dropped, it lets go of the task without waiting.
#[derive(Debug)]
pub(super) struct Worker {
    /// None while the task has them.
    encoders: Option<Box<Encoders>>,
    task: Option<Task<Done>>,
    has_threads: bool,
}

impl Worker {
    pub(super) fn new(encoders: Encoders) -> Self {
        Self {
            encoders: Some(Box::new(encoders)),
            task: None,
            has_threads: HAS_THREADS,
        }
    }

    #[cfg(test)]
    pub(super) fn without_threads(encoders: Encoders) -> Self {
        Self {
            has_threads: false,
            ..Self::new(encoders)
        }
    }

    /// Whether a task encodes while the frame goes on.
    pub(super) const fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// Lets a task set up the encoders, too. If that fails, its batch says so.
    pub(super) fn set_up(initial: Snapshot, stages: Vec<Stages>) -> Self {
        let mut worker = Self {
            encoders: None,
            task: None,
            has_threads: HAS_THREADS,
        };
        let set_up = move || {
            let start = Instant::now();
            let (encoders, result) = match Encoders::new(&initial, stages) {
                Ok(encoders) => (Some(Box::new(encoders)), Ok(())),
                Err(error) => (None, Err(error.into())),
            };
            let encoded = Vec::new();
            let time = start.elapsed();
            let batch = Batch {
                encoded,
                result,
                time,
            };
            (encoders, batch)
        };
        worker.task = Some(spawn(set_up));
        worker
    }

    /// Lets a task encode the oldest `most` ticks of a queue, unless one is at work. Without threads, encodes
    /// them at once, and returns them.
    pub(super) fn start(&mut self, queue: &mut Vec<ShadowTick>, most: usize) -> Option<Batch> {
        let most = most.min(queue.len());
        if most == 0 {
            return None;
        }
        let mut encoders = self.encoders.take()?;
        let ticks = queue.drain(..most).collect();
        let encode = move || {
            let batch = encoders.encode_all(ticks);
            (Some(encoders), batch)
        };
        if !self.has_threads {
            return Some(self.take_back(encode()));
        }
        self.task = Some(spawn(encode));
        None
    }

    /// What the task has encoded, if it has ended.
    pub(super) fn poll(&mut self) -> Option<Batch> {
        let done = self.task.as_mut().and_then(check_ready)?;
        self.task = None;
        Some(self.take_back(done))
    }

    /// Waits until the task has ended, if there is one.
    pub(super) fn wait(&mut self) -> Option<Batch> {
        let done = block_on(self.task.take()?);
        Some(self.take_back(done))
    }

    fn take_back(&mut self, (encoders, batch): Done) -> Batch {
        self.encoders = encoders;
        batch
    }
}

fn spawn(work: impl FnOnce() -> Done + Send + 'static) -> Task<Done> {
    let pool = AsyncComputeTaskPool::get_or_init(TaskPool::default);
    pool.spawn(async { work() })
}
