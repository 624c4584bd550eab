//! Who is at the other end of the real network: the viewers of a server, or the server of a viewer.

use std::net::SocketAddr;
use std::time::Duration;

use bevy_egui::egui;
use cubewire_codec::ladder;
use cubewire_scene::TICKS_PER_SECOND;

use super::figure;
use crate::replication::{
    Accounting, LaneMeter, LaneSettings, RemoteViewer, Traffic, ViewerStatus,
};

/// The other ends, in as much as there are any.
#[derive(Debug, Default)]
pub enum Peers<'a> {
    /// Nobody: everything is in this process.
    #[default]
    None,
    /// We serve them.
    Viewers {
        /// Where they find us.
        address: SocketAddr,
        /// What went through the socket.
        traffic: Traffic,
        /// Who they are and what each is sent.
        viewers: Vec<(&'a RemoteViewer, &'a LaneSettings, &'a LaneMeter)>,
    },
    /// It serves us.
    Server {
        /// Where it is.
        address: SocketAddr,
        /// How the connection fares.
        status: ViewerStatus,
        /// There and back.
        round_trip: Option<Duration>,
        /// Set if the connection is to be made again.
        reconnect: &'a mut bool,
    },
}

impl Peers<'_> {
    /// The title of the section, if there is one.
    pub(super) const fn title(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Viewers { .. } => Some("Viewers"),
            Self::Server { .. } => Some("Server"),
        }
    }

    pub(super) const fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

pub(super) fn draw(ui: &mut egui::Ui, peers: Peers<'_>) {
    match peers {
        Peers::None => {}
        Peers::Viewers {
            address,
            traffic,
            viewers,
        } => {
            figure(ui, "serving at", address.to_string());
            for (viewer, settings, meter) in &viewers {
                ui.separator();
                draw_viewer(ui, viewer, settings, meter);
            }
            ui.separator();
            let count = viewers.len();
            figure(ui, "viewers", count.to_string());
            let megabytes = |bytes: u64| format!("{:.2} MB", bytes as f64 / 1e6);
            figure(ui, "sent by the socket", megabytes(traffic.sent_bytes));
            figure(ui, "received", megabytes(traffic.received_bytes));
            figure(ui, "ignored, from strangers", traffic.ignored.to_string());
        }
        Peers::Server {
            address,
            status,
            round_trip,
            reconnect,
        } => {
            figure(ui, "server", address.to_string());
            if let Some(round_trip) = round_trip {
                figure(ui, "there and back", millis(round_trip));
            }
            ui.label(sentence(&status));
            if matches!(status, ViewerStatus::Lost(_)) && ui.button("Connect again").clicked() {
                *reconnect = true;
            }
        }
    }
}

fn draw_viewer(
    ui: &mut egui::Ui,
    viewer: &RemoteViewer,
    settings: &LaneSettings,
    meter: &LaneMeter,
) {
    let rung = ladder::rung_of(settings.stages).map_or("stages of its own", |rung| rung.name);
    figure(
        ui,
        &viewer.address.to_string(),
        format!("{rung}, {} a second", settings.snapshots_per_second()),
    );
    let [article, wire] = [Accounting::Article, Accounting::Wire].map(|by| meter.kbps(by));
    figure(
        ui,
        "article, wire",
        format!("{article:.1} kbps, {wire:.1} kbps"),
    );
    let newest = meter.samples().back();
    let age = newest.and_then(|sample| sample.baseline_age_ticks);
    let acked = age.map_or_else(
        || "nothing yet".to_owned(),
        |ticks| {
            let ticks = u32::from(ticks);
            format!("{} ms ago", 1_000 * ticks / TICKS_PER_SECOND)
        },
    );
    figure(ui, "newest ack is of", acked);
    let loss = 100.0 * viewer.loss;
    figure(
        ui,
        "there and back, lost",
        format!("{}, {loss:.1} %", millis(viewer.round_trip)),
    );
}

/// What there is to say of a connection.
pub(crate) fn sentence(status: &ViewerStatus) -> String {
    match status {
        ViewerStatus::Connecting => "Connecting …".to_owned(),
        ViewerStatus::Connected => "Connected.".to_owned(),
        ViewerStatus::Lost(why) => {
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
    use super::*;

    #[test]
    fn why_a_connection_is_lost_is_a_sentence() {
        let lost = ViewerStatus::Lost("the server at 10.0.0.1:7000 is full".to_owned());
        assert_eq!(sentence(&lost), "The server at 10.0.0.1:7000 is full.");
    }
}
