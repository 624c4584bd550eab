//! What a lane would cost on each rung, on the same footing as what it costs.

use cubewire_codec::Stages;
use cubewire_codec::ladder::{Rung, rung_of};
use cubewire_protocol::record::{Accounting, Sample};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::LaneMeter;
use super::settings::SenderSettings;
use super::shadow::ShadowLadder;

/// What a lane costs on each rung without a budget, in article accounting.
#[derive(Clone, Copy, Debug)]
pub struct RungCosts<'a> {
    shadow: Option<&'a ShadowLadder>,
    /// The tick that the second of all figures ends with.
    until: Option<u64>,
    stages: Stages,
    /// What the lane itself costs with these stages, kilobits a second, if it keeps no budget.
    own_kbps: Option<f64>,
    /// How many times as many snapshots the lane would send without its budget.
    fewer: f64,
    /// The most that the lane may cost, kilobits a second. None if its budget or its rate were switched since the second of the
    /// figures began, so that what its shadow has encoded is of both.
    most_kbps: Option<f64>,
}

impl<'a> RungCosts<'a> {
    /// Those of a lane, in the [second](LaneMeter::second) up to a tick of the past or the newest one. `sender` are its
    /// settings then.
    #[must_use]
    pub fn new(
        meter: &LaneMeter,
        shadow: Option<&'a ShadowLadder>,
        sender: &SenderSettings,
        moment: Option<u64>,
    ) -> Self {
        let second = meter.second(moment);
        let pace = |sample: &Sample| (sample.budget_kbps, sample.send_interval_ticks);
        let until = meter.steady_tick(moment);
        // The shadow's second ends earlier than that of the lane.
        let encoded = shadow.and_then(ShadowLadder::newest_tick);
        let ends = [until, encoded].into_iter().flatten().min();
        let now = moment.or_else(|| meter.newest_tick());
        let ticks_ago = now
            .zip(ends)
            .map_or(0, |(now, ends)| now.saturating_sub(ends));
        let mut last = meter
            .back_from(moment)
            .take(TICKS_PER_SECOND as usize + ticks_ago as usize);
        let newest = last.next().map(pace);
        let mut before = 0;
        let is_uniform = last.all(|sample| {
            before += 1;
            newest == Some(pace(sample))
        });
        // In its first second the scene settles, and is no measure of what follows.
        let has_second = before + 1 >= TICKS_PER_SECOND;
        let budget = newest.and_then(|(budget, _)| budget);
        // One that keeps a budget sends fewer and fuller snapshots, and so does its shadow.
        let sent = second.as_ref().map_or(0, |second| second.snapshots);
        let fewer = match budget.is_some() && sent > 0 {
            true => f64::from(sender.snapshots_per_second()) / sent as f64,
            false => 1.0,
        };
        let own_kbps = second.map(|second| second.kbps(Accounting::PayloadAndUdp));
        let asked = (sender.kept_budget(), sender.send_interval_ticks);
        let is_steady = is_uniform && has_second && newest.is_none_or(|newest| newest == asked);
        Self {
            // What it has encoded since is of both paces.
            shadow: shadow.filter(|_| is_uniform),
            until,
            stages: sender.stages,
            own_kbps: own_kbps.filter(|_| budget.is_none()),
            fewer,
            most_kbps: is_steady.then(|| budget.map_or(f64::INFINITY, f64::from)),
        }
    }

    /// Kilobits a second on that rung; none before they are known. On the present rung those of the lane itself: its shadow
    /// is a few ticks behind.
    #[must_use]
    pub fn kbps(&self, rung: &Rung) -> Option<f64> {
        let own = self.own_kbps.filter(|_| self.stages == rung.stages);
        own.or_else(|| self.encoded_kbps(rung))
    }

    /// As [`kbps`](Self::kbps), of the shadow on every rung: costs of one moment, which steps between rungs need.
    #[must_use]
    pub fn encoded_kbps(&self, rung: &Rung) -> Option<f64> {
        Some(self.fewer * self.shadow?.kbps_until(rung, self.until)?)
    }

