//! A [server](UdpServerPlugin) and its [viewers](UdpViewer) over UDP. Their reliable messages belong to a session of
//! [`cubewire_protocol`].
//!
//! Each viewer has the server's key and makes its own connect token. A game would keep the key on its servers and hand out
//! tokens.

mod server;
mod viewer;

use cubewire_codec::Plan;
use cubewire_protocol::{Contract, Settings};

use crate::replication::SenderSettings;

pub use server::{MAX_VIEWERS, UdpServerPlugin, ViewerBudget, Viewers};
pub use viewer::{ConnectError, UdpViewer, UdpViewerPlugin, ViewerSettings};

/// The protocol contract that both ends must share: the scene, without further registered items.
fn contract() -> Contract {
    Contract::new(Plan::cubes(), String::new())
}

fn to_wire(settings: &SenderSettings) -> Settings {
    Settings {
        stages: settings.stages,
        send_interval_ticks: settings.send_interval_ticks.clamp(1, 255) as u8,
        baseline: settings.baseline,
        budget_kbps: settings.budget,
    }
}

fn from_wire(settings: Settings) -> SenderSettings {
    SenderSettings {
        stages: settings.stages,
        send_interval_ticks: settings.send_interval_ticks.into(),
        baseline: settings.baseline,
        budget: settings.budget_kbps,
    }
}
