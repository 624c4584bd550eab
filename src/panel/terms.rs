//! Explanations of the panel's terms: stages, kinds of bits, and accountings.
//!
//! "The article" is Glenn Fiedler, *Snapshot Compression* (gafferongames.com, 2015), the source of most figures. Figures of
//! the affine variants are from *Data Quantization and Networking* (2025).

use std::sync::{Arc, LazyLock};

use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};
use cubewire_codec::{BitKind, Plan, StageOptions};
use cubewire_inspector::names::{self, Names};

use crate::replication::{Accounting, Part};
use crate::view::CubeColors;

pub(super) fn names() -> Names<'static> {
    static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(Plan::cubes);
    Names::of_cubes(&PLAN)
}

/// The name of an option, and an explanation of at least two sentences.
pub(super) type Term = [&'static str; 2];

/// Returns the term of the part's option. Arithmetic coding, prediction and simulation are variants of the delta.
pub(super) const fn stage(part: Part, stages: StageOptions) -> Term {
    match part {
        Part::Orientation => orientation(stages.orientation),
        Part::Velocity => velocity(stages.velocity),
        Part::Position => position(stages.position),
        Part::Delta
        | Part::Coding
        | Part::CodingForPacking
        | Part::Prediction
        | Part::Simulation => delta(stages.delta),
        Part::RelativePosition => relative_position(stages.relative_position),
        Part::RelativeOrientation => relative_orientation(stages.relative_orientation),
        Part::ChangedFlags => changed_flags(stages.changed_flags),
    }
}

const fn orientation(orientation: Orientation) -> Term {
    match orientation {
        Orientation::Full => [
            "full",
            "The quaternion is sent as four 32-bit floats. That is 128 of the 321 bits of an uncompressed cube.",
        ],
        Orientation::SmallestThree { .. } => [
            "smallest three",
            "The largest component of the quaternion is dropped and reconstructed from the other three, as the \
             length is 1. Two bits give its index; with 9 bits for each of the others, as in the article, an \
             orientation takes 29 bits instead of 128.",
        ],
    }
}

pub(super) const FIXED_BITS: Term =
    ["fixed bits", "Every field has the number of bits that its stage sets, as in the article."];

const fn velocity(velocity: Velocity) -> Term {
    match velocity {
        Velocity::Full => [
            "full",
            "The linear velocity is sent as three 32-bit floats. That is 96 of the 321 bits of an uncompressed \
             cube.",
        ],
        Velocity::Quantized => [
            "quantized",
            "Speeds are bounded by 32 m/s and quantized to 1/32 m/s, 11 bits per component. The velocity takes 33 \
             bits instead of 96.",
        ],
        Velocity::AtRestFlag => [
            "at rest",
            "A flag marks cubes at rest, and their velocity is not sent. With it, a cube at rest takes 127 bits and \
             a moving one 160.",
        ],
        Velocity::Omitted => [
            "omitted",
            "Linear interpolation of 60 snapshots a second looks good enough without velocities. This saves the \
             flag's bit for every cube, and another 33 bits for a moving one.",
        ],
        Velocity::Affine => [
            "affine",
            "The difference from the baseline's velocity, mapped to integers by a scale and a zero point, in 63 \
             bits. Not in the article: its source reduces a state from 64 bytes to 20.",
        ],
    }
}

const fn position(position: Position) -> Term {
    match position {
        Position::Full => [
            "full",
            "The position is sent as three 32-bit floats. That is 96 of the 321 bits of an uncompressed cube.",
        ],
        Position::Quantized { .. } => [
            "quantized",
            "Positions are bounded and quantized to 1/512 m: 18 bits each for x and y, 14 for z. A position takes \
             50 bits instead of 96, and a cube 80 in all.",
        ],
        Position::Affine => [
            "affine",
            "The difference from the baseline's position, mapped to integers by a scale and a zero point, in 63 \
             bits; or the whole position in 71. One more bit selects the form. Not in the article: its source \
             reduces a state from 64 bytes to 20.",
        ],
    }
}

const fn delta(delta: Delta) -> Term {
    match delta {
        Delta::Off => [
            "all cubes",
            "Every packet contains every cube, changed or not. Even at 80 bits per cube, 901 cubes 60 times a \
             second take 4.3 Mbit/s.",
        ],
        Delta::ChangedBits => [
            "bits",
            "Only cubes that differ from the baseline, an acknowledged snapshot, are sent. One bit per cube marks \
             them: with all 901 at rest, these bits alone take 54 kbps.",
        ],
        Delta::Indices => [
            "indices",
            "Changed cubes are listed by index, 10 bits each, if that is shorter than changed bits: up to 90 cubes. \
             With all cubes at rest only headers remain, about 15 kbps.",
        ],
        Delta::RelativeIndices { .. } => [
            "relative",
            "Each index is encoded as the distance from the previous one, in 3, 5 or 10 bits after a prefix of \
             one or two. In the article an index takes 5.5 bits on average, instead of 10.",
        ],
        Delta::PredictedIndices => [
            "predicted",
            "The set of changed cubes is predicted from the last one, and only the exceptions are sent. Not in the \
             article, whose relative indices take 5.5 bits for every changed cube.",
        ],
        Delta::Arithmetic => [
            "arithmetic",
            "Everything is arithmetic coded with adaptive probabilities: which cubes changed, and the residuals of \
             their fields. On data like that of the article's compression contest, packets are a quarter smaller \
             than with its best bit packing.",
        ],
        Delta::ArithmeticPredicted => [
            "predicted",
            "As arithmetic, with residuals against a predicted state: rolling over a corner, falling, or carried \
             along in a ball. Packets may name two additional references.",
        ],
        Delta::ArithmeticSimulated => [
            "simulated",
            "Both ends simulate the scene, and a packet has the pressed keys and a check: a hash of the cubes. \
             If it fails, packets are coded as on the rung predicted until the receiver has the sender's state.",
        ],
    }
}

const fn relative_position(relative_position: RelativePosition) -> Term {
    match relative_position {
        RelativePosition::Off => [
            "off",
            "The position of a changed cube is sent in full. A quantized position takes 50 bits.",
        ],
        RelativePosition::TwoRanges { .. } => [
            "two ranges",
            "The difference from the baseline is sent with 5 bits per component if it is small, 9 if it is larger; \
             beyond that, the full position. In the article a changed position takes 26.1 bits on average, instead \
             of 50.",
        ],
        RelativePosition::Predicted => [
            "predicted",
            "The difference is relative to a position extrapolated from the baseline, in ranges that grow with its \
             speed. Not in the article, whose relative positions take 26.1 bits; an encoder of its compression \
             contest predicted positions, too.",
        ],
    }
}

const fn relative_orientation(relative_orientation: RelativeOrientation) -> Term {
    match relative_orientation {
        RelativeOrientation::Off => [
            "off",
            "The orientation of a changed cube is sent in full. At 9 bits per component it takes 29 bits.",
        ],
        RelativeOrientation::TwoRanges { .. } => [
            "two ranges",
            "If the largest component has the same index as in the baseline (over 100 ms, in 90 % of cases), only \
             differences of the others are sent, in 5 or 8 bits each. In the article an orientation takes 23.3 bits \
             on average, 80.3 % of a full one.",
        ],
        RelativeOrientation::GrowingRanges => [
            "growing",
            "Differences as with two ranges, but the ranges grow with the speed of the cube in the baseline. Not in \
             the article, whose relative orientations take 23.3 bits.",
        ],
    }
}

const fn changed_flags(changed_flags: ChangedFlags) -> Term {
    match changed_flags {
        ChangedFlags::Off => [
            "off",
            "Every changed cube has position and orientation in the packet, even if only one of them changed. In \
             the article 5 % of changed cubes keep their position and another 5 % their orientation.",
        ],
        ChangedFlags::Separate => [
            "separate",
            "One flag each for position and orientation; an unchanged field is not sent. In the article 5 % of \
             changed cubes keep their position and another 5 % their orientation.",
        ],
        ChangedFlags::Joint => [
            "joint",
            "One bit for the usual case: position and orientation changed, interacting did not. In all other cases \
             three more bits follow. In the article the usual case covers about 90 % of changed cubes.",
        ],
    }
}

pub(super) const fn accounting(accounting: Accounting) -> &'static str {
    match accounting {
        Accounting::PayloadAndUdp => {
            "As the article counts: the payload of each snapshot in whole bytes, plus 28 bytes of IPv4 and UDP \
             headers once, even if the snapshot takes several datagrams."
        }
        Accounting::OnTheWire => {
            "Bytes on the wire: every datagram that carries snapshots, with the transport's headers and 28 bytes of \
             IPv4 and UDP headers each, or 48 over IPv6."
        }
    }
}

