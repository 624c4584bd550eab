//! Costs of stages, measured on as many ticks as a fraction of a core can encode.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::Stages;
use cubewire_protocol::record::{PacketRecord, kbps};

use super::sampling::{Budget, Choice, Sampling};
use super::{Encoded, Shadow, ShadowTick};

/// Costs of a list of stages without a byte budget. Encoding uses at most a quarter of a core. If that is not enough for all
/// ticks, a [fraction](Self::share) of the ticks is encoded.
#[derive(Debug)]
pub struct Sampled {
    list: Arc<[Stages]>,
    ticks_per_second: u16,
    /// By index in the list: article bytes of each counted tick, for the newest second of counted ticks.
    bytes: Vec<VecDeque<usize>>,
    sampling: Sampling,
    budget: Budget,
    /// Chosen ticks that are not encoded yet, oldest first, and whether each will be counted.
    counts: VecDeque<(u64, bool)>,
    newest: Option<u64>,
}

impl Sampled {
    /// Returns costs of these stages, not measured yet, for a connection with this tick rate.
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

    /// Sets the costs of one second up to tick `newest`. `bytes` returns the bytes per tick by index in the list. For tests of
    /// displays.
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

    /// Returns the measured stages.
    pub fn stages(&self) -> &[Stages] {
        &self.list
    }

    /// Returns the mean over the newest second of counted ticks, in kilobits per second by article accounting. `None` before the
    /// first counted tick.
    pub fn kbps(&self, index: usize) -> Option<f64> {
        let bytes = self.bytes.get(index).filter(|bytes| !bytes.is_empty())?;
        Some(kbps(bytes.iter().sum(), bytes.len(), self.ticks_per_second.into()))
    }

    /// Returns the age of the costs at tick `now`, in ticks. `None` before the first counted tick.
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest?))
    }

    /// Returns the fraction of recent ticks that were chosen for encoding, 0 to 1.
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

    /// Adds a share of the passed real time to the time budget. Returns the list and the number of ticks that may be encoded
    /// now, as an argument for [`Shadow::start`].
    pub fn allow(&mut self, passed: Duration) -> (&Arc<[Stages]>, usize) {
        self.budget.earn(passed);
        (&self.list, self.budget.ticks())
    }

    /// Returns the list, as an argument for [`Shadow::finish`].
    pub const fn list(&self) -> &Arc<[Stages]> {
        &self.list
    }

    /// Counts the packets of this list. Ignores the packets of other lists.
    pub fn count(&mut self, encoded: &[Encoded]) {
        for encoded in encoded.iter().filter(|encoded| encoded.is_of(&self.list)) {
            self.budget.spend(encoded.time);
            let passed = self.counts.iter().take_while(|(tick, _)| *tick <= encoded.tick).count();
            let last = self.counts.drain(..passed).next_back();
            if last != Some((encoded.tick, true)) {
                continue;
            }
            for (index, bytes) in self.bytes.iter_mut().enumerate() {
                if bytes.len() == usize::from(self.ticks_per_second) {
                    bytes.pop_front();
                }
                bytes.push_back(encoded.packets.get(index).map_or(0, PacketRecord::article_bytes));
            }
            self.newest = Some(encoded.tick);
        }
    }
}
