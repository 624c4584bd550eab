//! Chooses the ticks to encode, and the encoded ticks to count.
//!
//! A packet's size is accurate only if its baseline was encoded too, and that baseline's baseline before. Therefore runs of
//! consecutive ticks are encoded, not every n-th tick. The first ticks of a run are encoded but not counted, until
//! enough of their baselines are in the run:
//!
//! ```text
//! sent      ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ● ●
//! encoded   ○ ○ ○ ○ ○ ● ● ● ● ●                 ○ ○ ○ ○ ○ ● ●
//! ```
//!
//! A run ends when too many ticks wait to be encoded. The next run begins when no tick waits. If encoding keeps up with the
//! game, the first run never ends.

use std::collections::VecDeque;
use std::time::Duration;

/// Minimum number of baselines in a packet's chain for an accurate size.
const MIN_DEPTH: usize = 3;

/// Limit of the ticks that wait to be encoded, in addition to a run's uncounted ticks.
const RUN_TICKS: usize = 60;

/// Number of ticks in the mean of [`Sampling::share`].
const SEEN_TICKS: usize = 10 * RUN_TICKS;

/// As in [`PacketRecord::acked_ages_ticks`](cubewire_protocol::record::PacketRecord::acked_ages_ticks).
type AckedAges = [Option<u16>; 3];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Choice {
    #[default]
    Skip,
    /// Encode it as a baseline of later ticks.
    Encode,
    /// Encode and count it.
    Count,
}

#[derive(Debug, Default)]
pub(super) struct Sampling {
    /// First tick of the run. `None` while ticks are skipped.
    run_start: Option<u64>,
    /// Whether each tick was chosen, newest last.
    seen: VecDeque<bool>,
    /// The choice for the newest tick with a packet.
    last: Choice,
}

impl Sampling {
    /// Decides about the newest tick. `acked_ages` is `None` if no packet was sent in it. `waiting` is the number of chosen ticks
    /// that are not encoded yet.
    pub(super) fn choose(
        &mut self,
        tick: u64,
        acked_ages: Option<AckedAges>,
        waiting: usize,
    ) -> Choice {
        // A tick without a packet follows the decision for the previous packet.
        if let Some(ages) = acked_ages {
            self.last = self.choose_packet(tick, ages, waiting);
        }
        if self.seen.len() == SEEN_TICKS {
            self.seen.pop_front();
        }
        self.seen.push_back(self.last != Choice::Skip);
        self.last
    }

    fn choose_packet(&mut self, tick: u64, ages: AckedAges, waiting: usize) -> Choice {
        let age = usize::from(ages[0].unwrap_or(0));
        let oldest = ages.into_iter().flatten().max().map_or(0, usize::from);
        // The packet refers to packets of up to `oldest` ticks before. Its baseline has a baseline of about the same age,
        // and so on.
        let uncounted = oldest + (MIN_DEPTH - 1) * age;
        if waiting == 0 {
            self.run_start.get_or_insert(tick);
        } else if waiting >= RUN_TICKS + uncounted {
            self.run_start = None;
        }
        match self.run_start {
            None => Choice::Skip,
            Some(start) if tick < start + uncounted as u64 => Choice::Encode,
            Some(_) => Choice::Count,
        }
    }

    /// Returns the fraction of the last [`SEEN_TICKS`] that were chosen, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let chosen = self.seen.iter().filter(|&&is_chosen| is_chosen).count();
        chosen as f64 / self.seen.len().max(1) as f64
    }
}

/// Limits encoding to a fraction of one core's time.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// Seconds left; negative if encoding took longer than allowed.
    left: f64,
    /// Exponential moving average of a tick's encoding time, in seconds. `None` before the first tick.
    per_tick: Option<f64>,
}

impl Budget {
    const SHARE: f64 = 0.25;

    /// Weight of a new measurement in the moving average.
    const WEIGHT: f64 = 0.05;

    /// Limit of `left`, in seconds: the share of a quarter of a second.
    const MAX_SAVED: f64 = Self::SHARE * 0.25;

    /// Forgets that encoding took longer than allowed.
    pub(super) const fn forgive_debt(&mut self) {
        self.left = self.left.max(0.0);
    }

    pub(super) fn earn(&mut self, time: Duration) {
        self.left = (self.left + Self::SHARE * time.as_secs_f64()).min(Self::MAX_SAVED);
    }

