//! Chooses the bodies of a partial packet: the most urgent first. The wait of every body is bounded.

mod change;
mod send_state;
mod wait_history;

pub use self::send_state::{SendState, Wait};
pub use self::wait_history::{LongestWait, WaitHistory};

use cubewire_codec::{QuantizedSnapshot, flagged};

use self::change::{Change, Changes, MAX_ERROR, MAX_UNIT_ERRORS, UNIT_ERROR};

/// Limits and priorities for the packet of a tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketBudget<'a> {
    /// Maximum size of the packet, bytes.
    pub bytes: usize,
    /// Number of bytes that `bytes` grows by with each tick without a packet. If it is 0, every packet is filled.
    /// Otherwise a partial packet takes at most one datagram and may wait until it can fill it. Few large packets are
    /// better than many small ones: they have fewer headers, and a body takes fewer bits next to its neighbours.
    pub growth: usize,
    /// Maximum that `bytes` can grow to.
    pub most: usize,
    /// For each body, a factor for the growth of its priority; 1 for bodies beyond the end. A body with a gain that
    /// is 0, negative or not a number is not sent in partial packets. If the receiver must remove a body from a slot,
    /// the slot's gain counts as at least 1.
    pub gains: &'a [f32],
    /// For each body, the number of its group; bodies beyond the end have no group. Waiting bodies of a group are
    /// sent in one packet, with the priority of the most urgent of them. A group is only split if no packet can hold
    /// it.
    pub groups: &'a [u32],
}

/// Determines how fast the priority of a waiting body grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// By the waiting time only.
    Waiting,
    /// Also by the error of the body at the receiver.
    Error,
    /// By the error per estimated bit.
    #[default]
    ErrorPerBit,
}

/// Tracks the priority and the last sent state of each body.
///
/// A body is *due* if it differs from the state that was last sent, or if the packet with that state is lost or
/// presumed lost. Each tick increases the priority of a due body. The priority returns to 0 when the body is sent.
/// Errors are clamped, so the wait of a body is bounded.
///
/// Let priorities grow by at least a and at most b = a [`MAX_WEIGHT_RATIO`] per tick, with gains of 1. A body that
/// has waited for w ticks has a priority of at least a w, and so has each of the k bodies in every packet that was
/// sent during the wait. All n bodies together gain at most n b per tick, and no priority exceeds the gain of the
/// longest wait. So a k w² / 2 ≤ 2 n b w: without loss, no body waits for longer than 4 [`MAX_WEIGHT_RATIO`] n / k
/// packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) urgency: Urgency,
    priorities: Vec<f32>,
    /// Priority of each body when it was sent. It is restored if the packet is lost.
    staked: Vec<f32>,
    /// Last sent state of each body.
    sent: Option<QuantizedSnapshot>,
    /// When each body was last sent.
    sent_at: Vec<Stamp>,
    /// Tick with stamp 1.
    first: u64,
    /// Whether the receiver is known to have the state in `sent`.
    is_confirmed: Vec<bool>,
    /// Whether the wanted state differs from `sent`.
    differs: Vec<bool>,
    is_due: Vec<bool>,
    /// Tick since which a due body has been due.
    due_since: Vec<u64>,
    /// The last estimated difference between the wanted state and `sent`.
    changes: Vec<Change>,
    /// Bodies that `advance` must look at, because they differ, are not confirmed or are due.
    is_open: Vec<bool>,
    /// Whether the receiver may still have an earlier body in the slot, which it must remove.
    is_replaced: Vec<bool>,
    advanced_to: Option<u64>,
    /// Due bodies with a positive gain. Sorted by group and slot if there are groups.
    due: Vec<Due>,
    /// Unsent entries of `due`. Each has the complement of the priority's bits in the upper half and the index in the
    /// lower half, so that ascending order is descending priority. Sorting integers is several times as fast as
    /// sorting the entries.
    urgent: Vec<u64>,
    /// Number of entries at the start of `urgent` that are sorted and precede all others.
    sorted: usize,
    /// Ratio of actual to estimated bits, for complete and for partial packets. Kept when a schedule ends; 0 before
    /// the first one.
    scales: [f32; 2],
    /// Estimated bits of a complete packet.
    complete_bits: f32,
}

/// Tick number as `u32` to halve the memory. 0 means "never"; ticks start at 1. Enough for two years at 60 Hz.
type Stamp = u32;

/// The change of a waiting body is estimated every 4 ticks. Estimating is the slowest step, and the result changes
/// little from tick to tick.
const WEIGHED_TICKS: usize = 4;

