//! Names and explanations of the switches.
//!
//! Figures are those of Glenn Fiedler, *Snapshot Compression* (gafferongames.com, 2015); of the
//! affine variants, those of *Data Quantization and Networking* (2025).

use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};

use crate::replication::Accounting;

/// An option's name, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tooltip {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

const fn tooltip(name: &'static str, text: &'static str) -> Tooltip {
    Tooltip { name, text }
}

pub(super) const fn orientation(orientation: Orientation) -> Tooltip {
    match orientation {
        Orientation::Full => tooltip(
            "full",
            "The quaternion goes out as four floats, 128 bits. \
             That is two fifths of the 321 bits of an uncompressed cube.",
        ),
        Orientation::SmallestThree { .. } => tooltip(
            "smallest three",
            "The largest component is left out, since the others and the unit length give it back; \
             2 bits say which it was. With the article's 9 bits for each of the other three that \
             makes 29 bits instead of 128.",
        ),
    }
}

pub(super) const COMPONENT_BITS: &str = "How finely each of the three is cut between −1/√2 and \
     +1/√2; b bits make an orientation of 2 + 3 × b. The article settles for 9, which is 29 bits.";

pub(super) const NO_COMPONENT_BITS: &str =
    "A full orientation is sent as floats: there is nothing to cut.";

pub(super) const fn velocity(velocity: Velocity) -> Tooltip {
    match velocity {
        Velocity::Full => tooltip(
            "full",
            "The linear velocity goes out as three floats. \
             These are 96 bits of the 321 of an uncompressed cube.",
        ),
        Velocity::Quantized => tooltip(
            "quantized",
            "Nothing moves faster than 32 m/s, so that steps of 1/32 m/s fit into 11 bits a \
             component. The velocity shrinks from 96 bits to 33.",
        ),
        Velocity::AtRestFlag => tooltip(
            "at-rest flag",
            "One bit says that a cube stands still, and its velocity stays at home. \
             On this rung a cube at rest takes 127 bits and a moving one 160.",
        ),
        Velocity::Omitted => tooltip(
            "left out",
            "At 60 snapshots a second, linear interpolation looks good enough without velocities. \
             Leaving them out saves 33 bits of every moving cube, and the flag's bit of the others.",
        ),
        Velocity::Affine => tooltip(
            "affine",
            "The difference from the baseline's velocity, mapped to integers by a scale and a zero \
             point, in 63 bits. It stands beside the article: in its source a state of 64 bytes \
             comes to 20.",
        ),
    }
}

pub(super) const fn position(position: Position) -> Tooltip {
    match position {
        Position::Full => tooltip(
            "full",
            "The position goes out as three floats. \
             These are 96 bits of the 321 of an uncompressed cube.",
        ),
        Position::Quantized => tooltip(
            "quantized",
            "The world is bounded, so that steps of 1/512 m need 18 bits for x and y and 14 for z. \
             That is 50 bits instead of 96, and brings a cube down to 80.",
        ),
        Position::Affine => tooltip(
            "affine",
            "The difference from the baseline's position, mapped to integers by a scale and a zero \
             point, in 63 bits, or all of it in 71, with a bit that says which. It stands beside \
             the article: in its source a state of 64 bytes comes to 20.",
        ),
    }
}

pub(super) const fn delta(delta: Delta) -> Tooltip {
    match delta {
        Delta::Off => tooltip(
            "off",
            "Every cube is in every packet, whether it moved or not. \
             Even at 80 bits a cube, 901 of them 60 times a second are 4.3 Mbit/s.",
        ),
        Delta::ChangedBits => tooltip(
            "changed bits",
            "Only cubes that differ from the newest acknowledged snapshot are sent, and one bit a \
             cube says which those are. With all 901 at rest, these bits alone cost 54 kbps.",
        ),
        Delta::Indices => tooltip(
            "indices",
            "Each changed cube is named by its index in 10 bits wherever that is cheaper than \
             changed bits, which is up to 90 cubes. At rest only headers remain, about 15 kbps.",
        ),
        Delta::RelativeIndices => tooltip(
            "relative indices",
            "A changed cube is named by its distance from the one before, in 4, 7 or 12 bits. \
             An index takes 5.5 bits on average in the article, instead of 10.",
        ),
        Delta::PredictedIndices => tooltip(
            "predicted indices",
            "What changed last time is expected to change again, and only the exceptions are \
             named. It goes beyond the article, whose relative indices take 5.5 bits for every \
             changed cube.",
        ),
        Delta::Arithmetic => tooltip(
            "arithmetic",
            "Every decision, from which cubes changed to the last digit, costs as much as it is \
             improbable. On the contest's kind of play that takes a quarter off the best that the \
             article's bit-packing does.",
        ),
        Delta::ArithmeticPredicted => tooltip(
            "arithmetic, predicted",
            "The same with differences from where cubes are expected: rolling on a corner, falling, \
             carried along in a ball. Packets may name two more baselines.",
        ),
    }
}

