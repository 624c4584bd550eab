//! Chooses the bodies of a partial packet: the most urgent first. The wait of every body is bounded.

mod change;
mod send_state;
mod wait_history;

pub use self::send_state::{SendState, Wait};
pub use self::wait_history::{LongestWait, WaitHistory};

use std::collections::VecDeque;

use cubewire_codec::QuantizedSnapshot;

use self::change::{Change, Changes, MAX_ERROR, MAX_UNIT_ERRORS, UNIT_ERROR};

/// Limits and priorities for the packet of a tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketBudget<'a> {
    /// Maximum size of the packet, bytes.
    pub bytes: usize,
    /// Growth of `bytes` with each tick without a packet, bytes. If it is 0, every packet is filled.
    /// Otherwise a partial packet takes at most one datagram and may wait until it can fill it. Few large packets are
    /// better than many small ones: they have fewer headers, and a body takes fewer bits next to its neighbours.
    pub growth: usize,
    /// Maximum of `bytes` after growth.
    pub most: usize,
    /// For each body, a factor for the growth of its priority; 1 for bodies beyond the end. A body with a gain that
    /// is 0, negative or not a number is not sent in partial packets. If the receiver must remove a body from a slot,
    /// the slot's gain counts as at least 1.
    pub gains: &'a [f32],
    /// For each body, the number of its group; bodies beyond the end have no group. Waiting bodies of a group are sent
    /// in one packet, with the priority of the most urgent of them. A group is only split if no packet can hold it.
    pub groups: &'a [u32],
}

/// Tracks the priority and the last sent state of each body.
///
/// A body is *due* if it differs from the state that was last sent, or if the packet with that state is lost or
/// presumed lost. Each tick increases the priority of a due body. The priority returns to 0 when the body is sent.
/// Errors are clamped, so the wait of a body is bounded.
///
/// Let all gains be 1, and let priorities grow by at least `min` and at most `max = MAX_WEIGHT_RATIO · min` per tick.
/// Each tick sends a packet with k of n bodies. A body that has waited for t ticks has a priority of at least
/// `min · t`, and so has each body that is sent before it in this tick. During a wait of w ticks, sent bodies lose a
/// total priority of at least `k · min · w² / 2`. At the start of the longest wait, all bodies together have at most
/// `n · max · w`, and they gain at most as much during it. So `k · min · w² / 2 ≤ 2 · n · max · w`: without loss, no
/// body waits for longer than 4 [`MAX_WEIGHT_RATIO`] n / k ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    bodies: Vec<Body>,
    /// Last sent state of each body. `None` until the first [`advance`](Self::advance) after a stop.
    sent: Option<QuantizedSnapshot>,
    /// For each body, whether its wanted state differs from `sent`.
    differs: Vec<bool>,
    /// Tick of the last [`advance`](Self::advance).
    advanced_to: Option<u64>,
    /// Due bodies with a positive gain that were not sent in this tick.
    due: Vec<Due>,
    /// Number of entries at the start of `due` that are sorted and more urgent than all others.
    sorted: usize,
    /// Ratio of actual to estimated bits, at index 0 for complete and at 1 for partial packets. Kept by a stop.
    scales: [f32; 2],
    /// Estimated bits of a complete packet.
    complete_bits: f32,
    /// Tick since which all packets have been complete.
    complete_since: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    priority: f32,
    /// Priority when the body was sent. It is restored if the packet is lost.
    priority_at_send: f32,
    /// Tick of the last packet with the body. `None` if the receiver has it from the initial state.
    sent_at: Option<u64>,
    /// Whether the receiver is known to have the state that was last sent.
    is_confirmed: bool,
    /// Tick since which the body has been due, or `None` if it is not due.
    due_since: Option<u64>,
    /// The last estimated difference between the wanted state and the state that was last sent.
    change: Change,
    /// Whether the receiver may still have an earlier body in the slot, which it must remove.
    is_replaced: bool,
}

/// Interval at which the change of a waiting body is estimated. Estimating is the slowest step, and the result changes
/// little from tick to tick.
const ESTIMATE_INTERVAL_TICKS: usize = 4;

