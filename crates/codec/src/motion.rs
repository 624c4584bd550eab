//! Motion of bodies between the baseline of a snapshot and the snapshot.
//!
//! Both sides keep, with each snapshot, how it differs from its own baseline. It depends only on snapshots that
//! the receiver has, so both sides can use it to predict the next snapshot even if other packets are lost. All
//! arithmetic is in integers, so that both sides get the same result.

mod past;

use std::sync::Arc;

use self::past::Past;
use crate::flags::{Bits, flagged};
use crate::memory::SharedMemory;
use crate::schema::Linear;
use crate::snapshot::{QuantizedSnapshot, Spares};

/// Maximum time between two snapshots, in ticks, for their motion to be known.
pub const MAX_TICKS: u16 = 64;

/// Motion of the bodies of a snapshot since its baseline.
///
/// It is known only if the packet named a baseline at most [`MAX_TICKS`] old. Otherwise no body counts as moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Motion {
    /// Ticks since the baseline, `1..=MAX_TICKS`; 0 if the motion is unknown.
    pub(crate) ticks: u16,
    /// Snapshot at the start of the motion, shared with the baseline. `None` if the motion is unknown, if positions
    /// do not have 512 steps per metre (other stages do not use displacements), or if the motion has tracks and
    /// belongs to a baseline. A copy made by [`copy_from`](Self::copy_from) has an unshared snapshot.
    from: Option<Arc<QuantizedSnapshot>>,
    /// Whether any field of each body differs from the baseline's.
    pub(crate) moved: Vec<bool>,
    /// Whether the downward acceleration of each body was above half of gravity.
    pub(crate) falling: Bits,
    /// Not empty if bodies were carried at different ticks. `ticks` is then 0, because there is one span per body.
    pub(crate) tracks: Tracks,
}

/// When each body was last carried, for partial packets. Empty if the snapshot's packet carried all bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tracks {
    /// Whether the packet carried each body.
    pub(crate) carried: Vec<bool>,
    /// Ticks since a packet carried each body; [`UNKNOWN_AGE`] or more count as [`UNKNOWN_AGE`].
    pub(crate) ages: Vec<u8>,
    /// Ticks between the last two times that each body was carried, at most [`MAX_TICKS`]; 0 if unknown.
    spans: Vec<u8>,
    /// Poses of bodies before they were last carried. `None` if unknown, if the packet's stages do not use them, or
    /// in a copy made by [`Motion::copy_from`].
    past: Option<Past>,
}

/// Age of a body that no packet has carried.
pub(crate) const UNKNOWN_AGE: u8 = u8::MAX;

/// The reference of a packet, where the motion to its snapshot starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotionReference<'a> {
    pub(crate) snapshot: &'a Arc<QuantizedSnapshot>,
    pub(crate) motion: &'a Motion,
    /// Ticks before the current snapshot; `None` for the initial state.
    pub(crate) ticks: Option<u16>,
    /// If given, only these bodies can differ from the reference's.
    pub(crate) sent: Option<&'a [bool]>,
    /// Whether the packet carries only the bodies in `sent`.
    pub(crate) is_partial: bool,
    /// Whether to keep the poses of bodies before a partial packet.
    pub(crate) keeps_past: bool,
}

impl Motion {
    /// Sets this to the motion to `current`. Tracks are needed only if this packet or an earlier one that it depends on
    /// was partial, because a complete packet carries all bodies at the same tick. Reuses memory.
    pub(crate) fn observe(
        &mut self,
        current: &QuantizedSnapshot,
        from: MotionReference<'_>,
        spares: &mut Spares,
    ) {
        if let Some(old) = self.from.take() {
            spares.release(old);
        }
        if from.is_partial || !from.motion.tracks.is_empty() {
            self.observe_tracked(current, from);
            return;
        }
        self.tracks.clear();
        self.ticks = 0;
        self.moved.clear();
        self.moved.resize(current.len(), false);
        self.falling.clear(current.len());
        let MotionReference { snapshot: baseline, motion: before, sent, .. } = from;
        let Some(ticks @ 1..=MAX_TICKS) = from.ticks else { return };
        self.ticks = ticks;
        match sent {
            Some(sent) => {
                for body in flagged(sent) {
                    self.moved[body] = current.differs(baseline, body);
                }
            }
            None => current.compare(baseline, &mut self.moved),
        }
        if !current.precision().position.has_usual_steps() {
            return;
        }
        self.from = Some(Arc::clone(baseline));
        if before.ticks == 0 {
            return;
        }
        for body in flagged(&self.moved) {
            self.falling.set_if(body, is_falling(current, ticks, baseline, before, body));
        }
    }

