//! The bodies of a packet in coding order.
//!
//! The anchor of the scene (the player) is first. The active bodies follow by distance to the anchor. A body is active
//! if it moved between the reference's own baseline and the reference, or since the newer additional reference.
//! Resting bodies that a changed body *touched*, which means came near, are next, by index. The untouched bodies are
//! last, in groups of up to 16 with one flag. Bodies coded earlier in the packet are context for later ones: a body in
//! a ball of bodies moves with its neighbours, and a resting body starts to move when another body comes near.

use super::adaptive::ResidualHistory;
use super::bins::{CodingObserver, Element, check_canonical, check_end};
use super::coder::BinCoder;
use super::history::{KinematicHistory, Position};
use super::layout::{ACTIVE_CHANGES, AdaptiveFlag, RESTING_CHANGES, TOGGLES};
use super::order::{OrderKey, Resting, Scratch, UNTOUCHED};
use super::packet_coder::PacketCoder;
use super::predictor::Predictor;
use super::residual::magnitude;
use super::rotation::height_row;
use crate::decode_error::DecodeError;
use crate::flags::flagged;
use crate::ledger::BitKind;
use crate::plan::{Plan, Solid};
use crate::snapshot::{Fields, QuantizedSnapshot};

/// The snapshot that is coded, in either direction.
pub(crate) struct Bodies<'c> {
    /// The snapshot to encode; `None` when decoding.
    pub(crate) target: Option<&'c QuantizedSnapshot>,
    /// The snapshot being decoded, which starts as a copy of the reference; `None` when encoding.
    pub(crate) decoded: Option<&'c mut QuantizedSnapshot>,
    /// Whether each body differs from the reference, or whether a partial packet carries it. Input when encoding,
    /// output when decoding.
    pub(crate) changed: &'c mut [bool],
}