/// A due body that can be sent.
#[derive(Clone, Copy, Debug)]
struct Due {
    slot: usize,
    group: Option<u32>,
    priority: f32,
}

impl Due {
    fn shares_group_with(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group
    }

    /// Sort key for descending priority. A group stays together, because its bodies have the same priority. The bits of
    /// positive floats have the order of the floats.
    const fn order(&self) -> (u32, Option<u32>, usize) {
        (!self.priority.to_bits(), self.group, self.slot)
    }
}

/// Delivery of bodies to the receiver, as far as acks show it.
#[derive(Debug)]
pub(crate) struct DeliveryState<'a> {
    /// Tick of the newest acked packet, or `None` if packets are relative to the initial state.
    pub(crate) newest: Option<u64>,
    /// For each body, age of the newest acked packet that carried it, in ticks before `newest`; 255 stands for 255 or
    /// more.
    pub(crate) ages: Vec<u8>,
    /// Packets before this tick are presumed lost if they are not acked.
    pub(crate) first_in_flight: u64,
    /// Ticks of the acked packets, ascending.
    pub(crate) acked: &'a VecDeque<u64>,
}

impl DeliveryState<'_> {
    /// Whether the packet of a tick may still arrive.
    pub(crate) fn is_in_flight(&self, tick: u64) -> bool {
        tick >= self.first_in_flight && self.acked.binary_search(&tick).is_err()
    }
}

/// Maximum ratio between the growth of two priorities with equal gains.
pub const MAX_WEIGHT_RATIO: f32 = (1.0 + MAX_UNIT_ERRORS) * MAX_BITS_WEIGHT * MAX_BITS_WEIGHT;

/// Limits how much a body's estimated size can change its priority: a factor of 2 up or down.
const MAX_BITS_WEIGHT: f32 = 2.0;

impl Change {
    /// Growth of the priority per tick with a gain of 1. It increases with the error and decreases with the estimated
    /// bits. An error of 0 still counts, so that every due body is sent eventually.
    fn weight(&self) -> f32 {
        let error = self.error.min(MAX_ERROR) / UNIT_ERROR;
        let per_bit = TYPICAL_BITS / self.bits;
        (1.0 + error) * per_bit.clamp(1.0 / MAX_BITS_WEIGHT, MAX_BITS_WEIGHT)
    }
}

impl Body {
    /// Updates `is_confirmed`. `newest` and `age` are from [`DeliveryState`].
    fn confirm(&mut self, newest: Option<u64>, age: Option<&u8>) {
        let Some(sent_at) = self.sent_at else {
            return;
        };
        match (newest, age) {
            // No ack is valid, so the receiver is only known to have the initial state.
            (None, _) => self.is_confirmed = false,
            // An age of 255 is only a lower bound, so the earlier result stays.
            (_, None | Some(&u8::MAX)) => {}
            // The newest acked packet with the body, at tick `newest - age`, is not older than its last send.
            (Some(newest), Some(&age)) => self.is_confirmed = newest >= sent_at + u64::from(age),
        }
    }

    /// Updates `change` and `is_replaced`. `differs` is true if the wanted state is not the one that was last sent.
    fn estimate(&mut self, tick: u64, slot: usize, changes: &Changes<'_>, differs: bool) {
        // The receiver may have the slot's earlier body until a later state is confirmed.
        self.is_replaced &= !self.is_confirmed;
        if !differs {
            self.change = Change::NONE;
            return;
        }
        self.is_replaced |= changes.is_replaced(slot);
        // Staggered by slot, so that each tick estimates a fourth of the waiting bodies.
        let is_estimated = (tick as usize + slot).is_multiple_of(ESTIMATE_INTERVAL_TICKS);
        if is_estimated || self.due_since.is_none() {
            self.change = changes.of(slot);
        }
    }
}

impl Schedule {
    pub(crate) fn new(scales: [f32; 2]) -> Self {
        Self { scales, ..Self::default() }
    }

