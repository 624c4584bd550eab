//! Sending of snapshots: when one is due, how large it may be, and which clients share an encode.
//!
//! A packet takes three steps, so that packets are encoded in parallel and equal ones only once: [`ServerConnection::prepare`](super::ServerConnection::prepare),
//! [`encode_jobs`] for all connections of a tick, and [`SendJob::finish`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::stages::Delta;
use cubewire_codec::{InitialStateError, QuantizedSnapshot, Snapshot};
use log::debug;

use super::contract::Contract;
use super::message::Settings;
use super::report::Report;
use crate::budget::{AllowedSnapshot, SendBudget};
use crate::encode_cost::EncodeCost;
use crate::inputs::InputHistory;
use crate::record::{PacketRecord, Sample};
use crate::renet_guard::SLICE_BYTES;
use crate::schedule::PacketBudget;
use crate::sender::{BaselineChoice, SendError, SnapshotSender};

/// How the rate to a client adapts to the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateControl {
    /// Only the requested budget limits the rate. For a simulated network, which may be overloaded to show the cost of stages.
    Off,
    /// The rate adapts if there is a budget. Without one, only a large scene is limited, until a joining client has all bodies.
    #[default]
    WithBudget,
    /// The rate always adapts.
    Always,
}

/// Additional data and preferences of some connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// Inputs of a scene that the client simulates: see [`SnapshotSender::send_simulated`].
    pub inputs: Option<&'a InputHistory>,
    /// State of the scene after a tick, for a client that needs one: see [`SnapshotSender::offer_state`].
    pub state: Option<(u64, &'a Arc<[u8]>)>,
    /// Within a budget, by slot: factor of the body's priority. Missing ones are 1.
    pub gains: &'a [f32],
    /// Within a budget, by slot: number of the body's group. Missing bodies have no group.
    pub groups: &'a [u32],
    /// The app's data for a client that sends tick inputs: [`InputReport::own`](super::InputReport). Data longer than
    /// [`MAX_OWN_BYTES`](super::MAX_OWN_BYTES) is left out.
    pub own: &'a [u8],
    /// Encodes the snapshot even if it is not due or there is no time, because the state that follows refers to it. Within a budget,
    /// stages that allow it still send a part.
    pub must_send: bool,
}

/// Sends snapshots to a client that has been welcomed.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) sender: SnapshotSender,
    pub(super) rate_control: RateControl,
    pub(super) ticks_per_second: u16,
    /// Settings to use. `None` before the first ones.
    pub(super) settings: Option<Settings>,
    /// `None` while only the joining limit applies.
    pub(super) budget: Option<SendBudget>,
    pub(super) allowed: AllowedSnapshot,
    pub(super) cost: EncodeCost,
    /// The first tick without a budget. Silence is counted from it until the first ack.
    first: Option<u64>,
}

/// Encodes one snapshot for one client. Jobs are independent, so they can run on several threads.
#[derive(Debug)]
pub struct SendJob<'a> {
    pub(super) sending: &'a mut Sending,
    pub(super) tick: u64,
    pub(super) settings: Settings,
    pub(super) snapshot: Arc<QuantizedSnapshot>,
    pub(super) extras: Extras<'a>,
    /// Limit of the packet; `None` for a complete packet.
    pub(super) packet_budget: Option<PacketBudget<'static>>,
    pub(super) report: Option<Report<'a>>,
    pub(super) state: JobState,
}

#[derive(Debug)]
pub(super) enum JobState {
    Due,
    /// Waits for the packet of an earlier job with the same view, stages and acks.
    Follows(usize),
    /// Whether there is a packet. False without a change, without time, or until the budget covers the packet.
    Done {
        has_packet: bool,
        is_shared: bool,
    },
    Failed(SendError),
}

/// A packet for a client.
#[derive(Clone, Debug)]
pub struct SentPacket {
    /// The datagram.
    pub bytes: Vec<u8>,
    /// Number of ticks over which a [`Pacer`](crate::Pacer) must spread the fragments of the datagram.
    pub spread_ticks: u32,
    /// Whether the packet was encoded for another client.
    pub is_shared: bool,
}

impl Sending {
    pub(super) fn new(
        contract: &Contract,
        rate_control: RateControl,
        initial: Snapshot,
    ) -> Result<Self, InitialStateError> {
        let plan = contract.plan();
        Ok(Self {
            sender: SnapshotSender::new(Arc::clone(plan), initial, contract.limits())?,
            rate_control,
            ticks_per_second: plan.schema().ticks_per_second,
            settings: None,
            budget: None,
            allowed: AllowedSnapshot::Complete,
            cost: EncodeCost::default(),
            first: None,
        })
    }