/// A body that can be sent.
#[derive(Clone, Copy, Debug)]
struct Due {
    slot: usize,
    group: Option<u32>,
    priority: f32,
}

impl Due {
    fn is_with(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group
    }
}

/// Delivery of bodies to the receiver, as far as acks show it.
#[derive(Debug)]
pub(crate) struct DeliveryState<'a> {
    /// Tick of the newest acked packet, or `None` if packets are relative to the initial state.
    pub(crate) newest: Option<u64>,
    /// For each body, age of the newest acked packet that carried it, in ticks before `newest`; 255 stands for 255 or
    /// more.
    pub(crate) ages: &'a [u8],
    /// Bit n is set if the packet of n ticks ago may still arrive.
    pub(crate) in_flight: u64,
}

/// Maximum ratio between the growth of two priorities with equal gains.
pub const MAX_WEIGHT_RATIO: f32 = (1.0 + MAX_UNIT_ERRORS) * MAX_BITS_WEIGHT * MAX_BITS_WEIGHT;

/// Limits how much a body's estimated size can change its priority: a factor of 2 up or down.
const MAX_BITS_WEIGHT: f32 = 2.0;

impl Change {
    /// Growth of the priority per tick, with a gain of 1.
    fn weight(&self, urgency: Urgency) -> f32 {
        let error = self.error.min(MAX_ERROR) / UNIT_ERROR;
        match urgency {
            Urgency::Waiting => 1.0,
            Urgency::Error => 1.0 + error,
            Urgency::ErrorPerBit => {
                let per_bit = TYPICAL_BITS / self.bits;
                (1.0 + error) * per_bit.clamp(1.0 / MAX_BITS_WEIGHT, MAX_BITS_WEIGHT)
            }
        }
    }
}

impl Schedule {
    /// Advances to a tick with the state `wanted`. `start` is used when a schedule begins: the tick and state of the
    /// last packet, or the initial state without a tick.
    pub(crate) fn advance(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
        packet_budget: &PacketBudget<'_>,
        start: (Option<u64>, &QuantizedSnapshot),
        delivery: &DeliveryState<'_>,
    ) {
        let is_known = self.sent.as_ref().is_some_and(|sent| sent.has_form_of(wanted));
        if !is_known {
            self.reset(tick, start);
        }
        self.confirm(delivery);
        let sent = self.sent.as_ref().expect("it was just set");
        wanted.compare(sent, &mut self.differs);
        let is_open = self.differs.iter().zip(&self.is_confirmed);
        let is_open = is_open.zip(&self.is_due);
        self.is_open.clear();
        self.is_open.extend(
            is_open.map(|((differs, is_confirmed), is_due)| *differs | !is_confirmed | is_due),
        );
        let changes = Changes::new(wanted, sent);
        let ticks = tick - self.advanced_to.replace(tick).unwrap_or(tick);
        let now = self.stamp(tick);
        self.due.clear();
        self.complete_bits = 0.0;
        for slot in flagged(&self.is_open) {
            let (differs, is_confirmed) = (self.differs[slot], self.is_confirmed[slot]);
            let is_other = differs && sent.life(slot) != wanted.life(slot);
            // The receiver may have the slot's earlier body until a later state is confirmed.
            self.is_replaced[slot] &= !is_confirmed;
            self.is_replaced[slot] |= is_other && sent.life(slot).is_some();
            let change = &mut self.changes[slot];
            match (differs, is_confirmed) {
                (true, _) => {
                    // Staggered by slot, so that each tick estimates a fourth of the waiting bodies.
                    let is_in_turn = (tick as usize + slot).is_multiple_of(WEIGHED_TICKS);
                    if is_in_turn || !self.is_due[slot] {
                        *change = changes.of(slot);
                    }
                }
                (false, false) => *change = Change::NONE,
                (false, true) => {
                    self.is_due[slot] = false;
                    continue;
                }
            }
            self.complete_bits += change.bits;
            let is_lost = !is_confirmed && !delivery.is_in_flight(now - self.sent_at[slot]);
            if !differs && !is_lost {
                self.is_due[slot] = false;
                continue;
            }
            if is_lost {
                self.priorities[slot] += std::mem::take(&mut self.staked[slot]);
            }
            if !std::mem::replace(&mut self.is_due[slot], true) {
                self.due_since[slot] = tick;
            }
            let gain = packet_budget.gains.get(slot).copied().unwrap_or(1.0);
            // The receiver must get a removal even if the caller's gain is 0.
            let gain = match self.is_replaced[slot] || wanted.life(slot).is_none() {
                true => gain.max(1.0),
                false => gain,
            };
            if gain.is_nan() || gain <= 0.0 {
                continue;
            }
            let weight = gain * change.weight(self.urgency);
            let priority = &mut self.priorities[slot];
            // Stays finite with any gain.
            *priority = (*priority + weight * ticks.max(1) as f32).min(f32::MAX / 2.0);
            self.due.push(Due {
                slot,
                group: packet_budget.groups.get(slot).copied(),
                priority: *priority,
            });
        }
        if !packet_budget.groups.is_empty() {
            self.join_groups();
        }
        let urgent = self.due.iter().zip(0..);
        let urgent =
            urgent.map(|(due, index): (_, u64)| u64::from(!due.priority.to_bits()) << 32 | index);
        self.urgent.clear();
        self.urgent.extend(urgent);
        self.sorted = 0;
    }

