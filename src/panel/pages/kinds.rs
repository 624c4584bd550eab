//! The page *By kind of bits*: the payload of a second by kind of bits, the colours of the cubes, and averages.

use cubewire_inspector::kinds;

use super::millis;
use crate::panel::prelude::*;

pub(super) fn draw(ui: &mut Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    let measured = lane.second();
    let second = match (&measured, lane.past.moment) {
        (None, _) => "Measuring …",
        (Some(_), Some(_)) => "The second before the displayed tick",
        (Some(_), None) => "Last second",
    };
    let totals = measured.unwrap_or_default();
    let (bar, hovered) = kinds::bar(ui, second, bits(&totals));
    if let Some(kind) = hovered {
        bar.on_hover_text_at_pointer(about(kind, &totals));
    }
    kinds::table(ui, bits(&totals), BELOW, terms::bit_kind);
    divider(ui);
    colors(ui, state, lane.status.plays);
    figures(ui, &totals, lane);
}

fn colors(ui: &mut Ui, state: &mut PanelState, has_game: bool) {
    let row = Row::show(ui, ROW, "Colour cubes");
    row.text(ui, At::Left(0.0), "Colour cubes", BODY, Look::of(ui).ink);
    if state.colors.has_scale() {
        let fixed = row.controls(ui, |ui| chip(ui, ROW, 4, "fixed", state.fixed_scale));
        if fixed.on_hover_text(FIXED).clicked() {
            state.fixed_scale = !state.fixed_scale;
        }
    }
    ui.add_space(GAP);
    let choices = CubeColors::known(has_game)
        .map(|colors| Choice::new(colors, colors.name(), terms::cube_colors(colors)));
    segmented(ui, ui.available_width(), &mut state.colors, &choices.collect::<Vec<_>>());
}

fn figures(ui: &mut Ui, totals: &Totals, lane: &LaneView<'_>) {
    let bits = totals.bits_per_sent_body().map_or_else(|| "–".to_owned(), rounded);
    figure(ui, "Bits per cube in a packet", bits, "bits").on_hover_text(
        "Mean size of a packet, with the bits that belong to no single cube, divided by the number of its cubes: \
         the changed cubes, or all cubes without delta encoding.",
    );
    let mean = |sum: usize| rounded(totals.per_snapshot(sum as f64));
    let cubes = format!("Cubes in a packet, of {CUBES}");
    figure(ui, &cubes, mean(totals.sent_bodies), "").on_hover_text(format!(
        "Mean. {} cubes changed since the baseline or another earlier snapshot.",
        mean(totals.changed_bodies)
    ));
    let [article, wire] = [Accounting::PayloadAndUdp, Accounting::OnTheWire];
    let [counted, wired] = [article, wire].map(|accounting| totals.kbps(accounting));
    let more = if wired < counted { "less" } else { "more" };
    let beside = rounded((wired - counted).abs());
    let name = format!("On the wire, {beside} kbps {more}");
    figure(ui, &name, rounded(wired), "kbps").on_hover_text(format!(
        "{}\n\n{} kbps as the article counts. {}",
        terms::accounting(wire),
        rounded(counted),
        terms::accounting(article)
    ));
    let ack_kbps = rounded(totals.kbps_of(totals.traffic.ack_bytes));
    figure(ui, "Acks, the other way", ack_kbps, "kbps").on_hover_ui(|ui| acks(ui, totals, lane));
    let (payload, most) = (mean(totals.payload_bytes), grouped(totals.max_payload_bytes as f64));
    let payload = note(ui, format!("Payload: mean {payload} bytes, largest {most}."));
    payload.on_hover_text(format!(
        "{} Snapshots of more than 1200 bytes take several datagrams: {} a second.",
        terms::PAYLOAD,
        grouped(totals.packets_per_second())
    ));
}

