//! Estimates a lane's bandwidth on each rung, for comparison with its actual bandwidth.

use cubewire_bevy::shadow::LiveLadder;
use cubewire_codec::Stages;
use cubewire_codec::ladder::{Rung, rung_of};
use cubewire_protocol::record::{Accounting, Sample};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::LaneMeter;
use super::settings::SenderSettings;

/// Bandwidth of a lane on each rung without a budget, in article accounting.
#[derive(Clone, Copy, Debug)]
pub struct RungCosts<'a> {
    shadow: Option<&'a LiveLadder>,
    /// The last tick of the second that is averaged.
    until: Option<u64>,
    stages: Stages,
    /// Measured bandwidth of the lane, kilobits per second. `None` if it has a budget or no full second with these settings.
    own_kbps: Option<f64>,
    /// Snapshots per second at the chosen rate, divided by the number sent under the budget. 1 without a budget.
    fewer: f64,
    /// Upper bound of the estimate: the budget in kilobits per second, or infinity. `None` without a second at the send rate of
    /// the lane.
    most_kbps: Option<f64>,
}

impl<'a> RungCosts<'a> {
    /// Computes the costs for the [second](super::Record::second) that ends at tick `moment`, or at the newest tick. After a
    /// change of the budget, the costs are from the last second before it, until there is a second after it. `sender` has the
    /// settings of that time.
    pub fn new(
        meter: &LaneMeter,
        shadow: Option<&'a LiveLadder>,
        sender: &SenderSettings,
        moment: Option<u64>,
    ) -> Self {
        let encoded = shadow.and_then(LiveLadder::newest_tick);
        let steady = Steady::of(meter, encoded, moment);
        let Steady { pace, until, is_whole } = steady.unwrap_or_default();
        let second = meter.back_from(until).take(TICKS_PER_SECOND as usize);
        let sent: usize = second.map(|sample| sample.snapshots.len()).sum();
        // Under a budget a lane sends fewer and larger snapshots, and its shadow encodes the same ones.
        let fewer = match pace.budget_kbps.is_some() && is_whole && sent > 0 {
            true => f64::from(sender.snapshots_per_second()) / sent as f64,
            false => 1.0,
        };
        let newest = meter.back_from(moment).next();
        let has_budget = newest.is_some_and(|sample| sample.budget_kbps.is_some());
        let second = meter.second(moment);
        let own_kbps = second.map(|second| second.kbps(Accounting::PayloadAndUdp));
        let asked = Pace {
            budget_kbps: sender.kept_budget(),
            send_interval_ticks: sender.send_interval_ticks,
        };
        let is_as_asked = match moment {
            Some(_) => pace == asked,
            None => pace.send_interval_ticks == asked.send_interval_ticks,
        };
        let most_kbps = || asked.budget_kbps.map_or(f64::INFINITY, f64::from);
        Self {
            shadow: shadow.filter(|_| steady.is_some()),
            until,
            stages: sender.stages,
            own_kbps: own_kbps.filter(|_| !has_budget),
            fewer,
            most_kbps: (is_whole && is_as_asked).then(most_kbps),
        }
    }

    /// Kilobits per second on a rung, `None` until known. For the current rung this is the lane's measured bandwidth, as the
    /// shadow lags by a few ticks.
    pub fn kbps(&self, rung: &Rung) -> Option<f64> {
        self.own_kbps.filter(|_| self.stages == rung.stages).or_else(|| self.encoded_kbps(rung))
    }

    /// Like [`kbps`](Self::kbps), but from the shadow for every rung. Differences between rungs need figures of the same ticks.
    pub fn encoded_kbps(&self, rung: &Rung) -> Option<f64> {
        Some(self.fewer * self.shadow?.kbps_until(rung.stages, self.until)?)
    }

