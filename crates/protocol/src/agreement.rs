//! From which world a packet of a simulated scene starts, at the sender.
//!
//! A receiver's own world is exact as long as it simulates what the sender does, which the check of each packet
//! confirms. It can start where the scene starts, or where a state of the sender's world was restored. Once a packet has
//! failed, or after a silence of more than [`MAX_SIMULATED_TICKS`], another state is needed; until it has arrived,
//! packets are coded as without a simulation.

use std::collections::VecDeque;
use std::sync::Arc;

use cubewire_codec::simulation::MAX_SIMULATED_TICKS;
use cubewire_codec::{Baseline, Origin, Sequence, Simulated, Simulation};
use serde::{Deserialize, Serialize};

use crate::inputs::InputHistory;
use crate::ring::BaselineRing;
use crate::state::StateTransfer;

/// Which worlds a receiver simulates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Worlds {
    /// The sender's, to the bit. A receiver that has lost it is sent a state.
    #[default]
    Exact,
    /// Worlds that start from a decoded snapshot, and are corrected by every packet. They have none of what the engine
    /// keeps besides the bodies, and so part from the sender's.
    Corrected,
}

impl Worlds {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Corrected];
}

/// How a sender and its receiver agree about the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgreementStatus {
    /// Packets are coded without a simulation.
    #[default]
    None,
    /// The receiver's world is the sender's, since that tick.
    Exact {
        /// The first tick of a packet that said so.
        since: u64,
    },
    /// Both ends correct a world of their own.
    Corrected,
}

/// Ticks that a corrected world is simulated before the next correction, at most. Bounds the time that a packet takes,
/// and the worlds that are kept.
pub const MAX_CORRECTED_TICKS: u16 = 16;

/// Ticks until a sender asks for a state again after the first failure; twice as many after each further one.
const FIRST_RETRY_TICKS: u64 = 60;
const MAX_RETRY_TICKS: u64 = 60 * 600;
/// An agreement that has lasted so long starts with a short time again.
const LASTING_TICKS: u64 = 600;
/// So much must be left of the ticks that a packet can have inputs for when a state has arrived.
const MARGIN_TICKS: u64 = 20;

/// What the sender of one receiver knows.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// For corrected worlds.
    simulation: Box<dyn Simulation>,
    status: AgreementStatus,
    /// Nothing that was exact up to this tick counts any more.
    lost: Option<u64>,
    transfer: Option<StateTransfer>,
    /// The tick of the last packet, if a state is wanted after it.
    wanted_at: Option<u64>,
    /// Where the receiver's newest exact world starts, whether it is the start of the scene, and the tick of the first
    /// packet that said so. What was acked before is of an older world.
    start: Option<(Start, u64)>,
    retry_at: u64,
    retry_ticks: u64,
    failures: u64,
    inputs: Vec<u8>,
    piece: Vec<u8>,
}

/// The tick after which an exact world starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// As the scene does.
    Scene(u64),
    /// From a state.
    State(u64),
}

/// What a packet can refer to.
pub(crate) struct Held<'s> {
    pub(crate) sent: &'s BaselineRing,
    /// Ticks of the acked snapshots, ascending.
    pub(crate) acked: &'s VecDeque<u64>,
    /// Tick of the packet's baseline.
    pub(crate) baseline: Option<u64>,
}

impl Agreement {
    pub(crate) fn new() -> Self {
        Self {
            simulation: Box::new(()),
            status: AgreementStatus::None,
            lost: None,
            transfer: None,
            wanted_at: None,
            start: None,
            retry_at: 0,
            retry_ticks: FIRST_RETRY_TICKS,
            failures: 0,
            inputs: Vec::new(),
            piece: Vec::new(),
        }
    }

    pub(crate) fn set_simulation(&mut self, simulation: Box<dyn Simulation>) {
        self.simulation = simulation;
    }

    pub(crate) fn simulation(&self) -> &dyn Simulation {
        &*self.simulation
    }

