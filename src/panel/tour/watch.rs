//! The numbers to watch.

use cubewire_codec::BitKind;
use cubewire_inspector::words::{grouped, rounded};

use crate::replication::{Accounting, LaneMeter};

/// A number to watch in a step of the tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The bandwidth in article accounting.
    Kbps,
    /// Changed cubes in a packet.
    Changed,
    /// Bits of a cube that is sent.
    Cube,
    /// Bits of its position.
    Position,
    /// Bits of its orientation.
    Orientation,
    /// Bits that say which cubes changed, for each of them.
    Selection,
    /// Packets that the simulated link lost, percent.
    Lost,
    /// Distance of the red cubes from the simulation's.
    Error,
}

impl Watch {
    /// What it is.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kbps => "bandwidth",
            Self::Changed => "changed in a packet",
            Self::Cube => "a cube",
            Self::Position => "a changed position",
            Self::Orientation => "an orientation",
            Self::Selection => "the index of a cube",
            Self::Lost => "packets lost",
            Self::Error => "error of red cubes",
        }
    }

    /// Its mean over the [second](LaneMeter::second) of the other figures; none if there is no such second yet, or
    /// nothing was sent in it.
    pub(super) fn of(self, meter: &LaneMeter) -> Option<f64> {
        let totals = meter.second(None)?;
        let ledger = &totals.ledger;
        let kinds = |kinds: &[BitKind]| kinds.iter().map(|&kind| ledger.kind(kind)).sum::<f64>();
        let (sum, count) = match self {
            Self::Kbps => return Some(totals.kbps(Accounting::PayloadAndUdp)),
            Self::Changed => (totals.changed_cubes as f64, totals.snapshots),
            Self::Cube => {
                let fields = [
                    BitKind::Interacting,
                    BitKind::Flags,
                    BitKind::Position,
                    BitKind::Orientation,
                    BitKind::Velocity,
                ];
                (kinds(&fields), totals.sent_cubes)
            }
            Self::Position => (kinds(&[BitKind::Position]), totals.sent_cubes),
            Self::Orientation => (kinds(&[BitKind::Orientation]), totals.sent_cubes),
            Self::Selection => (kinds(&[BitKind::Selection]), totals.changed_cubes),
            Self::Lost => (100.0 * totals.lost as f64, totals.traffic.packets),
            Self::Error => return totals.mean_error_m(),
        };
        (count > 0).then(|| sum / count as f64)
    }

    /// A value, and its unit.
    pub(super) fn figure(self, value: f64) -> (String, &'static str) {
        match self {
            Self::Kbps => (grouped(value), "kbps"),
            Self::Changed => (grouped(value), "cubes"),
            Self::Cube | Self::Position | Self::Orientation | Self::Selection => {
                (rounded(value), "bits")
            }
            Self::Lost => (grouped(value), "%"),
            Self::Error => (rounded(1000.0 * value), "mm"),
        }
    }
}