    /// Returns the settings after the limits of processor time and rate are applied.
    pub(super) fn granted(&self) -> Option<Settings> {
        let settings = self.settings?;
        let throttle = self.cost.throttle;
        let one_in = u8::try_from(throttle.one_in).unwrap_or(u8::MAX);
        let newest = throttle.newest_only.then_some(BaselineChoice::Newest);
        let kbps = settings.budget_kbps;
        Some(Settings {
            baseline: newest.unwrap_or(settings.baseline),
            send_interval_ticks: settings.send_interval_ticks.saturating_mul(one_in),
            budget_kbps: self.budget.as_ref().map_or(kbps, |budget| budget.granted_kbps(kbps)),
            ..settings
        })
    }

    /// Returns the limit of a packet to a client without a budget; `None` for no limit. A large scene is limited to
    /// [`MAX_JOINING_BYTES`] after [`CUT_OFF_TICKS`] without an ack, until the client has all bodies.
    pub(super) fn joining_limit(
        &mut self,
        tick: u64,
        settings: &Settings,
        wanted: &QuantizedSnapshot,
    ) -> Option<PacketBudget<'static>> {
        if self.rate_control != RateControl::WithBudget {
            return None;
        }
        let sender = &self.sender;
        let first = *self.first.get_or_insert(tick);
        let cut_off = CUT_OFF_TICKS.max(self.ticks_per_second.into())
            + u64::from(settings.send_interval_ticks);
        let is_cut_off = || sender.newest_acked().unwrap_or(first) + cut_off < tick;
        let is_limited =
            sender.is_scheduling() || wanted.memory_bytes() > MAX_JOINING_BYTES && is_cut_off();
        if is_limited && !sender.is_scheduling() {
            debug!("no ack for {cut_off} ticks: packets have up to {MAX_JOINING_BYTES} bytes");
        }
        is_limited.then(|| PacketBudget { bytes: MAX_JOINING_BYTES, ..PacketBudget::default() })
    }
}

impl SendJob<'_> {
    /// Encodes the packet.
    pub fn encode(&mut self) {
        let (tick, extras) = (self.tick, self.extras);
        let (stages, choice) = (self.settings.stages, self.settings.baseline);
        let sender = &mut self.sending.sender;
        if let Some((rebuilt, state)) = extras.state {
            sender.offer_state(rebuilt, state);
        }
        let encoded = match self.packet_budget {
            None => {
                sender.send_simulated(tick, stages, &self.snapshot, choice, extras.inputs).map(Some)
            }
            Some(packet_budget) => {
                let (gains, groups) = (extras.gains, extras.groups);
                let packet_budget = PacketBudget { gains, groups, ..packet_budget };
                sender.send_within(tick, stages, &self.snapshot, packet_budget)
            }
        };
        self.state = match encoded {
            Ok(header) => JobState::Done { has_packet: header.is_some(), is_shared: false },
            Err(error) => JobState::Failed(error),
        };
    }

    /// Skips this tick, because there is no time to encode. The next packet has the changes.
    pub fn skip(&mut self) {
        self.state = JobState::Done { has_packet: false, is_shared: false };
    }

    /// Maximum size of the packet without a report on inputs, bytes; `None` for a complete packet.
    pub fn max_bytes(&self) -> Option<usize> {
        self.packet_budget.map(|packet_budget| packet_budget.bytes)
    }

    /// Whether [`skip`](Self::skip) is not allowed.
    pub const fn must_send(&self) -> bool {
        self.extras.must_send
    }

    /// Records the processor time of [`encode`](Self::encode).
    pub fn took(&mut self, time: Duration) {
        self.sending.cost.add(self.settings.baseline, time);
    }

    /// Whether this job's packet equals the packet of another job with the same key, if the senders are
    /// [alike](SnapshotSender::is_like). Packets of schedules, of chosen baselines, and with inputs are not shared.
    fn can_share(&self) -> bool {
        let is_simulated = self.extras.inputs.is_some() || self.extras.state.is_some();
        !self.sending.sender.is_scheduling()
            && self.settings.baseline == BaselineChoice::Newest
            && !(is_simulated && self.settings.stages.delta == Delta::ArithmeticSimulated)
    }

    /// Takes the packet of an earlier job if it is complete and fits. Otherwise this job must encode its own.
    fn follow(&mut self, earlier: &Self) {
        let leader = &earlier.sending.sender;
        let size = leader.packet().bytes.len();
        let fits = self.packet_budget.is_none_or(|packet_budget| size <= packet_budget.bytes);
        let is_done = matches!(earlier.state, JobState::Done { has_packet: true, .. });
        self.state = match is_done && fits && !leader.is_scheduling() {
            false => JobState::Due,
            true => match self.sending.sender.send_same(self.tick, leader) {
                Ok(()) => JobState::Done { has_packet: true, is_shared: true },
                Err(error) => JobState::Failed(error),
            },
        };
        if matches!(self.state, JobState::Done { .. }) {
            self.took(Duration::ZERO);
        }
    }

    /// The sender, after [`encode_jobs`].
    pub const fn sender(&self) -> &SnapshotSender {
        &self.sending.sender
    }

    /// Whether there is a packet, after [`encode_jobs`].
    pub const fn has_packet(&self) -> bool {
        matches!(self.state, JobState::Done { has_packet: true, .. })
    }

    /// The snapshot to send.
    pub const fn snapshot(&self) -> &Arc<QuantizedSnapshot> {
        &self.snapshot
    }

    /// Returns the packet of this tick, if there is one, and adds it to `sample`.
    ///
    /// # Errors
    /// [`SendError`] if the snapshot cannot be encoded. The connection remains usable.
    pub fn finish(self, mut sample: Option<&mut Sample>) -> Result<Option<SentPacket>, SendError> {
        let (tick, sending) = (self.tick, self.sending);
        if let Some(sample) = &mut sample
            && matches!(sending.allowed, AllowedSnapshot::Partial(_))
        {
            sample.longest_wait_ticks = sending.sender.longest_wait(tick);
        }
        let is_shared = match self.state {
            JobState::Failed(error) => return Err(error),
            JobState::Done { has_packet: true, is_shared } => is_shared,
            JobState::Done { .. } | JobState::Due | JobState::Follows(_) => return Ok(None),
        };
        let packet = sending.sender.packet();
        if let Some(sample) = sample {
            sample.stages = self.settings.stages;
            sample.snapshots.push(PacketRecord {
                acked_ages_ticks: sending.sender.acked_ages(tick),
                ..PacketRecord::new(tick, packet, self.settings.stages)
            });
        }
        let bytes = match self.report {
            Some(report) => report.before(&packet.bytes),
            None => packet.bytes.clone(),
        };
        let spread = sending.budget.as_mut().map(|budget| budget.on_sent(tick, bytes.len()));
        Ok(Some(SentPacket { bytes, spread_ticks: spread.unwrap_or(1), is_shared }))
    }
}

