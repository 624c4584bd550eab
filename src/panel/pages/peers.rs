//! Remote peers on a real network: a server's viewers, or a viewer's server.

use bevy::prelude::{Local, Query, Res, ResMut};

use crate::panel::prelude::*;
use cubewire_palette::PLAYER_NAMES;

use crate::replication::{
    ConnectionStatus, PlayAt, PlayoutSettings, RemoteViewer, Seat, ServerLink, Serving,
    fallback_of_viewer,
};
use crate::view::Notices;

/// Components of a viewer: its address, the settings that it asks for, measurements, and the player that it is.
pub(crate) type Viewer<'a> =
    (&'a RemoteViewer, &'a SenderSettings, &'a LaneMeter, Option<&'a Seat>);

#[derive(Debug, Default)]
pub(crate) enum Peers<'a> {
    #[default]
    None,
    Viewers {
        serving: &'a Serving,
        viewers: Vec<Viewer<'a>>,
    },
    Server {
        connection: &'a ServerLink,
        asked: &'a SenderSettings,
    },
}

impl Peers<'_> {
    pub(crate) const fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

/// Draws the peers; draws no rows if both ends are in this process. Returns the action of the pressed button.
pub(super) fn draw(ui: &mut Ui, peers: &Peers<'_>) -> Option<Action> {
    let mut asked_for = None;
    match peers {
        Peers::None => return None,
        Peers::Viewers { serving, viewers } => {
            let count = match viewers.len() {
                0 => "No viewers yet".to_owned(),
                1 => "1 viewer".to_owned(),
                count => format!("{count} viewers"),
            };
            heading(ui, &count, format!("at {}", serving.address));
            for viewer in viewers {
                draw_viewer(ui, viewer);
                divider(ui);
            }
            let megabytes = |bytes: u64| format!("{:.2}", bytes as f64 / 1e6);
            let traffic = serving.traffic;
            figure(ui, "sent to all", megabytes(traffic.sent_bytes), "MB");
            figure(ui, "received", megabytes(traffic.received_bytes), "MB");
            let ignored = grouped(traffic.ignored as f64);
            figure(ui, "ignored, unknown senders", ignored, "datagrams");
        }
        Peers::Server { connection, asked } => {
            heading(ui, "Server", &connection.server);
            note(ui, sentence(&connection.status));
            if let Some(round_trip) = connection.round_trip {
                figure(ui, "round-trip time", in_millis(round_trip), "ms");
            }
            let granted = connection.granted.as_ref();
            if let Some(text) = granted.and_then(|granted| throttled(asked, granted)) {
                note(ui, text);
            }
            if matches!(connection.status, ConnectionStatus::Lost(_)) {
                let width = ui.available_width();
                let reconnect = button(ui, width, "Reconnect", "Enter", Kind::Primary);
                asked_for = reconnect.clicked().then_some(Action::Reconnect);
            }
        }
    }
    divider(ui);
    asked_for
}

fn draw_viewer(ui: &mut Ui, &(peer, settings, meter, seat): &Viewer<'_>) {
    let rung = rung_name(settings.stages);
    let rate = settings.snapshots_per_second();
    let [alone, wire] =
        [Accounting::PayloadAndUdp, Accounting::OnTheWire].map(|by| rounded(meter.kbps(by)));
    let newest = meter.samples().back();
    let age = newest.and_then(|sample| sample.acked_age_ticks);
    let acked = age.map(|ticks| format!("{} ms ago", super::millis(ticks.into())));
    let acked = acked.unwrap_or_else(|| "none yet".to_owned());
    let (trip, loss) = (in_millis(peer.round_trip), 100.0 * peer.loss_fraction);
    figure(ui, &peer.address, format!("{rung}, {rate} a second"), "");
    if let Some(&Seat(player)) = seat {
        figure(ui, "plays", format!("the {} cube", PLAYER_NAMES[player]), "");
    }
    let sent = format!("payload {alone}, on the wire {wire}");
    figure(ui, "sent", sent, "kbps").on_hover_text(terms::accounting(Accounting::OnTheWire));
    figure(ui, "newest acked snapshot", acked, "").on_hover_text(terms::NEWEST_ACK);
    let network = format!("round trip {trip} ms, loss {loss:.1}");
    figure(ui, "network", network, "%");
    let granted = peer.granted.unwrap_or(*settings);
    if granted.budget.is_some() {
        figure(ui, "budget", budgets(settings, &granted), "");
    }
    let throttled = throttled(settings, &granted);
    for text in throttled.into_iter().chain(peer.fallback.map(fallback_of_viewer)) {
        note(ui, text);
    }
}