/// A body and the values that its contexts are computed from: small classes, so that a few of them index a table.
pub(super) struct BodyContext<'h> {
    pub(super) body: usize,
    pub(super) history: &'h KinematicHistory,
    pub(super) residual_history: ResidualHistory,
    /// [Magnitudes](magnitude) of the fields of [`KinematicHistory`] with the same names.
    pub(super) motion_6_ticks: usize,
    pub(super) velocity: usize,
    pub(super) rotation: usize,
    pub(super) recent_rotation: usize,
    /// Class of the height of the lowest point above the floor: 0 to 5. 5 without a floor or a
    /// known shape.
    pub(super) clearance: usize,
    /// Class of the distance to the anchor: 0 to 15, each 1/8 m wide in the demo and scaled with the size of bodies in
    /// other scenes. Without an anchor, the kind modulo 16 takes its place.
    pub(super) distance: usize,
    /// `clearance`, with its highest class divided into three by `distance`: 0 to 7.
    pub(super) zone: usize,
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes all bodies: lives that come or go, then the others in coding order.
    pub(crate) fn bodies<P: Predictor>(
        &mut self,
        predictor: &mut P,
        scratch: &mut Scratch,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        if self.snapshots.reference.is_empty() {
            return Ok(());
        }
        self.lives(bodies, &mut scratch.changed_lives)?;
        let anchor = scratch.flag_turns(&self.snapshots);
        if self.is_partial {
            return self.carried_bodies(predictor, scratch, anchor, bodies);
        }
        scratch.sort(&self.snapshots, anchor);
        if self.snapshots.plan.has_lives() {
            // These slots are empty, or `lives` has coded them. They must not count as resting bodies.
            for body in 0..scratch.has_turn.len() {
                scratch.has_turn[body] |= !scratch.is_coded(&self.snapshots, body);
            }
        }
        let lengths = &self.snapshots.plan.lengths;
        let positions = &self.snapshots.reference.packed_positions;
        scratch.resting.reset(positions, &scratch.has_turn, lengths);
        let Scratch { has_turn, order, histories, resting, untouched, .. } = scratch;
        let anchor = anchor.map(|anchor| OrderKey::new(anchor, 0));
        let anchor_first = anchor.iter().chain(&*order);
        histories.clear();
        histories.extend(anchor_first.clone().map(|key| self.snapshots.of(key.body())));
        predictor.prepare(histories);
        for (key, history) in anchor_first.zip(&*histories) {
            self.body(key.body(), Some((key.distance(), history)), predictor, resting, bodies)?;
        }
        // One pass in ascending order. A body that is touched only after the pass went by its index is coded by
        // `untouched`.
        let mut from = 0;
        while let Some(body) = resting.touched_from(from) {
            from = body + 1;
            has_turn[body] = true;
            self.body(body, None, predictor, resting, bodies)?;
        }
        let changes = flagged(bodies.changed).any(|body| !has_turn[body]);
        if self.adaptive_flag(AdaptiveFlag::AnyUntouched, None, changes) {
            untouched.clear();
            untouched.extend((0..has_turn.len()).filter(|&body| !has_turn[body]));
            self.untouched(untouched, predictor, resting, bodies)?;
            // An encoder sets the flag only if one of these bodies changed.
            let any_changed = untouched.iter().any(|&body| bodies.changed[body]);
            check_canonical(&self.bins, any_changed)?;
        }
        Ok(())
    }

    /// Codes the fields of a body that the packet carries, and marks the resting bodies near it as touched.
    pub(super) fn carried_body<P: Predictor>(
        &mut self,
        context: &BodyContext<'_>,
        nearest: usize,
        predictor: &mut P,
        resting: &mut Resting,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        let position = self.body_fields(context, nearest, predictor, bodies)?;
        resting.approach(position, self.snapshots.plan.anchor == Some(context.body));
        // Without this check, missing bytes decode to changes of thousands of bodies.
        check_end(&self.bins)
    }

    /// Codes the bodies that were not touched so far, in groups. A group has one flag for whether any of its bodies
    /// changes. A body that was touched in the meantime is coded by itself and does not count for a group.
    fn untouched<P: Predictor>(
        &mut self,
        untouched: &[usize],
        predictor: &mut P,
        resting: &mut Resting,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        let mut remaining = untouched;
        let mut previous = false;
        while !remaining.is_empty() {
            let mut group = [0; UNTOUCHED_GROUP];
            let mut count = 0;
            let mut changes = false;
            while count < UNTOUCHED_GROUP
                && let Some((&body, after)) = remaining.split_first()
            {
                remaining = after;
                if resting.is_touched(body) {
                    self.body(body, None, predictor, resting, bodies)?;
                } else {
                    group[count] = body;
                    count += 1;
                    changes |= bodies.changed[body];
                }
            }
            let group = &group[..count];
            // All of the remaining bodies had been touched.
            if group.is_empty() {
                break;
            }
            let flag = match previous {
                false => AdaptiveFlag::GroupAfterClear,
                true => AdaptiveFlag::GroupAfterSet,
            };
            previous = self.adaptive_flag(flag, None, changes);
            if !previous {
                continue;
            }
            for &body in group {
                self.body(body, None, predictor, resting, bodies)?;
            }
            check_canonical(&self.bins, group.iter().any(|&body| bodies.changed[body]))?;
        }
        Ok(())
    }

    fn adaptive_flag(&mut self, flag: AdaptiveFlag, body: Option<usize>, value: bool) -> bool {
        let kind = BitKind::Selection;
        self.adaptive(Element { kind, body }, value, |next| &mut next.adaptive[flag as usize])
    }

    /// Codes one body. An active body comes with its squared distance to the anchor, in steps squared, and its history.
    fn body<P: Predictor>(
        &mut self,
        body: usize,
        active: Option<(i64, &KinematicHistory)>,
        predictor: &mut P,
        resting: &mut Resting,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        let changes = std::mem::take(&mut bodies.changed[body]);
        let nearest = resting.nearest(body);
        // Before the history is computed, because most resting bodies do not change.
        if active.is_none() && !self.resting_changes(body, nearest, changes) {
            return Ok(());
        }
        let resting_history;
        let (distance, history) = match active {
            Some(active) => active,
            None => {
                resting_history = self.snapshots.of(body);
                (self.snapshots.distance_to_anchor(body), &resting_history)
            }
        };
        let context = self.context(history, distance);
        if active.is_some() && !self.active_changes(&context, changes) {
            return Ok(());
        }
        bodies.changed[body] = true;
        self.carried_body(&context, nearest, predictor, resting, bodies)
    }

    /// Computes the contexts of a body. `distance` is its squared distance to the anchor, in steps squared.
    pub(super) fn context<'h>(
        &self,
        history: &'h KinematicHistory,
        distance: i64,
    ) -> BodyContext<'h> {
        let plan = self.snapshots.plan;
        let distance = match plan.anchor {
            Some(_) => {
                ((distance as f32).sqrt() * plan.lengths.distance_classes).min(15.0) as usize
            }
            None => history.kind % 16,
        };
        let solid = plan.solids[history.kind];
        let clearance = match plan.motion.floor {
            Some(floor) if solid != Solid::Unknown => {
                // Height of the lowest point above the floor, in steps.
                let below = solid.below(height_row(history.orientation));
                let clearance = history.position[2] as f32 - floor - below;
                plan.lengths.clearance_class(clearance as i32)
            }
            _ => plan.lengths.clearances.len(),
        };
        BodyContext {
            body: history.body,
            residual_history: self.next.residual_histories[history.body].unpack(),
            motion_6_ticks: largest(history.motion_6_ticks),
            velocity: largest(history.velocity),
            rotation: magnitude(history.rotation),
            recent_rotation: magnitude(history.recent_rotation),
            clearance,
            distance,
            zone: match clearance {
                5 => 5 + (distance / 4).min(2),
                near_floor => near_floor,
            },
            history,
        }
    }

    /// Codes whether a resting body changes. `nearest` is its distance class from [`Resting::nearest`].
    fn resting_changes(&mut self, body: usize, nearest: usize, value: bool) -> bool {
        if nearest == UNTOUCHED {
            // There are hundreds of these flags and few are set. One adaptive probability saves the time for mixing.
            return self.adaptive_flag(AdaptiveFlag::Untouched, Some(body), value);
        }
        let interacting = usize::from(self.snapshots.reference.is_interacting(body));
        let element = Element { kind: BitKind::Selection, body: Some(body) };
        self.flag(element, RESTING_CHANGES, [nearest * 2 + interacting], value)
    }

    /// Codes whether an active body changes. Magnitudes are below 16.
    fn active_changes(&mut self, context: &BodyContext<'_>, value: bool) -> bool {
        let interacting = usize::from(self.snapshots.reference.is_interacting(context.body));
        let element = Element { kind: BitKind::Selection, body: Some(context.body) };
        let contexts = [
            context.motion_6_ticks * 16 + context.rotation,
            (context.velocity * 16 + context.recent_rotation) * 2 + interacting,
        ];
        self.flag(element, ACTIVE_CHANGES, contexts, value)
    }

    /// Codes whether the *interacting* flag of a body differs from the reference's.
    fn toggles(&mut self, context: &BodyContext<'_>, nearest: usize, value: bool) -> bool {
        let interacting = usize::from(self.snapshots.reference.is_interacting(context.body));
        let element = Element { kind: BitKind::Interacting, body: Some(context.body) };
        let contexts = [
            (interacting * 16 + nearest) * 16 + context.motion_6_ticks,
            interacting * 16 + context.distance,
        ];
        self.flag(element, TOGGLES, contexts, value)
    }

    /// Codes the values of a changed body's further fields. Returns whether any of them differs from the reference's.
    fn values_change(&mut self, body: usize, bodies: &mut Bodies<'_>) -> Result<bool, DecodeError> {
        let before = self.snapshots.reference.words_of(body);
        let mut words = [0; Plan::MAX_WORDS];
        let words = &mut words[..before.len()];
        words.copy_from_slice(before);
        self.values(body, bodies.target.map(|target| target.words_of(body)), words)?;
        if let Some(decoded) = &mut bodies.decoded {
            decoded.set_words(body, words);
        }
        Ok(words != before)
    }

    /// Codes the fields of a body that the packet carries, and returns its position.
    pub(super) fn body_fields<P: Predictor>(
        &mut self,
        context: &BodyContext<'_>,
        nearest: usize,
        predictor: &mut P,
        bodies: &mut Bodies<'_>,
    ) -> Result<Position, DecodeError> {
        let BodyContext { body, history, .. } = *context;
        let target = bodies.target;
        let interacting = self.snapshots.reference.is_interacting(body);
        let toggles = target.is_some_and(|target| target.is_interacting(body) != interacting);
        let toggles = self.toggles(context, nearest, toggles);

        let packed = target.map(|target| target.smallest_three(body));
        let (orientation, unpacked) = self.orientation(context, predictor, packed)?;
        let position = target.map(|target| target.position(body));
        let position = self.position(context, predictor, orientation, unpacked, position)?;
        let fields = Fields {
            position: position.value,
            interacting: interacting ^ toggles,
            smallest_three: orientation.value,
            ..Fields::default()
        };
        if let Some(decoded) = &mut bodies.decoded {
            decoded.set_fields(body, &fields);
        }
        let mut is_same = self.snapshots.reference.fields(body) == fields;
        if !self.snapshots.plan.values.is_empty() {
            is_same &= !self.values_change(body, bodies)?;
        }
        // A partial packet may carry an unchanged body.
        check_canonical(&self.bins, !is_same || self.is_partial)?;
        let residual_history = ResidualHistory {
            is_known: true,
            position: position.residual as u8,
            orientation: orientation.residual as u8,
            best_orientation: orientation.best as u8,
            best_position: position.best as u8,
        };
        self.next.residual_histories[body] = residual_history.pack();
        let residuals = [orientation.residual, position.residual];
        predictor.update(history, unpacked, position.value, residuals);
        Ok(position.value)
    }
}

/// Maximum number of untouched bodies that share a flag.
const UNTOUCHED_GROUP: usize = 16;

/// [`magnitude`] of the component with the largest absolute value.
pub(super) fn largest(vector: Position) -> usize {
    let largest = vector.into_iter().map(i32::unsigned_abs).max();
    magnitude(largest.map_or(0, |largest| largest.min(1 << 20) as i32))
}
