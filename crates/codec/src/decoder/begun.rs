//! A packet after its header, and the bins before its bodies.

use crate::baseline::Baseline;
use crate::bits::{BitStream, Reading};
use crate::decode_error::DecodeError;
use crate::entropy::coder::BinDecoder;
use crate::entropy::simulated::{SceneBaseline, has_long_check};
use crate::entropy::{Bins, BitCostObserver, CHECK_BITS, CodingObserver};
use crate::header::Header;
use crate::ledger::BitKind;
use crate::merge::Merges;
use crate::sequence::Sequence;
use crate::simulation::{Inputs, Simulated};
use crate::stages::{Delta, Stages};

/// A packet that is decoded up to its bodies. Returned by [`Decoder::begin`](crate::Decoder::begin).
#[derive(Debug)]
pub struct BegunPacket<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) header: Header,
    pub(super) stages: Stages,
    pub(super) named: Option<&'p Baseline>,
    pub(super) merges: Merges,
    pub(super) bodies: EncodedBodies<'p>,
}

/// Encoding of the bodies of a packet.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "only one exists at a time, and a box would allocate for each packet"
)]
pub(super) enum EncodedBodies<'p> {
    /// Bit-packed. The selection starts at `at_bit`.
    Packed { at_bit: u64 },
    /// Arithmetically coded. `coder` has decoded everything before the bodies.
    Arithmetic { check: u32, coder: BinDecoder<'p> },
    /// No bodies: the caller simulates them. `long_check` is in one of 64 packets.
    Simulated { check: u32, long_check: Option<u32>, inputs: Inputs },
}

impl BegunPacket<'_> {
    /// The packet's header.
    pub const fn header(&self) -> Header {
        self.header
    }

    /// The inputs that the receiver [simulates](crate::simulation). `None` if the packet carries bodies.
    pub const fn inputs(&self) -> Option<&Inputs> {
        match &self.bodies {
            EncodedBodies::Simulated { inputs, .. } => Some(inputs),
            _ => None,
        }
    }
}

/// Reads the check, and the bins before the bodies.
pub(super) fn begin_bins<'p>(
    mut stream: BitStream<'_, Reading<'p>>,
    sequence: Sequence,
    stages: Stages,
    named: Option<&Baseline>,
    seats: u8,
    state_chunk: &mut Vec<u8>,
) -> Result<EncodedBodies<'p>, DecodeError> {
    let check = stream.field(BitKind::Check).number(CHECK_BITS, 0)?;
    stream.pad()?;
    let head = (stream.at_bit / 8) as usize;
    let mut coder = BinDecoder::new(stream.rest());
    coder.head = head;
    if stages.delta != Delta::ArithmeticSimulated {
        return Ok(EncodedBodies::Arithmetic { check, coder });
    }
    let baseline = (named.map(|named| named.scene(sequence)), seats);
    match stream.ledger() {
        None => begin_scene(Bins { coder, observer: () }, check, sequence, baseline, state_chunk),
        Some(ledger) => {
            let bins = Bins { coder, observer: BitCostObserver::new(ledger) };
            begin_scene(bins, check, sequence, baseline, state_chunk)
        }
    }
}

/// Reads the data of a simulated scene.
fn begin_scene<'p>(
    mut bins: Bins<BinDecoder<'p>, impl CodingObserver>,
    check: u32,
    sequence: Sequence,
    (baseline, seats): (Option<SceneBaseline>, u8),
    state_chunk: &mut Vec<u8>,
) -> Result<EncodedBodies<'p>, DecodeError> {
    let Some(inputs) = bins.scene(Simulated::default(), baseline, seats, state_chunk)? else {
        return Ok(EncodedBodies::Arithmetic { check, coder: bins.coder });
    };
    let long_check = has_long_check(sequence).then(|| bins.long_check(0));
    bins.finish()?;
    Ok(EncodedBodies::Simulated { check, long_check, inputs })
}