    /// Like [`observe`](Self::observe), for bodies that are carried at different ticks.
    fn observe_tracked(&mut self, current: &QuantizedSnapshot, from: MotionReference<'_>) {
        let MotionReference { snapshot: reference, motion: before, ticks, .. } = from;
        let carried = from.sent.filter(|_| from.is_partial);
        // Before `copy_tracks`, because it uses `moved` as scratch memory.
        let past = self.take_past(current, &from, carried);
        self.copy_tracks(before, current.len());
        let elapsed = ticks.map_or(UNKNOWN_AGE, saturated);
        let Self { moved, falling, tracks, .. } = self;
        for age in &mut tracks.ages {
            *age = age.saturating_add(elapsed);
        }
        match carried {
            Some(carried) => tracks.carried.extend(carried),
            None => tracks.carried.resize(current.len(), true),
        }
        for body in flagged(&tracks.carried) {
            let age = u16::from(std::mem::take(&mut tracks.ages[body]));
            let is_known = (1..=MAX_TICKS).contains(&age);
            moved[body] = is_known && current.differs(reference, body);
            let can_fall = moved[body] && before.span(body) > 0 && past.is_some();
            falling.set(body, can_fall && is_falling(current, age, reference, before, body));
            tracks.spans[body] = if is_known { age as u8 } else { 0 };
        }
        tracks.past = past;
        for (body, moved) in moved.iter_mut().enumerate() {
            // Motion older than `MAX_TICKS` is unknown. Only moved bodies can be falling, so other flags are clear.
            if *moved && u16::from(tracks.ages[body]) > MAX_TICKS {
                *moved = false;
                falling.set(body, false);
            }
        }
    }

    /// Returns the poses of bodies before they were last carried, or `None` if they are not kept. Reuses the memory
    /// of `tracks.past`, and overwrites `moved`.
    fn take_past(
        &mut self,
        current: &QuantizedSnapshot,
        from: &MotionReference<'_>,
        carried: Option<&[bool]>,
    ) -> Option<Past> {
        let MotionReference { snapshot: reference, motion: before, keeps_past, .. } = *from;
        let past = self.tracks.past.take();
        if !keeps_past {
            return None;
        }
        let mut past = past.unwrap_or_default();
        let differs = &mut self.moved;
        let Some(carried) = carried else {
            current.compare(reference, differs);
            past.set(differs, current, |body| (&**reference, body));
            return Some(past);
        };
        differs.clear();
        differs.resize(current.len(), false);
        match (&before.tracks.past, &before.from) {
            (Some(past), _) => past.flag(differs),
            (None, Some(from)) => reference.flag_differing(from, differs),
            (None, None) => {}
        }
        flagged(carried).for_each(|body| differs[body] = current.differs(reference, body));
        match (&before.tracks.past, &before.from) {
            // The usual case, with a cheaper lookup for each body.
            (None, Some(from)) => past.set(differs, current, |body| (&**from, body)),
            _ => past.set(differs, current, |body| {
                before.past(reference, body).unwrap_or((&**reference, body))
            }),
        }
        flagged(carried).for_each(|body| past.replace(body, reference));
        Some(past)
    }

    /// Copies another motion, which leads to `current`, as a motion with tracks. Bodies of other motions can be
    /// copied into it with [`merge_bodies`](Self::merge_bodies). If `has_past`, it has an unshared copy of the past
    /// poses, which takes more memory.
    pub(crate) fn copy_from(
        &mut self,
        other: &Self,
        current: &QuantizedSnapshot,
        has_past: bool,
        spares: &mut Spares,
    ) {
        let own = self.from.take();
        if has_past {
            let mut own = own.unwrap_or_else(|| spares.take());
            let from = spares.unshared(&mut own);
            from.copy_from(other.from.as_deref().unwrap_or(current));
            if let Some(past) = &other.tracks.past {
                past.copy_to(from);
            }
            self.from = Some(own);
        } else if let Some(old) = own {
            spares.release(old);
        }
        self.copy_tracks(other, current.len());
    }

    /// Copies which bodies moved and fall, with their ages and spans. `ticks` becomes 0, and `from` stays as it is.
    fn copy_tracks(&mut self, other: &Self, bodies: usize) {
        self.ticks = 0;
        self.moved.clone_from(&other.moved);
        self.moved.resize(bodies, false);
        self.falling.clone_from(&other.falling);
        self.falling.resize(bodies);
        let tracks = &mut self.tracks;
        tracks.clear();
        tracks.ages.extend_from_slice(&other.tracks.ages);
        tracks.spans.extend_from_slice(&other.tracks.spans);
        if other.tracks.is_empty() {
            tracks.ages.resize(bodies, 0);
            tracks.spans.resize(bodies, other.ticks as u8);
        }
    }