    /// Scales a figure of the background encoder to the lane, as the encoder lags by a few ticks. `encoded_kbps` is its figure
    /// for some stages, `present_kbps` its figure for the current ones.
    pub fn scaled(&self, encoded_kbps: f64, present_kbps: f64) -> f64 {
        match self.own_kbps {
            Some(own) if present_kbps > 0.0 => encoded_kbps * own / present_kbps,
            _ => encoded_kbps * self.fewer,
        }
    }

    /// Expected bandwidth in kilobits per second, for use before there is a second with the current stages. `None` for stages
    /// that are not on the ladder.
    pub fn estimate(&self) -> Option<f64> {
        let kbps = self.kbps(&rung_of(self.stages)?)?;
        Some(kbps.min(self.most_kbps?))
    }
}

/// Settings that the figures of a second must have in common, because the shadow's figures would mix them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pace {
    budget_kbps: Option<u32>,
    send_interval_ticks: u32,
}

/// The newest second with one [`Pace`].
#[derive(Clone, Copy, Debug, Default)]
struct Steady {
    pace: Pace,
    /// The last tick of the second. The shadow may lag behind the lane, so that its second ends earlier.
    until: Option<u64>,
    /// Whether it is a full second. The scene settles in the lane's first second, which does not represent the traffic after
    /// it.
    is_whole: bool,
}

