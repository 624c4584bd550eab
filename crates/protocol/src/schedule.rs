//! Which bodies a partial packet carries: the most urgent first, and each of them some time.

use cubewire_codec::schema::Shape;
use cubewire_codec::{Plan, QuantizedSnapshot};

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
    /// What was last sent of each body, and when.
    sent: Option<QuantizedSnapshot>,
    sent_at: Vec<Option<u64>>,
    /// Whether the receiver is known to have that.
    is_confirmed: Vec<bool>,
    /// Whether a body differs from what was last sent.
    differs: Vec<bool>,
    /// Since when a body has been due.
    due_since: Vec<Option<u64>>,
    advanced_to: Option<u64>,
    due: Vec<Due>,
    /// Bits in packets for each estimated one, of complete and partial ones.
    scales: [f32; 2],
    /// Estimated bits of all that a complete packet carries.
    complete_bits: f32,
}

/// A body that could be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) slot: usize,
    group: Option<u32>,
    priority: f32,
    bits: f32,
}

impl Due {
    fn is_with(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group
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

/// Errors count up to so many times [`UNIT_ERROR`].
const MAX_UNIT_ERRORS: f32 = 16.0;

/// A body that takes few bits, or many, is so many times as urgent, or as little.
const MAX_BITS_WEIGHT: f32 = 2.0;

/// The error that doubles how fast a priority grows, in the scene's units of length.
const UNIT_ERROR: f32 = 0.05;

/// An error as large as can be.
const MAX_ERROR: f32 = UNIT_ERROR * MAX_UNIT_ERRORS;

impl Schedule {
    /// Advances to a tick in which `wanted` is to be seen, by a receiver that had `initial` before all packets. `gains`
    /// say how fast the priority of each body grows: 1 for those beyond the list; none that is 0, negative or not a
    /// number is sent. `groups` are those of [`Within`](crate::Within). `as_of` is what the receiver is known to have of a body, and `is_in_flight` whether what was sent in
    /// a tick may yet arrive.
    pub(crate) fn advance(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
        gains: &[f32],
        groups: &[u32],
        initial: &QuantizedSnapshot,
        as_of: impl Fn(usize) -> AsOf,
        is_in_flight: impl Fn(u64) -> bool,
    ) {
        let bodies = wanted.len();
        let is_known = self
            .sent
            .as_ref()
            .is_some_and(|sent| sent.has_form_of(wanted));
        if !is_known {
            self.reset(initial);
        }
        let sent = self.sent.as_ref().expect("it was just set");
        wanted.compare(sent, &mut self.differs);
        let ticks = tick - self.advanced_to.replace(tick).unwrap_or(tick);
        self.due.clear();
        self.complete_bits = 0.0;
        for slot in 0..bodies {
            let is_confirmed = self.sent_at[slot].is_none_or(|sent_at| {
                let as_of = as_of(slot);
                let is_confirmed = match as_of {
                    AsOf::Initial => false,
                    AsOf::Old => self.is_confirmed[slot],
                    AsOf::Tick(tick) => tick >= sent_at,
                };
                self.is_confirmed[slot] = is_confirmed;
                is_confirmed
            });
            let differs = self.differs[slot];
            let is_lost = !is_confirmed && !self.sent_at[slot].is_some_and(&is_in_flight);
            if !differs && is_confirmed {
                self.due_since[slot] = None;
                continue;
            }
            let change = Change::of(wanted, sent, slot);
            self.complete_bits += change.bits;
            if !differs && !is_lost {
                continue;
            }
            if is_lost {
                self.priorities[slot] += std::mem::take(&mut self.staked[slot]);
            }
            let gain = gains.get(slot).copied().unwrap_or(1.0);
            self.due_since[slot].get_or_insert(tick);
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
                group: groups.get(slot).copied(),
                priority: *priority,
                bits: change.bits,
            });
        }
        if !groups.is_empty() {
            self.join_groups();
        }
        self.due.sort_unstable_by(|a, b| {
            let urgency = b.priority.total_cmp(&a.priority);
            urgency.then((a.group, a.slot).cmp(&(b.group, b.slot)))
        });
    }

