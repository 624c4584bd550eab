//! Encodes snapshots as packets.

use std::ops::Deref;
use std::sync::Arc;

use crate::baseline::Baseline;
use crate::body::Body;
use crate::entropy::{self, Accounts, Basis, Coder, KeptState, TrainedModel, Variant};
use crate::flags::flagged;
use crate::header::Header;
use crate::initial::{InitialState, InitialStateError};
use crate::ledger::{BitKind, BitLedger};
use crate::limits::Limits;
use crate::precision::Precision;
use crate::selection;
use crate::sequence::Sequence;
use crate::simulation::{MAX_ATTACHMENT_BYTES, MAX_SIMULATED_TICKS, Origin, Simulated};
use crate::sink::Sink;
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::stages::{Delta, IllegalStages, Stages};
use crate::state::Snapshot;

/// An encoded snapshot, with counts of its bits and cubes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// The bytes to send.
    pub bytes: Vec<u8>,
    /// Its bits by kind. Set it to [`BitLedger::itemized`] to list them by cube as well.
    pub ledger: BitLedger,
    /// Cubes that differ from the given baseline if its precision is the packet's, and otherwise from the
    /// initial state. Counted also where the stages send every cube.
    pub changed_cubes: usize,
    /// Cubes that the packet carries: every cube with [`Delta::Off`]; those for which it is wrong, if a simulation
    /// is given with [`Delta::ArithmeticSimulated`]; otherwise the changed ones.
    pub sent_cubes: usize,
}

/// The baselines that a packet can be relative to. The receiver must have acknowledged all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    /// The baseline; `None` stands for the initial state.
    pub baseline: Option<&'a Baseline>,
    /// Two more baselines, up to fifteen ticks older than the first; preferably the two just before it.
    /// [`Delta::ArithmeticPredicted`] and [`Delta::ArithmeticSimulated`] estimate velocities with them, other stages
    /// ignore them.
    pub additional: [Option<&'a Baseline>; 2],
    /// What both ends simulate. Only [`Delta::ArithmeticSimulated`] uses it.
    pub simulated: Simulated<'a>,
}

impl<'a> From<Option<&'a Baseline>> for References<'a> {
    fn from(baseline: Option<&'a Baseline>) -> Self {
        Self {
            baseline,
            additional: [None, None],
            simulated: Simulated::default(),
        }
    }
}

/// A snapshot to encode, of which the encoder makes a baseline.
#[derive(Clone, Copy, Debug)]
pub enum CurrentSnapshot<'a> {
    /// The baseline has a copy.
    Borrowed(&'a QuantizedSnapshot),
    /// The baseline holds the snapshot itself: a server that sends it to many receivers keeps it once.
    /// [`SnapshotPool`](crate::SnapshotPool) reuses the memory of such snapshots.
    Shared(&'a Arc<QuantizedSnapshot>),
}

impl<'a> From<&'a QuantizedSnapshot> for CurrentSnapshot<'a> {
    fn from(snapshot: &'a QuantizedSnapshot) -> Self {
        Self::Borrowed(snapshot)
    }
}

impl<'a> From<&'a Arc<QuantizedSnapshot>> for CurrentSnapshot<'a> {
    fn from(snapshot: &'a Arc<QuantizedSnapshot>) -> Self {
        Self::Shared(snapshot)
    }
}

impl Deref for CurrentSnapshot<'_> {
    type Target = QuantizedSnapshot;

    fn deref(&self) -> &QuantizedSnapshot {
        match self {
            Self::Borrowed(snapshot) => snapshot,
            Self::Shared(snapshot) => snapshot,
        }
    }
}

/// Turns quantized snapshots into packets.
///
/// Any number of receivers can share an encoder, each with its own store of [`Baseline`]s. Encoding does not
/// allocate once the encoder, `packet` and `kept` have been used for packets of that size and precision.
#[derive(Clone, Debug)]
pub struct Encoder {
    initial: InitialState,
    changed: Vec<bool>,
    scratch: selection::Scratch,
    coder: Coder,
    spares: Spares,
}

/// Why a snapshot cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum EncodeError {
    /// The stages cannot be combined.
    #[error(transparent)]
    Stages(#[from] IllegalStages),
    /// The snapshot was quantized for other stages.
    #[error("the snapshot is quantized as {snapshot:?}, but the stages ask for {stages:?}")]
    Precision {
        /// Of the snapshot.
        snapshot: Precision,
        /// Of the stages.
        stages: Precision,
    },
    /// The number of cubes differs from the initial state's.
    #[error("the snapshot or its baseline has {cubes} cubes, but the initial state has {initial}")]
    CubeCount {
        /// In the snapshot or the baseline.
        cubes: usize,
        /// In the initial state.
        initial: usize,
    },
    /// There is not an input for each tick since the origin, or there are too many.
    #[error(
        "there are 1 to {MAX_SIMULATED_TICKS} inputs, one for each tick from {origin:?}, not {inputs} inputs"
    )]
    Inputs {
        /// Where they start.
        origin: Origin,
        /// How many were given.
        inputs: usize,
    },
    /// The prediction is missing, or its precision or number of cubes is not the snapshot's.
    #[error("from {0:?} a packet needs a prediction of all cubes in its own precision")]
    Prediction(Origin),
    /// The attachment is too long.
    #[error("an attachment has {MAX_ATTACHMENT_BYTES} bytes at most, not {0}")]
    Attachment(usize),
}

