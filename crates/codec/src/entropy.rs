//! Entropy coding by context mixing: every decision of a packet, from which cubes changed to the last digit
//! of a residual, is a bin of a binary arithmetic coder.
//!
//! The probability of a bin is mixed from several inputs, as in lpaq. Most inputs come from a
//! [`TrainedModel`], which was trained on recordings and never changes; the weights of the mixer and a few
//! probabilities adapt from packet to packet. This adaptive state is kept with each baseline, so that a
//! packet depends only on the baselines that it names. There are two variants: one codes residuals relative
//! to the reference, with its motion as context; the other codes residuals relative to predictions.
//!
//! ```text
//! header | check 14 | zeros to a whole byte | bins
//! ```

mod accounts;
mod adaptive;
mod basis;
pub mod coder;
mod components;
mod cubes;
mod extrapolation;
mod features;
mod fields;
mod history;
mod layout;
mod logistic;
mod mixing;
mod model;
mod predictor;
mod residual;
mod resting;
mod rigid_body;
mod rotation;
mod session;

use std::sync::Arc;

pub(crate) use accounts::Accounts;
pub(crate) use adaptive::AdaptiveState;
pub(crate) use basis::{Basis, HeldSnapshot};
use coder::{BinCoder, BinDecoder, BinEncoder};
use cubes::{Cubes, Scratch};
pub use features::Feature;
pub(crate) use layout::{SLOTS, TABLE_UNIT, VARIANT_ADAPTIVE, VARIANT_WEIGHT_SETS, Variant};
pub(crate) use logistic::MAX_STRETCHED;
pub use model::{ModelError, TrainedModel};
use predictor::HoldPredictor;
use rigid_body::{RigidBodyPredictor, RigidMotion};
use session::Session;
pub(crate) use session::{CodingObserver, Element, NonCanonical};

use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;

/// Bits of the check. Together with a header that names a baseline, whole bytes.
pub(crate) const CHECK_BITS: u32 = 14;

/// Why bins are not a packet.
pub(crate) enum Undecodable {
    /// An additional reference is not held.
    UnknownReference(Sequence),
    /// The bins up to this byte, or the last few bytes after it, are not what the encoder writes.
    NonCanonical { byte: usize, why: NonCanonical },
}

/// The same, before it is known where.
#[derive(Debug)]
enum Failure {
    UnknownReference(Sequence),
    NonCanonical(NonCanonical),
}

impl From<NonCanonical> for Failure {
    fn from(why: NonCanonical) -> Self {
        Self::NonCanonical(why)
    }
}

/// A trained model, and memory that is reused from packet to packet.
#[derive(Clone, Debug)]
pub(crate) struct Coder {
    model: Arc<TrainedModel>,
    /// Adaptive states at the start of a chain, by variant.
    initial: [AdaptiveState; 2],
    scratch: Scratch,
    motions: Vec<RigidMotion>,
    /// The cubes as the decoder will have them, while encoding.
    decoded: Option<QuantizedSnapshot>,
    spare: Option<Box<AdaptiveState>>,
}

impl Default for Coder {
    fn default() -> Self {
        Self::new(TrainedModel::shipped())
    }
}

impl Coder {
    pub(crate) fn new(model: Arc<TrainedModel>) -> Self {
        Self {
            initial: Variant::ALL.map(|variant| AdaptiveState::initial(&model, variant)),
            model,
            scratch: Scratch::default(),
            motions: Vec::new(),
            decoded: None,
            spare: None,
        }
    }

    pub(crate) fn model(&self) -> &TrainedModel {
        &self.model
    }

    /// Takes an adaptive state whose memory can be reused.
    pub(crate) fn recycle(&mut self, spare: Option<Box<AdaptiveState>>) {
        if spare.is_some() {
            self.spare = spare;
        }
    }

