//! Which bodies a partial packet carries: the most urgent first, and each of them some time.

mod change;
mod standing;
mod waits;

pub use self::standing::{Standing, Wait};
pub use self::waits::{Waited, Waits};

use cubewire_codec::{QuantizedSnapshot, flagged};

use self::change::{Change, Changes, MAX_ERROR, MAX_UNIT_ERRORS, UNIT_ERROR};

/// What is to be sent of a tick, and at what price.
#[derive(Clone, Copy, Debug, Default)]
pub struct Within<'a> {
    /// Bytes that the packet may take.
    pub bytes: usize,
    /// By how many more they grow with each tick in which none is sent; where they do not grow, every packet is filled, and
    /// otherwise a partial one is of one datagram at most. Few large packets are better than many small ones:
    /// they have fewer headers, and a body takes fewer bits among its neighbours.
    pub growth: usize,
    /// The most that they can grow to.
    pub most: usize,
    /// By body: how fast it becomes urgent; 1 beyond the end. A body whose gain is 0, negative or not a number is not sent in
    /// a partial packet. If the receiver has to remove a body from a slot, the slot's gain counts as at least 1.
    pub gains: &'a [f32],
    /// By body: the number of its group; beyond the end, each is by itself. Those of a group that wait are sent in one
    /// packet, as urgent as the most urgent of them; only a group that no packet holds is sent in several.
    pub groups: &'a [u32],
}

/// What makes a body urgent while it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// The time for which it has waited.
    Waiting,
    /// That, and how wrong the receiver has it.
    Error,
    /// That, for the bits that it takes.
    #[default]
    ErrorPerBit,
}

/// How urgent bodies are, and what was last sent of each.
///
/// A body is *due* if it differs from what was last sent, or if that is known or presumed to be lost. Each tick adds to
/// the priority of a due body; once it is sent, that begins with nothing again. As the errors that count are bounded,
/// so is the time for which a body waits.
///
/// Let priorities grow by at least a and at most b = a [`MAX_WEIGHT_RATIO`] a tick, with gains of 1. A body that has waited
/// for w ticks has a priority of at least a w, and so has each of the k bodies of every packet that is sent meanwhile. All n
/// bodies together gain at most n b a tick, and none has more than the longest wait has added. So a k w² / 2 ≤ 2 n b w: no
/// body waits for longer than 4 [`MAX_WEIGHT_RATIO`] n / k packets, unless they are lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) urgency: Urgency,
    priorities: Vec<f32>,
    /// The priority with which a body was sent: it comes back if that is lost.
    staked: Vec<f32>,
    /// What was last sent of each body.
    sent: Option<QuantizedSnapshot>,
    /// When that was.
    sent_at: Vec<Stamp>,
    /// The tick with the first stamp.
    first: u64,
    /// Whether the receiver is known to have what was last sent.
    is_confirmed: Vec<bool>,
    /// Whether a body differs from that.
    differs: Vec<bool>,
    is_due: Vec<bool>,
    /// Since when, of a body that is due.
    due_since: Vec<u64>,
    /// How a body that is due differed from that when it was weighed last.
    changes: Vec<Change>,
    /// Whether there may be something to do for a body.
    is_open: Vec<bool>,
    /// Whether the receiver may have another body in a slot, which it is to remove.
    is_replaced: Vec<bool>,
    advanced_to: Option<u64>,
    /// The due bodies that may be sent, by group and slot.
    due: Vec<Due>,
    /// Those of them that were not sent: an index for each, below the complement of its priority, so that the most urgent
    /// ones come first where they are sorted. Integers are sorted several times as fast as the bodies would be.
    urgent: Vec<u64>,
    /// So many of these are in order, and no other comes before them.
    sorted: usize,
    /// Bits in packets for each estimated one, of complete and partial ones, from one schedule to the next; 0 before the first.
    scales: [f32; 2],
    /// Estimated bits of all that a complete packet carries.
    complete_bits: f32,
}

