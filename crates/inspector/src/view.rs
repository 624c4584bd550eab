//! The inspector's pages for one connection.

mod held;
mod stages;

use std::time::Duration;

use cubewire_bevy::shadow::LiveLadder;
use cubewire_bevy::{
    ConnectionSettings, Measure, ReplicationReceiver, ReplicationSender, ReplicationStats,
};
use cubewire_codec::{BitKind, Plan, QuantizedSnapshot, Stages};
use cubewire_protocol::Throttle;
use cubewire_protocol::record::{ArrivalCounts, Fate, PacketRecord, Sample, Totals, kbps};

use crate::graph::{self, Above, Axis, Lines, Point, Source, Span};
use crate::kinds::{self, Bits};
use crate::packet::{self, HEX_ROW, Order, PacketView};
use crate::playing::Playing;
use crate::prelude::*;
use crate::waiting::Waiting;
pub(crate) use held::Held;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Page {
    #[default]
    Bits,
    Packet,
    Waiting,
    Network,
    Playing,
    Stages,
}

#[derive(Debug, Default)]
pub(crate) struct Choices {
    pub(crate) page: Page,
    order: Order,
    pub(crate) highlight: Highlight,
    /// The packets that were the newest when one was held.
    pub(crate) held: Option<Held>,
    /// Stages chosen for the connection, until they are applied.
    pub(crate) wanted: Option<Stages>,
    /// Whether bodies are to be predicted, until that is applied.
    pub(crate) predicts: Option<bool>,
}

pub(crate) struct View<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) measure: &'a Measure,
    /// This end's newest snapshot.
    pub(crate) bodies: Option<&'a QuantizedSnapshot>,
    pub(crate) end: End<'a>,
}

pub(crate) enum End<'a> {
    Server {
        peer: &'a ReplicationSender,
        settings: &'a ConnectionSettings,
        /// `None` unless [`Page::Stages`] is shown.
        ladder: Option<&'a LiveLadder>,
        stats: ReplicationStats,
    },
    Client {
        replication: &'a ReplicationReceiver,
        now: Duration,
        predicts: bool,
    },
}

