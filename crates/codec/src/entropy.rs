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
//!
//! Packets of a [simulated scene](crate::simulation) are of the second variant. Before its cubes a packet says what was
//! simulated; a cube without a residual is then as simulated, and not as at the reference.

mod accounts;
mod adaptive;
mod basis;
mod blend;
mod carriers;
mod check;
pub mod coder;
mod components;
mod cubes;
mod extrapolation;
mod features;
mod fields;
mod fingerprint;
mod history;
mod layout;
mod logistic;
mod mixing;
mod model;
mod pages;
mod predictor;
mod residual;
mod resting;
mod rigid_body;
mod rotation;
mod session;
mod simulated;

use std::sync::Arc;

pub(crate) use accounts::Accounts;
use adaptive::SpareStates;
pub(crate) use adaptive::{AdaptiveState, KeptState};
pub(crate) use basis::{Basis, HeldSnapshot};
pub(crate) use blend::{BLEND_UNIT, BLENDED, Blend, BlendWeights};
use carriers::Carriers;
pub(crate) use check::CHECK_BITS;
use check::SnapshotHash;
use coder::{BinCoder, BinDecoder, BinEncoder};
use cubes::{Cubes, Scratch};
pub use features::Feature;
pub use fingerprint::Fingerprint;
pub(crate) use layout::{
    BLEND_SETS, SLOTS, TABLE_UNIT, UNMIXED, VARIANT_WEIGHT_SETS, Variant, blend_index,
};
pub(crate) use logistic::MAX_LOG_ODDS;
pub use model::{ModelError, TrainedModel};
use predictor::HoldPredictor;
use rigid_body::RigidBodyPredictor;
use session::Session;
pub(crate) use session::{CodingObserver, NonCanonical};
pub(crate) use simulated::Inputs;

use crate::flags::flagged;
use crate::sequence::Sequence;
use crate::simulation::Simulated;
use crate::snapshot::{QuantizedSnapshot, Spares};

/// Why bins are not a packet.
pub(crate) enum Undecodable {
    /// An additional reference is not held.
    UnknownReference(Sequence),
    /// There is no such world to simulate from.
    NotSimulated,
    /// The bins up to this byte, or the last few bytes after it, are not what the encoder writes.
    NonCanonical { byte: usize, why: NonCanonical },
}

/// The same, before it is known where.
#[derive(Debug)]
enum Failure {
    UnknownReference(Sequence),
    NotSimulated,
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
    initial: [KeptState; 2],
    /// The adaptive state of the packet.
    next: AdaptiveState,
    /// By cube: whether the packet carries it.
    coded: Vec<bool>,
    /// Of the packet that was decoded last.
    attachment: Vec<u8>,
    scratch: Scratch,
    carriers: Carriers,
    spares: SpareStates,
}

impl Default for Coder {
    fn default() -> Self {
        Self::new(TrainedModel::shipped())
    }
}

impl Coder {
    pub(crate) fn new(model: Arc<TrainedModel>) -> Self {
        let initial = Variant::ALL.map(|variant| KeptState::initial(&model, variant));
        Self {
            next: AdaptiveState::new(&initial[0]),
            initial,
            model,
            coded: Vec::new(),
            attachment: Vec::new(),
            scratch: Scratch::default(),
            carriers: Carriers::default(),
            spares: SpareStates::default(),
        }
    }

    pub(crate) fn model(&self) -> &TrainedModel {
        &self.model
    }

    /// Takes an adaptive state whose memory can be reused.
    pub(crate) fn recycle(&mut self, spare: Option<Box<KeptState>>) {
        self.spares.release(spare);
    }

    /// The check of a packet with this basis that changes these cubes. The snapshot's hash is kept with the adaptive
    /// state, so that only what changes is hashed.
    pub(crate) fn check(
        &mut self,
        basis: &Basis<'_>,
        current: &QuantizedSnapshot,
        changed: &[bool],
        sequence: Sequence,
    ) -> u32 {
        let reference = basis.reference.snapshot;
        let kept = basis.reference.state.map(|state| state.hash);
        let mut hash = kept.unwrap_or_else(|| SnapshotHash::new(reference));
        for cube in flagged(changed) {
            hash.replace(cube, reference, current);
        }
        self.next.hash = hash;
        hash.check(sequence)
    }

