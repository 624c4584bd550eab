//! A server's state of one client.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use cubewire_codec::{InitialStateError, Life, Limits, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::{
    AllowedSnapshot, Feedback, PacketBudget, SendBudget, ServerSession, SnapshotSender, Visibility,
};

use super::outbox::Outbox;
use super::settings::{ByteBudget, ConnectionSettings};
use crate::protocol::Compiled;
use crate::transport::{MessageBuffer, SLICE_BYTES};

/// A server's state of a client, on the entity of its connection.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
#[require(ConnectionSettings)]
pub struct ReplicationSender {
    pub(super) session: ServerSession,
    /// From the welcome on.
    pub(super) ready: Option<Box<Ready>>,
}

#[derive(Debug)]
pub(super) struct Ready {
    pub(super) sender: SnapshotSender,
    pub(super) settings: ConnectionSettings,
    /// Stages of its packets. They differ from the settings' during a fallback.
    pub(super) stages: Stages,
    pub(super) judged: Option<Judged>,
    /// The budget that the client requested.
    pub(super) asked: Option<ByteBudget>,
    /// The lower of `asked` and the game's budget.
    pub(super) limit: Option<ByteBudget>,
    /// The client's view in the last tick. `None` if no filter freezes bodies.
    pub(super) view: Option<Arc<QuantizedSnapshot>>,
    pub(super) visibility: Vec<Visibility>,
    pub(super) slots: Vec<SlotView>,
    /// Reliable components that wait for room.
    pub(super) outbox: Outbox,
    pub(super) center: Option<Vec3>,
    /// By slot: factor of the body's priority.
    pub(super) gains: Vec<f32>,
    ticks_per_second: u16,
    /// `None` without a [`ByteBudget`].
    pub(super) budget: Option<SendBudget>,
    /// The first tick without a budget. Silence is counted from it until the first ack.
    first: Option<u64>,
    /// By channel: number of the last received input.
    pub(super) inputs: Vec<u64>,
    /// Bytes sent on the wire up to the newest tick.
    pub(super) sent_bytes: u64,
}

/// The last settings that were checked, and the result.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) wanted: ConnectionSettings,
    pub(super) has_budget: bool,
    pub(super) refusal: Option<String>,
}

/// State of a slot, as sent to a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotView {
    /// The body that was visible in the last tick.
    pub(super) seen: Option<Life>,
    /// The last body that had reliable components queued for the client.
    pub(super) told: Option<Life>,
    /// Whether reliable components have changed while the body was frozen.
    pub(super) is_stale: bool,
    /// Whether the body is near enough. False without an [`Interest`](super::Interest).
    pub(super) is_near: bool,
}

/// Limit of a packet to a client without a budget, after larger packets did not arrive, in bytes. At a loss of 5 %, all
/// sixteen datagrams of such a packet arrive often enough.
const MAX_JOINING_BYTES: usize = 16 * SLICE_BYTES;

/// Limit of the bytes of reliable messages that a transport may hold: about as much as a transport of this crate has in
/// flight.
const MAX_WAITING_BYTES: usize = 80 << 10;

/// Assumed round-trip time before the first measurement.
const FIRST_ROUND_TRIP: Duration = Duration::from_millis(150);

/// Added to the round-trip time, because an ack waits for the next packet.
const RESERVE: Duration = Duration::from_millis(60);

/// After this number of ticks without an ack, and at least a second, packets are assumed to be too large to arrive. Until
/// then they are complete, because clients can share complete packets.
const CUT_OFF_TICKS: u64 = 60;

impl ReplicationSender {
    /// Returns the sender of snapshots. `None` until the client is [`Connected`](crate::Connected).
    pub fn sender(&self) -> Option<&SnapshotSender> {
        self.ready.as_ref().map(|ready| &ready.sender)
    }
}