/// A tick in half of the memory, from 1 on: 0 is for never. Those of a schedule suffice for two years.
type Stamp = u32;

/// A body that waits is weighed again after so many ticks: it takes longer than all else, and little changes from one to the next.
const WEIGHED_TICKS: usize = 4;

/// A body that could be sent.
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

/// What is known of the way of bodies to the receiver.
#[derive(Debug)]
pub(crate) struct Way<'a> {
    /// The tick of the newest acked packet; none where packets are relative to the initial state.
    pub(crate) newest: Option<u64>,
    /// By body: ticks before that in which a packet carried it that the receiver has; 255 for as many or more.
    pub(crate) ages: &'a [u8],
    /// The ages of the packets that may yet arrive, as a mask.
    pub(crate) in_flight: u64,
}

/// How much faster than another a priority can grow, with equal gains.
pub const MAX_WEIGHT_RATIO: f32 = (1.0 + MAX_UNIT_ERRORS) * MAX_BITS_WEIGHT * MAX_BITS_WEIGHT;

/// A body that takes few bits, or many, is so many times as urgent, or as little.
const MAX_BITS_WEIGHT: f32 = 2.0;

impl Change {
    /// How fast it becomes urgent.
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
    /// Advances to a tick in which `wanted` is to be seen. `start` is what was sent last before there was a schedule, and
    /// when, or the initial state.
    pub(crate) fn advance(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
        within: &Within<'_>,
        start: (Option<u64>, &QuantizedSnapshot),
        way: &Way<'_>,
    ) {
        let is_known = self
            .sent
            .as_ref()
            .is_some_and(|sent| sent.has_form_of(wanted));
        if !is_known {
            self.reset(tick, start);
        }
        self.confirm(way);
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
            self.is_replaced[slot] &= !is_confirmed;
            self.is_replaced[slot] |= is_other && sent.life(slot).is_some();
            let change = &mut self.changes[slot];
            match (differs, is_confirmed) {
                (true, _) => {
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
            let is_lost = !is_confirmed && !way.is_in_flight(now - self.sent_at[slot]);
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
            let gain = within.gains.get(slot).copied().unwrap_or(1.0);
            let gain = match self.is_replaced[slot] || wanted.life(slot).is_none() {
                true => gain.max(1.0),
                false => gain,
            };
            if gain.is_nan() || gain <= 0.0 {
                continue;
            }
            let weight = gain * change.weight(self.urgency);
            let priority = &mut self.priorities[slot];
            *priority = (*priority + weight * ticks.max(1) as f32).min(f32::MAX / 2.0);
            self.due.push(Due {
                slot,
                group: within.groups.get(slot).copied(),
                priority: *priority,
            });
        }
        if !within.groups.is_empty() {
            self.join_groups();
        }
        let urgent = self.due.iter().zip(0..);
        let urgent =
            urgent.map(|(due, index): (_, u64)| u64::from(!due.priority.to_bits()) << 32 | index);
        self.urgent.clear();
        self.urgent.extend(urgent);
        self.sorted = 0;
    }

    /// Finds out which bodies the receiver is known to have as they were last sent.
    fn confirm(&mut self, way: &Way<'_>) {
        let bodies = self.is_confirmed.iter_mut().zip(&self.sent_at);
        let Some(newest) = way.newest else {
            bodies.for_each(|(is_confirmed, sent_at)| *is_confirmed &= *sent_at == 0);
            return;
        };
        let newest = newest as i64 - self.first as i64 + 1;
        let newest = newest.max(i32::MIN.into()) as i32;
        for ((is_confirmed, &sent_at), &age) in bodies.zip(way.ages) {
            let is_new_enough = newest.wrapping_sub(sent_at.cast_signed()) >= age.into();
            let is_old = age == u8::MAX;
            *is_confirmed = sent_at == 0 || *is_confirmed & is_old || is_new_enough & !is_old;
        }
    }

    const fn stamp(&self, tick: u64) -> Stamp {
        (tick - self.first + 1) as Stamp
    }

    /// When a body was last sent.
    fn sent_at(&self, slot: usize) -> Option<u64> {
        let stamp = u64::from(self.sent_at[slot]);
        (stamp > 0).then(|| self.first + stamp - 1)
    }

    /// The bodies that are to be sent, in no order beyond the sorted ones.
    fn urgent(&self) -> impl Iterator<Item = &Due> {
        self.urgent.iter().map(|&urgent| self.due_of(urgent))
    }

    /// The body of an entry in the list of urgent ones.
    fn due_of(&self, urgent: u64) -> &Due {
        &self.due[urgent as u32 as usize]
    }

    /// Sorts so many of the most urgent bodies: few of all that are due fit into a packet.
    fn sort(&mut self, count: usize) {
        let rest = &mut self.urgent[self.sorted..];
        let more = count.saturating_sub(self.sorted).min(rest.len());
        if more < rest.len() {
            rest.select_nth_unstable(more);
        }
        rest[..more].sort_unstable();
        self.sorted += more;
    }

    /// Makes the due bodies of a group as urgent as the most urgent of them.
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

    /// Ends: complete packets are sent, without a schedule.
    pub(crate) fn stop(&mut self) {
        if self.is_running() {
            *self = Self {
                urgency: self.urgency,
                scales: self.scales,
                ..Self::default()
            };
        }
    }

    /// Whether it was advanced since it was stopped.
    pub(crate) const fn is_running(&self) -> bool {
        self.sent.is_some()
    }

    /// Whether no body is to be sent.
    pub(crate) const fn is_idle(&self) -> bool {
        self.urgent.is_empty()
    }

    /// So many of the most urgent bodies, as many as [fit](Self::fitting) at most.
    pub(crate) fn most_urgent(&self, count: usize) -> impl Iterator<Item = usize> {
        self.urgent().take(count).map(|due| due.slot)
    }

    /// Estimated bytes of a complete packet.
    pub(crate) fn complete_bytes(&self) -> usize {
        HEADER_BYTES + (self.complete_bits * self.scales[0] / 8.0) as usize
    }

    /// How many of the due bodies are expected to fit.
    pub(crate) fn fitting(&mut self, bytes: usize) -> usize {
        let mut left = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / self.scales[1];
        let mut fitting = 0;
        loop {
            // Those that are expected, and the one after them.
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

    /// Whether all due bodies are expected to fit.
    pub(crate) fn all_fit(&mut self, bytes: usize) -> bool {
        self.fitting(bytes) == self.urgent.len()
    }

    /// How many of so many due bodies are left without a group that is cut; all of them if that leaves none.
    pub(crate) fn whole_groups(&self, count: usize) -> usize {
        let due = |index: usize| {
            self.urgent
                .get(index)
                .map(|at| &self.due[*at as u32 as usize])
        };
        let is_whole = |&count: &usize| match (due(count - 1), due(count)) {
            (Some(last), Some(next)) => !last.is_with(next),
            _ => true,
        };
        (1..=count).rev().find(is_whole).unwrap_or(count)
    }

    /// Learns from a packet that was encoded.
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

    /// Records a packet that carried the first `count` due bodies, or all bodies.
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

    /// Ticks for which the body has been due that has been so longest; 0 if none is.
    pub(crate) fn longest_wait(&self, tick: u64) -> u64 {
        let due = self.due_since.iter().zip(&self.is_due);
        let first = due
            .filter(|(_, is_due)| **is_due)
            .map(|(since, _)| *since)
            .min();
        first.map_or(0, |first| tick.saturating_sub(first))
    }
}

impl Way<'_> {
    /// Whether what was sent so many ticks ago may yet arrive.
    const fn is_in_flight(&self, age: u32) -> bool {
        age < u64::BITS && self.in_flight >> age & 1 == 1
    }
}

/// A header with its mask and check, about.
const HEADER_BYTES: usize = 9;

/// What a body that moves takes, about.
const TYPICAL_BITS: f32 = 32.0;
