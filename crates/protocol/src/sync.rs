//! The sender's knowledge of whether a receiver's simulated scene equals its own.
//!
//! The receiver's world is equal as long as it simulates the same ticks, which the check of each packet confirms. A
//! world can start at the scene's start, or from a restored state of the sender's world. After a failed packet, or
//! after a silence of more than [`MAX_SIMULATED_TICKS`], the receiver needs another state. Until it has arrived,
//! packets carry bodies.

use std::collections::VecDeque;
use std::sync::Arc;

use cubewire_codec::simulation::MAX_SIMULATED_TICKS;
use cubewire_codec::{Inputs, Origin, Simulated};
use log::debug;

use crate::inputs::InputHistory;
use crate::state_transfer::StateTransfer;

/// Whether the receiver's simulated world is known to equal the sender's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncStatus {
    /// The worlds are not known to be equal: packets carry bodies.
    #[default]
    Desynced,
    /// The worlds are equal: packets carry inputs.
    Synced {
        /// The tick of the first packet that carried inputs.
        since: u64,
    },
}

/// Time until a sender requests a state again after a failed transfer or after the first desync. It doubles with each
/// further desync, because the receiver's engine may compute other results. After a failed transfer it does not,
/// because the link may have recovered.
const FIRST_RETRY_TICKS: u64 = 60;
const MAX_RETRY_TICKS: u64 = 60 * 600;
/// A sync this long resets the retry backoff.
const LASTING_TICKS: u64 = 600;
/// A transfer is given up this number of ticks before the inputs since its tick are too old. A packet that starts from
/// the state needs some of this time to be acked.
const MARGIN_TICKS: u64 = 20;

/// The simulation state of one receiver, as its sender knows it.
#[derive(Debug, Default)]
pub(crate) struct SceneSync {
    pub(crate) status: SyncStatus,
    /// Newest tick that was sent before the last desync. Acks and states up to this tick are invalid.
    lost: Option<u64>,
    /// Transfer of a state, until it is useless. A complete one stays, because packets start from its state.
    pub(crate) transfer: Option<StateTransfer>,
    /// Tick of the last packet, if the caller should offer a state. `None` if no state is wanted.
    pub(crate) wanted_at: Option<u64>,
    /// Start of the receiver's newest world, and the tick of the first packet that named it. Earlier acks are for an
    /// older world.
    start: Option<(WorldStart, u64)>,
    /// Tick of the newest acked packet that was simulated.
    simulated: Option<u64>,
    /// No state is wanted before this tick.
    retry_at: u64,
    /// Delay of the next retry after a desync.
    retry_ticks: u64,
    /// Number of desyncs that the receiver has reported.
    pub(crate) desyncs: u64,
    /// Inputs of the packet that is being sent.
    inputs: Option<Inputs>,
    /// State chunk of the packet that is being sent, or empty.
    state_chunk: Vec<u8>,
    /// Buffer for `inputs`.
    bytes: Vec<u8>,
}

/// The start of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorldStart {
    /// The scene started after this tick.
    Scene(u64),
    /// A state of this tick was restored.
    State(u64),
}

impl SceneSync {
    pub(crate) fn new() -> Self {
        Self { retry_ticks: FIRST_RETRY_TICKS, ..Self::default() }
    }

    /// Returns the number of chunks that have arrived and the total. `None` if no state is being sent.
    pub(crate) fn state_progress(&self) -> Option<(usize, usize)> {
        let transfer = self.transfer.as_ref()?;
        (!transfer.is_complete()).then(|| transfer.progress())
    }

    /// Begins the transfer of a state if one is wanted. `is_acked` is true if the receiver has the snapshot of that
    /// tick.
    pub(crate) fn offer(&mut self, tick: u64, state: &Arc<[u8]>, is_acked: bool) {
        let counts = self.lost.is_none_or(|lost| tick > lost);
        let is_recent = |wanted| tick + FIRST_RETRY_TICKS > wanted;
        if counts && self.wanted_at.take_if(|wanted| is_recent(*wanted)).is_some() {
            debug!("resync: sending the state of tick {tick}, {} bytes", state.len());
            self.transfer = Some(StateTransfer::new(tick, Arc::clone(state), is_acked));
        }
    }

    pub(crate) fn on_ack(&mut self, tick: u64, is_simulated: bool) {
        if is_simulated {
            self.simulated = self.simulated.max(Some(tick));
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_ack(tick);
        }
    }

    /// Handles a report that the packet of `tick` differed from the receiver's simulation. `newest` is the newest
    /// sent tick.
    pub(crate) fn on_desync(&mut self, tick: u64, newest: u64) {
        let is_of_older_world = self.start.is_some_and(|(_, first)| tick < first);
        if is_of_older_world || self.lost.is_some_and(|lost| tick <= lost) {
            return;
        }
        self.lost = Some(newest);
        self.transfer = None;
        self.desyncs += 1;
        debug!("desync: the receiver's simulation differs at tick {tick}");
        self.retry_at = newest + self.retry_ticks;
        self.retry_ticks = (2 * self.retry_ticks).min(MAX_RETRY_TICKS);
    }

    /// Invalidates everything up to the newest sent tick, and wants a state at once.
    pub(crate) fn force_desync(&mut self, newest: u64) {
        self.lost = Some(newest);
        self.transfer = None;
        self.retry_at = 0;
    }

