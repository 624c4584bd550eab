//! Numbers that the tour shows.

use cubewire_codec::BitKind;
use cubewire_inspector::words::{grouped, rounded};
use cubewire_scene::TICKS_PER_SECOND;

use crate::replication::{Accounting, LaneMeter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The bandwidth in article accounting.
    Kbps,
    Cube,
    Position,
    Orientation,
    /// Bits for the selection of changed cubes, per changed cube.
    Selection,
    SelectionRate,
    /// Lost packets within the time span of the graphs, percent.
    Lost,
    Delay,
    /// Mean distance of the red cubes from the simulation.
    Error,
}

impl Watch {
    pub const fn name_and_unit(self) -> [&'static str; 2] {
        match self {
            Self::Kbps => ["Bandwidth", "kbps"],
            Self::Cube => ["A cube", "bits"],
            Self::Position => ["A position", "bits"],
            Self::Orientation => ["An orientation", "bits"],
            Self::Selection => ["The index of a cube", "bits"],
            Self::SelectionRate => ["Which cubes changed", "kbps"],
            Self::Lost => ["Packets lost", "%"],
            Self::Delay => ["Playout delay", "ms"],
            Self::Error => ["Error of red cubes", "mm"],
        }
    }

    /// Returns the value in its unit. Rates, bits and the error are means over the
    /// [second](crate::replication::Record::second) of the other figures. Returns `None` until the link was unchanged for a
    /// second, or if the value has no measurement.
    pub(super) fn of(self, meter: &LaneMeter, graph_seconds: u32) -> Option<f64> {
        let totals = meter.second(None)?;
        let newest = meter.samples().back()?;
        if newest.tick < meter.link_since + u64::from(TICKS_PER_SECOND) {
            return None;
        }
        let bits = |kind| totals.ledger.kind(kind);
        let each = |kind, count: usize| (count > 0).then(|| bits(kind) / count as f64);
        match self {
            Self::Kbps => Some(totals.kbps(Accounting::PayloadAndUdp)),
            Self::SelectionRate => {
                let bytes = bits(BitKind::Selection) / 8.0;
                Some(totals.kbps_of(bytes as usize))
            }
            Self::Lost => Some(meter.arrivals(graph_seconds).lost_percent()),
            Self::Delay => Some(1000.0 * newest.playout_delay.as_secs_f64()),
            Self::Error => totals.mean_error_m().map(|metres| 1000.0 * metres),
            Self::Cube => totals.bits_per_sent_body(),
            Self::Position => each(BitKind::Position, totals.sent_bodies),
            Self::Orientation => each(BitKind::Orientation, totals.sent_bodies),
            Self::Selection => each(BitKind::Selection, totals.changed_bodies),
        }
    }

    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Kbps | Self::SelectionRate | Self::Delay => grouped(value),
            _ => rounded(value),
        }
    }
}
