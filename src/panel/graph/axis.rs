//! The choice of the vertical axis.

use serde::{Deserialize, Serialize};

use crate::panel::Measured;
use crate::replication::Accounting;

/// The scale of the graph's vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// Logarithmic where the rates of two lanes differ tenfold, otherwise linear.
    #[default]
    Automatic,
    /// Linear from 0.
    Linear,
    /// Logarithmic.
    Logarithmic,
}

impl Axis {
    /// Whether it is logarithmic for these lanes.
    pub(in crate::panel) fn is_logarithmic(self, lanes: &[Measured<'_>]) -> bool {
        match self {
            Self::Automatic => {
                let rates = lanes
                    .iter()
                    .map(|lane| lane.meter.kbps(Accounting::Article));
                let (low, high) = rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| {
                    (low.min(rate), high.max(rate))
                });
                low > 0.0 && low.is_finite() && high > 10.0 * low
            }
            Self::Linear => false,
            Self::Logarithmic => true,
        }
    }
}
