//! The values of a body's further fields: whether each changed, and by how much. The probabilities adapt from packet
//! to packet. They start at even odds in every scene.

use super::bins::{CodingObserver, Element};
use super::bodies::PacketBodies;
use super::coder::BinCoder;
use super::layout::{DECREASES, DIGITS, VALUE_CLASSES, VALUE_STATES};
use super::packet_coder::PacketCoder;
use crate::decode_error::DecodeError;
use crate::plan::{Plan, ValuePlan};

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes the values of a changed body. Returns whether any of them differs from the reference's.
    pub(super) fn values(
        &mut self,
        body: usize,
        bodies: &mut PacketBodies<'_>,
    ) -> Result<bool, DecodeError> {
        let plan = self.snapshots.plan;
        let target = bodies.target.map(|target| target.words_of(body));
        let reference = self.snapshots.reference.words_of(body);
        let mut words = [0; Plan::MAX_WORDS];
        let words = &mut words[..reference.len()];
        words.copy_from_slice(reference);
        let class = self.snapshots.reference.kind(body) % VALUE_CLASSES;
        for (index, value) in plan.values.iter().enumerate() {
            let before = value.get(words);
            let target = target.map_or(before, |target| value.get(target));
            let states = index * VALUE_STATES;
            let element = Element { kind: value.kind, body: Some(body) };
            if !self.value_bin(element, states + class, target != before) {
                continue;
            }
            value.set(words, self.changed_value(element, value, states, before, target)?);
        }
        if let Some(decoded) = &mut bodies.decoded {
            decoded.set_words(body, words);
        }
        Ok(words != reference)
    }

    fn changed_value(
        &mut self,
        element: Element,
        value: &ValuePlan,
        states: usize,
        before: u32,
        target: u32,
    ) -> Result<u32, DecodeError> {
        if value.max == 1 {
            return Ok(1 - before);
        }
        if value.is_name {
            let coded = self.bins.number(element, value.max as usize + 1, target as usize)? as u32;
            self.bins.check_canonical(coded != before)?;
            return Ok(coded);
        }
        let count = i64::from(value.max) + 1;
        let mut change = i64::from(target) - i64::from(before);
        if value.wraps {
            // The shorter way around.
            change = (change + count / 2).rem_euclid(count) - count / 2;
        }
        let decreases = self.value_bin(element, states + DECREASES, change < 0);
        // A decoder passes 0.
        let size = change.unsigned_abs().max(1);
        let digits = self.digits(element, states + DIGITS, size.ilog2());
        let rest = self.bins.digits(element, digits, (size - (1 << size.ilog2())) as u32);
        let size = (1_i64 << digits) + i64::from(rest);
        let changed = i64::from(before) + if decreases { -size } else { size };
        let changed = if value.wraps { changed.rem_euclid(count) } else { changed };
        self.bins.check_range(element, changed, &(0..=value.max.into()))?;
        self.bins.check_canonical(changed as u32 != before)?;
        Ok(changed as u32)
    }

    /// Codes a number below 32 in unary.
    fn digits(&mut self, element: Element, states: usize, digits: u32) -> u32 {
        let mut coded = 0;
        while coded < u32::BITS - 1
            && self.value_bin(element, states + coded as usize, coded < digits)
        {
            coded += 1;
        }
        coded
    }

    fn value_bin(&mut self, element: Element, state: usize, value: bool) -> bool {
        self.adaptive(element, value, |next| &mut next.values[state])
    }
}
