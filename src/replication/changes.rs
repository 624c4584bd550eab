//! Single settings of a lane, each by a name of its own, as a command line or an address sets them.

use cubewire_codec::ladder::Rung;
use cubewire_link::Preset;
use cubewire_protocol::{BaselineChoice, Interpolation};

use super::lane::LaneSettings;

/// What to change of a lane's settings; what is none stays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneChanges {
    /// Its rung.
    pub rung: Option<Rung>,
    /// Its simulated network.
    pub network: Option<&'static Preset>,
    /// Ticks between two of its snapshots.
    pub send_interval_ticks: Option<u32>,
    /// Its interpolation.
    pub interpolation: Option<Interpolation>,
    /// Which acked snapshot becomes its baseline.
    pub baseline: Option<BaselineChoice>,
}

impl LaneChanges {
    /// Changes the settings that are given.
    pub fn apply(&self, lane: &mut LaneSettings) {
        if let Some(rung) = self.rung {
            lane.sender.stages = rung.stages;
        }
        if let Some(ticks) = self.send_interval_ticks {
            lane.sender.send_interval_ticks = ticks;
        }
        if let Some(interpolation) = self.interpolation {
            lane.playout.interpolation = interpolation;
        }
        if let Some(baseline) = self.baseline {
            lane.sender.baseline = baseline;
        }
        if let Some(network) = self.network {
            lane.link.conditions = network.conditions.clone();
        }
    }
}
