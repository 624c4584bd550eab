//! The bins of a simulated scene: the origin of the simulation, the inputs since, a state chunk, and in some packets
//! a longer check. They come before the bodies or replace them.
//!
//! All probabilities are constant, because these bins depend on the network and on the player. The usual value of
//! each bin is 1. A packet with only usual bins ends in zero bytes, which are not sent.

use super::bins::{Bins, CodingObserver, Element};
use super::coder::{BinCoder, ONE};
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;
use crate::sequence::Sequence;
use crate::simulation::{Inputs, MAX_SEATS, MAX_STATE_CHUNK_BYTES, Origin, Simulated};

/// Data of the baseline that a packet of a simulated scene names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SceneBaseline {
    /// Ticks from the baseline to the packet.
    pub(crate) ticks: u16,
    /// Input of each seat in the baseline's tick; 0 if its packet has no inputs.
    pub(crate) input: [u8; MAX_SEATS],
}

/// Whether a simulated packet has the longer check. One in 64 sequence numbers does.
///
/// The choice works at every send interval and across wraps. Multiples of a number would be missed by senders that
/// send every few ticks. With this factor, the longest time without a longer check is 1.3 s at 60 snapshots a second,
/// 3.6 s at 20 and 7.2 s at 10.
pub(crate) const fn has_long_check(sequence: Sequence) -> bool {
    sequence.0.wrapping_mul(2771) < 1 << 10
}

// Probabilities that the scene is simulated, that the origin is the baseline's tick, that the inputs of all seats equal the
// previous ones, that a bit of an input does, and that there is no state chunk. Unchanged inputs take 0.02 bits per tick.
const SIMULATED: u32 = ONE / 32 * 31;
const FROM_BASELINE: u32 = ONE / 64 * 63;
const SAME_INPUT: u32 = ONE / 64 * 63;
const SAME_BIT: u32 = ONE / 4 * 3;
const NO_STATE_CHUNK: u32 = ONE / 256 * 255;

const HALF: u32 = ONE / 2;

const INPUTS: Element = Element::of_packet(BitKind::Inputs);
const STATE: Element = Element::of_packet(BitKind::State);

impl<B: BinCoder, O: CodingObserver> Bins<B, O> {
    /// Codes the inputs and the state chunk. Returns the inputs. A decoded state chunk is appended to `state_chunk`.
    pub(crate) fn scene(
        &mut self,
        target: Simulated<'_>,
        baseline: Option<SceneBaseline>,
        seats: u8,
        state_chunk: &mut Vec<u8>,
    ) -> Result<Option<Inputs>, DecodeError> {
        let inputs = match self.flag(INPUTS, SIMULATED, target.inputs.is_some()) {
            true => Some(self.inputs(target.inputs, baseline, seats)?),
            false => None,
        };
        self.state_chunk(target.state_chunk, state_chunk)?;
        Ok(inputs)
    }

    pub(crate) fn long_check(&mut self, value: u32) -> u32 {
        self.digits(Element::of_packet(BitKind::Check), u32::BITS, value)
    }

    fn inputs(
        &mut self,
        target: Option<&Inputs>,
        baseline: Option<SceneBaseline>,
        seats: u8,
    ) -> Result<Inputs, DecodeError> {
        let ticks = baseline.map(|baseline| baseline.ticks);
        let origin = self.origin(target.map(|inputs| inputs.origin), ticks)?;
        let mut inputs = Inputs::blank(origin, seats);
        // The input before the first one is known only if the origin is the baseline's tick. Otherwise it counts as 0.
        let start = baseline.filter(|baseline| baseline.ticks == u16::from(origin.age()));
        let mut last = start.map_or([0; MAX_SEATS], |baseline| baseline.input);
        let last = &mut last[..seats.into()];
        for (tick, coded) in inputs.ticks_mut().enumerate() {
            let target = target.and_then(|target| target.bytes().chunks(last.len()).nth(tick));
            self.tick(target.unwrap_or(coded), last)?;
            coded.copy_from_slice(last);
            self.check_end()?;
        }
        Ok(inputs)
    }

