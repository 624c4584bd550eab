//! Which bodies a partial packet carries: the most urgent first, and each of them some time.

mod change;
mod standing;
mod waits;

pub use self::standing::{Standing, Wait};
pub use self::waits::{Waited, Waits};

use std::cmp::Ordering;

use cubewire_codec::QuantizedSnapshot;

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
    /// a partial packet.
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
    /// What was last sent of each body, and when, if not [`NEVER`].
    sent: Option<QuantizedSnapshot>,
    sent_at: Vec<u64>,
    /// Whether the receiver is known to have that.
    is_confirmed: Vec<bool>,
    /// Whether a body differs from what was last sent.
    differs: Vec<bool>,
    /// Since when a body has been due, or [`NEVER`].
    due_since: Vec<u64>,
    advanced_to: Option<u64>,
    /// The due bodies that may be sent and were not.
    due: Vec<Due>,
    /// So many of these are the most urgent ones, in order.
    sorted: usize,
    /// Bits in packets for each estimated one, of complete and partial ones, from one schedule to the next; 0 before the first.
    scales: [f32; 2],
    /// Estimated bits of all that a complete packet carries.
    complete_bits: f32,
}

/// In place of a tick.
const NEVER: u64 = u64::MAX;

/// A body that could be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) slot: usize,
    group: Option<u32>,
    priority: f32,
    /// In the scene's units of length.
    error: f32,
    bits: f32,
}

impl Due {
    fn is_with(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group
    }

    /// The most urgent first.
    fn order(&self, other: &Self) -> Ordering {
        let urgency = other.priority.total_cmp(&self.priority);
        urgency.then((self.group, self.slot).cmp(&(other.group, other.slot)))
    }
}

/// The tick of which the receiver is known to have a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AsOf {
    /// None: packets are relative to the initial state.
    Initial,
    /// One that is too old to be known.
    Old,
    Tick(u64),
}

/// How much faster than another a priority can grow, with equal gains.
pub const MAX_WEIGHT_RATIO: f32 = (1.0 + MAX_UNIT_ERRORS) * MAX_BITS_WEIGHT * MAX_BITS_WEIGHT;

/// A body that takes few bits, or many, is so many times as urgent, or as little.
const MAX_BITS_WEIGHT: f32 = 2.0;

impl Schedule {
    /// Advances to a tick in which `wanted` is to be seen. `start` is what was sent last before there was a schedule, and
    /// when, or the initial state. `as_of` is what the receiver is known to have of a body, and `is_in_flight` whether what
    /// was sent in a tick may yet arrive.
    pub(crate) fn advance(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
        within: &Within<'_>,
        start: (Option<u64>, &QuantizedSnapshot),
        as_of: impl Fn(usize) -> AsOf,
        is_in_flight: impl Fn(u64) -> bool,
    ) {
        let bodies = wanted.len();
        let is_known = self
            .sent
            .as_ref()
            .is_some_and(|sent| sent.has_form_of(wanted));
        if !is_known {
            self.reset(start);
        }
        let sent = self.sent.as_ref().expect("it was just set");
        wanted.compare(sent, &mut self.differs);
        let changes = Changes::new(wanted, sent);
        let ticks = tick - self.advanced_to.replace(tick).unwrap_or(tick);
        self.due.clear();
        self.sorted = 0;
        self.complete_bits = 0.0;
        for slot in 0..bodies {
            let sent_at = self.sent_at[slot];
            if sent_at != NEVER {
                self.is_confirmed[slot] = match as_of(slot) {
                    AsOf::Initial => false,
                    AsOf::Old => self.is_confirmed[slot],
                    AsOf::Tick(tick) => tick >= sent_at,
                };
            }
            let (differs, is_confirmed) = (self.differs[slot], self.is_confirmed[slot]);
            if !differs && is_confirmed {
                self.due_since[slot] = NEVER;
                continue;
            }
            let is_lost = !is_confirmed && !is_in_flight(sent_at);
            let change = match differs {
                true => changes.of(slot),
                false => Change::NONE,
            };
            self.complete_bits += change.bits;
            if !differs && !is_lost {
                self.due_since[slot] = NEVER;
                continue;
            }
            if is_lost {
                self.priorities[slot] += std::mem::take(&mut self.staked[slot]);
            }
            let gain = within.gains.get(slot).copied().unwrap_or(1.0);
            self.due_since[slot] = self.due_since[slot].min(tick);
            if gain.is_nan() || gain <= 0.0 {
                continue;
            }
            let error = change.error.min(MAX_ERROR) / UNIT_ERROR;
            let weight = match self.urgency {
                Urgency::Waiting => 1.0,
                Urgency::Error => 1.0 + error,
                Urgency::ErrorPerBit => {
                    let per_bit = TYPICAL_BITS / change.bits;
                    (1.0 + error) * per_bit.clamp(1.0 / MAX_BITS_WEIGHT, MAX_BITS_WEIGHT)
                }
            };
            let priority = &mut self.priorities[slot];
            *priority = (*priority + gain * weight * ticks.max(1) as f32).min(f32::MAX / 2.0);
            self.due.push(Due {
                slot,
                group: within.groups.get(slot).copied(),
                priority: *priority,
                error: change.error,
                bits: change.bits,
            });
        }
        if !within.groups.is_empty() {
            self.join_groups();
        }
    }

