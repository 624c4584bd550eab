//! The budget of a lane: what it may send in a tick, from what its transport has put on the wire, and over a real network
//! from what gets through.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::Stages;
use cubewire_protocol::{AdaptiveRate, ByteBudget, Feedback, Within};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::{LaneMeter, Sample};
use super::settings::SenderSettings;
use super::transport::SLICE_BYTES;

/// What a lane may send.
#[derive(Component, Debug)]
pub struct LaneBudget {
    /// What was granted for this tick, bytes a second.
    bytes_per_second: Option<u32>,
    /// Where packets can be partial.
    budget: Option<ByteBudget>,
    /// When the last packet left at the latest, by the clock of the transport.
    now: Duration,
    /// Bytes that each datagram takes beside its payload: the most, until one has been seen on the wire.
    overhead: usize,
    /// Only of lanes over a real network, whose bandwidth may be too low for them. A simulated
    /// [link](super::LinkSettings) demonstrates what stages cost where it is too narrow for them.
    rate: Option<AdaptiveRate>,
    /// When the last snapshot is sent, if it had to be sent whole.
    whole_until: u64,
    spread_ticks: u32,
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

/// By how much the numbers in headers can be longer in the next packet.
const GROWTH: usize = 2;

/// A message that a server sends now and then, which goes with a snapshot.
const MESSAGE: usize = 24;

/// The most that IP, UDP, netcode, the message channel and a message take.
const MAX_OVERHEAD: usize = 72;

/// The longest time that a whole snapshot takes, so that its ack arrives before it is
/// [too old](cubewire_protocol::MAX_BASELINE_AGE_TICKS) as a baseline. 2.1 s at 60 Hz.
const MAX_SPREAD_TICKS: u32 = 128;

impl Default for LaneBudget {
    fn default() -> Self {
        Self {
            bytes_per_second: None,
            budget: None,
            now: Duration::ZERO,
            overhead: MAX_OVERHEAD,
            rate: None,
            whole_until: 0,
            spread_ticks: 1,
        }
    }
}

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

    /// What gets through of the settings that were asked for.
    #[must_use]
    pub fn granted(&self, asked: &SenderSettings) -> SenderSettings {
        let through = self.rate.as_ref().and_then(AdaptiveRate::kbps);
        SenderSettings {
            budget: asked.budget.into_iter().chain(through).min(),
            ..*asked
        }
    }

    /// Ticks over which the datagrams of the newest snapshot are to be spread: 1 is all at once.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) const fn spread_ticks(&self) -> u32 {
        self.spread_ticks
    }

    /// Charges what the lane sent before. Returns what it may send in this tick. `ticks` is the clock of a simulated link; a
    /// real network has that of `frames`, of which one may have several ticks, whose packets leave together after them.
    pub(super) fn begin(
        &mut self,
        tick: u64,
        [ticks, frames]: [Duration; 2],
        settings: &SenderSettings,
        meter: &LaneMeter,
    ) -> Allowed {
        if let Some(rate) = &mut self.rate {
            rate.update(tick);
        }
        let now = if self.rate.is_some() { frames } else { ticks };
        let left_at = std::mem::replace(&mut self.now, now);
        let before = meter.samples().back();
        if let Some(overhead) = before.and_then(overhead) {
            let growth = match self.rate {
                Some(_) => GROWTH + MESSAGE,
                None => GROWTH,
            };
            self.overhead = (overhead + growth).min(MAX_OVERHEAD);
        }
        let granted = self.granted(settings).budget;
        self.bytes_per_second = granted.map(|kbps| kbps * 1000 / 8);
        let rate = match self.bytes_per_second {
            Some(rate) if settings.stages.can_be_partial() => rate,
            Some(_) if tick < self.whole_until => return Allowed::Nothing,
            _ => {
                self.budget = None;
                return Allowed::Whole;
            }
        };
        let budget = match &mut self.budget {
            Some(budget) => {
                if let Some(before) = before.filter(|_| left_at != now) {
                    budget.spend(left_at, before.traffic.wire_bytes);
                }
                budget
            }
            none => none.insert(ByteBudget::new(rate, TICKS_PER_SECOND as u16)),
        };
        budget.set_bytes_per_second(rate);
        Allowed::Within(budget.within(now, SLICE_BYTES, self.overhead))
    }

    /// Records a snapshot that was sent.
    pub(super) fn on_sent(&mut self, tick: u64, stages: Stages, bytes: usize) {
        let datagrams = datagrams(bytes);
        let wire = bytes + datagrams * self.overhead;
        if let Some(budget) = &mut self.budget {
            budget.reserve(self.now, wire);
        }
        self.spread_ticks = match self.bytes_per_second {
            Some(rate) if !stages.can_be_partial() => {
                let ticks = wire as u64 * u64::from(TICKS_PER_SECOND);
                ticks
                    .div_ceil(rate.into())
                    .clamp(1, MAX_SPREAD_TICKS.into()) as u32
            }
            _ => 1,
        };
        let spread = u64::from(self.spread_ticks);
        self.whole_until = tick + spread;
        if let Some(rate) = &mut self.rate {
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

/// Bytes that a datagram of this sample took beside its payload; none unless there are as many as one snapshot takes. If a
/// frame has several ticks, the last of them has the datagrams of all, and one datagram may have several snapshots.
fn overhead(sample: &Sample) -> Option<usize> {
    let payload = sample.payload_bytes();
    let datagrams = datagrams(payload);
    let around = sample.traffic.wire_bytes.checked_sub(payload)?;
    let is_own = payload > 0 && sample.traffic.packets == datagrams;
    is_own.then(|| around.div_ceil(datagrams))
}

fn datagrams(payload_bytes: usize) -> usize {
    payload_bytes.div_ceil(SLICE_BYTES).max(1)
}
