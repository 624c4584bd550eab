//! The bodies of a packet in coding order.
//!
//! The player is first. The active bodies, which moved on the way to the reference, follow by distance to the player,
//! then the resting bodies. Bodies coded earlier in the packet are context for later ones: a body in a ball moves
//! with its neighbours, and a resting body starts to move when another body comes near.

use super::adaptive::PredictionHistory;
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

pub(crate) struct Bodies<'c> {
    /// The snapshot to encode; `None` when decoding.
    pub(crate) target: Option<&'c QuantizedSnapshot>,
    /// The snapshot being decoded, which starts as a copy of the reference; `None` when encoding.
    pub(crate) decoded: Option<&'c mut QuantizedSnapshot>,
    /// Whether each body differs from the reference. Input when encoding, output when decoding.
    pub(crate) changed: &'c mut [bool],
}

/// A body and the values that its contexts are computed from.
pub(super) struct BodyContext<'h> {
    pub(super) body: usize,
    pub(super) history: &'h KinematicHistory,
    pub(super) prediction: PredictionHistory,
    pub(super) motion_6_ticks: usize,
    pub(super) velocity: usize,
    pub(super) rotation_6_ticks: usize,
    pub(super) rotation_velocity: usize,
    /// Class of the height of the lowest point: 0 to 5.
    pub(super) clearance: usize,
    /// Distance to the anchor in eighths of a metre, scaled from the cubes' scene, at most 15. Without an anchor, the
    /// kind modulo 16.
    pub(super) distance: usize,
    /// The class of clearance. The highest class is divided by distance to the player, so the range is 0 to 7.
    pub(super) zone: usize,
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes every body.
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
            // A body that came in this packet is already coded. It is neither active nor resting.
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
        histories.extend(anchor_first.clone().map(|turn| self.snapshots.of(turn.body())));
        predictor.prepare(histories);
        for (turn, history) in anchor_first.zip(&*histories) {
            self.body(turn.body(), Some((turn.distance(), history)), predictor, resting, bodies)?;
        }
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
            let any_changed = untouched.iter().any(|&body| bodies.changed[body]);
            check_canonical(&self.bins, any_changed)?;
        }
        Ok(())
    }

    /// Codes the fields of a changed body, and marks the bodies near it as touched.
    pub(super) fn carried_body<P: Predictor>(
        &mut self,
        context: &BodyContext<'_>,
        nearest: usize,
        predictor: &mut P,
        resting: &mut Resting,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        let position = self.changed_body(context, nearest, predictor, bodies)?;
        resting.approach(position, self.snapshots.plan.anchor == Some(context.body));
        // Without this check, missing bytes decode to changes of thousands of bodies.
        check_end(&self.bins)
    }

    /// Codes the bodies that no coded body is near. Each group has one flag. A body that is touched by the time its
    /// turn comes is coded without its group.
    fn untouched<P: Predictor>(
        &mut self,
        untouched: &[usize],
        predictor: &mut P,
        resting: &mut Resting,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        let mut rest = untouched;
        let mut previous = false;
        while !rest.is_empty() {
            let mut group = [0; UNTOUCHED_GROUP];
            let mut count = 0;
            let mut changes = false;
            while count < UNTOUCHED_GROUP
                && let Some((&body, after)) = rest.split_first()
            {
                rest = after;
                if resting.is_touched(body) {
                    self.body(body, None, predictor, resting, bodies)?;
                } else {
                    group[count] = body;
                    count += 1;
                    changes |= bodies.changed[body];
                }
            }
            let group = &group[..count];
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

    /// Codes one body. An active body comes with its squared distance to the anchor and its history.
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
            prediction: self.next.predictions[history.body].unpack(),
            motion_6_ticks: largest(history.motion_6_ticks),
            velocity: largest(history.velocity),
            rotation_6_ticks: magnitude(history.rotation_6_ticks),
            rotation_velocity: magnitude(history.rotation_velocity),
            clearance,
            distance,
            zone: match clearance {
                5 => 5 + (distance / 4).min(2),
                near_floor => near_floor,
            },
            history,
        }
    }

    fn resting_changes(&mut self, body: usize, nearest: usize, value: bool) -> bool {
        if nearest == UNTOUCHED {
            // There are hundreds of these flags and few are set, so they are not mixed.
            return self.adaptive_flag(AdaptiveFlag::Untouched, Some(body), value);
        }
        let is_set = usize::from(self.snapshots.reference.is_interacting(body));
        let element = Element { kind: BitKind::Selection, body: Some(body) };
        self.flag(element, RESTING_CHANGES, [nearest * 2 + is_set], value)
    }

    fn active_changes(&mut self, context: &BodyContext<'_>, value: bool) -> bool {
        let is_set = usize::from(self.snapshots.reference.is_interacting(context.body));
        let element = Element { kind: BitKind::Selection, body: Some(context.body) };
        let contexts = [
            context.motion_6_ticks * 16 + context.rotation_6_ticks,
            (context.velocity * 16 + context.rotation_velocity) * 2 + is_set,
        ];
        self.flag(element, ACTIVE_CHANGES, contexts, value)
    }

    /// Codes whether *interacting* toggles.
    fn toggles(&mut self, context: &BodyContext<'_>, nearest: usize, value: bool) -> bool {
        let is_set = usize::from(self.snapshots.reference.is_interacting(context.body));
        let element = Element { kind: BitKind::Interacting, body: Some(context.body) };
        let contexts =
            [(is_set * 16 + nearest) * 16 + context.motion_6_ticks, is_set * 16 + context.distance];
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

    /// Codes the fields of a changed body, and returns its position.
    pub(super) fn changed_body<P: Predictor>(
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
        let prediction = PredictionHistory {
            is_known: true,
            position: position.residual as u8,
            orientation: orientation.residual as u8,
            best_orientation: orientation.best as u8,
            best_position: position.best as u8,
        };
        self.next.predictions[body] = prediction.pack();
        let residuals = [orientation.residual, position.residual];
        predictor.update(history, unpacked, position.value, residuals);
        Ok(position.value)
    }
}

/// Maximum number of untouched bodies that share a flag.
const UNTOUCHED_GROUP: usize = 16;

/// Magnitude of the largest component.
pub(super) fn largest(vector: Position) -> usize {
    let largest = vector.into_iter().map(i32::unsigned_abs).max();
    magnitude(largest.map_or(0, |largest| largest.min(1 << 20) as i32))
}