    /// Advances to a tick. `wanted` is the current snapshot, which the receiver should get. `start` is used when a
    /// schedule begins: the tick and state of the last packet, or the initial state without a tick.
    pub(crate) fn advance(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
        packet_budget: &PacketBudget<'_>,
        start: (Option<u64>, &QuantizedSnapshot),
        delivery: &DeliveryState<'_>,
    ) {
        let continues = self.sent.as_ref().is_some_and(|sent| sent.has_form_of(wanted));
        if !continues {
            self.reset(start);
        }
        let sent = self.sent.as_ref().expect("it was just set");
        wanted.compare(sent, &mut self.differs);
        let changes = Changes::new(wanted, sent);
        let ticks = tick - self.advanced_to.replace(tick).unwrap_or(tick);
        self.due.clear();
        self.complete_bits = 0.0;
        for ((slot, body), &differs) in self.bodies.iter_mut().enumerate().zip(&self.differs) {
            body.confirm(delivery.newest, delivery.ages.get(slot));
            body.estimate(tick, slot, &changes, differs);
            if !differs && body.is_confirmed {
                // The receiver has the wanted state.
                body.due_since = None;
                continue;
            }
            // A complete packet also carries bodies in flight, because its baseline does not have them yet.
            self.complete_bits += body.change.bits;
            let may_arrive = body.sent_at.is_some_and(|at| delivery.is_in_flight(at));
            let is_lost = !body.is_confirmed && !may_arrive;
            if !differs && !is_lost {
                // The wanted state is in flight.
                body.due_since = None;
                continue;
            }
            if is_lost {
                body.priority += std::mem::take(&mut body.priority_at_send);
            }
            body.due_since.get_or_insert(tick);
            let gain = packet_budget.gains.get(slot).copied().unwrap_or(1.0);
            // The receiver must get a removal even if the caller's gain is 0.
            let gain = match body.is_replaced || wanted.life(slot).is_none() {
                true => gain.max(1.0),
                false => gain,
            };
            if gain.is_nan() || gain <= 0.0 {
                continue;
            }
            let grown = body.priority + gain * body.change.weight() * ticks.max(1) as f32;
            // Stays finite with any gain.
            body.priority = grown.min(f32::MAX / 2.0);
            let group = packet_budget.groups.get(slot).copied();
            self.due.push(Due { slot, group, priority: body.priority });
        }
        if !packet_budget.groups.is_empty() {
            self.join_groups();
        }
        self.sorted = 0;
    }

    /// Sorts `due` so that its first `count` entries are the most urgent ones, in order. A packet has room for few
    /// bodies, so the rest stays unsorted.
    fn sort(&mut self, count: usize) {
        let rest = &mut self.due[self.sorted..];
        let more = count.saturating_sub(self.sorted).min(rest.len());
        if more < rest.len() {
            rest.select_nth_unstable_by_key(more, Due::order);
        }
        rest[..more].sort_unstable_by_key(Due::order);
        self.sorted += more;
    }

    /// Raises the priority of each due body to the maximum in its group.
    fn join_groups(&mut self) {
        self.due.sort_unstable_by_key(|due| (due.group, due.slot));
        for group in self.due.chunk_by_mut(Due::shares_group_with) {
            let priority = group.iter().map(|due| due.priority).fold(0.0, f32::max);
            group.iter_mut().for_each(|due| due.priority = priority);
        }
    }

    /// Begins a schedule with the tick and the state of the last packet.
    fn reset(&mut self, (sent_at, sent): (Option<u64>, &QuantizedSnapshot)) {
        let body = Body {
            priority: 0.0,
            priority_at_send: 0.0,
            sent_at,
            is_confirmed: sent_at.is_none(),
            due_since: None,
            change: Change::NONE,
            is_replaced: false,
        };
        *self = Self {
            bodies: vec![body; sent.len()],
            sent: Some(sent.clone()),
            complete_since: self.complete_since,
            ..Self::new(self.scales)
        };
    }

    /// Ends the schedule: every body was sent in a complete packet.
    pub(crate) fn stop(&mut self) {
        if self.is_running() {
            *self = Self::new(self.scales);
        }
    }

    /// Whether `advance` was called since the last `stop`.
    pub(crate) const fn is_running(&self) -> bool {
        self.sent.is_some()
    }

    /// Whether there are no bodies to send. Bodies without a positive gain do not count.
    pub(crate) const fn is_idle(&self) -> bool {
        self.due.is_empty()
    }