impl Steady {
    /// Finds the second up to `moment`, or up to the newest tick. `encoded` is the shadow's newest tick. `None` if the send rate
    /// changed since then, or if the lane never had one pace for a second.
    fn of(meter: &LaneMeter, encoded: Option<u64>, moment: Option<u64>) -> Option<Self> {
        let pace = |sample: &Sample| Pace {
            budget_kbps: sample.budget_kbps,
            send_interval_ticks: sample.send_interval_ticks,
        };
        let ends = |tick: Option<u64>| [tick, encoded].into_iter().flatten().min();
        let mut samples = meter.back_from(moment).peekable();
        let mut found = Self {
            pace: samples.peek().map(|newest| pace(newest)).unwrap_or_default(),
            until: ends(meter.steady_tick(moment)),
            ..Self::default()
        };
        let mut is_present = true;
        for sample in samples {
            let pace = pace(sample);
            if pace != found.pace {
                let is_same_rate = pace.send_interval_ticks == found.pace.send_interval_ticks;
                if moment.is_some() || !is_same_rate {
                    return None;
                }
                (found.pace, found.until) = (pace, ends(Some(sample.tick)));
                is_present = false;
            }
            let second = sample.tick + u64::from(TICKS_PER_SECOND);
            if found.until.is_some_and(|until| second <= until + 1) {
                found.is_whole = true;
                return Some(found);
            }
        }
        is_present.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::{DELTA, INDEX, LADDER, POSITION};

    use super::*;
    use crate::replication::{PacketRecord, counted_ladder};

    /// A lane that sends 97 bytes per tick, 125 with headers. It switched to the stages of `sender` `switched` ticks ago.
    fn meter(sender: &SenderSettings, ticks: u64, switched: u64) -> LaneMeter {
        LaneMeter::from_samples((0..ticks).map(|tick| Sample {
            tick,
            stages: if tick + switched < ticks { POSITION.stages } else { sender.stages },
            send_interval_ticks: sender.send_interval_ticks,
            budget_kbps: sender.kept_budget(),
            snapshots: vec![PacketRecord { payload_bytes: 97, ..PacketRecord::default() }],
            ..Sample::default()
        }))
    }

    #[test]
    fn the_present_rung_has_the_figures_of_the_lane_and_before_there_are_any_an_estimate() {
        let sender = SenderSettings { stages: DELTA.stages, ..SenderSettings::default() };
        // The shadow's packets are larger than the lane's.
        let shadow = counted_ladder(400, |_, _| 1_000);
        let shadow = Some(&shadow);
        let costs = |meter: &LaneMeter, sender| RungCosts::new(meter, shadow, sender, None);
        let settled = meter(&sender, 400, 200);
        let now = costs(&settled, &sender);
        assert_eq!([now.kbps(&DELTA), now.kbps(&INDEX)], [60.0, 480.0].map(Some));
        assert_eq!(now.encoded_kbps(&DELTA), Some(480.0));
        assert_eq!(now.scaled(300.0, 100.0), 180.0);
        let mut switched = meter(&sender, 400, 30);
        let now = costs(&switched, &sender);
        assert_eq!([now.kbps(&DELTA), now.estimate()], [Some(480.0); 2]);
        // The lane has run for less than a second.
        assert_eq!(costs(&meter(&sender, 59, 30), &sender).estimate(), None);
        // After the switch, before its first tick.
        switched = meter(&sender, 400, 200);
        switched.switch();
        assert_eq!(switched.second(None), None);
        assert!(switched.second(Some(399)).is_some());
        assert_eq!(costs(&switched, &sender).estimate(), Some(480.0));
        // The shadow encoded ticks with another rate.
        let slower = SenderSettings { send_interval_ticks: 2, ..sender };
        assert_eq!(costs(&switched, &slower).estimate(), None);
        let limited = SenderSettings { budget: Some(32), ..sender };
        // The shadow's second ends at tick 390. A second before another budget is as good, but not before another rate.
        for (ticks_ago, wanted) in [(30, None), (65, None), (70, Some(480.0))] {
            let mixed = |change: fn(&mut Sample)| {
                let mut samples = settled.samples().clone();
                samples.iter_mut().rev().take(ticks_ago).for_each(change);
                LaneMeter::from_samples(samples)
            };
            let rate = mixed(|sample| sample.send_interval_ticks = 2);
            assert_eq!(costs(&rate, &slower).kbps(&INDEX), wanted, "{ticks_ago}");
            let budget = mixed(|sample| sample.budget_kbps = Some(32));
            let now = costs(&budget, &sender);
            assert_eq!(now.kbps(&INDEX), Some(480.0), "{ticks_ago}");
            // The budget of the lane limits the estimate.
            assert_eq!(costs(&budget, &limited).estimate(), Some(32.0));
        }
        assert_eq!(RungCosts::new(&switched, None, &sender, None).estimate(), None);
    }

    #[test]
    fn within_a_budget_rungs_are_compared_at_the_rate_without_it() {
        let sender = SenderSettings {
            stages: LADDER[14].stages,
            budget: Some(64),
            ..SenderSettings::default()
        };
        let shadow = counted_ladder(400, |_, tick| match tick % 2 {
            0 => 1_000,
            _ => super::super::HEADER_BYTES,
        });
        let meter = meter(&sender, 400, 400);
        let mut samples = meter.samples().clone();
        for sample in samples.iter_mut().skip(1).step_by(2) {
            sample.snapshots.clear();
        }
        let meter = LaneMeter::from_samples(samples);
        let costs = RungCosts::new(&meter, Some(&shadow), &sender, None);
        let kbps = costs.kbps(&LADDER[14]).unwrap();
        // Without the budget, before and after the first tick.
        let free = SenderSettings { stages: LADDER[15].stages, budget: None, ..sender };
        let mut switched = LaneMeter::from_samples(meter.samples().clone());
        switched.switch();
        let mut samples = meter.samples().clone();
        let last = samples.back_mut().unwrap();
        (last.stages, last.budget_kbps) = (free.stages, None);
        for meter in [switched, LaneMeter::from_samples(samples)] {
            let costs = RungCosts::new(&meter, Some(&shadow), &free, None);
            let kept = costs.kbps(&LADDER[14]).unwrap();
            assert!((kept - kbps).abs() < kbps / 20.0, "{kept}, before {kbps}");
        }
        assert!((kbps / 2.0 - shadow.kbps_until(LADDER[14].stages, None).unwrap()).abs() < 1e-9);
        assert_eq!(costs.estimate(), Some(64.0));
    }
}