pub(super) const SNAPSHOT_ACKS: &str = "Upstream: the receiver reports the newest snapshot that it has decoded, and \
    which of the 32 ticks before it. The sender encodes against a snapshot that was acknowledged. Each ack takes 36 \
    bytes, most of them headers: 17 kbps at 60 a second, and 10 more over UDP, where it is encrypted.";

pub(super) const PAYLOAD: &str =
    "The bytes of an encoded snapshot, without any headers of the transport, UDP or IP.";

pub(super) const NEWEST_ACK: &str = "Time since the newest acknowledged snapshot was sent: the transit of snapshot \
    and ack, and losses in between.";

pub(super) const BASELINE: &str = "The snapshot that a packet is encoded against: both ends have it, so only \
    differences are sent. The older it is, the more has changed since, and the larger the packet.";

pub(super) const BUDGET: &str = "Limits the bytes on the wire in every second. If a snapshot does not fit, a packet \
    has the most urgent cubes: those with the longest wait and the largest error. Rungs that do not list changed \
    cubes send fewer snapshots.";

pub(super) const SEND_STATE: &str = "Effect of the budget on this cube. Moved: distance of its surface since it was \
    last sent. The priority starts at 0 and grows with each tick that the cube waits, faster if it has moved \
    further. The highest priorities are sent first.";