    /// How many pieces of a state have arrived, of how many; none if no state is on its way.
    pub(crate) fn state_progress(&self) -> Option<(usize, usize)> {
        let transfer = self.transfer.as_ref()?;
        (!transfer.is_complete()).then(|| transfer.progress())
    }

    pub(crate) const fn status(&self) -> AgreementStatus {
        self.status
    }

    pub(crate) const fn failures(&self) -> u64 {
        self.failures
    }

    pub(crate) const fn wants_state(&self) -> bool {
        self.wanted_at.is_some()
    }

    /// Begins to send a state, if it is wanted. `is_acked` says whether the receiver has the snapshot of that tick.
    pub(crate) fn offer(&mut self, tick: u64, state: &Arc<[u8]>, is_acked: bool) {
        let counts = self.lost.is_none_or(|lost| tick > lost);
        let is_recent = |wanted| tick + FIRST_RETRY_TICKS > wanted;
        if counts
            && self
                .wanted_at
                .take_if(|wanted| is_recent(*wanted))
                .is_some()
        {
            self.transfer = Some(StateTransfer::new(tick, Arc::clone(state), is_acked));
        }
    }

    pub(crate) fn on_ack(&mut self, tick: u64) {
        if let Some(transfer) = &mut self.transfer {
            transfer.on_ack(tick);
        }
    }

    /// The packet of `tick` was not what the receiver simulates. `newest` is the newest tick that was sent.
    pub(crate) fn on_failure(&mut self, tick: u64, newest: u64) {
        let is_of_older_world = self.start.is_some_and(|(_, first)| tick < first);
        if is_of_older_world || self.lost.is_some_and(|lost| tick <= lost) {
            return;
        }
        self.lost = Some(newest);
        self.transfer = None;
        self.failures += 1;
        if self.status == AgreementStatus::Corrected {
            // Its world was gone at the receiver, as the packet came late.
            self.retry_at = newest + FIRST_RETRY_TICKS;
        } else {
            self.retry_later(newest);
        }
    }

    /// The attempt of `tick` has failed.
    fn retry_later(&mut self, tick: u64) {
        self.retry_at = tick + self.retry_ticks;
        self.retry_ticks = (2 * self.retry_ticks).min(MAX_RETRY_TICKS);
    }

    /// Nothing up to the newest tick that was sent counts any more. A state is wanted at once.
    pub(crate) fn reset(&mut self, newest: u64) {
        self.lost = Some(newest);
        self.transfer = None;
        self.retry_at = 0;
    }

    /// The receiver may be another one, which has none of the pieces.
    pub(crate) fn forget_transfer(&mut self) {
        self.transfer = None;
    }

    /// Chooses the origin of the packet of the history's newest tick, with its inputs, and a piece of a state for it.
    pub(crate) fn choose(
        &mut self,
        held: &Held<'_>,
        moved: Option<(Worlds, &InputHistory)>,
    ) -> Option<Origin> {
        self.piece.clear();
        self.wanted_at = None;
        let Some((worlds, history)) = moved else {
            self.status = AgreementStatus::None;
            self.transfer = None;
            return None;
        };
        let tick = history.tick();
        let newest_acked = held.acked.back().copied().unwrap_or(0);
        let is_useless = |transfer: &mut StateTransfer| {
            let limit = if transfer.is_complete() {
                0
            } else {
                MARGIN_TICKS
            };
            transfer.has_lost_snapshot(newest_acked)
                || transfer.tick() + MAX_SIMULATED_TICKS as u64 <= tick + limit
        };
        if let Some(useless) = self.transfer.take_if(is_useless)
            && !useless.is_complete()
        {
            self.retry_later(useless.tick());
        }
        let origin = match worlds {
            Worlds::Exact => self.exact(held, history),
            Worlds::Corrected if tick < self.retry_at => None,
            Worlds::Corrected => corrected(held, self.lost, tick),
        };
        let origin = origin.filter(|origin| {
            let from = match origin.age() {
                Some(age) => Some(tick - u64::from(age)),
                None => held.baseline,
            };
            from.is_some_and(|from| history.since(from, &mut self.inputs))
        });
        let wants_state = worlds == Worlds::Exact
            && origin.is_none()
            && self.transfer.is_none()
            // Not while nothing is heard of the receiver.
            && held.baseline.is_some()
            && tick >= self.retry_at;
        self.wanted_at = wants_state.then_some(tick);
        self.note_start(origin, tick);
        match &mut self.transfer {
            Some(_) if worlds == Worlds::Corrected => self.transfer = None,
            Some(transfer) if !transfer.is_complete() && origin.is_some() => self.transfer = None,
            Some(transfer) => transfer.piece(tick, newest_acked, &mut self.piece),
            None => {}
        }
        self.status = match (origin, self.status) {
            (None, _) => AgreementStatus::None,
            (Some(origin), _) if !origin.is_exact() => AgreementStatus::Corrected,
            (Some(_), AgreementStatus::Exact { since }) => {
                if tick - since > LASTING_TICKS {
                    self.retry_ticks = FIRST_RETRY_TICKS;
                }
                AgreementStatus::Exact { since }
            }
            (Some(_), _) => AgreementStatus::Exact { since: tick },
        };
        origin
    }