    /// Makes the due bodies of a group as urgent as the most urgent of them.
    fn join_groups(&mut self) {
        self.due.sort_unstable_by_key(|due| due.group);
        for group in self.due.chunk_by_mut(Due::is_with) {
            let priority = group.iter().map(|due| due.priority).fold(0.0, f32::max);
            group.iter_mut().for_each(|due| due.priority = priority);
        }
    }

    fn reset(&mut self, initial: &QuantizedSnapshot) {
        let bodies = initial.len();
        *self = Self {
            urgency: self.urgency,
            priorities: vec![0.0; bodies],
            staked: vec![0.0; bodies],
            sent: Some(initial.clone()),
            sent_at: vec![None; bodies],
            is_confirmed: vec![false; bodies],
            due_since: vec![None; bodies],
            scales: [1.0; 2],
            ..Self::default()
        };
    }

    /// The due bodies, the most urgent first.
    pub(crate) fn due(&self) -> &[Due] {
        &self.due
    }

    /// Estimated bytes of a complete packet.
    pub(crate) fn complete_bytes(&self) -> usize {
        HEADER_BYTES + (self.complete_bits * self.scales[0] / 8.0) as usize
    }

    /// How many of the due bodies are expected to fit.
    pub(crate) fn fitting(&self, bytes: usize) -> usize {
        let mut left = bytes.saturating_sub(HEADER_BYTES) as f32 * 8.0 / self.scales[1];
        let fits = self.due.iter().take_while(|due| {
            left -= due.bits;
            left >= 0.0
        });
        fits.count()
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
        let sent = self.sent.as_mut().expect("it advanced to this tick");
        for due in &self.due[..count] {
            let slot = due.slot;
            sent.copy_slot(slot, wanted);
            self.sent_at[slot] = Some(tick);
            self.is_confirmed[slot] = false;
            self.staked[slot] = std::mem::take(&mut self.priorities[slot]);
            self.due_since[slot] = None;
        }
    }

    /// Ticks for which the body has been due that has been so longest; 0 if none is.
    pub(crate) fn longest_wait(&self, tick: u64) -> u64 {
        let first = self.due_since.iter().flatten().min();
        first.map_or(0, |&since| tick.saturating_sub(since))
    }

    /// Ticks for which a body has been due, if it is.
    pub(crate) fn waits(&self, slot: usize, tick: u64) -> Option<u64> {
        let since = *self.due_since.get(slot)?;
        since.map(|since| tick.saturating_sub(since))
    }
}

/// A header with its mask and check, about.
const HEADER_BYTES: usize = 9;

/// What a body that moves takes, about.
const TYPICAL_BITS: f32 = 32.0;

/// How a body differs from what was sent of it.
struct Change {
    /// In the scene's units of length.
    error: f32,
    /// Estimated.
    bits: f32,
}

impl Change {
    fn of(wanted: &QuantizedSnapshot, sent: &QuantizedSnapshot, slot: usize) -> Self {
        const WHOLE_BITS: f32 = 100.0;
        let plan = wanted.plan();
        if wanted.life(slot) != sent.life(slot) {
            return Self {
                error: MAX_ERROR,
                bits: WHOLE_BITS,
            };
        }
        let (to, from) = (wanted.body(slot), sent.body(slot));
        let moved = to.position.distance(from.position);
        let turned = to.orientation.angle_between(from.orientation);
        let schema = plan.schema();
        let steps = plan.bounds()[2].steps_per_unit as f32;
        let steps_per_radian = f32::from(1_u16 << schema.component_bits) / 3.0;
        Self {
            error: moved + turned * reach(plan, wanted, slot),
            bits: 8.0
                + 3.0 * (1.0 + moved * steps).log2()
                + 3.0 * (1.0 + turned * steps_per_radian).log2(),
        }
    }
}

/// How far the surface of a body is from its centre.
fn reach(plan: &Plan, wanted: &QuantizedSnapshot, slot: usize) -> f32 {
    let kinds = &plan.schema().kinds;
    let kind = wanted.life(slot).map_or(0, |life| life.kind);
    match kinds[usize::from(kind)].shape {
        Shape::Box([x, y, z]) => x.max(y).max(z),
        Shape::Ball(radius) => radius,
        Shape::Capsule { half, radius } => half + radius,
        Shape::Unknown => 0.5,
    }
}