    /// Sorts so many of the most urgent bodies: few of all that are due fit into a packet.
    fn sort(&mut self, count: usize) {
        let rest = &mut self.due[self.sorted..];
        let more = count.saturating_sub(self.sorted).min(rest.len());
        if more < rest.len() {
            rest.select_nth_unstable_by(more, Due::order);
        }
        rest[..more].sort_unstable_by(Due::order);
        self.sorted += more;
    }

    /// Makes the due bodies of a group as urgent as the most urgent of them.
    fn join_groups(&mut self) {
        self.due.sort_unstable_by_key(|due| due.group);
        for group in self.due.chunk_by_mut(Due::is_with) {
            let priority = group.iter().map(|due| due.priority).fold(0.0, f32::max);
            group.iter_mut().for_each(|due| due.priority = priority);
        }
    }

    fn reset(&mut self, (sent_at, sent): (Option<u64>, &QuantizedSnapshot)) {
        let bodies = sent.len();
        *self = Self {
            urgency: self.urgency,
            priorities: vec![0.0; bodies],
            staked: vec![0.0; bodies],
            sent: Some(sent.clone()),
            sent_at: vec![sent_at.unwrap_or(NEVER); bodies],
            is_confirmed: vec![sent_at.is_none(); bodies],
            due_since: vec![NEVER; bodies],
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

    /// The due bodies; as many of the most urgent as are [known to fit](Self::fitting), and one, come first, in order.
    pub(crate) fn due(&self) -> &[Due] {
        &self.due
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
            let sorted = &self.due[fitting..self.sorted];
            let fits = sorted.iter().take_while(|due| {
                left -= due.bits;
                left >= 0.0
            });
            fitting += fits.count();
            if left < 0.0 || fitting == self.due.len() {
                return fitting;
            }
        }
    }

    /// How many of so many due bodies are left without a group that is cut; all of them if that leaves none.
    pub(crate) fn whole_groups(&self, count: usize) -> usize {
        let is_whole = |&count: &usize| {
            let [.., last] = &self.due[..count] else {
                return false;
            };
            let next = self.due.get(count);
            next.is_none_or(|next| !last.is_with(next))
        };
        (1..=count).rev().find(is_whole).unwrap_or(count)
    }

    /// Learns from a packet that was encoded.
    pub(crate) fn learn(&mut self, bytes: usize, carried: Option<usize>) {
        let (scale, estimate) = match carried {
            None => (0, self.complete_bits),
            Some(count) => (1, self.due[..count].iter().map(|due| due.bits).sum()),
        };
        if estimate > 0.0 {
            let actual = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / estimate;
            let scale = &mut self.scales[scale];
            *scale += (actual.clamp(0.05, 20.0) - *scale) / 4.0;
        }
    }

    /// Records a packet that carried the first `count` due bodies, or all bodies.
    pub(crate) fn on_sent(&mut self, tick: u64, wanted: &QuantizedSnapshot, count: Option<usize>) {
        let count = count.unwrap_or(self.due.len());
        self.sorted = self.sorted.saturating_sub(count);
        let sent = self.sent.as_mut().expect("it advanced to this tick");
        for due in self.due.drain(..count) {
            let slot = due.slot;
            sent.copy_slot(slot, wanted);
            self.sent_at[slot] = tick;
            self.is_confirmed[slot] = false;
            self.staked[slot] = std::mem::take(&mut self.priorities[slot]);
            self.due_since[slot] = NEVER;
        }
    }

    /// Ticks for which the body has been due that has been so longest; 0 if none is.
    pub(crate) fn longest_wait(&self, tick: u64) -> u64 {
        let first = self.due_since.iter().min().copied();
        tick.saturating_sub(first.unwrap_or(NEVER))
    }
}

/// A header with its mask and check, about.
const HEADER_BYTES: usize = 9;

/// What a body that moves takes, about.
const TYPICAL_BITS: f32 = 32.0;