    fn origin(
        &mut self,
        target: Option<Origin>,
        ticks: Option<u16>,
    ) -> Result<Origin, DecodeError> {
        let usual = ticks
            .and_then(|ticks| u8::try_from(ticks).ok())
            .filter(|&ticks| ticks > 0)
            .map(Origin::Continued);
        if let Some(usual) = usual
            && self.flag(INPUTS, FROM_BASELINE, target == Some(usual))
        {
            return Ok(usual);
        }
        let continued = matches!(target, Some(Origin::Continued(_)));
        let started = matches!(target, Some(Origin::FromSceneStart(_)));
        let kind = match self.flag(INPUTS, HALF, continued) {
            true => Origin::Continued,
            false if self.flag(INPUTS, HALF, started) => Origin::FromSceneStart,
            false => Origin::Restored,
        };
        let age = target.map_or(0, Origin::age);
        let origin = kind(self.digits(INPUTS, 8, age.into()) as u8);
        self.check_range(INPUTS, origin.age(), &(1..=u8::MAX))?;
        self.check_canonical(Some(origin) != usual)?;
        Ok(origin)
    }

    /// Codes the inputs of a tick relative to the previous ones, and replaces these.
    fn tick(&mut self, inputs: &[u8], last: &mut [u8]) -> Result<(), DecodeError> {
        if self.flag(INPUTS, SAME_INPUT, inputs == last) {
            return Ok(());
        }
        let mut are_same = true;
        let others = last.len() - 1;
        for (seat, (&input, last)) in inputs.iter().zip(last).enumerate() {
            // If the others are the same, the last one is not.
            let is_implied = seat == others && are_same;
            if !is_implied && self.flag(INPUTS, HALF, input == *last) {
                continue;
            }
            are_same = false;
            let changes = input ^ *last;
            let changes = (0..u8::BITS).fold(0, |coded, bit| {
                let same = self.flag(INPUTS, SAME_BIT, changes >> bit & 1 == 0);
                coded | u8::from(!same) << bit
            });
            self.check_canonical(changes != 0)?;
            *last ^= changes;
        }
        Ok(())
    }

    fn state_chunk(&mut self, target: &[u8], chunk: &mut Vec<u8>) -> Result<(), DecodeError> {
        if self.flag(INPUTS, NO_STATE_CHUNK, target.is_empty()) {
            return Ok(());
        }
        let length = self.digits(STATE, LENGTH_BITS, target.len() as u32);
        self.check_canonical(length > 0)?;
        for index in 0..length as usize {
            let byte = target.get(index).copied().unwrap_or(0);
            let byte = self.digits(STATE, u8::BITS, byte.into());
            chunk.push(byte as u8);
            self.check_end()?;
        }
        Ok(())
    }
}

const LENGTH_BITS: u32 = MAX_STATE_CHUNK_BYTES.ilog2() + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_checks_go_on_at_every_interval_and_over_wraps() {
        // 60, 30, 20, 15 and 10 a second, and 10 for a sender that skips every second one.
        for (interval, seconds) in [(1, 1.3), (2, 2.5), (3, 3.6), (4, 4.8), (6, 7.2), (12, 13.9)] {
            for phase in 0..interval {
                let mut last = phase;
                let mut longest = 0;
                for tick in (phase..3 * 65_536).step_by(interval) {
                    if has_long_check(Sequence(tick as u16)) {
                        longest = longest.max(tick - last);
                        last = tick;
                    }
                }
                let longest = longest as f64 / 60.0;
                assert!(longest < seconds, "1 in {interval}: {longest} s");
                assert!(3 * 65_536 - last < 1_000);
            }
        }
        let all = (0..=u16::MAX).filter(|&number| has_long_check(Sequence(number)));
        assert_eq!(all.count(), 65_536 / 64);
    }
}