    fn note_start(&mut self, origin: Option<Origin>, tick: u64) {
        let start = match origin {
            Some(Origin::Started(age)) => Start::Scene(tick - u64::from(age)),
            Some(Origin::Restored(age)) => Start::State(tick - u64::from(age)),
            _ => return,
        };
        if self.start.is_none_or(|(old, _)| old != start) {
            self.start = Some((start, tick));
        }
    }

    fn exact(&self, held: &Held<'_>, history: &InputHistory) -> Option<Origin> {
        let tick = history.tick();
        let counts = |at: &u64| self.lost.is_none_or(|lost| *at > lost);
        let first = self.start.map_or(0, |(_, first)| first);
        let age = |at: u64| {
            let age = u8::try_from(tick.checked_sub(at)?).ok();
            age.filter(|&age| age > 0)
        };
        let is_exact = |at: &&u64| {
            let origin = held.sent.get(**at).and_then(Baseline::origin);
            counts(at) && **at >= first && origin.is_some_and(Origin::is_exact)
        };
        let continued = held.acked.iter().rev().find(is_exact);
        if let Some(age) = continued.and_then(|&at| age(at)) {
            return Some(Origin::Continued(age));
        }
        if let Some(age) = history.started().filter(counts).and_then(age) {
            return Some(Origin::Started(age));
        }
        let state = self.transfer.as_ref().filter(|state| state.is_complete());
        let age = state.map(StateTransfer::tick).filter(counts).and_then(age);
        age.map(Origin::Restored)
    }

    /// What the packet of `sequence` says of a simulation, with the origin that was chosen. Without the one that is not
    /// exact if there is no engine for it.
    pub(crate) fn simulate(
        &mut self,
        sequence: Sequence,
        origin: Option<Origin>,
        baseline: Option<&Baseline>,
    ) -> Simulated<'_> {
        let Self {
            simulation,
            inputs,
            piece,
            ..
        } = self;
        let own = origin.filter(|origin| !origin.is_exact());
        let prediction =
            own.and_then(|origin| simulation.predict(sequence, origin, baseline, inputs));
        Simulated {
            origin: origin.filter(|origin| origin.is_exact() || prediction.is_some()),
            inputs,
            prediction,
            attachment: piece,
        }
    }

    /// The baseline that the receiver will have of the packet.
    pub(crate) fn sent(&mut self, kept: &Baseline) {
        if kept.origin().is_some_and(|origin| !origin.is_exact()) {
            self.simulation.correct(kept);
        }
    }
}

/// The origin of a world that is corrected, or starts from the baseline.
fn corrected(held: &Held<'_>, lost: Option<u64>, tick: u64) -> Option<Origin> {
    let at = held.baseline?;
    let baseline = held.sent.get(at)?;
    if tick - at > MAX_CORRECTED_TICKS.into() {
        return None;
    }
    match baseline.origin() {
        Some(Origin::Corrected | Origin::Cold) if Some(at) > lost => Some(Origin::Corrected),
        _ => Some(Origin::Cold),
    }
}