fn budgets(asked: &SenderSettings, granted: &SenderSettings) -> String {
    let [asked, granted] = [asked, granted].map(|settings| {
        settings.budget.map(|kbps| grouped(kbps.into())).unwrap_or_else(|| "none".to_owned())
    });
    format!("asked {asked}, given {granted} kbps")
}

fn throttled(asked: &SenderSettings, granted: &SenderSettings) -> Option<String> {
    let mut sentences = Vec::new();
    if asked.awaits_reset(granted) {
        sentences.push(
            "The server does not rebuild its scene: predicted until the next reset.".to_owned(),
        );
    }
    if let Some(kbps) = granted.budget.filter(|_| granted.budget != asked.budget) {
        sentences.push(format!("The network delivers at most {} kbps.", grouped(kbps.into())));
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
        sentences.push(format!("The server is overloaded: {less}."));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// What a connected viewer does with its keys.
pub(super) fn role(connection: &ServerLink, playout: &PlayoutSettings) -> String {
    match (connection.player, playout.play_at) {
        (Some(player), _) => format!("You play the {} cube.", PLAYER_NAMES[player]),
        (None, PlayAt::Client) => "No seat is free: you watch.".to_owned(),
        (None, PlayAt::Simulation) => "You watch.".to_owned(),
    }
}

/// Shows which cube the viewer plays, or that it has no seat, whenever the server tells it.
pub(crate) fn announce_player(
    connection: Option<Res<ServerLink>>,
    lanes: Query<&PlayoutSettings>,
    mut before: Local<Option<Option<usize>>>,
    mut notices: ResMut<Notices>,
) {
    let (Some(connection), Ok(playout)) = (connection, lanes.single()) else { return };
    let told = connection.knows_player.then_some(connection.player);
    if std::mem::replace(&mut *before, told) != told && told.is_some() {
        notices.show(role(&connection, playout));
    }
}

/// Updates the notice that the connection is not established.
pub(crate) fn show_connection(connection: Option<Res<ServerLink>>, mut notices: ResMut<Notices>) {
    notices.connection = connection.and_then(|connection| match &connection.status {
        ConnectionStatus::Connected => None,
        ConnectionStatus::Connecting => Some(format!("Connecting to {} …", connection.server)),
        lost @ ConnectionStatus::Lost(_) => {
            Some(format!("{}\nPress Enter to reconnect.", sentence(lost)))
        }
    });
}

fn sentence(status: &ConnectionStatus) -> String {
    match status {
        ConnectionStatus::Connecting => "Connecting …".to_owned(),
        ConnectionStatus::Connected => "Connected.".to_owned(),
        ConnectionStatus::Lost(why) => format!("{}.", capital(&why.replace('`', ""))),
    }
}

fn in_millis(duration: Duration) -> String {
    grouped(duration.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;
    use cubewire_protocol::BaselineChoice;

    use super::*;

    #[test]
    fn what_a_viewer_does_not_get_is_said() {
        let asked =
            SenderSettings { baseline: BaselineChoice::Smallest, ..SenderSettings::default() };
        assert_eq!(throttled(&asked, &asked), None);
        let granted =
            SenderSettings { baseline: BaselineChoice::Newest, send_interval_ticks: 3, ..asked };
        let overloaded = "The server is overloaded: 20 snapshots a second instead of 60, and the newest \
            baseline instead of the smallest.";
        assert_eq!(throttled(&asked, &granted).unwrap(), overloaded);
        let granted = SenderSettings { budget: Some(48), ..asked };
        assert_eq!(throttled(&asked, &granted).unwrap(), "The network delivers at most 48 kbps.");
        assert_eq!(budgets(&asked, &granted), "asked none, given 48 kbps");
        let [asked, granted] = [ladder::SIMULATED, ladder::PREDICTED]
            .map(|rung| SenderSettings { stages: rung.stages, ..asked });
        let waiting = "The server does not rebuild its scene: predicted until the next reset.";
        assert_eq!(throttled(&asked, &granted).unwrap(), waiting);
        // The stages of a fallback are explained elsewhere.
        let fallback = SenderSettings { stages: ladder::PREDICTED_POSITION.stages, ..asked };
        assert_eq!(throttled(&asked, &fallback), None);
    }
}