    /// Returns the pose of a body before it was last carried, as a slot of a snapshot, if known. `current` is the
    /// snapshot that the motion leads to.
    #[inline]
    pub(crate) fn past<'s>(
        &'s self,
        current: &'s QuantizedSnapshot,
        body: usize,
    ) -> Option<(&'s QuantizedSnapshot, usize)> {
        match &self.tracks.past {
            Some(past) => Some(past.of(body).unwrap_or((current, body))),
            None => self.from.as_deref().map(|from| (from, body)),
        }
    }

    /// Copies the motion of bodies from `other`, which leads to a snapshot that is `ticks` older, into a copy made by
    /// [`copy_from`](Self::copy_from).
    pub(crate) fn merge_bodies<I: Iterator<Item = usize>>(
        &mut self,
        bodies: &impl Fn() -> I,
        other: &Self,
        snapshot: &QuantizedSnapshot,
        ticks: u16,
    ) {
        if let Some(from) = &mut self.from {
            let from = Arc::get_mut(from).expect("a copy does not share it");
            let past = |body| other.past(snapshot, body).unwrap_or((snapshot, body));
            from.put_slots(|| bodies().map(past), bodies);
        }
        for body in bodies() {
            self.moved[body] = other.moved[body];
            self.falling.set(body, other.falling.get(body));
            self.tracks.ages[body] = saturated(ticks);
            self.tracks.spans[body] = other.span(body) as u8;
        }
    }

    /// Ticks since a packet carried a body; 0 after a complete packet.
    pub(crate) fn age(&self, body: usize) -> u8 {
        self.tracks.ages.get(body).copied().unwrap_or(0)
    }

    /// Ticks of a body's motion; 0 if it is unknown.
    pub(crate) fn span(&self, body: usize) -> u16 {
        let span = self.tracks.spans.get(body);
        span.map_or(self.ticks, |&span| span.into())
    }

    pub(crate) fn carried(&self, body: usize) -> bool {
        self.tracks.carried.get(body).copied().unwrap_or(true)
    }

    /// Displacement of a body in 1/512 m. `current` is the snapshot that the motion leads to. Zero if the motion is
    /// unknown or positions do not have 512 steps per metre, because only stages with 512 steps use it.
    pub(crate) fn displacement(&self, current: &QuantizedSnapshot, body: usize) -> [i32; 3] {
        self.past(current, body).map_or([0; 3], |(from, slot)| {
            if !current.is_life_of(body, (from, slot)) {
                return [0; 3];
            }
            let (now, then) = (current.position(body), from.position(slot));
            std::array::from_fn(|axis| now[axis] - then[axis])
        })
    }

    /// Returns the bytes of memory in use, except shared memory, which is added to `shared`.
    pub(crate) fn count_memory(&self, shared: &mut SharedMemory) -> usize {
        if let Some(from) = &self.from {
            shared.count(from, QuantizedSnapshot::memory_bytes);
        }
        let past = self.tracks.past.as_ref().map_or(0, Past::memory_bytes);
        size_of_val(&*self.moved) + self.falling.memory_bytes() + 3 * self.tracks.ages.len() + past
    }
}

impl Tracks {
    pub(crate) const fn is_empty(&self) -> bool {
        self.ages.is_empty()
    }

    fn clear(&mut self) {
        self.carried.clear();
        self.ages.clear();
        self.spans.clear();
        self.past = None;
    }
}

/// Whether the downward acceleration of a body is above half of gravity: it moved for `ticks` from `baseline` to
/// `current`, and before that with the motion `before`.
#[inline(always)]
fn is_falling(
    current: &QuantizedSnapshot,
    ticks: u16,
    baseline: &QuantizedSnapshot,
    before: &Motion,
    body: usize,
) -> bool {
    let Linear { gravity: (numerator, denominator), fall_height, .. } = current.plan().linear;
    let height = current.position(body)[2];
    if height <= fall_height || !current.is_same_life(baseline, body) {
        return false;
    }
    let rise = i64::from(height - baseline.position(body)[2]);
    let rise_before = i64::from(before.displacement(baseline, body)[2]);
    let (ticks, span) = (i64::from(ticks), i64::from(before.span(body)));
    // rise / ticks − rise_before / span < −gravity / 2 × (ticks + span) / 2, multiplied by the denominators.
    (rise * span - rise_before * ticks) * 4 * denominator
        < -numerator * (ticks + span) * ticks * span
}

/// Limits ticks to [`UNKNOWN_AGE`].
fn saturated(ticks: u16) -> u8 {
    ticks.min(UNKNOWN_AGE.into()) as u8
}
