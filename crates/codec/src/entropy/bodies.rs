//! The bodies of a packet, in the coding order of section 15 of `WIRE.md`.
//!
//! The anchor of the scene is the player. A body is *active* if it moved between the reference's own baseline and the
//! reference, or since the newer additional reference. A resting body is *touched* if a body with coded fields came
//! near it. Bodies coded earlier in the packet are context for later ones: a body in a ball of bodies moves with its
//! neighbours, and a resting body starts to move when another body comes near.

use super::adaptive::ResidualHistory;
use super::bins::{CodingObserver, Element};
use super::body_context::BodyContext;
use super::coder::BinCoder;
use super::layout::{
    ACTIVE_CHANGES, AGE_CLASSES, AdaptiveFlag, CARRIED_STATES, RESTING_CHANGES, TOGGLES,
};
use super::order::{Resting, Scratch, UNTOUCHED};
use super::packet_coder::PacketCoder;
use crate::decode_error::DecodeError;
use crate::flags::flagged;
use crate::ledger::BitKind;
use crate::snapshot::{Fields, QuantizedSnapshot};

/// The snapshot that is coded, in either direction.
pub(crate) struct PacketBodies<'c> {
    /// The snapshot to encode; `None` when decoding.
    pub(crate) target: Option<&'c QuantizedSnapshot>,
    /// The snapshot being decoded, which starts as a copy of the reference; `None` when encoding.
    pub(crate) decoded: Option<&'c mut QuantizedSnapshot>,
    /// Whether each body differs from the reference, or whether a partial packet carries it. Input when encoding,
    /// output when decoding.
    pub(crate) changed: &'c mut [bool],
}

/// The data that each coded body updates.
struct Pass<'p, 'c> {
    resting: &'p mut Resting,
    bodies: &'p mut PacketBodies<'c>,
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    pub(crate) fn bodies(
        &mut self,
        scratch: &mut Scratch,
        bodies: &mut PacketBodies<'_>,
    ) -> Result<(), DecodeError> {
        if self.snapshots.reference.is_empty() {
            return Ok(());
        }
        self.lives(bodies, &mut scratch.changed_lives)?;
        scratch.flag_turns(&self.snapshots);
        if self.is_partial {
            self.carried_flags(scratch, bodies.changed)?;
        }
        scratch.sort(&self.snapshots);
        let is_carried = self.is_partial.then_some(&*bodies.changed);
        scratch.place_resting(&self.snapshots, is_carried);
        let Scratch { has_turn, order, histories, resting, .. } = scratch;
        if let Some(predictor) = &self.predictor {
            predictor.prepare(histories);
        }
        let pass = &mut Pass { resting, bodies };
        for (key, history) in order.iter().zip(&*histories) {
            let context = self.context(history, key.distance());
            if self.is_partial || self.active_changes(&context, pass) {
                self.fields(&context, UNTOUCHED, pass)?;
            }
        }
        if !self.is_partial {
            return self.resting_bodies(has_turn, pass);
        }
        for body in (0..has_turn.len()).filter(|&body| !has_turn[body]) {
            self.resting_fields(body, pass)?;
        }
        Ok(())
    }

