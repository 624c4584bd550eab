//! What a server knows of one client.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use cubewire_codec::{InitialStateError, Life, Limits, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::{
    AdaptiveRate, Feedback, ServerSession, SnapshotSender, Standing, Visibility, Within,
};

use super::outbox::Outbox;
use crate::mailbox::{Mailbox, SLICE_BYTES, SendBudget};
use crate::protocol::Compiled;

/// The most that a client is sent in any second, with all headers; on the entity of its connection. Over a game's own
/// renet (feature `bevy_renet`) it is best effort: it does not count renet's retransmissions and acks. Without a budget, every
/// packet has all that has changed. Only of a scene that does not go into sixteen datagrams, and of which nothing arrives for a
/// second, packets are smaller, with the most urgent bodies first, until the client has all of it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteBudget {
    bytes_per_second: u32,
}

impl ByteBudget {
    /// Kilobits a second, at least 16.
    #[must_use]
    pub fn kbps(kbps: u32) -> Self {
        Self {
            bytes_per_second: kbps.max(16).saturating_mul(125),
        }
    }

    /// Bytes a second.
    #[must_use]
    pub const fn bytes_per_second(&self) -> u32 {
        self.bytes_per_second
    }
}

/// What a server knows of a client, on the entity of its connection.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub struct Peer {
    pub(super) session: ServerSession,
    /// Once it was welcomed, and until it is refused.
    pub(super) ready: Option<Box<Ready>>,
}

/// A client that is sent snapshots.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) sender: SnapshotSender,
    pub(super) stages: Stages,
    /// What it saw in the last tick, if bodies can be frozen.
    pub(super) view: Option<Arc<QuantizedSnapshot>>,
    pub(super) visibility: Vec<Visibility>,
    /// By slot: the body that was visible in the last tick.
    pub(super) seen: Vec<Option<Life>>,
    /// By slot: the last body of which the client was sent cold data.
    pub(super) told: Vec<Option<Life>>,
    /// By slot: whether cold data has changed while the body was frozen.
    pub(super) is_stale: Vec<bool>,
    /// Cold data that waits.
    pub(super) outbox: Outbox,
    /// By slot: whether a body is near enough, if the client has an interest.
    pub(super) near: Vec<bool>,
    /// Where the center of its interest was last.
    pub(super) center: Option<Vec3>,
    pub(super) gains: Vec<f32>,
    budget: SendBudget,
    /// While there is a budget.
    rate: Option<AdaptiveRate>,
    /// The first tick without a budget.
    first: Option<u64>,
    /// By channel: the number of the last input.
    pub(super) inputs: Vec<u64>,
}

/// Most bytes of a packet of a large scene that did not arrive whole, to a client without a budget: sixteen datagrams, of which
/// all arrive often enough where one of twenty is lost.
const MAX_JOINING_BYTES: usize = 16 * SLICE_BYTES;

/// Most bytes of components that a transport is given before others have arrived: about as much as
/// a transport of this crate has under way.
const MAX_WAITING_BYTES: usize = 80 << 10;

/// Assumed round-trip time before the first measurement.
const FIRST_ROUND_TRIP: Duration = Duration::from_millis(150);

/// Added to the round-trip time, because an ack waits for the next packet.
const RESERVE: Duration = Duration::from_millis(60);

/// After a second without an ack, and as many ticks, it can be that packets are too large to arrive. Until then they are complete,
/// as clients can share these.
const CUT_OFF_TICKS: u64 = 60;

impl Peer {
    pub(super) const fn new(now: Duration) -> Self {
        Self {
            session: ServerSession::new(now),
            ready: None,
        }
    }

    /// How every slot stands for this client after a tick, if it has a [`ByteBudget`]: see
    /// [`SnapshotSender::standings`].
    pub fn standings(&self, tick: u64, standings: &mut Vec<Standing>) {
        standings.clear();
        if let Some(ready) = &self.ready {
            ready.sender.standings(tick, standings);
        }
    }

    /// The sender of snapshots, once the client is [`Connected`](crate::Connected).
    #[must_use]
    pub fn sender(&self) -> Option<&SnapshotSender> {
        self.ready.as_ref().map(|ready| &ready.sender)
    }
}