/// Encodes the packets of a tick. Jobs with the same snapshot, stages and acks share one encode. `run` encodes the given jobs, or
/// [skips](SendJob::skip) them, in any order and on any threads. It is called once, and a second time if shared packets exceed
/// the budgets of some clients.
pub fn encode_jobs<'a>(jobs: &mut [SendJob<'a>], mut run: impl FnMut(Vec<&mut SendJob<'a>>)) {
    choose_leaders(jobs);
    let mut run_due = |jobs: &mut [SendJob<'a>]| {
        let due: Vec<_> =
            jobs.iter_mut().filter(|job| matches!(job.state, JobState::Due)).collect();
        if !due.is_empty() {
            run(due);
        }
    };
    run_due(jobs);
    for index in 0..jobs.len() {
        let (earlier, rest) = jobs.split_at_mut(index);
        if let JobState::Follows(leader) = rest[0].state {
            rest[0].follow(&earlier[leader]);
        }
    }
    run_due(jobs);
}

/// Finds the jobs with equal packets. Each of them follows the first one.
fn choose_leaders(jobs: &mut [SendJob<'_>]) {
    let mut leaders: HashMap<_, Vec<usize>> = HashMap::new();
    for index in 0..jobs.len() {
        let (earlier, rest) = jobs.split_at_mut(index);
        let job = &mut rest[0];
        job.sending.cost.take_turns(None);
        if !job.can_share() {
            continue;
        }
        let sender = &job.sending.sender;
        let view = Arc::as_ptr(&job.snapshot);
        let is_limited = job.packet_budget.is_some();
        let key = (job.tick, view, is_limited, job.settings.stages, sender.sharing_key());
        let leaders = leaders.entry(key).or_default();
        let is_same = |&&leader: &&usize| earlier[leader].sending.sender.is_like(sender);
        match leaders.iter().find(is_same).copied() {
            Some(leader) => {
                job.state = JobState::Follows(leader);
                job.sending.cost.take_turns(Some(&earlier[leader].sending.cost));
            }
            None if leaders.len() < MAX_COMPARED => leaders.push(index),
            None => {}
        }
    }
}

/// Maximum number of earlier jobs with the same key that a job is compared with. The first one nearly always matches.
const MAX_COMPARED: usize = 4;

/// Limit of a packet to a client without a budget, after larger packets did not arrive, in bytes. At a loss of 5 %, all
/// sixteen datagrams of such a packet arrive often enough.
const MAX_JOINING_BYTES: usize = 16 * SLICE_BYTES;

/// After this number of ticks without an ack, and at least a second, packets are assumed to be too large to arrive. Until
/// then they are complete, because clients can share complete packets.
const CUT_OFF_TICKS: u64 = 60;
