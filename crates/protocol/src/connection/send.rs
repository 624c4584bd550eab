//! The sending half of [`ServerConnection`].

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::QuantizedSnapshot;

use super::report::{MAX_OWN_BYTES, Report};
use super::sending::{Extras, JobState, RateControl, SendJob, Sending};
use super::server::ServerConnection;
use crate::budget::{AllowedSnapshot, SendBudget, TransportState};
use crate::record::Sample;
use crate::sender::BaselineChoice;

impl ServerConnection {
    /// Limits the data of this tick. Call this in each tick and in each flush without a tick, after reliable messages were
    /// queued. Returns the limit of reliable messages, bytes on the wire; `None` for no limit or no settings. `now` is the clock of
    /// the transport, which may have the same value for several ticks. Without the transport's counts, a budget has no effect.
    pub fn allow(&mut self, now: Duration, tick: u64, transport: &TransportState) -> Option<usize> {
        let sending = self.sending.as_mut()?;
        let settings = sending.settings?;
        let kbps = settings.budget_kbps;
        let rate = sending.ticks_per_second;
        if sending.rate_control == RateControl::WithBudget && kbps.is_none() {
            (sending.budget, sending.allowed) = (None, AllowedSnapshot::Complete);
            return None;
        }
        let budget = sending.budget.get_or_insert_with(|| match sending.rate_control {
            RateControl::Off => SendBudget::new(rate),
            RateControl::WithBudget | RateControl::Always => SendBudget::adaptive(rate),
        });
        let can_be_partial = settings.stages.can_be_partial();
        let (allowed, reliable) = budget.allow(tick, now, kbps, can_be_partial, transport);
        sending.allowed = allowed;
        reliable
    }

    /// Whether a snapshot is sent in this tick if it has changes. Call this after [`allow`](Self::allow).
    pub fn is_due(&self, tick: u64) -> bool {
        let sending = self.sending.as_ref();
        let is_allowed = |sending: &Sending| !matches!(sending.allowed, AllowedSnapshot::Nothing);
        self.is_turn(tick) && sending.is_some_and(|sending| is_allowed(sending))
    }

    /// Whether the send interval includes this tick, even if the last snapshot is still being sent.
    pub fn is_turn(&self, tick: u64) -> bool {
        self.sending.as_ref().is_some_and(|sending| {
            sending.settings.is_some_and(|settings| {
                let interval = settings.send_interval_ticks.max(1);
                tick.is_multiple_of(interval.into()) && sending.cost.is_due(interval, tick)
            })
        })
    }

    /// Prepares the packet of a tick. The snapshot is quantized in the precision of the [settings](Self::settings). Returns
    /// `None` if no packet [is due](Self::is_due), unless it [must be sent](Extras::must_send), and if no settings are in use.
    pub fn prepare<'a>(
        &'a mut self,
        tick: u64,
        snapshot: Arc<QuantizedSnapshot>,
        extras: Extras<'a>,
    ) -> Option<SendJob<'a>> {
        if !extras.must_send && !self.is_due(tick) {
            return None;
        }
        let report = self.tick_inputs.report();
        let own = if extras.own.len() <= MAX_OWN_BYTES { extras.own } else { &[] };
        let report = report.map(|(used, queued)| Report { used: used as u16, queued, own });
        let sending = self.sending.as_mut()?;
        let settings = sending.granted()?;
        let mut packet_budget = match sending.allowed {
            AllowedSnapshot::Partial(packet_budget) => Some(packet_budget),
            AllowedSnapshot::Complete | AllowedSnapshot::Nothing => {
                sending.joining_limit(tick, &settings, &snapshot)
            }
        };
        if let (Some(packet_budget), Some(report)) = (&mut packet_budget, &report) {
            packet_budget.bytes = packet_budget.bytes.saturating_sub(report.len());
            packet_budget.most = packet_budget.most.saturating_sub(report.len());
        }
        let state = JobState::Due;
        Some(SendJob { sending, tick, settings, snapshot, extras, packet_budget, report, state })
    }

    /// Returns the sample of this tick for a record, without packets and traffic.
    pub fn sample(&self, tick: u64) -> Sample {
        let Some((sending, settings)) =
            self.sending.as_ref().and_then(|sending| Some((sending, sending.settings?)))
        else {
            return Sample { tick, ..Sample::default() };
        };
        Sample {
            tick,
            stages: settings.stages,
            budget_kbps: settings.budget_kbps.filter(|_| settings.stages.can_be_partial()),
            send_interval_ticks: settings.send_interval_ticks.into(),
            acked_age_ticks: sending.sender.acked_ages(tick)[0],
            ..Sample::default()
        }
    }

    /// Returns the mean time to encode a snapshot, if it has been measured.
    pub fn encode_time(&self, choice: BaselineChoice) -> Option<Duration> {
        self.sending.as_ref()?.cost.mean(choice)
    }

    /// Returns the limits and the measured state of the network; `None` without a budget.
    pub fn budget(&self) -> Option<&SendBudget> {
        self.sending.as_ref()?.budget.as_ref()
    }
}