impl Encoder {
    /// `initial` is the state that the first packets are relative to. The receiver's must be the same, bit
    /// for bit; only arithmetically coded packets detect a difference.
    /// [`encode_initial`](crate::encode_initial) writes it for a receiver.
    ///
    /// # Errors
    /// [`InitialStateError`] if it has more cubes than the limits allow, or a cube that cannot be
    /// quantized.
    pub fn new(initial: Snapshot, limits: Limits) -> Result<Self, InitialStateError> {
        Ok(Self {
            initial: InitialState::new(initial, limits)?,
            changed: Vec::new(),
            scratch: selection::Scratch::default(),
            coder: Coder::default(),
            spares: Spares::default(),
        })
    }

    /// Uses another trained model for arithmetic coding. The receiver must use the same.
    #[must_use]
    pub fn with_model(mut self, model: Arc<TrainedModel>) -> Self {
        self.coder = Coder::new(model);
        self
    }

    /// Encodes `current`, quantized in the stages' precision, relative to baselines that the receiver is
    /// known to hold, or to the initial state. Replaces the contents of `packet`, and returns its header,
    /// which names the baseline.
    ///
    /// `sequence` is the tick. Each packet to one receiver has its own number, also if it carries the same
    /// snapshot.
    ///
    /// `kept`, if given, becomes the baseline that the receiver will have after decoding; it is equal to that
    /// of [`Decoder::decode`](crate::Decoder::decode).
    ///
    /// A baseline of another precision, or one that the stages do not use, is ignored. After a change of
    /// precision, packets are relative to the initial state, and larger, until one of them is acknowledged.
    ///
    /// # Errors
    /// [`EncodeError`] if the arguments do not fit together. `packet` and `kept` are then unchanged.
    pub fn encode<'b, 'c>(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        current: impl Into<CurrentSnapshot<'c>>,
        references: impl Into<References<'b>>,
        packet: &mut Packet,
        mut kept: Option<&mut Baseline>,
    ) -> Result<Header, EncodeError> {
        let snapshot = current.into();
        let current = &*snapshot;
        let References {
            baseline,
            additional,
            simulated,
        } = references.into();
        let named = Baseline::named(baseline, stages);
        self.check(stages, current, named)?;
        let simulated = match stages.delta {
            Delta::ArithmeticSimulated => simulated,
            _ => Simulated::default(),
        };
        let ticks = named.map(|named| sequence.ticks_since(named.sequence()));
        check_simulated(&simulated, ticks, current)?;
        let header = Header::new(sequence, stages, named);

        self.flag_changed(current, baseline);
        let changed = self.changed.iter().filter(|&&changed| changed);
        packet.changed_cubes = changed.count();
        packet.sent_cubes = match stages.delta {
            Delta::Off => current.len(),
            _ => packet.changed_cubes,
        };
        packet.bytes.clear();
        packet.ledger.reset();
        match Variant::of(stages.delta) {
            Some(variant) => {
                let references = References {
                    baseline: named,
                    additional,
                    simulated,
                };
                let state = kept.as_deref_mut().map(|kept| &mut kept.state);
                self.put_bins(
                    header,
                    (stages, variant),
                    current,
                    references,
                    packet,
                    state,
                );
            }
            None => {
                self.put_cubes(header, stages, current, named, packet);
                if let Some(kept) = &mut kept {
                    self.coder.recycle(kept.state.take());
                }
            }
        }
        if let Some(kept) = kept {
            self.keep(snapshot, &mut kept.snapshot);
            let sent = Some(&self.changed[..]);
            kept.finalize(sequence, stages, named, sent, &mut self.spares);
            kept.simulated = simulated.origin.zip(simulated.inputs.last().copied());
        }
        Ok(header)
    }

    /// Puts a snapshot where a baseline keeps it. Reuses the memory of what was there.
    fn keep(&mut self, snapshot: CurrentSnapshot<'_>, place: &mut Arc<QuantizedSnapshot>) {
        match snapshot {
            CurrentSnapshot::Shared(shared) => *place = Arc::clone(shared),
            CurrentSnapshot::Borrowed(current) => self.spares.unshared(place).copy_from(current),
        }
    }

