//! The bodies that a partial packet carries.

use super::bins::{CodingObserver, Element, check_end};
use super::bodies::Bodies;
use super::coder::BinCoder;
use super::layout::{AGE_CLASSES, CARRY_STATES};
use super::order::{OrderKey, Scratch, UNTOUCHED};
use super::packet_coder::PacketCoder;
use super::predictor::Predictor;
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes which bodies a partial packet carries, then the fields of these bodies: the anchor, the active bodies by
    /// distance to it, and the resting bodies by index.
    pub(super) fn carried_bodies<P: Predictor>(
        &mut self,
        predictor: &mut P,
        scratch: &mut Scratch,
        anchor: Option<usize>,
        bodies: &mut Bodies<'_>,
    ) -> Result<(), DecodeError> {
        let reference = self.snapshots.reference;
        let Scratch { has_turn, changed_lives, carried, .. } = scratch;
        carried.clear();
        for (body, is_active) in has_turn.iter_mut().enumerate() {
            if changed_lives.binary_search(&body).is_ok() {
                continue;
            }
            // An empty slot can be carried too. It tells the receiver that the slot is still empty.
            let class = match (reference.is_present(body), *is_active) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => 2,
            };
            let age = age_class(self.snapshots.motion.age(body));
            let element = Element { kind: BitKind::Selection, body: Some(body) };
            let is_carried = self.adaptive(element, bodies.changed[body], |next| {
                let first = next.values.len() - CARRY_STATES;
                &mut next.values[first + class * AGE_CLASSES + age]
            });
            bodies.changed[body] = is_carried;
            *is_active &= is_carried;
            if is_carried && class == 1 {
                carried.push(body);
            }
        }
        check_end(&self.bins)?;
        scratch.sort(&self.snapshots, anchor);
        let Scratch { order, histories, resting, carried, .. } = scratch;
        // Other resting bodies are not coded, so their distances are not needed.
        let lengths = &self.snapshots.plan.lengths;
        resting.reset_few(&reference.packed_positions, carried, lengths);
        let anchor = anchor.filter(|&anchor| bodies.changed[anchor]);
        let anchor = anchor.map(|anchor| OrderKey::new(anchor, 0));
        let active = anchor.iter().chain(&*order);
        histories.clear();
        histories.extend(active.clone().map(|key| self.snapshots.of(key.body())));
        predictor.prepare(histories);
        for (key, history) in active.zip(&*histories) {
            let context = self.context(history, key.distance());
            self.carried_body(&context, UNTOUCHED, predictor, resting, bodies)?;
        }
        for &body in &*carried {
            let nearest = resting.nearest(body);
            let history = self.snapshots.of(body);
            let context = self.context(&history, self.snapshots.distance_to_anchor(body));
            self.carried_body(&context, nearest, predictor, resting, bodies)?;
        }
        Ok(())
    }
}

/// Class of an age in ticks: the number of its binary digits, at most 7.
fn age_class(age: u8) -> usize {
    ((u8::BITS - age.leading_zeros()) as usize).min(AGE_CLASSES - 1)
}