    /// Chooses inputs and a state chunk for the packet of the history's newest tick. `acked` are the ticks of the
    /// valid acked snapshots, ascending.
    pub(crate) fn choose(
        &mut self,
        acked: &VecDeque<u64>,
        history: Option<&InputHistory>,
    ) -> Simulated<'_> {
        self.state_chunk.clear();
        self.inputs = None;
        self.wanted_at = None;
        let Some(history) = history else {
            self.status = SyncStatus::Desynced;
            self.transfer = None;
            return Simulated::default();
        };
        let tick = history.tick();
        let newest_acked = acked.back().copied();
        self.drop_useless_transfer(tick, newest_acked.unwrap_or(0));
        let origin = self.origin(acked, history);
        self.inputs = origin.and_then(|origin| {
            history.since(tick - u64::from(origin.age()), &mut self.bytes);
            Inputs::new(origin, &self.bytes)
        });
        let is_synced = self.inputs.is_some();
        // Wait until the receiver has acked a snapshot.
        let is_heard = newest_acked.is_some();
        let wants_state =
            !is_synced && self.transfer.is_none() && is_heard && tick >= self.retry_at;
        self.wanted_at = wants_state.then_some(tick);
        match &mut self.transfer {
            // The receiver simulates without this state.
            Some(transfer) if is_synced && !transfer.is_complete() => self.transfer = None,
            Some(transfer) => {
                transfer.chunk(tick, newest_acked.unwrap_or(0), &mut self.state_chunk);
            }
            None => {}
        }
        if let Some(inputs) = &self.inputs {
            let origin = inputs.origin();
            self.record_start(origin, tick);
        }
        self.status = match (is_synced, self.status) {
            (false, _) => SyncStatus::Desynced,
            (true, SyncStatus::Desynced) => {
                debug!("resync: the receiver simulates from tick {tick} on");
                SyncStatus::Synced { since: tick }
            }
            (true, SyncStatus::Synced { since }) => {
                if tick - since > LASTING_TICKS {
                    self.retry_ticks = FIRST_RETRY_TICKS;
                }
                SyncStatus::Synced { since }
            }
        };
        Simulated { inputs: self.inputs.as_ref(), state_chunk: &self.state_chunk }
    }

    /// Drops the transfer if its snapshot is lost, or if the inputs since its tick are no longer known.
    fn drop_useless_transfer(&mut self, tick: u64, newest_acked: u64) {
        let is_useless = |transfer: &mut StateTransfer| {
            let limit = if transfer.is_complete() { 0 } else { MARGIN_TICKS };
            transfer.has_lost_snapshot(newest_acked)
                || transfer.tick + MAX_SIMULATED_TICKS as u64 <= tick + limit
        };
        if let Some(useless) = self.transfer.take_if(is_useless)
            && !useless.is_complete()
        {
            self.retry_at = self.retry_at.max(useless.tick + FIRST_RETRY_TICKS);
        }
    }

    fn record_start(&mut self, origin: Origin, tick: u64) {
        let start = match origin {
            Origin::FromSceneStart(age) => WorldStart::Scene(tick - u64::from(age)),
            Origin::Restored(age) => WorldStart::State(tick - u64::from(age)),
            Origin::Continued(_) => return,
        };
        if self.start.is_none_or(|(old, _)| old != start) {
            self.start = Some((start, tick));
        }
    }

    /// Returns the state that the receiver simulates from: an acked snapshot of the current world, else the start of
    /// the scene, else a transferred state. `None` if the inputs since then are not known for any of them.
    fn origin(&self, acked: &VecDeque<u64>, history: &InputHistory) -> Option<Origin> {
        let tick = history.tick();
        let is_valid = |at: &u64| self.lost.is_none_or(|lost| *at > lost);
        let first = self.start.map_or(0, |(_, first)| first);
        let age = |at: u64| {
            let age = u8::try_from(tick.checked_sub(at)?).ok();
            age.filter(|&age| age > 0 && history.knows(at))
        };
        let oldest = acked.front().copied().unwrap_or(u64::MAX);
        // Acks before `first` are for an older world, and acks before `oldest` are not valid any more.
        let continued = self.simulated.filter(|at| is_valid(at) && *at >= first.max(oldest));
        if let Some(age) = continued.and_then(age) {
            return Some(Origin::Continued(age));
        }
        if let Some(age) = history.started().filter(is_valid).and_then(age) {
            return Some(Origin::FromSceneStart(age));
        }
        let state = self.transfer.as_ref().filter(|state| state.is_complete());
        let age = state.map(|state| state.tick).filter(is_valid).and_then(age);
        age.map(Origin::Restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link may have recovered, so a receiver must not wait for minutes.
    #[test]
    fn a_state_that_was_lost_again_and_again_is_still_asked_for_every_second() {
        let (mut sync, state) = (SceneSync::new(), [7; 99].into());
        let mut history = InputHistory::new(1_000, false);
        let (mut acked, mut wanted) = (VecDeque::new(), Vec::new());
        for tick in 1_001..5_000 {
            history.push(&[0], false);
            // All snapshots arrive except those at the ticks of states.
            if wanted.last() != Some(&(tick - 1)) {
                acked.push_back(tick - 1);
            }
            sync.choose(&acked, Some(&history));
            if sync.wanted_at.is_some() {
                wanted.push(tick);
                sync.offer(tick, &state, false);
            }
        }
        let longest = wanted.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(wanted.len() > 50, "{wanted:?}");
        assert!(longest <= Some(FIRST_RETRY_TICKS + 10), "{wanted:?}");
    }
}