    /// Returns the slots of the `count` most urgent bodies. `count` is at most the result of
    /// [`fitting`](Self::fitting).
    pub(crate) fn most_urgent(&self, count: usize) -> impl Iterator<Item = usize> {
        self.due.iter().take(count).map(|due| due.slot)
    }

    /// Returns the estimated size of a complete packet, bytes.
    pub(crate) fn complete_bytes(&self) -> usize {
        HEADER_BYTES + (self.complete_bits * self.scales[0] / 8.0) as usize
    }

    /// Returns the number of most urgent bodies that are expected to fit into `bytes`.
    pub(crate) fn fitting(&mut self, bytes: usize) -> usize {
        // In estimated bits.
        let mut left = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / self.scales[1];
        let mut fitting = 0;
        loop {
            // Sort as many bodies as would fit with typical sizes, and the one after them.
            self.sort(fitting + (left / TYPICAL_BITS) as usize + 2);
            let fits = self.due[fitting..self.sorted].iter().take_while(|due| {
                left -= self.bodies[due.slot].change.bits;
                left >= 0.0
            });
            fitting += fits.count();
            if left < 0.0 || fitting == self.due.len() {
                return fitting;
            }
        }
    }

    /// Whether all due bodies are expected to fit into `bytes`.
    pub(crate) fn all_fit(&mut self, bytes: usize) -> bool {
        self.fitting(bytes) == self.due.len()
    }

    /// Returns the largest number up to `count` that does not split a group, or `count` if every number does.
    pub(crate) fn whole_groups(&self, count: usize) -> usize {
        let is_whole = |&count: &usize| match self.due.get(count - 1..=count) {
            Some([last, next]) => !last.shares_group_with(next),
            _ => true,
        };
        (1..=count).rev().find(is_whole).unwrap_or(count)
    }

    /// Updates the scales with the size of an encoded packet, sent or not. `carried` is the number of bodies in a
    /// partial packet, or `None` for a complete one.
    pub(crate) fn learn(&mut self, bytes: usize, carried: Option<usize>) {
        let bits = |slot: usize| self.bodies[slot].change.bits;
        let (scale, estimate) = match carried {
            None => (0, self.complete_bits),
            Some(count) => (1, self.most_urgent(count).map(bits).sum()),
        };
        if estimate > 0.0 {
            let actual = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / estimate;
            let scale = &mut self.scales[scale];
            *scale += (actual.clamp(0.05, 20.0) - *scale) / 4.0;
        }
    }

    /// Records a sent packet with the `count` most urgent bodies. `None` stands for a complete packet, which carries
    /// all of them. Once complete packets have fitted for a while, the schedule ends.
    pub(crate) fn on_sent(&mut self, tick: u64, wanted: &QuantizedSnapshot, count: Option<usize>) {
        let since = self.complete_since.unwrap_or(tick);
        self.complete_since = count.is_none().then_some(since);
        if count.is_none() && tick - since >= COMPLETE_TICKS {
            return self.stop();
        }
        let count = count.unwrap_or(self.due.len());
        let sent = self.sent.as_mut().expect("it advanced to this tick");
        for Due { slot, .. } in self.due.drain(..count) {
            sent.copy_slot(slot, wanted);
            let body = &mut self.bodies[slot];
            body.sent_at = Some(tick);
            body.is_confirmed = false;
            body.priority_at_send = std::mem::take(&mut body.priority);
            body.due_since = None;
        }
        self.sorted = 0;
    }

    /// Returns the longest time that a body has been due, ticks; 0 if no body is due.
    pub(crate) fn longest_wait(&self, tick: u64) -> u64 {
        let first = self.bodies.iter().filter_map(|body| body.due_since).min();
        first.map_or(0, |first| tick.saturating_sub(first))
    }
}

/// The schedule ends after complete packets have fitted for this number of ticks.
const COMPLETE_TICKS: u64 = 30;

/// Approximate size of a header with the merging mask and the check, bytes.
const HEADER_BYTES: usize = 9;

/// Approximate bits of a moving body.
const TYPICAL_BITS: f32 = 32.0;