impl Ready {
    pub(super) fn new(protocol: &Compiled) -> Result<Self, InitialStateError> {
        let plan = &protocol.plan;
        let limits = Limits { max_bodies: plan.max_slots().unwrap_or(0) };
        Ok(Self {
            sender: SnapshotSender::new(Arc::clone(plan), Snapshot::default(), limits)?,
            settings: ConnectionSettings::default(),
            stages: protocol.stages,
            judged: None,
            asked: None,
            limit: None,
            view: None,
            visibility: Vec::new(),
            slots: Vec::new(),
            outbox: Outbox::default(),
            center: None,
            gains: Vec::new(),
            ticks_per_second: plan.schema().ticks_per_second,
            budget: None,
            first: None,
            inputs: vec![0; protocol.items.inputs.len()],
            sent_bytes: 0,
        })
    }

    /// Processes feedback. Returns `None` if it is malformed.
    pub(super) fn on_feedback(&mut self, tick: u64, bytes: &[u8]) -> Option<Feedback> {
        let feedback = self.sender.on_message(bytes).ok()?;
        if let Some(budget) = &mut self.budget {
            budget.on_feedback(tick, &feedback);
        }
        Some(feedback)
    }

    /// Returns the limit of a packet to a client without a budget; `None` for no limit. A large scene is limited to
    /// [`MAX_JOINING_BYTES`] after [`CUT_OFF_TICKS`] without an ack, until the client has all bodies.
    pub(super) fn without_budget(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
    ) -> Option<PacketBudget<'static>> {
        let sender = &self.sender;
        let first = *self.first.get_or_insert(tick);
        let interval = u64::from(self.settings.send_interval_ticks);
        let cut_off = CUT_OFF_TICKS.max(self.ticks_per_second.into()) + interval;
        let is_cut_off = || sender.newest_acked().unwrap_or(first) + cut_off < tick;
        let is_limited =
            sender.is_scheduling() || wanted.memory_bytes() > MAX_JOINING_BYTES && is_cut_off();
        if is_limited && !sender.is_scheduling() {
            log::debug!("no ack for {cut_off} ticks: packets have up to {MAX_JOINING_BYTES} bytes");
        }
        is_limited.then(|| PacketBudget { bytes: MAX_JOINING_BYTES, ..PacketBudget::default() })
    }

    /// Returns the limit of a snapshot if there is a budget, and limits reliable messages. Called in each tick, and in each
    /// frame without a tick.
    pub(super) fn allow(
        &mut self,
        tick: u64,
        now: Duration,
        buffer: &mut MessageBuffer,
    ) -> Option<PacketBudget<'static>> {
        let Some(asked) = self.limit else {
            self.budget = None;
            buffer.reliable_allowance = None;
            return None;
        };
        let budget = self.budget.get_or_insert_with(|| SendBudget::adaptive(self.ticks_per_second));
        match buffer.allow(budget, tick, now, Some(asked.kbps), self.stages.can_be_partial()) {
            AllowedSnapshot::Partial(packet_budget) => Some(packet_budget),
            // Not reached: with a budget, the stages can be partial.
            AllowedSnapshot::Complete | AllowedSnapshot::Nothing => None,
        }
    }

    /// Returns the part of the budget that the link lets through.
    pub(super) fn kbps(&self) -> Option<u32> {
        let asked = self.limit?.kbps;
        self.budget.as_ref().map_or(Some(asked), |budget| budget.granted_kbps(Some(asked)))
    }

    /// Returns the number of bytes of reliable messages that the transport can take now. It holds a round trip's worth and a few
    /// ticks more, so that it always has something to send and components in its queue do not become old.
    pub(super) fn reliable_room(&self, buffer: &MessageBuffer) -> usize {
        let most = self.kbps().map_or(MAX_WAITING_BYTES, |kbps| {
            let round_trip = buffer.round_trip.unwrap_or(FIRST_ROUND_TRIP);
            let bytes = f64::from(kbps) * 125.0 * (round_trip + RESERVE).as_secs_f64();
            MAX_WAITING_BYTES.min(bytes as usize)
        });
        let messages = buffer.outgoing.messages.iter().map(Vec::len);
        most.saturating_sub(buffer.backlog_bytes + messages.sum::<usize>())
    }
}
