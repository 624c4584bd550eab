//! The peers over a real network: a server's viewers, or a viewer's server.

use std::time::Duration;

use bevy::prelude::{Res, ResMut};
use bevy_egui::egui;
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::figure;
use crate::replication::{
    Accounting, ConnectionStatus, LaneBudget, LaneCost, LaneMeter, Peer, SenderSettings,
    ServerConnection, Serving, fallback_of_viewer, rung_name,
};
use crate::view::Notices;

/// A viewer: what it asks for, what encoding leaves and the network lets through of that, and what is measured.
pub(in crate::panel) type Viewer<'a> = (
    &'a Peer,
    &'a SenderSettings,
    &'a LaneCost,
    &'a LaneBudget,
    &'a LaneMeter,
);

/// The other ends of a real network.
#[derive(Debug, Default)]
pub enum Peers<'a> {
    /// None: both ends are in this process.
    #[default]
    None,
    /// The viewers of this server.
    Viewers {
        /// The address that they connect to, and the socket's traffic.
        serving: &'a Serving,
        /// Each viewer.
        viewers: Vec<Viewer<'a>>,
    },
    /// The server of this viewer.
    Server {
        /// The state of the connection.
        connection: &'a ServerConnection,
        /// What the server is asked for.
        asked: &'a SenderSettings,
        /// Set when the user requests a new connection.
        reconnect: &'a mut bool,
    },
}

impl Peers<'_> {
    /// The title of the section, if there is one.
    pub(in crate::panel) const fn title(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Viewers { .. } => Some("Viewers"),
            Self::Server { .. } => Some("Server"),
        }
    }

    pub(in crate::panel) const fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

pub(in crate::panel) fn draw(ui: &mut egui::Ui, peers: Peers<'_>) {
    match peers {
        Peers::None => {}
        Peers::Viewers { serving, viewers } => {
            figure(ui, "serving at", serving.address.clone());
            for (peer, settings, cost, budget, meter) in &viewers {
                ui.separator();
                draw_viewer(ui, peer, settings, meter);
                let granted = budget.granted(&cost.granted(settings));
                if granted.budget.is_some() {
                    figure(ui, "budget asked, given", budgets(settings, &granted));
                }
                draw_granted(ui, settings, &granted);
                if let Some(reason) = peer.fallback {
                    ui.label(fallback_of_viewer(reason));
                }
            }
            ui.separator();
            let count = viewers.len();
            figure(ui, "viewers", count.to_string());
            let megabytes = |bytes: u64| format!("{:.2} MB", bytes as f64 / 1e6);
            let traffic = serving.traffic;
            figure(ui, "sent", megabytes(traffic.sent_bytes));
            figure(ui, "received", megabytes(traffic.received_bytes));
            figure(
                ui,
                "ignored, unknown senders",
                format!("{} datagrams", traffic.ignored),
            );
        }
        Peers::Server {
            connection,
            asked,
            reconnect,
        } => {
            figure(ui, "server", connection.server.clone());
            if let Some(round_trip) = connection.round_trip {
                figure(ui, "round-trip time", millis(round_trip));
            }
            let status = &connection.status;
            ui.label(sentence(status));
            if let Some(granted) = &connection.granted {
                draw_granted(ui, asked, granted);
            }
            if matches!(status, ConnectionStatus::Lost(_)) && ui.button("Reconnect").clicked() {
                *reconnect = true;
            }
        }
    }
}

fn draw_viewer(ui: &mut egui::Ui, peer: &Peer, settings: &SenderSettings, meter: &LaneMeter) {
    let rung = rung_name(settings.stages);
    figure(
        ui,
        &peer.address,
        format!("{rung}, {} a second", settings.snapshots_per_second()),
    );
    let [article, wire] =
        [Accounting::PayloadAndUdp, Accounting::OnTheWire].map(|by| meter.kbps(by));
    figure(
        ui,
        "article, wire",
        format!("{article:.1} kbps, {wire:.1} kbps"),
    );
    let newest = meter.samples().back();
    let age = newest.and_then(|sample| sample.acked_age_ticks);
    let acked = age.map_or_else(
        || "none yet".to_owned(),
        |ticks| {
            let ticks = u32::from(ticks);
            format!("{} ms ago", 1_000 * ticks / TICKS_PER_SECOND)
        },
    );
    figure(ui, "newest acked snapshot", acked);
    let loss = 100.0 * peer.loss_fraction;
    figure(
        ui,
        "round-trip time, loss",
        format!("{}, {loss:.1} %", millis(peer.round_trip)),
    );
}