    /// What stages that cost `encoded_kbps` in the background would cost, if the present ones cost `present_kbps` there: what is
    /// encoded there is a few ticks behind the lane.
    #[must_use]
    pub fn scaled(&self, encoded_kbps: f64, present_kbps: f64) -> f64 {
        match self.own_kbps {
            Some(own) if present_kbps > 0.0 => encoded_kbps * own / present_kbps,
            _ => encoded_kbps * self.fewer,
        }
    }

    /// About what the lane will cost, kilobits a second, while there is no second with its present stages yet. None of stages
    /// that are not on the ladder.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        let kbps = self.kbps(&rung_of(self.stages)?)?;
        Some(kbps.min(self.most_kbps?))
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::{DELTA, INDEX, LADDER, POSITION};

    use super::*;
    use crate::replication::PacketRecord;

    /// A lane that sends 100 bytes in each tick with these settings, and was switched to them that many ticks ago.
    fn meter(sender: &SenderSettings, ticks: u64, switched: u64) -> LaneMeter {
        LaneMeter::from_samples((0..ticks).map(|tick| Sample {
            tick,
            stages: match tick + switched < ticks {
                true => POSITION.stages,
                false => sender.stages,
            },
            send_interval_ticks: sender.send_interval_ticks,
            budget_kbps: sender.kept_budget(),
            snapshots: vec![PacketRecord {
                payload_bytes: 97,
                ..PacketRecord::default()
            }],
            ..Sample::default()
        }))
    }

    #[test]
    fn the_present_rung_has_the_figures_of_the_lane_and_before_there_are_any_an_estimate() {
        let sender = SenderSettings {
            stages: DELTA.stages,
            ..SenderSettings::default()
        };
        // The shadow lags behind cubes that begin to move.
        let shadow = ShadowLadder::of_bytes(400, |_, _| 1_000);
        let shadow = Some(&shadow);
        let costs = |meter: &LaneMeter, sender| RungCosts::new(meter, shadow, sender, None);
        let settled = meter(&sender, 400, 200);
        let now = costs(&settled, &sender);
        assert_eq!(
            [now.kbps(&DELTA), now.kbps(&INDEX)],
            [60.0, 480.0].map(Some)
        );
        assert_eq!(now.encoded_kbps(&DELTA), Some(480.0));
        assert_eq!(now.scaled(300.0, 100.0), 180.0);
        let mut switched = meter(&sender, 400, 30);
        let now = costs(&switched, &sender);
        assert_eq!([now.kbps(&DELTA), now.estimate()], [Some(480.0); 2]);
        // In the first second of the lane.
        assert_eq!(costs(&meter(&sender, 59, 30), &sender).estimate(), None);
        // Before the first tick of a switch.
        switched = meter(&sender, 400, 200);
        switched.switch();
        assert_eq!(switched.second(None), None);
        assert!(switched.second(Some(399)).is_some());
        assert_eq!(costs(&switched, &sender).estimate(), Some(480.0));
        // The shadow has encoded ticks of another rate, or nothing.
        let slower = SenderSettings {
            send_interval_ticks: 2,
            ..sender
        };
        assert_eq!(costs(&switched, &slower).estimate(), None);
        // Figures are of the second up to tick 390.
        for (ticks_ago, wanted) in [(30, None), (65, None), (70, Some(480.0))] {
            let mut samples = settled.samples().clone();
            samples
                .iter_mut()
                .rev()
                .take(ticks_ago)
                .for_each(|sample| sample.budget_kbps = Some(32));
            let mixed = LaneMeter::from_samples(samples);
            assert_eq!(costs(&mixed, &sender).kbps(&INDEX), wanted, "{ticks_ago}");
        }
        assert_eq!(
            RungCosts::new(&switched, None, &sender, None).estimate(),
            None
        );
    }

    #[test]
    fn within_a_budget_rungs_are_compared_at_the_rate_without_it() {
        let sender = SenderSettings {
            stages: LADDER[14].stages,
            budget: Some(64),
            ..SenderSettings::default()
        };
        let shadow = ShadowLadder::of_bytes(400, |_, tick| match tick % 2 {
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
        assert!((kbps / 2.0 - shadow.kbps_until(&LADDER[14], None).unwrap()).abs() < 1e-9);
        assert_eq!(costs.estimate(), Some(64.0));
    }
}