impl Ready {
    /// A client that was welcomed. If its fingerprint is not the server's, it is sent no arithmetic coding.
    pub(super) fn new(
        protocol: &Compiled,
        session: &ServerSession,
    ) -> Result<Self, InitialStateError> {
        let plan = &protocol.plan;
        let limits = Limits {
            max_bodies: plan.max_slots().unwrap_or(0),
        };
        let instead = session.stages_instead_of(&protocol.contract, protocol.stages);
        Ok(Self {
            sender: SnapshotSender::new(Arc::clone(plan), Snapshot::default(), limits)?,
            stages: instead.unwrap_or(protocol.stages),
            view: None,
            visibility: Vec::new(),
            seen: Vec::new(),
            told: Vec::new(),
            is_stale: Vec::new(),
            outbox: Outbox::default(),
            near: Vec::new(),
            center: None,
            gains: Vec::new(),
            budget: SendBudget::default(),
            rate: None,
            first: None,
            inputs: vec![0; protocol.inputs.len()],
        })
    }

    /// Takes feedback. None if it is none.
    pub(super) fn on_feedback(&mut self, tick: u64, bytes: &[u8]) -> Option<Feedback> {
        let feedback = self.sender.on_message(bytes).ok()?;
        if let (Feedback::Ack(ack), Some(rate)) = (&feedback, &mut self.rate) {
            rate.on_ack(tick, ack);
        }
        Some(feedback)
    }

    /// What may be sent in a tick where there is no budget: anything. But of a large scene of which nothing has arrived for a
    /// while, no more than arrives whole where datagrams are lost, until all of it has.
    pub(super) fn without_budget(
        &mut self,
        tick: u64,
        ticks_per_second: u16,
        wanted: &QuantizedSnapshot,
    ) -> Option<Within<'static>> {
        let sender = &self.sender;
        let first = *self.first.get_or_insert(tick);
        let cut_off = CUT_OFF_TICKS.max(ticks_per_second.into());
        let is_cut_off = || sender.newest_acked().unwrap_or(first) + cut_off < tick;
        let is_limited =
            sender.is_scheduling() || wanted.memory_bytes() > MAX_JOINING_BYTES && is_cut_off();
        is_limited.then(|| Within {
            bytes: MAX_JOINING_BYTES,
            ..Within::default()
        })
    }

    /// What may be sent in a tick, if there is a budget.
    pub(super) fn within(
        &mut self,
        tick: u64,
        now: Duration,
        ticks_per_second: u16,
        asked: Option<ByteBudget>,
        mailbox: &mut Mailbox,
    ) -> Option<Within<'static>> {
        let Some(asked) = asked else {
            self.rate = None;
            return self.budget.within(now, ticks_per_second, None, mailbox);
        };
        let rate = self
            .rate
            .get_or_insert_with(|| AdaptiveRate::new(ticks_per_second));
        rate.update(tick);
        let given = self.given(asked);
        self.budget
            .within(now, ticks_per_second, Some(given), mailbox)
    }

    /// Sets what reliable messages may take in a frame without a tick.
    pub(super) fn limit_messages(
        &mut self,
        now: Duration,
        ticks_per_second: u16,
        asked: Option<ByteBudget>,
        mailbox: &mut Mailbox,
    ) {
        let given = asked.map(|asked| self.given(asked));
        self.budget.within(now, ticks_per_second, given, mailbox);
    }

    /// Returns the budget in bytes a second, limited by the adaptive rate.
    fn given(&self, asked: ByteBudget) -> u32 {
        let through = self.rate.as_ref().and_then(AdaptiveRate::kbps);
        let through = through.map_or(u32::MAX, |kbps| kbps * 125);
        asked.bytes_per_second().min(through)
    }

    /// Returns the number of bytes of reliable messages that the transport can take now. It holds a round trip's worth and a few
    /// ticks more, so that it always has something to send and components in its queue do not become old.
    pub(super) fn reliable_room(&self, asked: Option<ByteBudget>, mailbox: &Mailbox) -> usize {
        let most = asked
            .map(|asked| self.given(asked))
            .map_or(MAX_WAITING_BYTES, |rate| {
                let round_trip = mailbox.round_trip.unwrap_or(FIRST_ROUND_TRIP);
                let bytes = f64::from(rate) * (round_trip + RESERVE).as_secs_f64();
                MAX_WAITING_BYTES.min(bytes as usize)
            });
        let messages = mailbox.outgoing.messages.iter().map(Vec::len);
        let waiting = mailbox.backlog_bytes + messages.sum::<usize>();
        most.saturating_sub(waiting)
    }

    /// Records a snapshot that was put into the mailbox.
    pub(super) fn on_sent(&mut self, tick: u64, bytes: usize) {
        if let Some(rate) = &mut self.rate {
            rate.on_sent(tick, tick, bytes);
        }
    }
}