fn acks(ui: &mut Ui, totals: &Totals, lane: &LaneView<'_>) {
    ui.allocate_exact_size(vec2(ACKS, 0.0), Sense::hover());
    ui.set_max_width(ACKS);
    let meter = lane.meter;
    let age = |age: Option<Option<u16>>| age.map_or_else(|| "–".to_owned(), baseline);
    let acked = meter.samples().back().map(|sample| sample.acked_age_ticks);
    let mut sent = meter.back_from(None).flat_map(|sample| &sample.snapshots);
    let named = sent.next().map(|packet| packet.reference_age_ticks());
    let acks = rounded(totals.kbps_of(totals.traffic.ack_bytes));
    figure(ui, "Acks of snapshots", acks, "kbps");
    note(ui, terms::SNAPSHOT_ACKS);
    // Only the server knows which acks have arrived.
    if !lane.peers.is_server() {
        figure(ui, "Newest ack", age(acked), "");
        note(ui, terms::NEWEST_ACK);
    }
    figure(ui, "Baseline of the newest packet", age(named), "");
    note(ui, terms::BASELINE);
    let [received, twice, refused] =
        [meter.received, meter.duplicates, meter.refused].map(|count| grouped(count as f64));
    figure(ui, "Decoded since the start", received, "snapshots");
    figure(ui, "Duplicates", twice, "snapshots");
    figure(ui, "Rejected", refused, "packets");
    let link = meter.link;
    let counts = [link.lost, link.queue_dropped, link.duplicated, link.reordered];
    let [lost, dropped, duplicated, reordered] = counts.map(|count| {
        let percent = 100.0 * count as f64 / link.sent.max(1) as f64;
        format!("{} ({} %)", grouped(count as f64), rounded(percent))
    });
    let words = format!(
        "Of {} datagrams with snapshots, the simulated link lost {lost}, dropped {dropped} as its queue was full, duplicated \
         {duplicated}, and delivered {reordered} out of order.",
        grouped(link.sent as f64),
    );
    note(ui, words);
    if let Some(refusal) = &meter.last_refusal {
        note(ui, format!("Last rejection: {refusal}."));
    }
}

fn baseline(age_ticks: Option<u16>) -> String {
    match age_ticks {
        Some(age) => format!("{}, {} ms old", ticks(age.into()), millis(age.into())),
        None => "none: initial state".to_owned(),
    }
}

/// Draws only the bar if the page has room for it. It shows the second before the displayed tick.
pub(super) fn strip_if_it_fits(ui: &mut Ui, lane: &LaneView<'_>) {
    if page_left(ui) < STRIP {
        return;
    }
    let Some(totals) = lane.second().filter(|second| second.snapshots > 0) else { return };
    divider(ui);
    let title = match lane.past.moment {
        Some(_) => "Bits of the second before this tick",
        None => "Bits of the last second",
    };
    let (_, hovered) = kinds::bar(ui, title, bits(&totals));
    let words = hovered.map_or_else(|| largest(&totals), |kind| about(kind, &totals));
    line(ui, words, Look::of(ui).muted);
}

fn bits(totals: &Totals) -> kinds::Bits<'_> {
    let (ledger, packets, names) = (&totals.ledger, totals.snapshots, terms::names());
    kinds::Bits { ledger, packets, kinds: &BitKind::DEMO, names }
}

fn about(kind: BitKind, totals: &Totals) -> String {
    let percent = 100.0 * totals.fraction(kind);
    format!("{kind}, {percent:.1} %: {}", terms::bit_kind(kind))
}

fn largest(totals: &Totals) -> String {
    let mut kinds = BitKind::DEMO.map(|kind| (totals.fraction(kind), kind));
    kinds.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let kinds = kinds[..3].iter().filter(|(fraction, _)| *fraction > 0.0);
    let words = kinds.map(|(fraction, kind)| format!("{kind} {:.0} %", 100.0 * fraction));
    words.collect::<Vec<_>>().join(", ")
}

const FIXED: &str = "A fixed scale always has the same end. Otherwise it ends at the next power of two above the \
    largest amount.";

/// Logical points: height of everything below the kinds, height of the bar alone, and width of the tooltip about acks.
const BELOW: f32 = 9.0 + GAP + CONTROL + 5.0 * ROW + LINE;
const STRIP: f32 = 80.0;
const ACKS: f32 = 344.0;