    /// Appends the bins of `current` to `bytes` and returns the adaptive state after them. `changed` says
    /// which cubes differ from the reference. Additional references are used if they fit.
    pub(crate) fn encode<O: CodingObserver>(
        &mut self,
        basis: Basis<'_>,
        offered: [Option<HeldSnapshot<'_>>; 2],
        current: &QuantizedSnapshot,
        changed: &mut [bool],
        bytes: &mut Vec<u8>,
        observer: O,
    ) -> Box<AdaptiveState> {
        let additional = basis.usable(offered);
        let ages = additional.map(|held| Some(basis.reference.age(&held?)));
        let mut decoded = self.decoded.take().unwrap_or_else(|| current.clone());
        let cubes = Cubes {
            target: Some(current),
            decoded: &mut decoded,
            changed,
        };
        let (outcome, encoder) = self.code(
            basis,
            (BinEncoder::new(bytes), observer),
            ages,
            |_| Ok(additional),
            cubes,
        );
        encoder.finish();
        debug_assert_eq!(&decoded, current);
        self.decoded = Some(decoded);
        outcome.expect("the encoder's own bins are canonical and in range")
    }

    /// Decodes bins into `decoded`, and returns the adaptive state after them. `changed` becomes which cubes
    /// differ from the reference. `held` looks up additional references.
    pub(crate) fn decode<'h>(
        &mut self,
        basis: Basis<'_>,
        held: impl Fn(Sequence) -> Option<HeldSnapshot<'h>>,
        bytes: &[u8],
        decoded: &mut QuantizedSnapshot,
        changed: &mut Vec<bool>,
    ) -> Result<Box<AdaptiveState>, Undecodable> {
        changed.clear();
        changed.resize(basis.reference.snapshot.len(), false);
        let cubes = Cubes {
            target: None,
            decoded,
            changed,
        };
        let reference = basis.reference;
        let find = |age: u16| {
            let sequence = Sequence(reference.sequence.0.wrapping_sub(age));
            held(sequence)
                .filter(|found| found.sequence == sequence && reference.accepts(found))
                .ok_or(Failure::UnknownReference(sequence))
        };
        let (outcome, decoder) = self.code(
            basis,
            (BinDecoder::new(bytes), ()),
            [None, None],
            |[first, second]| Ok([first.map(find).transpose()?, second.map(find).transpose()?]),
            cubes,
        );
        outcome
            .and_then(|next| match decoder.is_canonical() {
                true => Ok(next),
                false => Err(NonCanonical::Redundant.into()),
            })
            .map_err(|failure| match failure {
                Failure::UnknownReference(sequence) => Undecodable::UnknownReference(sequence),
                Failure::NonCanonical(why) => Undecodable::NonCanonical {
                    byte: decoder.consumed(),
                    why,
                },
            })
    }

    /// Codes a packet in either direction. `find` looks up the additional references by their ages before the
    /// reference, which are `ages` when encoding.
    fn code<'a, B: BinCoder, O: CodingObserver>(
        &'a mut self,
        basis: Basis<'a>,
        (bins, observer): (B, O),
        ages: [Option<u16>; 2],
        find: impl FnOnce([Option<u16>; 2]) -> Result<[Option<HeldSnapshot<'a>>; 2], Failure>,
        cubes: Cubes<'_>,
    ) -> (Result<Box<AdaptiveState>, Failure>, B) {
        let state = basis.state(&self.initial);
        let mut next = basis.next_state(state, self.spare.take());
        let mut session = Session {
            bins,
            observer,
            model: &self.model,
            snapshots: basis.snapshots(state),
            state,
            next: &mut next,
        };
        cubes.decoded.copy_from(basis.reference.snapshot);
        let outcome = session
            .references(&basis, ages, find)
            .and_then(|()| session.run(&basis, &mut self.scratch, &mut self.motions, cubes));
        let Session { bins, .. } = session;
        (outcome.map(|()| next), bins)
    }
}

impl<'a, B: BinCoder, O: CodingObserver> Session<'a, B, O> {
    fn references<'r: 'a>(
        &mut self,
        basis: &Basis<'r>,
        ages: [Option<u16>; 2],
        find: impl FnOnce([Option<u16>; 2]) -> Result<[Option<HeldSnapshot<'r>>; 2], Failure>,
    ) -> Result<(), Failure> {
        if basis.has_additional() {
            let ages = self.additional_ages(ages)?;
            self.snapshots.additional = find(ages)?.map(|held| {
                let held = held?;
                Some((held.snapshot, basis.reference.age(&held).into()))
            });
        }
        Ok(())
    }

    fn run(
        &mut self,
        basis: &Basis<'_>,
        scratch: &mut Scratch,
        motions: &mut Vec<RigidMotion>,
        cubes: Cubes<'_>,
    ) -> Result<(), Failure> {
        match basis.variant {
            Variant::Plain => self.cubes(&mut HoldPredictor, scratch, cubes)?,
            Variant::Predicted => {
                let mut predictor = RigidBodyPredictor::new(motions, basis.reference.snapshot);
                self.cubes(&mut predictor, scratch, cubes)?;
            }
        }
        Ok(())
    }
}

/// A hash of a snapshot and its sequence. It detects where the two sides started from different initial
/// states, or have different models or adaptive states.
///
/// Four lanes, each over every fourth cube, so that a processor can multiply several numbers at a time.
pub(crate) fn check(snapshot: &QuantizedSnapshot, sequence: Sequence) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, value: u64| (hash.rotate_left(29) ^ value).wrapping_mul(FACTOR);
    let mut lanes = [1, 2, 3, 4].map(|lane| u64::from(sequence.0) << 3 | lane);
    for cube in 0..snapshot.len() {
        let [x, y, z] = snapshot.positions[cube].map(|axis| u64::from(axis.cast_unsigned()));
        let position = x ^ y << 21 ^ z << 42 ^ u64::from(snapshot.interacting[cube]) << 63;
        let orientation = snapshot.smallest_three(cube).to_word();
        let lane = &mut lanes[cube % 4];
        *lane = mix(mix(*lane, position), orientation);
    }
    let hash = lanes.into_iter().fold(0, mix);
    (hash >> (64 - CHECK_BITS)) as u32
}