impl View<'_> {
    pub(crate) fn draw(&self, ui: &mut Ui, choices: &mut Choices) {
        self.graph(ui);
        ui.add_space(GAP);
        segmented(ui, ui.available_width(), &mut choices.page, &pages());
        ui.add_space(GAP);
        choices.highlight.hovered = None;
        ui.spacing_mut().item_spacing.y = 0.0;
        match choices.page {
            Page::Bits => self.bits(ui),
            Page::Packet => self.packet(ui, choices),
            Page::Waiting => self.waiting(ui, &mut choices.highlight),
            Page::Network => self.network(ui),
            Page::Playing => choices.predicts = self.playing(ui).or(choices.predicts),
            Page::Stages => choices.wanted = self.stages(ui).or(choices.wanted),
        }
    }

    fn rate(&self) -> u32 {
        self.plan.schema().ticks_per_second.into()
    }

    const fn names(&self) -> Names<'_> {
        Names { schema: self.plan.schema(), bodies: self.bodies, nouns: ["body", "bodies"] }
    }

    fn second(&self) -> Totals {
        let record = &self.measure.record;
        record.sum(record.newest(self.rate() as usize))
    }

    /// Returns the ticks of the graph and of the second before it, which its means need.
    fn shown(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.measure.record.newest((SECONDS + 1) * self.rate() as usize)
    }

    fn graph(&self, ui: &mut Ui) {
        let settled = self.measure.record.settled_tick();
        let points = self.shown().map(|sample| {
            let mut packets = sample.snapshots.iter();
            Point {
                tick: sample.tick,
                bytes: sample.traffic.wire_bytes,
                budget_kbps: sample.budget_kbps,
                has_losses: packets.any(|it| it.fate(sample.tick, settled) == Fate::Lost),
                stages: Stages::default(),
            }
        });
        let name = match self.end {
            End::Server { .. } => "sent, on the wire, kbps",
            End::Client { .. } => "snapshots that arrive, kbps",
        };
        let sources = [Source {
            name: name.to_owned(),
            color: Look::of(ui).half,
            points: points.collect(),
            asked_kbps: self.shown().last().and_then(|sample| sample.budget_kbps),
        }];
        let span = Span {
            seconds: SECONDS as u32,
            ticks_per_second: self.rate(),
            axis: Axis::Automatic,
            target: None,
        };
        let lines = Lines::new(&sources, span);
        graph::draw(ui, graph::AROUND_PLOT + 80.0, &lines, None, false, |_, frame| Above {
            legend_end: frame.top.right(),
            ..Above::default()
        });
    }

    fn bits(&self, ui: &mut Ui) {
        let second = self.second();
        let kinds = BitKind::ALL.into_iter().filter(|&kind| second.ledger.kind(kind) > 0.0);
        let kinds: Vec<_> = kinds.collect();
        let names = self.names();
        let bits = Bits { ledger: &second.ledger, packets: second.snapshots, kinds: &kinds, names };
        if second.snapshots == 0 {
            note(ui, "No snapshot in the last second.");
            return;
        }
        let (bar, hovered) = kinds::bar(ui, "Last second", bits);
        if let Some(kind) = hovered {
            bar.on_hover_text_at_pointer(format!("{}: {}", names.kind(kind), names.about(kind)));
        }
        kinds::table(ui, bits, 0.0, |kind| names.about(kind));
    }

    fn packet(&self, ui: &mut Ui, choices: &mut Choices) {
        held::controls(ui, self, &mut choices.held);
        let newest = self.measure.record.packets().next_back();
        let (shown, bodies) = match &choices.held {
            Some(held) => (held.shown(), held.bodies.as_ref()),
            None => (newest, self.bodies),
        };
        let detailed = shown.and_then(|packet| Some((packet, packet.detail.as_ref()?)));
        let Some((packet, detail)) = detailed else {
            note(ui, "No snapshot yet.");
            return;
        };
        let names = Names { bodies, ..self.names() };
        let [tick, bytes] = [packet.tick as f64, packet.payload_bytes as f64].map(grouped);
        let title = format!("Tick {tick}: {bytes} bytes for {} bodies", packet.sent_bodies);
        heading(ui, &title, baseline(packet));
        let items = detail.items();
        let shown = PacketView {
            id: (packet.tick, packet.payload_bytes),
            bytes: detail.bytes(),
            items: items.clone(),
            names,
            hex_height: 4.0 * HEX_ROW,
        };
        packet::draw(ui, &mut choices.order, shown, &mut choices.highlight);
        divider(ui);
        packet::bodies(ui, items, names, page_left(ui).max(120.0), &mut choices.highlight);
    }

    fn waiting(&self, ui: &mut Ui, highlight: &mut Highlight) {
        let End::Server { .. } = self.end else {
            note(ui, "Only the server knows which bodies wait to be sent.");
            return;
        };
        let Some(waits) = &self.measure.waits else {
            note(ui, "Without a budget, all changes are sent at once.");
            return;
        };
        let waiting = Waiting {
            waits: &waits.longest(),
            ticks_per_second: self.rate(),
            names: self.names(),
            unit: ("units", 1.0),
            width: 110.0,
            hint: "",
        };
        waiting.draw(ui, highlight);
    }

    /// Draws the page about prediction. Returns whether to predict, if that was chosen.
    fn playing(&self, ui: &mut Ui) -> Option<bool> {
        let End::Client { predicts, .. } = self.end else {
            note(ui, "Only the client knows when its inputs have an effect.");
            return None;
        };
        let mut wanted = predicts;
        let states = choices([
            (true, "on", "Predicted bodies are moved at once."),
            (false, "off", "All bodies are shown as their snapshots say."),
        ]);
        segmented(ui, 120.0, &mut wanted, &states);
        ui.add_space(GAP);
        let playing = Playing {
            samples: self.measure.record.samples(),
            ticks_per_second: self.rate(),
            seconds: SECONDS as u32,
            unit: ("units", 1.0),
            own: "own body",
        };
        playing.draw(ui, |_| {});
        (wanted != predicts).then_some(wanted)
    }

    fn network(&self, ui: &mut Ui) {
        let (second, rate) = (self.second(), self.rate());
        let rate_of = |bytes| rounded(kbps(bytes, rate as usize, rate));
        let millis = |ticks: u64| rounded(1000.0 * ticks as f64 / f64::from(rate));
        let bodies = second.sent_bodies as f64 / second.snapshots.max(1) as f64;
        figure(ui, "Payload of snapshots", rate_of(second.payload_bytes), "kbps");
        figure(ui, "On the wire", rate_of(second.traffic.wire_bytes), "kbps");
        figure(ui, "Snapshots", second.snapshots, "a second");
        figure(ui, "Bodies in a snapshot", rounded(bodies), "");
        match self.end {
            End::Server { peer, stats, .. } => {
                let newest = self.measure.record.samples().back();
                if let Some(budget) = newest.and_then(|sample| sample.budget_kbps) {
                    figure(ui, "Budget", budget, "kbps");
                }
                let acked = peer.sender().and_then(|sender| sender.newest_acked());
                let age = acked
                    .map(|acked| format!("{} ms ago", millis(stats.tick.saturating_sub(acked))));
                let age = age.unwrap_or_else(|| "none yet".to_owned());
                figure(ui, "Newest snapshot that was acked", age, "");
                let packets = self.shown().flat_map(|sample| &sample.snapshots);
                if let Some(least) = packets.filter_map(|packet| packet.acked_after_ticks).min() {
                    let round_trip = figure(ui, "Round trip", millis(least.into()), "ms");
                    round_trip.on_hover_text("The shortest time from a snapshot to its ack.");
                }
                let settled = self.measure.record.settled_tick();
                let settled = self.shown().filter(|sample| sample.tick < settled);
                let counts = ArrivalCounts::of(&self.measure.record, settled);
                if counts != ArrivalCounts::default() {
                    figure(ui, "Loss", rounded(counts.lost_percent()), "%");
                }
                if let Some(less) = throttled(stats.throttle) {
                    note(ui, less);
                }
            }
            End::Client { replication, now, .. } => {
                if let Some(receiver) = replication.receiver() {
                    let playout = receiver.playout();
                    let delay = 1000.0 * playout.delay().as_secs_f64();
                    figure(ui, "Playout delay", rounded(delay), "ms");
                    figure(ui, "Snapshots that wait to be shown", playout.ahead(now), "");
                }
                figure(ui, "Too late to be shown", second.late, "a second");
                let starved = rounded(1000.0 * second.starved.as_secs_f64());
                figure(ui, "Without a snapshot to show", starved, "ms/s").on_hover_text(format!(
                    "{} stalls in the last second: playout stopped, because the next snapshot had not arrived.",
                    second.stalls
                ));
                figure(ui, "Undecodable since the start", replication.undecodable(), "");
            }
        }
    }
}

