//! The budget of a lane: what it may send in a tick, and over a real network what of it gets through.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::mailbox::{CHANNEL_BYTES, Mailbox, SLICE_BYTES, SendBudget};
use cubewire_codec::Stages;
use cubewire_protocol::{AdaptiveRate, Feedback, Within};
use cubewire_scene::TICKS_PER_SECOND;

use super::settings::SenderSettings;

/// What a lane may send.
#[derive(Component, Debug, Default)]
pub struct LaneBudget {
    /// What was granted for this tick, bytes a second.
    bytes_per_second: Option<u32>,
    /// Where packets can be partial.
    budget: SendBudget,
    /// Only of lanes over a real network, whose bandwidth may be too low for them. A simulated
    /// [link](super::LinkSettings) demonstrates what stages cost where it is too narrow for them.
    rate: Option<AdaptiveRate>,
    /// When the last snapshot is sent, if it had to be sent whole.
    whole_until: u64,
}

/// What a lane may send in a tick.
#[derive(Clone, Copy, Debug)]
pub(super) enum Allowed {
    /// A whole snapshot.
    Whole,
    /// As much of one.
    Within(Within<'static>),
    Nothing,
}

/// The longest time that a whole snapshot takes, so that its ack arrives before it is
/// [too old](cubewire_protocol::MAX_BASELINE_AGE_TICKS) as a baseline. 2.1 s at 60 Hz.
const MAX_SPREAD_TICKS: u64 = 128;

impl LaneBudget {
    /// That of a lane over a real network.
    pub(super) fn adaptive() -> Self {
        Self {
            rate: Some(AdaptiveRate::new(TICKS_PER_SECOND as u16)),
            ..Self::default()
        }
    }

    /// Part of the last few hundred packets that was lost, 0 to 1; known over a real network.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn loss_fraction(&self) -> f64 {
        self.rate.as_ref().map_or(0.0, AdaptiveRate::loss)
    }

    /// Round-trip time that acks tell. Known over a real network, from the first ack on.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.rate.as_ref()?.round_trip()
    }

    /// What gets through of the settings that were asked for.
    #[must_use]
    pub fn granted(&self, asked: &SenderSettings) -> SenderSettings {
        let through = self.rate.as_ref().and_then(AdaptiveRate::kbps);
        SenderSettings {
            budget: asked.budget.into_iter().chain(through).min(),
            ..*asked
        }
    }

    /// What the lane may send in this tick. `ticks` is the clock of a simulated link; a real network has that of `frames`, of
    /// which one may have several ticks, whose packets leave together.
    pub(super) fn begin(
        &mut self,
        tick: u64,
        [ticks, frames]: [Duration; 2],
        settings: &SenderSettings,
        mail: &mut Mailbox,
    ) -> Allowed {
        if let Some(rate) = &mut self.rate {
            rate.update(tick);
        }
        let now = if self.rate.is_some() { frames } else { ticks };
        let granted = self.granted(settings).budget;
        self.bytes_per_second = granted.map(|kbps| kbps * 125);
        let kept = self
            .bytes_per_second
            .filter(|_| settings.stages.can_be_partial());
        match self.budget.within(now, TICKS_PER_SECOND as u16, kept, mail) {
            Some(within) => Allowed::Within(within),
            None if granted.is_some() && tick < self.whole_until => Allowed::Nothing,
            None => Allowed::Whole,
        }
    }

    /// Records a snapshot that is put into the mailbox.
    pub(super) fn on_sent(&mut self, tick: u64, stages: Stages, bytes: usize, mail: &mut Mailbox) {
        let datagrams = bytes.div_ceil(SLICE_BYTES).max(1);
        let wire = bytes + datagrams * (mail.overhead_bytes + CHANNEL_BYTES);
        let spread = match self.bytes_per_second {
            Some(rate) if !stages.can_be_partial() => {
                let ticks = wire as u64 * u64::from(TICKS_PER_SECOND);
                ticks.div_ceil(rate.into()).clamp(1, MAX_SPREAD_TICKS)
            }
            _ => 1,
        };
        self.whole_until = tick + spread;
        if let Some(rate) = &mut self.rate {
            mail.spread_ticks = spread as u32;
            let last = spread * (datagrams as u64 - 1) / datagrams as u64;
            rate.on_sent(tick, tick + last, wire);
        }
    }

    /// Records what has arrived from the receiver in this tick.
    pub(super) fn on_feedback(&mut self, tick: u64, feedback: &Feedback) {
        if let (Some(rate), Feedback::Ack(ack)) = (&mut self.rate, feedback) {
            rate.on_ack(tick, ack);
        }
    }
}
