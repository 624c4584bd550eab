//! Section 17 of `DECISIONS.md`, implemented from the text alone: what a packet of a simulated scene says besides its
//! cubes.

use crate::second_coder::Bins;
use crate::second_cubes::Cube;

/// Where a simulation starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Origin {
    Continued,
    Started,
    Restored,
    Corrected,
    Cold,
}

/// What a packet says of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scene {
    pub(crate) origin: Origin,
    /// One for each tick from there.
    pub(crate) inputs: Vec<u8>,
}

impl Scene {
    /// Whether the simulated snapshot is the packet's, without a word about cubes.
    pub(crate) fn is_exact(&self) -> bool {
        !matches!(self.origin, Origin::Corrected | Origin::Cold)
    }
}

/// What an engine simulates for a scene: none if it has no such world.
pub(crate) type Engine<'a> = &'a dyn Fn(&Scene) -> Option<Vec<Cube>>;

/// What both sides know of a scene before the packet.
pub(crate) struct Known {
    /// Since the baseline, if there is one.
    pub(crate) ticks: Option<i64>,
    /// That of the baseline's tick.
    pub(crate) input: u8,
}

/// Reads the scene: none if the packet is coded without a simulation, or is refused.
pub(crate) fn read_scene(bins: &mut Bins, known: &Known) -> Option<Scene> {
    if !bins.fixed(63_488) {
        return None;
    }
    let usual = known.ticks.filter(|ticks| *ticks <= 255);
    let (origin, ticks) = if !bins.fixed(61_440) {
        let is_corrected = bins.fixed(61_440);
        bins.require(known.ticks.is_some(), "there is no baseline");
        let origin = match is_corrected {
            true => Origin::Corrected,
            false => Origin::Cold,
        };
        (origin, known.ticks?)
    } else if usual.is_some() && bins.fixed(64_512) {
        (Origin::Continued, usual?)
    } else {
        let origin = match bins.bypass() == 1 {
            true => Origin::Continued,
            false if bins.bypass() == 1 => Origin::Started,
            false => Origin::Restored,
        };
        let ticks = number(bins, 8);
        let is_usual = origin == Origin::Continued && usual == Some(ticks);
        bins.require(!is_usual, "the baseline's tick, spelled out");
        (origin, ticks)
    };
    let fits = (1..=255).contains(&ticks);
    bins.require(fits, "there are no inputs, or too many");
    if !fits {
        return None;
    }
    let mut last = match known.ticks == Some(ticks) {
        true => known.input,
        false => 0,
    };
    let inputs = (0..ticks).map(|_| {
        if !bins.fixed(64_512) {
            let before = last;
            for bit in 0..8 {
                last ^= u8::from(!bins.fixed(49_152)) << bit;
            }
            bins.require(last != before, "the same input as a change");
        }
        last
    });
    let inputs = inputs.collect();
    Some(Scene { origin, inputs })
}

/// Reads the attachment.
pub(crate) fn read_attachment(bins: &mut Bins) -> Vec<u8> {
    if bins.fixed(65_280) {
        return Vec::new();
    }
    let length = number(bins, 10);
    bins.require(length > 0, "an attachment of no bytes");
    (0..length).map(|_| number(bins, 8) as u8).collect()
}

/// Reads the long check, which is refused unless it is `expected`.
pub(crate) fn read_long_check(bins: &mut Bins, expected: u32) {
    let is_right = (0..32).rev().fold(true, |is_right, bit| {
        let expected = expected >> bit & 1 == 1;
        (bins.written(32_768, expected) == expected) && is_right
    });
    bins.require(is_right, "the long check differs");
}

/// A number of that many bypass bins, most significant bit first.
fn number(bins: &mut Bins, bits: u32) -> i64 {
    (0..bits).fold(0, |number, _| 2 * number + bins.bypass())
}
