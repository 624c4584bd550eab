//! A packet after its header, and the bins before its bodies.

use crate::baseline::Baseline;
use crate::bits::{BitStream, Reading};
use crate::decode_error::DecodeError;
use crate::entropy::coder::BinDecoder;
use crate::entropy::simulated::{SceneBaseline, has_long_check};
use crate::entropy::{
    BaselineView, BitCostObserver, CHECK_BITS, Coder, CodingContext, CodingObserver, FixedBins,
    check_canonical,
};
use crate::header::Header;
use crate::ledger::{BitKind, BitLedger};
use crate::merge::Merges;
use crate::sequence::Sequence;
use crate::simulation::{Inputs, Simulated};
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Stages;

/// A packet that is decoded up to its bodies. Returned by [`Decoder::begin`](crate::Decoder::begin).
#[derive(Debug)]
pub struct BegunPacket<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) header: Header,
    pub(super) stages: Stages,
    pub(super) named: Option<&'p Baseline>,
    pub(super) merges: Merges,
    pub(super) bodies: Bodies<'p>,
}

/// Encoding of the bodies of a packet.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "only one exists at a time, and a box would allocate for each packet"
)]
pub(super) enum Bodies<'p> {
    /// Bit-packed. The selection starts at `at_bit`.
    Packed { at_bit: u64 },
    /// Arithmetically coded. `bins` has decoded everything before the bodies.
    Arithmetic { check: u32, bins: BinDecoder<'p> },
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
            Bodies::Simulated { inputs, .. } => Some(inputs),
            _ => None,
        }
    }
}

/// Reads the check, and the bins before the bodies. `scene` is `Some` if the stages simulate the scene. The inner
/// option is `None` if the packet names no baseline.
pub(super) fn begin_bins<'p>(
    mut stream: BitStream<'_, Reading<'p>>,
    sequence: Sequence,
    scene: Option<Option<SceneBaseline>>,
    state_chunk: &mut Vec<u8>,
) -> Result<Bodies<'p>, DecodeError> {
    let check = stream.field(BitKind::Check).number(CHECK_BITS, 0)?;
    stream.pad()?;
    let head = (stream.at_bit / 8) as usize;
    let mut bins = BinDecoder::new(stream.rest()).after(head);
    if let Some(baseline) = scene {
        let begun = match stream.ledger() {
            None => begin_scene(&mut bins, &mut (), sequence, baseline, state_chunk),
            Some(ledger) => {
                let mut observer = BitCostObserver::new(ledger);
                begin_scene(&mut bins, &mut observer, sequence, baseline, state_chunk)
            }
        };
        if let Some((inputs, long_check)) = begun? {
            return Ok(Bodies::Simulated { check, long_check, inputs });
        }
    }
    Ok(Bodies::Arithmetic { check, bins })
}

/// Reads the data of a simulated scene. Returns the inputs and the longer check, or `None` if bodies follow.
fn begin_scene(
    bins: &mut BinDecoder<'_>,
    observer: &mut impl CodingObserver,
    sequence: Sequence,
    baseline: Option<SceneBaseline>,
    state_chunk: &mut Vec<u8>,
) -> Result<Option<(Inputs, Option<u32>)>, DecodeError> {
    let mut fixed = FixedBins { bins, observer };
    let Some(inputs) = fixed.scene(Simulated::default(), baseline, state_chunk)? else {
        return Ok(None);
    };
    let long_check = has_long_check(sequence).then(|| fixed.long_check(0));
    check_canonical(bins, bins.is_canonical())?;
    Ok(Some((inputs, long_check)))
}

pub(super) fn decode_bins<'h>(
    coder: &mut Coder,
    ledger: Option<&mut BitLedger>,
    context: CodingContext<'_>,
    held: impl Fn(Sequence) -> Option<BaselineView<'h>>,
    bins: BinDecoder<'_>,
    decoded: &mut QuantizedSnapshot,
    sent: &mut Vec<bool>,
) -> Result<(), DecodeError> {
    match ledger {
        None => coder.decode(context, held, bins, (), decoded, sent),
        Some(ledger) => {
            coder.decode(context, held, bins, BitCostObserver::new(ledger), decoded, sent)
        }
    }
}
