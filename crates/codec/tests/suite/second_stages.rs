//! Stages of packets in the second decoder, and their precision.
//!
//! Section numbers in comments refer to `WIRE.md`.

/// The stages of a packet (section 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stages {
    /// The seven codes in order. Codes for given parameters are replaced by those for the usual ones.
    pub(crate) codes: [u8; 7],
    /// Steps per metre.
    pub(crate) steps: i64,
    /// The small and the large range of indices, positions and orientations.
    pub(crate) ranges: [[u32; 2]; 3],
    pub(crate) is_simulated: bool,
    pub(crate) is_partial: bool,
}

/// Stages of these codes with the usual parameters (section 12).
pub(crate) const fn usual(codes: [u8; 7]) -> Stages {
    Stages {
        codes,
        steps: 512,
        ranges: [[3, 5], [5, 9], [5, 8]],
        is_simulated: false,
        is_partial: false,
    }
}

// The codes of section 5 that the second decoder names.
pub(crate) const FULL: u8 = 0;
pub(crate) const OFF: u8 = 0;
pub(crate) const POSITION_QUANTIZED: u8 = 1;
pub(crate) const POSITION_AFFINE: u8 = 2;
pub(crate) const VELOCITY_QUANTIZED: u8 = 1;
pub(crate) const VELOCITY_AT_REST_FLAG: u8 = 2;
pub(crate) const VELOCITY_OMITTED: u8 = 3;
pub(crate) const VELOCITY_AFFINE: u8 = 4;
pub(crate) const RELATIVE_INDICES: u8 = 3;
pub(crate) const TWO_RANGES: u8 = 1;
pub(crate) const PREDICTED: u8 = 2;
pub(crate) const GROWING_RANGES: u8 = 2;
pub(crate) const ARITHMETIC: u8 = 5;
pub(crate) const ARITHMETIC_PREDICTED: u8 = 6;

/// The widths of the seven codes (section 5).
pub(crate) const STAGE_BITS: [usize; 7] = [4, 3, 2, 3, 2, 2, 2];

/// Precision of stages (section 2): orientation, velocity, position and its steps.
pub(crate) fn precision(stages: Stages) -> [i64; 4] {
    let [orientation, mut velocity, position, ..] = stages.codes;
    if velocity == VELOCITY_AT_REST_FLAG {
        velocity = VELOCITY_QUANTIZED;
    }
    let codes = [orientation, velocity, position].map(i64::from);
    [codes[0], codes[1], codes[2], stages.steps]
}
