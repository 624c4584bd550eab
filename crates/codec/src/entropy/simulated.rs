//! What a packet of a simulated scene says before its cubes: from where it was simulated, the inputs, an attachment,
//! and now and then a longer check.
//!
//! Nothing of it adapts: it depends on the network and on the player. What is usual is a set bin, so that a packet
//! with nothing else ends in zero bytes, which are not sent.

use super::coder::{BinCoder, ONE};
use super::session::{CodingObserver, Element, NonCanonical, Session};
use crate::ledger::BitKind;
use crate::simulation::{MAX_ATTACHMENT_BYTES, MAX_SIMULATED_TICKS, Origin};

/// The inputs of a packet, and the origin that they start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub(crate) origin: Origin,
    bytes: [u8; MAX_SIMULATED_TICKS],
    count: usize,
}

impl Inputs {
    /// # Panics
    /// If they are too many.
    pub(crate) fn new(origin: Origin, inputs: &[u8]) -> Self {
        let mut bytes = [0; MAX_SIMULATED_TICKS];
        bytes[..inputs.len()].copy_from_slice(inputs);
        Self {
            origin,
            bytes,
            count: inputs.len(),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

/// That a scene is simulated, that it has never been corrected, that it goes on from the baseline's tick, that no input
/// changes, that there is no attachment, that a corrected world is used.
const SIMULATED: u32 = ONE / 32 * 31;
const EXACT: u32 = ONE / 16 * 15;
const FROM_BASELINE: u32 = ONE / 64 * 63;
const SAME_INPUT: u32 = ONE / 64 * 63;
const SAME_BIT: u32 = ONE / 4 * 3;
const NO_ATTACHMENT: u32 = ONE / 256 * 255;
const CORRECTED: u32 = ONE / 16 * 15;

const HALF: u32 = ONE / 2;

const INPUTS: Element = Element {
    kind: BitKind::Inputs,
    cube: None,
};

impl<B: BinCoder, O: CodingObserver> Session<'_, B, O> {
    /// Codes the origin and the inputs since. `ticks` are those since the baseline, if there is one, and `previous` is
    /// the input of its tick.
    pub(super) fn inputs(
        &mut self,
        target: Option<&Inputs>,
        ticks: Option<u16>,
        previous: u8,
    ) -> Result<Option<Inputs>, NonCanonical> {
        if !self.fixed(INPUTS, SIMULATED, target.is_some()) {
            return Ok(None);
        }
        let origin = self.origin(target.map(|inputs| inputs.origin), ticks)?;
        let count = origin.age().map_or(ticks.unwrap_or(0), u16::from);
        let count = check_range(count, MAX_SIMULATED_TICKS as u16)?;
        let mut inputs = Inputs {
            origin,
            bytes: [0; MAX_SIMULATED_TICKS],
            count: count.into(),
        };
        let is_baseline = origin.age().is_none_or(|age| Some(age.into()) == ticks);
        let mut last = if is_baseline { previous } else { 0 };
        for place in 0..inputs.count {
            let input = target.map_or(0, |target| target.bytes[place]);
            last = self.input(input, last)?;
            inputs.bytes[place] = last;
            if self.bins.is_past_end() {
                return Err(NonCanonical::PastEnd);
            }
        }
        Ok(Some(inputs))
    }

    fn origin(
        &mut self,
        target: Option<Origin>,
        ticks: Option<u16>,
    ) -> Result<Origin, NonCanonical> {
        if !self.fixed(INPUTS, EXACT, target.is_some_and(Origin::is_exact)) {
            let corrected = self.fixed(INPUTS, CORRECTED, target == Some(Origin::Corrected));
            return match (ticks, corrected) {
                (None, _) => Err(NonCanonical::Redundant),
                (Some(_), true) => Ok(Origin::Corrected),
                (Some(_), false) => Ok(Origin::Cold),
            };
        }
        let usual = ticks
            .and_then(|ticks| u8::try_from(ticks).ok())
            .map(Origin::Continued);
        if let Some(usual) = usual
            && self.fixed(INPUTS, FROM_BASELINE, target == Some(usual))
        {
            return Ok(usual);
        }
        let continued = matches!(target, Some(Origin::Continued(_)));
        let started = matches!(target, Some(Origin::Started(_)));
        let kind = match self.fixed(INPUTS, HALF, continued) {
            true => Origin::Continued,
            false if self.fixed(INPUTS, HALF, started) => Origin::Started,
            false => Origin::Restored,
        };
        let age = target.and_then(Origin::age).unwrap_or(0);
        let origin = kind(self.bypass(INPUTS, 8, age.into()) as u8);
        match Some(origin) == usual {
            true => Err(NonCanonical::Redundant),
            false => Ok(origin),
        }
    }

    /// Codes an input after another.
    fn input(&mut self, input: u8, last: u8) -> Result<u8, NonCanonical> {
        if self.fixed(INPUTS, SAME_INPUT, input == last) {
            return Ok(last);
        }
        let changes = input ^ last;
        let changes = (0..u8::BITS).fold(0, |coded, bit| {
            let same = self.fixed(INPUTS, SAME_BIT, changes >> bit & 1 == 0);
            coded | u8::from(!same) << bit
        });
        match changes {
            0 => Err(NonCanonical::Redundant),
            changes => Ok(last ^ changes),
        }
    }

    /// Codes an attachment, and appends it to `attachment` when decoding.
    pub(super) fn attachment(
        &mut self,
        target: &[u8],
        attachment: &mut Vec<u8>,
    ) -> Result<(), NonCanonical> {
        let element = Element {
            kind: BitKind::State,
            cube: None,
        };
        if self.fixed(INPUTS, NO_ATTACHMENT, target.is_empty()) {
            return Ok(());
        }
        let length = self.bypass(element, LENGTH_BITS, target.len() as u32);
        if length == 0 {
            return Err(NonCanonical::Redundant);
        }
        for place in 0..length as usize {
            let byte = target.get(place).copied().unwrap_or(0);
            let byte = self.bypass(element, u8::BITS, byte.into());
            attachment.push(byte as u8);
            if self.bins.is_past_end() {
                return Err(NonCanonical::PastEnd);
            }
        }
        Ok(())
    }

    /// Codes the longer check.
    pub(super) fn long_check_bits(&mut self, value: u32) -> u32 {
        let element = Element {
            kind: BitKind::Check,
            cube: None,
        };
        self.bypass(element, u32::BITS, value)
    }

    /// Codes whether a simulation was right about every cube.
    pub(super) fn all_right(&mut self, value: bool) -> bool {
        let element = Element {
            kind: BitKind::Selection,
            cube: None,
        };
        self.fixed(element, HALF, value)
    }
}

const LENGTH_BITS: u32 = MAX_ATTACHMENT_BYTES.ilog2() + 1;

/// A number of ticks from 1 to `max`.
fn check_range(ticks: u16, max: u16) -> Result<u16, NonCanonical> {
    match ticks {
        ticks if (1..=max).contains(&ticks) => Ok(ticks),
        ticks => Err(NonCanonical::OutOfRange {
            field: BitKind::Inputs,
            cube: None,
            value: ticks.into(),
            min: 1,
            max: max.into(),
        }),
    }
}