    /// Updates which bodies the receiver is known to have in the state that was last sent.
    fn confirm(&mut self, delivery: &DeliveryState<'_>) {
        let bodies = self.is_confirmed.iter_mut().zip(&self.sent_at);
        let Some(newest) = delivery.newest else {
            bodies.for_each(|(is_confirmed, sent_at)| *is_confirmed &= *sent_at == 0);
            return;
        };
        let newest = newest as i64 - self.first as i64 + 1;
        let newest = newest.max(i32::MIN.into()) as i32;
        for ((is_confirmed, &sent_at), &age) in bodies.zip(delivery.ages) {
            // Confirmed if the newest acked packet with the body, of tick `newest - age`, is not older than its last
            // send. An age of 255 is only a lower bound, so the earlier result stays.
            let is_new_enough = newest.wrapping_sub(sent_at.cast_signed()) >= age.into();
            let is_old = age == u8::MAX;
            *is_confirmed = sent_at == 0 || *is_confirmed & is_old || is_new_enough & !is_old;
        }
    }

    const fn stamp(&self, tick: u64) -> Stamp {
        (tick - self.first + 1) as Stamp
    }

    /// Returns the tick of the last packet with a body.
    fn sent_at(&self, slot: usize) -> Option<u64> {
        let stamp = u64::from(self.sent_at[slot]);
        (stamp > 0).then(|| self.first + stamp - 1)
    }

    /// Iterates over the bodies to send. Only the first `sorted` are in order.
    fn urgent(&self) -> impl Iterator<Item = &Due> {
        self.urgent.iter().map(|&urgent| self.due_of(urgent))
    }

    /// Returns the body of an entry in `urgent`.
    fn due_of(&self, urgent: u64) -> &Due {
        &self.due[urgent as u32 as usize]
    }

    /// Sorts the first `count` bodies by priority. A packet has room for few of the due bodies, so the rest stays
    /// unsorted.
    fn sort(&mut self, count: usize) {
        let rest = &mut self.urgent[self.sorted..];
        let more = count.saturating_sub(self.sorted).min(rest.len());
        if more < rest.len() {
            rest.select_nth_unstable(more);
        }
        rest[..more].sort_unstable();
        self.sorted += more;
    }

    /// Raises the priority of each due body to the maximum in its group.
    fn join_groups(&mut self) {
        self.due.sort_unstable_by_key(|due| (due.group, due.slot));
        for group in self.due.chunk_by_mut(Due::is_with) {
            let priority = group.iter().map(|due| due.priority).fold(0.0, f32::max);
            group.iter_mut().for_each(|due| due.priority = priority);
        }
    }

    fn reset(&mut self, tick: u64, (sent_at, sent): (Option<u64>, &QuantizedSnapshot)) {
        let bodies = sent.len();
        *self = Self {
            urgency: self.urgency,
            priorities: vec![0.0; bodies],
            staked: vec![0.0; bodies],
            sent: Some(sent.clone()),
            sent_at: vec![sent_at.is_some().into(); bodies],
            first: sent_at.unwrap_or(tick),
            is_confirmed: vec![sent_at.is_none(); bodies],
            is_due: vec![false; bodies],
            changes: vec![Change::NONE; bodies],
            is_replaced: vec![false; bodies],
            due_since: vec![0; bodies],
            scales: match self.scales {
                [0.0, _] => [1.0; 2],
                learned => learned,
            },
            ..Self::default()
        };
    }

    /// Ends the schedule: every body was sent in a complete packet.
    pub(crate) fn stop(&mut self) {
        if self.is_running() {
            *self = Self { urgency: self.urgency, scales: self.scales, ..Self::default() };
        }
    }