    fn check(
        &self,
        stages: Stages,
        current: &QuantizedSnapshot,
        named: Option<&Baseline>,
    ) -> Result<(), EncodeError> {
        stages.check()?;
        if current.precision() != stages.precision() {
            return Err(EncodeError::Precision {
                snapshot: current.precision(),
                stages: stages.precision(),
            });
        }
        let initial = self.initial.cubes();
        let counts = [Some(current), named.map(Baseline::snapshot)];
        match counts.into_iter().flatten().find(|s| s.len() != initial) {
            Some(other) => Err(EncodeError::CubeCount {
                cubes: other.len(),
                initial,
            }),
            None => Ok(()),
        }
    }

    /// Flags the cubes that differ from `baseline`, or from the initial state if the baseline's precision or
    /// number of cubes is another. If the packet names a baseline, it is this one.
    fn flag_changed(&mut self, current: &QuantizedSnapshot, baseline: Option<&Baseline>) {
        let reference = baseline
            .filter(|baseline| baseline.has_precision(current.precision()))
            .filter(|baseline| baseline.snapshot.len() == current.len())
            .unwrap_or_else(|| self.initial.at(current.precision()));
        current.compare(&reference.snapshot, &mut self.changed);
    }

    fn put_cubes(
        &mut self,
        header: Header,
        stages: Stages,
        current: &QuantizedSnapshot,
        named: Option<&Baseline>,
        packet: &mut Packet,
    ) {
        let mut sink = Sink::writer(&mut packet.bytes, &mut packet.ledger);
        header.put(&mut sink);
        let reference = named.unwrap_or_else(|| self.initial.at(stages.precision()));
        let body = Body::new(stages, header.sequence, reference);
        if stages.delta == Delta::Off {
            for cube in 0..current.len() {
                body.put(&mut sink, current, cube);
            }
        } else {
            selection::put(
                &mut sink,
                stages.delta,
                &self.changed,
                &reference.motion.moved,
                &mut self.scratch,
            );
            for cube in flagged(&self.changed) {
                body.put(&mut sink, current, cube);
            }
        }
        sink.finish();
    }

    fn put_bins(
        &mut self,
        header: Header,
        (stages, variant): (Stages, Variant),
        current: &QuantizedSnapshot,
        references: References<'_>,
        packet: &mut Packet,
        kept: Option<&mut Option<Box<KeptState>>>,
    ) {
        let References {
            baseline,
            additional,
            simulated,
        } = references;
        let reference = baseline.unwrap_or_else(|| self.initial.at(current.precision()));
        let basis = Basis::new((stages, variant), header.sequence, baseline, reference);
        let check = self
            .coder
            .check(&basis, current, &self.changed, header.sequence);
        let mut sink = Sink::writer(&mut packet.bytes, &mut packet.ledger);
        header.put(&mut sink);
        sink.put(BitKind::Check, entropy::CHECK_BITS, check);
        sink.finish();
        let head_bytes = packet.bytes.len();
        let head_bits = packet.ledger.total();
        packet.sent_cubes = self.coder.encode(
            basis,
            additional.map(|baseline| Some(baseline?.held())),
            simulated,
            (current, &self.changed),
            &mut packet.bytes,
            Accounts::new(&mut packet.ledger),
        );
        let bits = (packet.bytes.len() - head_bytes) as f64 * 8.0;
        let counted = packet.ledger.total() - head_bits;
        packet.ledger.record(BitKind::Check, None, bits - counted);
        if let Some(kept) = kept {
            self.coder.keep(&basis, &mut self.spares, kept);
        }
    }
}

/// `ticks` are those since the baseline.
fn check_simulated(
    simulated: &Simulated<'_>,
    ticks: Option<u16>,
    current: &QuantizedSnapshot,
) -> Result<(), EncodeError> {
    if simulated.attachment.len() > MAX_ATTACHMENT_BYTES {
        return Err(EncodeError::Attachment(simulated.attachment.len()));
    }
    let Some(origin) = simulated.origin else {
        return Ok(());
    };
    let inputs = simulated.inputs.len();
    let expected = origin.age().map(u16::from).or(ticks);
    let is_counted = expected.map(usize::from) == Some(inputs);
    if !is_counted || !(1..=MAX_SIMULATED_TICKS).contains(&inputs) {
        return Err(EncodeError::Inputs { origin, inputs });
    }
    let fits = |prediction: &QuantizedSnapshot| {
        prediction.precision() == current.precision() && prediction.len() == current.len()
    };
    match origin.is_exact() || simulated.prediction.is_some_and(fits) {
        true => Ok(()),
        false => Err(EncodeError::Prediction(origin)),
    }
}