    /// Codes which bodies a partial packet carries. Active bodies that are not carried are removed from the coding order.
    fn carried_flags(
        &mut self,
        scratch: &mut Scratch,
        carried: &mut [bool],
    ) -> Result<(), DecodeError> {
        let reference = self.snapshots.reference;
        for (body, is_active) in scratch.has_turn.iter_mut().enumerate() {
            if scratch.changed_lives.binary_search(&body).is_ok() {
                continue;
            }
            // An empty slot can be carried too. It tells the receiver that the slot is still empty.
            let class = match (reference.is_present(body), *is_active) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => 2,
            };
            // The number of binary digits of the age in ticks, at most 7.
            let age = (u8::BITS - self.snapshots.motion.age(body).leading_zeros()) as usize;
            let state = class * AGE_CLASSES + age.min(AGE_CLASSES - 1);
            let element = Element { kind: BitKind::Selection, body: Some(body) };
            carried[body] = self.adaptive(element, carried[body], |next| {
                let first = next.values.len() - CARRIED_STATES;
                &mut next.values[first + state]
            });
            *is_active &= carried[body];
        }
        self.bins.check_end()
    }

    /// Codes whether an active body of a complete packet changes. Magnitudes are below 16.
    fn active_changes(&mut self, context: &BodyContext<'_>, pass: &mut Pass<'_, '_>) -> bool {
        let changes = &mut pass.bodies.changed[context.body];
        let interacting = usize::from(self.snapshots.reference.is_interacting(context.body));
        let element = Element { kind: BitKind::Selection, body: Some(context.body) };
        // A body that moved in the longer span but not in the newer has come to rest. The longer span saves up to 0.03 %,
        // the newer up to 0.2 %.
        let contexts = [
            context.motion_6_ticks * 16 + context.rotation,
            (context.velocity * 16 + context.recent_rotation) * 2 + interacting,
        ];
        *changes = self.flag(element, ACTIVE_CHANGES, contexts, *changes);
        *changes
    }

    /// Codes the resting bodies of a complete packet: the touched ones, then the others.
    fn resting_bodies(
        &mut self,
        has_turn: &mut [bool],
        pass: &mut Pass<'_, '_>,
    ) -> Result<(), DecodeError> {
        // One pass in ascending order. A body that is touched only after the pass went by its index is among the
        // others.
        let mut from = 0;
        while let Some(body) = pass.resting.touched.next(from) {
            from = body + 1;
            has_turn[body] = true;
            self.resting_body(body, pass)?;
        }
        let others_change = |changed: &[bool]| flagged(changed).any(|body| !has_turn[body]);
        let change = others_change(pass.bodies.changed);
        if self.adaptive_flag(AdaptiveFlag::AnyUntouched, None, change) {
            let others = (0..has_turn.len()).filter(|&body| !has_turn[body]);
            self.groups(others, pass)?;
            // An encoder sets the flag only if one of these bodies changed.
            self.bins.check_canonical(others_change(pass.bodies.changed))?;
        }
        Ok(())
    }

    /// Codes bodies in groups, each with one flag for whether any of its bodies changes. A body that was touched in the
    /// meantime is coded by itself and does not count for a group.
    fn groups(
        &mut self,
        mut bodies: impl Iterator<Item = usize>,
        pass: &mut Pass<'_, '_>,
    ) -> Result<(), DecodeError> {
        let mut flag = AdaptiveFlag::GroupAfterClear;
        loop {
            let (mut group, mut count) = ([0; GROUP], 0);
            while count < GROUP
                && let Some(body) = bodies.next()
            {
                if pass.resting.touched.get(body) {
                    self.resting_body(body, pass)?;
                } else {
                    group[count] = body;
                    count += 1;
                }
            }
            let group = &group[..count];
            if group.is_empty() {
                return Ok(());
            }
            let any_changes = |changed: &[bool]| group.iter().any(|&body| changed[body]);
            let changes = any_changes(pass.bodies.changed);
            if !self.adaptive_flag(flag, None, changes) {
                flag = AdaptiveFlag::GroupAfterClear;
                continue;
            }
            flag = AdaptiveFlag::GroupAfterSet;
            group.iter().try_for_each(|&body| self.resting_body(body, pass))?;
            self.bins.check_canonical(any_changes(pass.bodies.changed))?;
        }
    }

    /// Codes a resting body of a complete packet.
    fn resting_body(&mut self, body: usize, pass: &mut Pass<'_, '_>) -> Result<(), DecodeError> {
        let changes = pass.bodies.changed[body];
        let changes = match pass.resting.nearest(body) {
            // There are hundreds of these flags and few are set. One adaptive probability saves the time for mixing.
            UNTOUCHED => self.adaptive_flag(AdaptiveFlag::Untouched, Some(body), changes),
            // Bodies that are pushed start to move. The distance saves 0.1 to 0.3 %.
            nearest => {
                let interacting = usize::from(self.snapshots.reference.is_interacting(body));
                let element = Element { kind: BitKind::Selection, body: Some(body) };
                self.flag(element, RESTING_CHANGES, [nearest * 2 + interacting], changes)
            }
        };
        pass.bodies.changed[body] = changes;
        if changes { self.resting_fields(body, pass) } else { Ok(()) }
    }

    fn adaptive_flag(&mut self, flag: AdaptiveFlag, body: Option<usize>, value: bool) -> bool {
        let kind = BitKind::Selection;
        self.adaptive(Element { kind, body }, value, |next| &mut next.adaptive[flag as usize])
    }

    /// Codes the fields of a resting body that the packet carries.
    fn resting_fields(&mut self, body: usize, pass: &mut Pass<'_, '_>) -> Result<(), DecodeError> {
        let history = self.snapshots.history(body);
        let context = self.context(&history, self.snapshots.distance_to_anchor(body));
        self.fields(&context, pass.resting.nearest(body), pass)
    }

    /// Codes the fields of a body that the packet carries, and marks the resting bodies near it as touched. `nearest` is
    /// its distance class from [`Resting::nearest`].
    fn fields(
        &mut self,
        context: &BodyContext<'_>,
        nearest: usize,
        pass: &mut Pass<'_, '_>,
    ) -> Result<(), DecodeError> {
        let BodyContext { body, history, .. } = *context;
        let Pass { resting, bodies } = pass;
        let (reference, target) = (self.snapshots.reference, bodies.target);
        let interacting = reference.is_interacting(body);
        let toggles = target.is_some_and(|target| target.is_interacting(body) != interacting);
        let toggles = self.toggles(context, nearest, toggles);
        let packed = target.map(|target| target.smallest_three(body));
        let (orientation, unpacked) = self.orientation(context, packed)?;
        let position = target.map(|target| target.position(body));
        let position = self.position(context, orientation, unpacked, position)?;
        let fields = Fields {
            position: position.value,
            interacting: interacting ^ toggles,
            smallest_three: orientation.value,
            ..Fields::default()
        };
        if let Some(decoded) = &mut bodies.decoded {
            decoded.set_fields(body, &fields);
        }
        let mut is_same = reference.fields(body) == fields;
        if !self.snapshots.plan.values.is_empty() {
            is_same &= !self.values(body, bodies)?;
        }
        // A partial packet may carry an unchanged body.
        self.bins.check_canonical(!is_same || self.is_partial)?;
        let residual_history = ResidualHistory {
            is_known: true,
            position: position.residual as u8,
            orientation: orientation.residual as u8,
            best_orientation: orientation.best as u8,
            best_position: position.best as u8,
        };
        self.next.residual_histories[body] = residual_history.pack();
        if let Some(predictor) = &mut self.predictor {
            let residuals = [orientation.residual, position.residual];
            predictor.update(history, unpacked, position.value, residuals);
        }
        resting.approach(position.value, self.snapshots.plan.anchor == Some(body));
        // Without this check, missing bytes decode to changes of thousands of bodies.
        self.bins.check_end()
    }

    /// Codes whether the *interacting* flag of a body differs from the reference's.
    fn toggles(&mut self, context: &BodyContext<'_>, nearest: usize, value: bool) -> bool {
        let interacting = usize::from(self.snapshots.reference.is_interacting(context.body));
        let element = Element { kind: BitKind::Interacting, body: Some(context.body) };
        // A resting body turns red if it is touched, and a red one grey after some time at rest. The distance to the
        // player hardly helps. The other context saves 0.1 to 0.7 %.
        let contexts = [
            (interacting * 16 + nearest) * 16 + context.motion_6_ticks,
            interacting * 16 + context.distance,
        ];
        self.flag(element, TOGGLES, contexts, value)
    }
}

/// Maximum number of bodies that share a flag. If one of 900 untouched bodies changes, 74 flags are coded
/// instead of 900.
const GROUP: usize = 16;
