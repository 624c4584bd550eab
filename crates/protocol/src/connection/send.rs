//! The sending half of [`ServerConnection`].

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::QuantizedSnapshot;

use super::sending::{Extras, SendJob};
use super::server::ServerConnection;
use crate::budget::{SendBudget, TransportState};
use crate::record::Sample;
use crate::sender::BaselineChoice;

impl ServerConnection {
    /// Limits the data of this tick. Call this in each tick and in each flush without a tick, after reliable messages were
    /// queued. Returns the limit of reliable messages, bytes on the wire; `None` for no limit. `now` is the clock of the
    /// transport, which may have the same value for several ticks.
    pub fn allow(&mut self, now: Duration, tick: u64, transport: &TransportState) -> Option<usize> {
        self.sending.as_mut()?.allow(now, tick, transport)
    }

    /// Whether a snapshot is sent in this tick if it has changes. Call this after [`allow`](Self::allow).
    pub fn is_due(&self, tick: u64) -> bool {
        self.sending.as_ref().is_some_and(|sending| sending.is_due(tick))
    }

    /// Whether the send interval includes this tick, even if the last snapshot is still being sent.
    pub fn is_turn(&self, tick: u64) -> bool {
        self.sending.as_ref().is_some_and(|sending| sending.is_turn(tick))
    }

    /// Prepares the packet of a tick. The snapshot is quantized in the precision of the [settings](Self::settings). Returns
    /// `None` if no settings are in use.
    pub fn prepare<'a>(
        &'a mut self,
        tick: u64,
        snapshot: Arc<QuantizedSnapshot>,
        extras: Extras<'a>,
    ) -> Option<SendJob<'a>> {
        self.sending.as_mut()?.prepare(tick, snapshot, extras)
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
