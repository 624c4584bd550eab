//! Errors of decoding.

use crate::ledger::BitKind;
use crate::limits::TooManyBodies;
use crate::sequence::Sequence;
use crate::stages::IllegalStages;

/// Error of decoding a packet or an initial state. Bit positions are counted from the first bit of the packet,
/// up to the last bit that was read. `body` is the body that the field belongs to, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum DecodeError {
    #[error("the packet ends at bit {at_bit}, inside {field}{}", of_body(*body))]
    Truncated { at_bit: u64, field: BitKind, body: Option<usize> },
    #[error("{bytes} bytes are left over after bit {at_bit}, where the packet ends")]
    TrailingBytes { at_bit: u64, bytes: u64 },
    #[error("the padding from bit {at_bit} is not zero")]
    Padding { at_bit: u64 },
    #[error("the stage descriptor ending at bit {at_bit} has the unused code {code} for {stage}")]
    UnusedCode { at_bit: u64, stage: &'static str, code: u32 },
    /// The stage descriptor spells out parameters that equal the usual ones, which have a shorter code.
    #[error("the stage descriptor at bit {at_bit} writes out the default parameters of {stage}")]
    UsualParameters { at_bit: u64, stage: &'static str },
    #[error("the packet's stages are not legal: {0}")]
    Stages(#[from] IllegalStages),
    /// The receiver does not hold the baseline, or it has another number of bodies.
    #[error("the packet is relative to {0}, which is not stored")]
    UnknownBaseline(Sequence),
    #[error("the packet and its baseline {0} differ in precision")]
    BaselinePrecision(Sequence),
    #[error("the packet names the baseline {0}, but its stages do not use one")]
    NeedlessBaseline(Sequence),
    /// A body index is past the last body, or not after the previous one.
    #[error("body index {index} before bit {at_bit} is outside {min}..{bodies}")]
    BodyIndex { at_bit: u64, index: usize, min: usize, bodies: usize },
    #[error("{field} {value}{} before bit {at_bit} is outside {min}..={max}", of_body(*body))]
    OutOfRange { at_bit: u64, field: BitKind, body: Option<usize>, value: i64, min: i64, max: i64 },
    /// The packet changes a body in an empty slot, but says that no bodies come or go.
    #[error("body {body} before bit {at_bit} does not exist")]
    Absent { at_bit: u64, body: usize },
    #[error("{field}{} before bit {at_bit} is not a finite number", of_body(*body))]
    NotFinite { at_bit: u64, field: BitKind, body: Option<usize> },
    /// The arithmetically coded bins differ from the bins that the encoder would write.
    #[error("the bins up to about bit {at_bit} are not in the encoder's form")]
    NonCanonical { at_bit: u64 },
    /// The check failed: the two sides have different initial states, trained models or adaptive states.
    #[error("{0} does not match its check: the two sides coded it from different states")]
    Check(Sequence),
    /// The receiver does not simulate, or cannot simulate from the packet's origin, or got another result than the
    /// sender.
    #[error("the simulation of this end does not match {0}")]
    Desync(Sequence),
    #[error("orientation{} before bit {at_bit} has no direction", of_body(*body))]
    NoDirection { at_bit: u64, body: Option<usize> },
    #[error("initial state: {0}")]
    TooManyBodies(#[from] TooManyBodies),
}

fn of_body(body: Option<usize>) -> String {
    body.map_or_else(String::new, |body| format!(" of body {body}"))
}