    /// Whether `advance` was called since the last `stop`.
    pub(crate) const fn is_running(&self) -> bool {
        self.sent.is_some()
    }

    /// Whether no body is left to send.
    pub(crate) const fn is_idle(&self) -> bool {
        self.urgent.is_empty()
    }

    /// Returns the slots of the `count` most urgent bodies. `count` is at most the result of
    /// [`fitting`](Self::fitting).
    pub(crate) fn most_urgent(&self, count: usize) -> impl Iterator<Item = usize> {
        self.urgent().take(count).map(|due| due.slot)
    }

    /// Returns the estimated size of a complete packet, bytes.
    pub(crate) fn complete_bytes(&self) -> usize {
        HEADER_BYTES + (self.complete_bits * self.scales[0] / 8.0) as usize
    }

    /// Returns the number of most urgent bodies that are expected to fit into `bytes`.
    pub(crate) fn fitting(&mut self, bytes: usize) -> usize {
        let mut left = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / self.scales[1];
        let mut fitting = 0;
        loop {
            // Sort the bodies that are expected to fit, and the one after them.
            self.sort(fitting + (left / TYPICAL_BITS) as usize + 2);
            let sorted = self.urgent().take(self.sorted).skip(fitting);
            let fits = sorted.take_while(|due| {
                left -= self.changes[due.slot].bits;
                left >= 0.0
            });
            fitting += fits.count();
            if left < 0.0 || fitting == self.urgent.len() {
                return fitting;
            }
        }
    }

    /// Whether all due bodies are expected to fit into `bytes`.
    pub(crate) fn all_fit(&mut self, bytes: usize) -> bool {
        self.fitting(bytes) == self.urgent.len()
    }

    /// Returns the largest number up to `count` that does not split a group, or `count` if every number does.
    pub(crate) fn whole_groups(&self, count: usize) -> usize {
        let due = |index: usize| self.urgent.get(index).map(|at| &self.due[*at as u32 as usize]);
        let is_whole = |&count: &usize| match (due(count - 1), due(count)) {
            (Some(last), Some(next)) => !last.is_with(next),
            _ => true,
        };
        (1..=count).rev().find(is_whole).unwrap_or(count)
    }

    /// Updates the scales with the size of an encoded packet. `carried` is the number of bodies in a partial packet,
    /// or `None` for a complete one.
    pub(crate) fn learn(&mut self, bytes: usize, carried: Option<usize>) {
        let (scale, estimate) = match carried {
            None => (0, self.complete_bits),
            Some(count) => {
                let carried = self.most_urgent(count);
                (1, carried.map(|slot| self.changes[slot].bits).sum())
            }
        };
        if estimate > 0.0 {
            let actual = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / estimate;
            let scale = &mut self.scales[scale];
            *scale += (actual.clamp(0.05, 20.0) - *scale) / 4.0;
        }
    }

    /// Records a packet with the first `count` urgent bodies, or with all bodies.
    pub(crate) fn on_sent(&mut self, tick: u64, wanted: &QuantizedSnapshot, count: Option<usize>) {
        let count = count.unwrap_or(self.urgent.len());
        let now = self.stamp(tick);
        self.sorted = self.sorted.saturating_sub(count);
        let sent = self.sent.as_mut().expect("it advanced to this tick");
        for urgent in self.urgent.drain(..count) {
            let slot = self.due[urgent as u32 as usize].slot;
            sent.copy_slot(slot, wanted);
            self.sent_at[slot] = now;
            self.is_confirmed[slot] = false;
            self.staked[slot] = std::mem::take(&mut self.priorities[slot]);
            self.is_due[slot] = false;
        }
    }

    /// Returns the longest wait of the bodies that are due, ticks; 0 if no body is due.
    pub(crate) fn longest_wait(&self, tick: u64) -> u64 {
        let due = self.due_since.iter().zip(&self.is_due);
        let first = due.filter(|(_, is_due)| **is_due).map(|(since, _)| *since).min();
        first.map_or(0, |first| tick.saturating_sub(first))
    }
}

impl DeliveryState<'_> {
    /// Whether a packet of `age` ticks ago may still arrive.
    const fn is_in_flight(&self, age: u32) -> bool {
        age < u64::BITS && self.in_flight >> age & 1 == 1
    }
}

/// Approximate bytes of a header with its mask and check.
const HEADER_BYTES: usize = 9;

/// Approximate bits of a moving body.
const TYPICAL_BITS: f32 = 32.0;