pub(super) const STALLS: &str =
    "Number of times that playout stopped because the next snapshot had not arrived.";

pub(super) const JITTER_BUFFER: &str = "Snapshots that have arrived and wait to be shown. They even out varying \
    delays, but everything is shown later.";

pub(super) const PLAYOUT_DELAY: &str = "How long a snapshot waits before it is shown, on top of its time in \
    transit. A longer delay covers more losses and jitter; a shorter one reacts sooner.";

pub(super) const fn bit_kind(kind: BitKind) -> &'static str {
    match kind {
        BitKind::State => {
            "Data that a receiver needs, in addition to a snapshot, to continue the simulation: the velocities of \
             the moving cubes. It takes one packet or two."
        }
        BitKind::Selection => {
            "Which of the 901 cubes the packet contains: a bit for each, or their indices."
        }
        BitKind::Interacting => "Whether a cube is interacting, that is, drawn red.",
        BitKind::Flags => "Which fields of a changed cube follow.",
        BitKind::Check => {
            "Arithmetic coding only: a 14-bit hash of the decoded cubes, which detects a decoder that differs from \
             the encoder, and the bits that end the coder's output."
        }
        _ => names::about(kind),
    }
}

pub(super) const fn cube_colors(colors: CubeColors) -> &'static str {
    match colors {
        CubeColors::Interaction => {
            "Red: a cube that the player touched, or that touched a red one. Key: B for the next."
        }
        CubeColors::Bits => {
            "Bits of the cube in a packet, mean of the last ten; in the timeline, in the packet of that tick. Bits \
             that belong to no single cube, such as the header, are not included."
        }
        CubeColors::Form => {
            "How the newest packet carries the orientation of a cube: not at all, as a small or a large difference, \
             or whole. Positions are mostly large differences."
        }
        CubeColors::Distance => {
            "Distance between the cube and the simulation's, at the tick that should be displayed."
        }
        CubeColors::Wait => {
            "Longest wait of the cube in the last second, in ticks: it was due, but others were more urgent. Only \
             with a budget (Stages, Budget)."
        }
    }
}