    /// The same in more bits, of the packet whose check was computed last.
    pub(crate) const fn long_check(&self) -> u32 {
        self.next.hash.long_check()
    }

    /// Keeps the adaptive state after the packet that was coded last, which had this basis.
    pub(crate) fn keep(
        &mut self,
        basis: &Basis<'_>,
        spares: &mut Spares,
        place: &mut Option<Box<KeptState>>,
    ) {
        let previous = basis.state(&self.initial);
        let reference = basis.kept_reference();
        self.spares
            .keep(&self.next, &self.coded, previous, reference, spares, place);
    }

    pub(crate) fn forget_attachment(&mut self) {
        self.attachment.clear();
    }

    /// The attachment of the packet that was decoded last.
    pub(crate) fn attachment(&self) -> &[u8] {
        &self.attachment
    }

    /// Appends the bins of `current` to `bytes`. `changed` says which cubes differ from the reference. Additional
    /// references are used if they fit. Gives how many cubes are coded.
    pub(crate) fn encode<O: CodingObserver>(
        &mut self,
        basis: Basis<'_>,
        offered: [Option<HeldSnapshot<'_>>; 2],
        simulated: Simulated<'_>,
        (current, changed): (&QuantizedSnapshot, &[bool]),
        bytes: &mut Vec<u8>,
        observer: O,
    ) -> usize {
        let additional = basis.usable(offered);
        let ages = additional.map(|held| Some(basis.reference.age(&held?)));
        let simulated = Simulated {
            prediction: simulated.origin.and_then(|origin| match origin.is_exact() {
                true => Some(current),
                false => simulated.prediction,
            }),
            ..simulated
        };
        let mut coded = std::mem::take(&mut self.coded);
        match simulated.prediction {
            Some(prediction) => current.compare(prediction, &mut coded),
            None => {
                coded.clear();
                coded.extend_from_slice(changed);
            }
        }
        let count = coded.iter().filter(|&&coded| coded).count();
        let cubes = Cubes {
            target: Some(current),
            decoded: None,
            changed: &mut coded,
        };
        let inputs = simulated
            .origin
            .map(|origin| Inputs::new(origin, simulated.inputs));
        let scene = SceneSource::Target {
            inputs: inputs.as_ref(),
            attachment: simulated.attachment,
            long_check: self.long_check(),
        };
        let (outcome, encoder) = self.code(
            basis,
            (BinEncoder::new(bytes), observer),
            ages,
            |_| Ok(additional),
            (&scene, |_: &Inputs| simulated.prediction),
            cubes,
        );
        encoder.finish();
        outcome.expect("the encoder's own bins are canonical and in range");
        self.coded = coded;
        count
    }

    /// Decodes bins into `decoded`. `changed` becomes which cubes differ from the reference. `held` looks up
    /// additional references, `simulate` what was simulated. Gives what the packet says of a simulation.
    pub(crate) fn decode<'h, 's>(
        &mut self,
        basis: Basis<'_>,
        held: impl Fn(Sequence) -> Option<HeldSnapshot<'h>>,
        simulate: impl FnOnce(&Inputs) -> Option<&'s QuantizedSnapshot>,
        bytes: &[u8],
        (decoded, changed): (&mut QuantizedSnapshot, &mut Vec<bool>),
    ) -> Result<Option<DecodedInputs>, Undecodable> {
        let mut coded = std::mem::take(&mut self.coded);
        coded.clear();
        coded.resize(basis.reference.snapshot.len(), false);
        decoded.copy_from(basis.reference.snapshot);
        let cubes = Cubes {
            target: None,
            decoded: Some(&mut *decoded),
            changed: &mut coded,
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
            (&SceneSource::Packet, |inputs: &Inputs| simulate(inputs)),
            cubes,
        );
        match basis.is_simulated {
            true => decoded.compare(basis.reference.snapshot, changed),
            false => changed.clone_from(&coded),
        }
        self.coded = coded;
        outcome
            .and_then(|inputs| match decoder.is_canonical() {
                true => Ok(inputs),
                false => Err(NonCanonical::Redundant.into()),
            })
            .map_err(|failure| match failure {
                Failure::UnknownReference(sequence) => Undecodable::UnknownReference(sequence),
                Failure::NotSimulated => Undecodable::NotSimulated,
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
        (scene, simulate): (
            &SceneSource<'_>,
            impl FnOnce(&Inputs) -> Option<&'a QuantizedSnapshot>,
        ),
        mut cubes: Cubes<'_>,
    ) -> (Result<Option<DecodedInputs>, Failure>, B) {
        let state = basis.state(&self.initial);
        self.next.follow(state, basis.reference.snapshot.len());
        self.attachment.clear();
        let mut session = Session {
            bins,
            observer,
            model: &self.model,
            snapshots: basis.snapshots(state),
            next: &mut self.next,
        };
        let run = || {
            let inputs = match basis.is_simulated {
                true => session.scene(&basis, scene, &mut self.attachment)?,
                false => None,
            };
            let mut is_right = false;
            if let Some(inputs) = &inputs {
                let simulated = simulate(inputs).ok_or(Failure::NotSimulated)?;
                session.snapshots.simulated = Some(simulated);
                if let Some(decoded) = &mut cubes.decoded {
                    decoded.copy_from(simulated);
                }
                is_right =
                    inputs.origin.is_exact() || session.all_right(!cubes.changed.contains(&true));
            }
            if !is_right {
                session.references(&basis, ages, find)?;
                session.run(&basis, &mut self.scratch, &mut self.carriers, &mut cubes)?;
                if inputs.is_some() && !cubes.changed.contains(&true) {
                    return Err(NonCanonical::Redundant.into());
                }
            }
            Ok(inputs.map(|inputs| DecodedInputs {
                long_check: session.long_check(&basis, scene),
                inputs,
            }))
        };
        let outcome = run();
        let Session { bins, .. } = session;
        (outcome, bins)
    }
}

/// What a packet says of a simulation: to be encoded, or still to be decoded.
enum SceneSource<'s> {
    Target {
        inputs: Option<&'s Inputs>,
        attachment: &'s [u8],
        long_check: u32,
    },
    Packet,
}

/// What was decoded of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodedInputs {
    pub(crate) inputs: Inputs,
    /// The check in more bits, if the packet has it.
    pub(crate) long_check: Option<u32>,
}

impl<'a, B: BinCoder, O: CodingObserver> Session<'a, B, O> {
    fn scene(
        &mut self,
        basis: &Basis<'_>,
        scene: &SceneSource<'_>,
        attachment: &mut Vec<u8>,
    ) -> Result<Option<Inputs>, Failure> {
        let (inputs, attached) = match scene {
            SceneSource::Target {
                inputs, attachment, ..
            } => (*inputs, *attachment),
            SceneSource::Packet => (None, &[][..]),
        };
        let inputs = self.inputs(inputs, basis.ticks, basis.input)?;
        self.attachment(attached, attachment)?;
        Ok(inputs)
    }

    /// Codes the long check if it is due.
    fn long_check(&mut self, basis: &Basis<'_>, scene: &SceneSource<'_>) -> Option<u32> {
        let value = match scene {
            SceneSource::Target { long_check, .. } => *long_check,
            SceneSource::Packet => 0,
        };
        basis.has_long_check.then(|| self.long_check_bits(value))
    }

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
                Some((&**held.snapshot, basis.reference.age(&held).into()))
            });
        }
        Ok(())
    }

    fn run(
        &mut self,
        basis: &Basis<'_>,
        scratch: &mut Scratch,
        carriers: &mut Carriers,
        cubes: &mut Cubes<'_>,
    ) -> Result<(), Failure> {
        match basis.variant {
            Variant::Plain => self.cubes(&mut HoldPredictor, scratch, cubes)?,
            Variant::Predicted => {
                let mut predictor = RigidBodyPredictor::new(carriers, &self.snapshots);
                self.cubes(&mut predictor, scratch, cubes)?;
            }
        }
        Ok(())
    }
}