/// Says what all clients get less of, because encoding takes more time than the server's limit.
fn throttled(throttle: Throttle) -> Option<String> {
    let baseline = throttle.newest_only.then(|| "only the newest baseline".to_owned());
    let rate = Some(throttle.one_in).filter(|&one_in| one_in > 1);
    let less = baseline.into_iter().chain(rate.map(|one_in| format!("1 of {one_in} snapshots")));
    let less = less.collect::<Vec<_>>().join(", and ");
    (!less.is_empty()).then(|| format!("The server is overloaded: {less}."))
}

fn pages() -> [Choice<Page>; 6] {
    choices([
        (Page::Bits, "Bits", "The bits of the last second, by field."),
        (Page::Packet, "Packet", "The last snapshots, bit by bit."),
        (Page::Waiting, "Waiting", "Bodies that wait for their turn, and why."),
        (Page::Network, "Network", "Acks, round trip, loss and playout."),
        (Page::Playing, "Playing", "How soon inputs have an effect, and what is predicted."),
        (Page::Stages, "Stages", "The rung in use, and the cost of each. A click chooses one."),
    ])
}

fn baseline(packet: &PacketRecord) -> String {
    match packet.reference_age_ticks() {
        Some(age) => format!("baseline {} older", ticks(age.into())),
        None => "relative to the start".to_owned(),
    }
}

/// Length of the graph, and time span of the figures for round trip and loss, in seconds.
const SECONDS: usize = 10;
