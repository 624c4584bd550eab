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

mod sampled;
mod sampling;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::error::Result;
use bevy_platform::time::Instant;
use bevy_tasks::futures::check_ready;
use bevy_tasks::{AsyncComputeTaskPool, Task, TaskPool, block_on};
use cubewire_codec::{
    Baseline, Baselines, Encoder, Inputs, Limits, Packet, Plan, Precision, QuantizedSnapshot,
    Sequence, Simulated, Snapshot, SnapshotPool, Stages,
};
use cubewire_protocol::record::PacketRecord;
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};

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
    /// The same bodies as floats, for stages with another precision. Without them, the integers are converted.
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
    /// Whether a background task encodes. If not, [`start`](Self::start) encodes in the calling thread, as in a browser.
    pub has_threads: bool,
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

/// Number of baselines that an encoder keeps, as many as a connection.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

/// The encoders of a shadow. Its task owns them while it runs.
#[derive(Debug)]
struct Encoders {
    plan: Arc<Plan>,
    initial: Snapshot,
    stages: Vec<Stages>,
    /// One encoder for each of the stages. Empty before the first tick.
    encoders: Vec<StagesEncoder>,
    pool: SnapshotPool,
    packet: Packet,
}

#[derive(Debug)]
struct StagesEncoder {
    stages: Stages,
    encoder: Encoder,
    /// Baselines from this encoder's packets.
    sent: BaselineRing,
    /// The snapshot of the packet that is being encoded.
    next: Baseline,
}

impl Encoders {
    fn new(plan: Arc<Plan>, initial: Snapshot, stages: Vec<Stages>) -> Self {
        let pool = SnapshotPool::new(Arc::clone(&plan));
        Self { plan, initial, stages, encoders: Vec::new(), pool, packet: Packet::default() }
    }

    /// Encodes ticks in order. Creates the encoders before the first tick: it takes longer than a frame, so it is done here, in
    /// the task.
    fn encode_all(&mut self, ticks: &[Arc<ShadowTick>]) -> Result<Vec<Encoded>> {
        if self.encoders.is_empty() {
            let encoders = self.stages.iter().map(|&stages| {
                let (plan, initial) = (Arc::clone(&self.plan), self.initial.clone());
                Ok(StagesEncoder {
                    stages,
                    encoder: Encoder::new(plan, initial, Limits::default())?,
                    sent: BaselineRing::new(RING),
                    next: Baseline::default(),
                })
            });
            self.encoders = encoders.collect::<Result<_>>()?;
        }
        ticks.iter().map(|tick| self.encode(tick)).collect()
    }

    fn encode(&mut self, ShadowTick { tick, sent }: &ShadowTick) -> Result<Encoded> {
        let start = now();
        let mut packets = Vec::new();
        if let Some(sent) = sent {
            let mut quantized = vec![(sent.quantized.precision(), Arc::clone(&sent.quantized))];
            for encoder in &mut self.encoders {
                let precision = encoder.stages.precision();
                let current = quantize(sent, precision, &mut quantized, &mut self.pool)?;
                packets.push(encoder.encode(*tick, sent, &current, &mut self.packet)?);
            }
        }
        Ok(Encoded { tick: *tick, packets, time: start.elapsed() })
    }
}

impl StagesEncoder {
    fn encode(
        &mut self,
        tick: u64,
        sent: &ShadowSnapshot,
        current: &Arc<QuantizedSnapshot>,
        packet: &mut Packet,
    ) -> Result<PacketRecord> {
        let [age, second, third] = sent.acked_ages_ticks;
        let held = |age: Option<u16>| self.sent.get(tick.checked_sub(age?.into())?);
        let baseline = held(age);
        // A receiver can simulate only from a baseline that it has.
        let inputs = sent.inputs.as_ref().filter(|_| baseline.is_some() == age.is_some());
        let references = Baselines {
            baseline,
            additional: [second, third].map(held),
            simulated: Simulated { inputs, state_chunk: &[] },
            ..Baselines::default()
        };
        // Stages without a baseline need no copy of the packet.
        let next = self.stages.uses_baseline().then_some(&mut self.next);
        let sequence = Sequence(tick as u16);
        self.encoder.encode(sequence, self.stages, current, references, packet, next)?;
        if self.stages.uses_baseline() {
            self.sent.store(tick, &mut self.next);
        }
        Ok(PacketRecord::new(tick, packet, self.stages))
    }
}

/// Returns a tick's snapshot in a precision, from `known` or quantized again: from floats or, without them, from the
/// integers that were sent.
fn quantize(
    sent: &ShadowSnapshot,
    precision: Precision,
    known: &mut Vec<(Precision, Arc<QuantizedSnapshot>)>,
    pool: &mut SnapshotPool,
) -> Result<Arc<QuantizedSnapshot>> {
    if let Some((_, snapshot)) = known.iter().find(|(of, _)| *of == precision) {
        return Ok(Arc::clone(snapshot));
    }
    let snapshot = match &sent.floats {
        Some(floats) => pool.quantize(floats, precision)?,
        None => {
            let sent = &sent.quantized;
            Arc::new(sent.in_precision(precision, |slot| sent.body(slot))?)
        }
    };
    known.push((precision, Arc::clone(&snapshot)));
    Ok(snapshot)
}

#[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
fn now() -> Instant {
    Instant::now()
}
