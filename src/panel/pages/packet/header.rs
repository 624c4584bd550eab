//! The header of a packet in words.

use cubewire_codec::{BaselineId, Header};

use crate::replication::{PacketRecord, rung_or_stages};

/// What the header says, as one sentence.
pub(super) fn words(header: &Header, packet: &PacketRecord) -> String {
    let sequence = header.sequence.0;
    let reference = match header.baseline {
        BaselineId::Initial { .. } if packet.stages.uses_baseline() => {
            "relative to the initial state".to_owned()
        }
        BaselineId::Initial { .. } => "relative to nothing".to_owned(),
        BaselineId::Named { sequence: of, .. } => {
            let age = header.sequence.ticks_since(of);
            format!("relative to {}, {age} ticks older", of.0)
        }
    };
    let stages = match header.baseline {
        BaselineId::Initial { stages } => format!("stages: {}", rung_or_stages(stages)),
        BaselineId::Named {
            stages: Some(stages),
            ..
        } => format!("stages: {}", rung_or_stages(stages)),
        BaselineId::Named { stages: None, .. } => {
            format!(
                "stages as in the baseline's packet ({})",
                rung_or_stages(packet.stages)
            )
        }
    };
    format!("Header: sequence {sequence}, {reference}, {stages}.")
}

#[cfg(test)]
mod tests {
    use cubewire_codec::{Sequence, ladder};

    use super::*;

    #[test]
    fn a_header_is_a_sentence() {
        let packet = PacketRecord {
            stages: ladder::DELTA.stages,
            ..PacketRecord::default()
        };
        let header = Header {
            sequence: Sequence(7),
            baseline: BaselineId::Named {
                sequence: Sequence(1),
                stages: None,
            },
        };
        let expected = "Header: sequence 7, relative to 1, 6 ticks older, stages as in the baseline's packet (delta).";
        assert_eq!(words(&header, &packet), expected);
        let header = Header {
            sequence: Sequence(0),
            baseline: BaselineId::Initial {
                stages: ladder::DELTA.stages,
            },
        };
        let expected = "Header: sequence 0, relative to the initial state, stages: delta.";
        assert_eq!(words(&header, &packet), expected);
    }
}