/// Says what a viewer gets less than it asks for.
fn draw_granted(ui: &mut egui::Ui, asked: &SenderSettings, granted: &SenderSettings) {
    if let Some(text) = throttled(asked, granted) {
        ui.label(text);
    }
}

/// Both budgets.
fn budgets(asked: &SenderSettings, granted: &SenderSettings) -> String {
    let [asked, granted] = [asked, granted].map(|settings| {
        let kbps = settings.budget.map(|kbps| format!("{kbps} kbps"));
        kbps.unwrap_or_else(|| "none".to_owned())
    });
    format!("{asked}, {granted}")
}

fn throttled(asked: &SenderSettings, granted: &SenderSettings) -> Option<String> {
    let mut sentences = Vec::new();
    if let Some(kbps) = granted.budget.filter(|_| granted.budget != asked.budget) {
        sentences.push(format!("No more than {kbps} kbps gets through."));
    }
    let mut less = Vec::new();
    if granted.send_interval_ticks > asked.send_interval_ticks {
        let [granted, asked] = [granted, asked].map(SenderSettings::snapshots_per_second);
        less.push(format!("{granted} snapshots a second instead of {asked}"));
    }
    if granted.baseline != asked.baseline {
        less.push("the newest baseline instead of the smallest".to_owned());
    }
    if !less.is_empty() {
        let less = less.join(", and ");
        sentences.push(format!("The server has no time for more: {less}."));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Updates the notice about a connection that is not established.
pub(in crate::panel) fn show_connection(
    connection: Option<Res<ServerConnection>>,
    mut notices: ResMut<Notices>,
) {
    let notice = connection.and_then(|connection| match &connection.status {
        ConnectionStatus::Connected => None,
        ConnectionStatus::Connecting => Some(format!("connecting to {} …", connection.server)),
        lost @ ConnectionStatus::Lost(_) => {
            Some(format!("{}\nPress Enter to reconnect.", sentence(lost)))
        }
    });
    if notices.connection != notice {
        notices.connection = notice;
    }
}

/// The state of a connection, as a sentence.
fn sentence(status: &ConnectionStatus) -> String {
    match status {
        ConnectionStatus::Connecting => "Connecting …".to_owned(),
        ConnectionStatus::Connected => "Connected.".to_owned(),
        ConnectionStatus::Lost(why) => {
            let mut letters = why.chars();
            let first = letters.next().map(|first| first.to_uppercase().to_string());
            format!("{}{}.", first.unwrap_or_default(), letters.as_str())
        }
    }
}

fn millis(duration: Duration) -> String {
    format!("{:.0} ms", duration.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use cubewire_protocol::BaselineChoice;

    use super::*;

    #[test]
    fn what_a_viewer_does_not_get_is_said() {
        let asked = SenderSettings {
            baseline: BaselineChoice::Smallest,
            ..SenderSettings::default()
        };
        assert_eq!(throttled(&asked, &asked), None);
        let granted = SenderSettings {
            baseline: BaselineChoice::Newest,
            send_interval_ticks: 3,
            ..asked
        };
        assert_eq!(
            throttled(&asked, &granted).unwrap(),
            "The server has no time for more: 20 snapshots a second instead of 60, and the newest baseline \
             instead of the smallest."
        );
        let granted = SenderSettings {
            budget: Some(48),
            ..asked
        };
        let said = throttled(&asked, &granted).unwrap();
        assert_eq!(said, "No more than 48 kbps gets through.");
        assert_eq!(budgets(&asked, &granted), "none, 48 kbps");
    }

    #[test]
    fn the_reason_for_a_lost_connection_is_shown_as_a_sentence() {
        let lost = ConnectionStatus::Lost("the server at 10.0.0.1:7000 is full".to_owned());
        assert_eq!(sentence(&lost), "The server at 10.0.0.1:7000 is full.");
    }
}
