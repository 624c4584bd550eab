//! Which bodies a partial packet carries: the most urgent first, and each of them some time.

mod standing;

pub use self::standing::{Standing, Wait};

use cubewire_codec::schema::Shape;
use cubewire_codec::{Plan, QuantizedSnapshot};

/// What makes a body urgent while it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// The time for which it has waited.
    Waiting,
    /// That, and how wrong the receiver has it.
    #[default]
    Error,
    /// That, for the bits that it takes.
    ErrorPerBit,
}

/// How urgent bodies are, and what was last sent of each.
///
/// A body is *due* if it differs from what was last sent, or if that is known or presumed to be lost. Each tick adds to
/// the priority of a due body; once it is sent, that begins with nothing again. As the errors that count are bounded,
/// so is the time for which a body waits: see [`MAX_WEIGHT`].
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
    /// Since when a body has been due.
    due_since: Vec<Option<u64>>,
    advanced_to: Option<u64>,
    /// The due bodies that may be sent and were not, the most urgent first.
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
    priority: f32,
    /// In the scene's units of length.
    error: f32,
    bits: f32,
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

/// A body with the largest error waits for at least this part of the time of one with none.
pub const MAX_WEIGHT: f32 = 16.0;

/// The error that doubles how fast a priority grows, in the scene's units of length.
const UNIT_ERROR: f32 = 0.05;

/// An error as large as can be.
const MAX_ERROR: f32 = UNIT_ERROR * MAX_WEIGHT;

impl Schedule {
    /// Advances to a tick in which `wanted` is to be seen, by a receiver that had `initial` before all packets. `gains`
    /// say how fast the priority of each body grows: 1 for those beyond the list; none that is 0, negative or not a
    /// number is sent. `as_of` is what the receiver is known to have of a body, and `is_in_flight` whether what was sent in
    /// a tick may yet arrive.
    pub(crate) fn advance(
        &mut self,
        tick: u64,
        wanted: &QuantizedSnapshot,
        gains: &[f32],
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
        let ticks = tick - self.advanced_to.replace(tick).unwrap_or(tick);
        self.due.clear();
        self.complete_bits = 0.0;
        for slot in 0..bodies {
            let as_of = as_of(slot);
            let is_confirmed = match as_of {
                AsOf::Initial => self.sent_at[slot].is_none(),
                AsOf::Old => self.is_confirmed[slot] || self.sent_at[slot].is_none(),
                AsOf::Tick(tick) => Some(tick) >= self.sent_at[slot],
            };
            self.is_confirmed[slot] = is_confirmed && !matches!(as_of, AsOf::Initial);
            let differs = wanted.differs(sent, slot);
            let is_lost = !is_confirmed && !self.sent_at[slot].is_some_and(&is_in_flight);
            if !differs && is_confirmed {
                self.due_since[slot] = None;
                continue;
            }
            let change = Change::of(wanted, sent, slot);
            self.complete_bits += change.bits;
            if !differs && !is_lost {
                self.due_since[slot] = None;
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
                    (1.0 + error) * (TYPICAL_BITS / change.bits).clamp(0.5, 2.0)
                }
            };
            let priority = &mut self.priorities[slot];
            *priority = (*priority + gain * weight * ticks.max(1) as f32).min(f32::MAX / 2.0);
            self.due.push(Due {
                slot,
                priority: *priority,
                error: change.error,
                bits: change.bits,
            });
        }
        self.due
            .sort_unstable_by(|a, b| b.priority.total_cmp(&a.priority).then(a.slot.cmp(&b.slot)));
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
        self.bytes(self.complete_bits, 0)
    }

    /// Estimated bytes of a partial packet of all due bodies.
    pub(crate) fn due_bytes(&self) -> usize {
        self.bytes(self.due.iter().map(|due| due.bits).sum(), 1)
    }

    fn bytes(&self, bits: f32, scale: usize) -> usize {
        HEADER_BYTES + (bits * self.scales[scale] / 8.0) as usize
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
        for due in self.due.drain(..count) {
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
