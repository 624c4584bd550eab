//! The budget of a lane: what it may send in a tick, from what its transport has put on the wire.

use bevy::prelude::*;
use cubewire_protocol::{ByteBudget, Within};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::LaneMeter;
use super::settings::SenderSettings;
use super::transport::SLICE_BYTES;

/// What a lane may send, if it has a budget.
#[derive(Component, Debug, Default)]
pub(super) struct LaneBudget {
    budget: Option<ByteBudget>,
    /// Bytes that each datagram takes beside its payload.
    overhead: usize,
}

/// The overhead until the first packet has been seen on the wire.
const FIRST_OVERHEAD: usize = 64;

impl LaneBudget {
    /// Charges what the lane sent in the tick before. Returns what it may send in this one, if there is a limit.
    pub(super) fn begin(
        &mut self,
        tick: u64,
        settings: &SenderSettings,
        meter: &LaneMeter,
    ) -> Option<Within<'static>> {
        let Some(kbps) = settings.kept_budget() else {
            self.budget = None;
            return None;
        };
        let rate = kbps * 1000 / 8;
        let budget = self.budget.get_or_insert_with(|| {
            self.overhead = FIRST_OVERHEAD;
            ByteBudget::new(rate, TICKS_PER_SECOND as u16)
        });
        budget.set_bytes_per_second(rate);
        if let Some(before) = meter.samples().back() {
            let wire = before.traffic.wire_bytes;
            budget.spend(before.tick, wire);
            if let Some(datagrams) = before.traffic.packets.checked_sub(1) {
                let around = wire.saturating_sub(before.payload_bytes());
                self.overhead = around.div_ceil(datagrams + 1);
            }
        }
        let payload = |wire: usize| {
            let datagrams = wire / (SLICE_BYTES + self.overhead) + 1;
            wire.saturating_sub(datagrams * self.overhead)
        };
        Some(Within {
            bytes: payload(budget.available(tick)),
            growth: budget.bytes_per_tick(),
            most: payload(budget.most()),
            ..Within::default()
        })
    }
}
