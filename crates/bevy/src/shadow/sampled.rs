//! Costs of stages, measured on as many ticks as a share of a core allows.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::Stages;
use cubewire_protocol::record::{PacketRecord, kbps};

use super::sampling::{Budget, Choice, Sampling};
use super::{Encoded, Shadow, ShadowTick};

/// Costs of a list of stages, without a budget. The sampling takes at most a quarter of a core: if that is not enough for every
/// tick, a [share](Self::share) of the ticks is encoded.
#[derive(Debug)]
pub struct Sampled {
    list: Arc<[Stages]>,
    ticks_per_second: u16,
    /// By index in the list: article bytes of the newest second of counted ticks.
    bytes: Vec<VecDeque<usize>>,
    sampling: Sampling,
    budget: Budget,
    /// Chosen ticks that are not encoded yet, the oldest first, each with whether it is counted.
    counts: VecDeque<(u64, bool)>,
    newest: Option<u64>,
}

impl Sampled {
    /// Measures these stages on a connection with that many ticks a second.
    #[must_use]
    pub fn new(stages: impl IntoIterator<Item = Stages>, ticks_per_second: u16) -> Self {
        let list: Arc<[Stages]> = stages.into_iter().collect();
        Self {
            bytes: vec![VecDeque::new(); list.len()],
            list,
            ticks_per_second,
            sampling: Sampling::default(),
            budget: Budget::default(),
            counts: VecDeque::new(),
            newest: None,
        }
    }

    /// Costs of a second up to tick `newest`, with these bytes a tick by index in the list. For tests of displays.
    #[doc(hidden)]
    #[must_use]
    pub fn of_bytes(mut self, newest: u64, bytes: impl Fn(usize) -> usize) -> Self {
        let second = usize::from(self.ticks_per_second);
        for (index, row) in self.bytes.iter_mut().enumerate() {
            *row = VecDeque::from(vec![bytes(index); second]);
        }
        self.newest = Some(newest);
        self
    }

    /// The stages that are measured.
    #[must_use]
    pub fn stages(&self) -> &[Stages] {
        &self.list
    }

    /// Mean over the newest second of counted ticks, article accounting, kilobits a second. None before the first.
    #[must_use]
    pub fn kbps(&self, index: usize) -> Option<f64> {
        let bytes = self.bytes.get(index).filter(|bytes| !bytes.is_empty())?;
        let sum = bytes.iter().sum();
        Some(kbps(sum, bytes.len(), self.ticks_per_second.into()))
    }

    /// Age of the costs at tick `now`, ticks. None before the first.
    #[must_use]
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest?))
    }

    /// Fraction of the newest ticks that is encoded, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.sampling.share()
    }

    /// Queues a tick if it is chosen.
    pub fn push(&mut self, tick: &Arc<ShadowTick>, shadow: &mut Shadow) {
        let ages = tick.sent.as_ref().map(|sent| sent.acked_ages_ticks);
        let choice = self.sampling.choose(tick.tick, ages, self.counts.len());
        if choice != Choice::Skip {
            shadow.push(&self.list, tick);
            self.counts.push_back((tick.tick, choice == Choice::Count));
        }
    }

    /// Adds a share of real time that has passed. Returns the list and the number of its ticks that may be encoded now, as
    /// [`Shadow::start`] takes them.
    pub fn allow(&mut self, passed: Duration) -> (&Arc<[Stages]>, usize) {
        self.budget.earn(passed);
        (&self.list, self.budget.ticks())
    }

    /// The list, as [`Shadow::finish`] takes it.
    #[must_use]
    pub const fn list(&self) -> &Arc<[Stages]> {
        &self.list
    }

    /// Counts the packets that are of this list.
    pub fn count(&mut self, encoded: &[Encoded]) {
        for encoded in encoded.iter().filter(|encoded| encoded.is_of(&self.list)) {
            self.budget.spend(encoded.time);
            let chosen = self.counts.iter();
            let passed = chosen.take_while(|(tick, _)| *tick <= encoded.tick).count();
            let last = self.counts.drain(..passed).next_back();
            if last != Some((encoded.tick, true)) {
                continue;
            }
            for (index, bytes) in self.bytes.iter_mut().enumerate() {
                if bytes.len() == usize::from(self.ticks_per_second) {
                    bytes.pop_front();
                }
                let packet = encoded.packets.get(index);
                bytes.push_back(packet.map_or(0, PacketRecord::article_bytes));
            }
            self.newest = Some(encoded.tick);
        }
    }
}