pub(super) const fn relative_position(relative_position: RelativePosition) -> Tooltip {
    match relative_position {
        RelativePosition::Off => tooltip(
            "off",
            "A changed position is sent whole, as if there were no baseline. \
             A quantized one takes 50 bits.",
        ),
        RelativePosition::TwoRanges => tooltip(
            "two ranges",
            "Only the difference from the baseline is sent: 5 bits a component for a small step, \
             9 for a larger one, and the whole position where neither reaches. A changed position \
             takes 26.1 bits on average in the article, instead of 50.",
        ),
        RelativePosition::Predicted => tooltip(
            "predicted",
            "The difference is taken from where the baseline's own motion leads, in ranges that \
             grow with its speed. It goes a step past the article and its 26.1 bits, as the \
             encoder of its compression contest did.",
        ),
    }
}

pub(super) const fn relative_orientation(relative_orientation: RelativeOrientation) -> Tooltip {
    match relative_orientation {
        RelativeOrientation::Off => tooltip(
            "off",
            "A changed orientation is sent whole, as if there were no baseline. \
             At 9 bits a component it takes 29 bits.",
        ),
        RelativeOrientation::TwoRanges => tooltip(
            "two ranges",
            "As long as the largest component stays the same one, which it does 90 % of the time \
             over 100 ms, only differences are sent, in 5 or 8 bits each. An orientation takes \
             23.3 bits on average in the article, 80.3 % of a whole one.",
        ),
        RelativeOrientation::GrowingRanges => tooltip(
            "growing ranges",
            "The same differences, in ranges that suit how fast the baseline was turning. \
             It goes a step past the article and its 23.3 bits.",
        ),
    }
}

pub(super) const fn changed_flags(changed_flags: ChangedFlags) -> Tooltip {
    match changed_flags {
        ChangedFlags::Off => tooltip(
            "off",
            "A changed cube sends its position and its orientation, even if only one of them \
             changed. In the article 5 % of changed cubes keep their position, and another 5 % \
             their orientation.",
        ),
        ChangedFlags::Separate => tooltip(
            "separate",
            "One bit says whether the position changed and one whether the orientation did; what \
             did not stays at home. It pays for the 5 % that keep their position and the 5 % that \
             keep their orientation.",
        ),
        ChangedFlags::Joint => tooltip(
            "joint",
            "One bit covers the usual case that position and orientation both changed and \
             interacting did not; three more sort out the rest. In the article about 90 % of changed \
             cubes are such usual cases.",
        ),
    }
}

/// What an accounting counts.
pub(super) const fn accounting(accounting: Accounting) -> &'static str {
    match accounting {
        Accounting::Article => {
            "A snapshot's payload in whole bytes, and 28 bytes for the headers of IPv4 and UDP, \
             however many datagrams it takes."
        }
        Accounting::Wire => {
            "What the transport hands to the socket: every fragment with the transport's own \
             header, and 28 bytes for IPv4 and UDP each."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_two_sentences_or_more() {
        let texts = Velocity::ALL
            .map(|kind| velocity(kind).text)
            .into_iter()
            .chain(Position::ALL.map(|kind| position(kind).text))
            .chain(Delta::ALL.map(|kind| delta(kind).text))
            .chain(RelativePosition::ALL.map(|kind| relative_position(kind).text))
            .chain(RelativeOrientation::ALL.map(|kind| relative_orientation(kind).text))
            .chain(ChangedFlags::ALL.map(|kind| changed_flags(kind).text));
        for text in texts {
            assert!(text.contains(". ") && text.ends_with('.'), "{text}");
        }
    }
}
