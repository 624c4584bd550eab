//! Frames sent through both ends, with acks that take six ticks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{Header, Limits, Plan, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::{
    Ack, BaselineChoice, Feedback, PacketBudget, PacketOutcome, SnapshotReceiver, SnapshotSender,
    Welcome,
};

/// Number of ticks from a packet to the arrival of its ack.
pub(crate) const ACK_TICKS: usize = 6;

const PLAYOUT_DELAY: Duration = Duration::from_millis(85);

/// Both ends, and the acks in flight.
pub(crate) struct Play {
    pub(crate) sender: SnapshotSender,
    pub(crate) receiver: SnapshotReceiver,
    pub(crate) stages: Stages,
    acks: VecDeque<Option<Ack>>,
    tick: u64,
}

impl Play {
    pub(crate) fn new(first: &QuantizedSnapshot, stages: Stages) -> Self {
        let plan = first.plan();
        let mut initial = Snapshot::default();
        if !plan.has_lives() {
            first.dequantize(&mut initial);
        }
        let (sender, receiver) = ends(plan, 0, &initial, PLAYOUT_DELAY, Duration::ZERO);
        Self { sender, receiver, stages, acks: VecDeque::with_capacity(ACK_TICKS + 1), tick: 0 }
    }

    fn now(&self) -> Duration {
        Duration::from_secs_f64(self.tick as f64 / 60.0)
    }

    /// Sends the snapshot of the next tick.
    pub(crate) fn send(&mut self, current: &QuantizedSnapshot, choice: BaselineChoice) -> Header {
        self.tick += 1;
        let sent = self.sender.send(self.tick, self.stages, current, choice);
        sent.unwrap()
    }

    /// Sends the next tick's snapshot within a byte budget. Returns whether a packet was produced.
    pub(crate) fn send_within(&mut self, current: &QuantizedSnapshot, bytes: usize) -> bool {
        self.tick += 1;
        let packet_budget = PacketBudget { bytes, ..PacketBudget::default() };
        let sent = self.sender.send_within(self.tick, self.stages, current, packet_budget);
        sent.unwrap().is_some()
    }

    /// Delivers the last packet if it `arrives`, and the ack of six ticks ago.
    pub(crate) fn deliver(&mut self, arrives: bool) {
        let now = self.now();
        if arrives {
            let bytes = &self.sender.packet().bytes;
            let arrival = self.receiver.on_packet(now, bytes).unwrap();
            assert!(matches!(arrival, PacketOutcome::Decoded { late: false, .. }));
            let (sent, received) = (self.sender.get(self.tick), self.receiver.get(self.tick));
            assert_eq!(sent, received);
        }
        self.receiver.advance_playout(now, Some(PLAYOUT_DELAY));
        self.acks.push_back(match self.receiver.poll_feedback() {
            Some(Feedback::Ack(ack)) => Some(ack),
            Some(missing) => panic!("{missing:?}"),
            None => None,
        });
        if self.acks.len() > ACK_TICKS {
            // Encoded on the stack without an allocation: a transport has its own buffers.
            if let Some(Ack { newest, earlier }) = self.acks.pop_front().flatten() {
                let mut bytes = [0; 7];
                bytes[1..3].copy_from_slice(&newest.0.to_be_bytes());
                bytes[3..].copy_from_slice(&earlier.to_be_bytes());
                self.sender.on_message(&bytes).unwrap();
            }
        }
    }
}

/// Returns a sender and a welcomed receiver.
pub(crate) fn ends(
    plan: &Arc<Plan>,
    tick: u64,
    initial: &Snapshot,
    delay: Duration,
    now: Duration,
) -> (SnapshotSender, SnapshotReceiver) {
    let limits = Limits::default();
    let sender = SnapshotSender::new(Arc::clone(plan), initial.clone(), limits).unwrap();
    let welcome = Welcome { plan: Arc::clone(plan), tick, initial: initial.clone() };
    let receiver = SnapshotReceiver::new(welcome, limits, delay, now).unwrap();
    (sender, receiver)
}