    pub(super) fn spend(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.left -= seconds;
        let before = self.per_tick.unwrap_or(seconds);
        self.per_tick = Some(before + Self::WEIGHT * (seconds - before));
    }

    /// Returns the mean time to encode a tick. Zero before the first tick.
    pub(super) fn mean_time(&self) -> Duration {
        Duration::from_secs_f64(self.per_tick.unwrap_or(0.0))
    }

    /// Returns the number of ticks that may be encoded now: 0 if no time is left, 1 if a tick's time is still unknown.
    pub(super) fn ticks(&self) -> usize {
        if self.left <= 0.0 {
            return 0;
        }
        self.per_tick.map_or(1, |per_tick| ((self.left / per_tick) as usize).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGES: AckedAges = [Some(7), Some(8), Some(9)];

    #[test]
    fn while_encoding_keeps_up_every_tick_counts_once_its_baselines_do() {
        let mut sampling = Sampling::default();
        let mut choose = |tick: u64| sampling.choose(100 + tick, Some(AGES), tick.min(3) as usize);
        let choices: Vec<_> = (0..100).map(&mut choose).collect();
        // The first baseline counts once the additional reference 9 ticks before is in the run. Two more are 7 ticks apart.
        let (encoded, counted) = choices.split_at(9 + 2 * 7);
        assert!(encoded.iter().all(|choice| *choice == Choice::Encode));
        assert!(counted.iter().all(|choice| *choice == Choice::Count));
        assert_eq!(sampling.share(), 1.0);
    }

    #[test]
    fn ticks_without_packets_go_with_the_packet_before() {
        let mut sampling = Sampling::default();
        // The first packet needs no baseline.
        let packet = Some([None; 3]);
        let ticks = [(None, 0), (packet, 0), (None, 500), (packet, 500), (None, 0)];
        let choices = (4..).zip(ticks).map(|(tick, (ages, it))| sampling.choose(tick, ages, it));
        let [skip, count] = [Choice::Skip, Choice::Count];
        assert!(choices.eq([skip, count, count, skip, skip]));
    }

    #[test]
    fn a_run_ends_when_too_many_wait_and_the_next_begins_when_none_does() {
        let mut sampling = Sampling::default();
        // Three times as many ticks are sent as can be encoded.
        let mut waiting = 0_usize;
        let choices = (0..3_000_u64).map(|tick| {
            let choice = sampling.choose(tick, Some(AGES), waiting);
            waiting += usize::from(choice != Choice::Skip);
            waiting -= usize::from(tick.is_multiple_of(3) && waiting > 0);
            choice
        });
        let choices: Vec<_> = choices.collect();
        let is_skipped = |choice: &Choice| *choice == Choice::Skip;
        let runs = choices.chunk_by(|a, b| is_skipped(a) == is_skipped(b));
        let runs: Vec<_> = runs.filter(|run| !is_skipped(&run[0])).collect();
        let share = runs.iter().map(|run| run.len()).sum::<usize>() as f64 / choices.len() as f64;
        assert!((0.3..0.4).contains(&share), "{share}");
        assert!((0.2..0.5).contains(&sampling.share()));
        assert!(runs.len() > 3, "{}", runs.len());
        for run in &runs[..runs.len() - 1] {
            let counted = run.iter().filter(|choice| **choice == Choice::Count).count();
            assert!(counted >= 60, "{counted} of {}", run.len());
        }
    }

    #[test]
    fn a_budget_gives_a_quarter_of_the_time() {
        let mut budget = Budget::default();
        let tick = Duration::from_millis(10);
        let mut encoded = Duration::ZERO;
        for _ in 0..600 {
            budget.earn(Duration::from_secs(1) / 60);
            if budget.ticks() > 0 {
                budget.spend(tick);
                encoded += tick;
            }
        }
        let share = encoded.as_secs_f64() / 10.0;
        assert!((0.24..0.26).contains(&share), "{share}");
        assert!((budget.per_tick.unwrap() - tick.as_secs_f64()).abs() < 1e-9);
    }

    #[test]
    fn a_fast_machine_encodes_all_that_wait() {
        let mut budget = Budget::default();
        budget.earn(Duration::from_secs(1) / 60);
        budget.spend(Duration::from_millis(1));
        assert_eq!(budget.ticks(), 3);
        // Saved time is limited.
        budget.earn(Duration::from_secs(3_600));
        assert_eq!(budget.ticks(), 62);
    }
}
