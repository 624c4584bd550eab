//! The payload of a second by kind of bits, what the cubes' colours show, and what it comes to.

mod acks;
mod colors;

use bevy_egui::egui::Ui;
use cubewire_codec::BitKind;
use cubewire_scene::CUBES;

use crate::panel::settings::PanelState;
use crate::panel::style::{BODY, CONTROL, GAP, LINE, Look, ROW, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{At, Row, divider, figure, note, stack, swatch};
use crate::replication::{Accounting, LaneMeter, Totals};
use crate::theme::egui_color;
use crate::words::{grouped, rounded};

pub(super) fn draw(
    ui: &mut Ui,
    state: &mut PanelState,
    meter: &LaneMeter,
    moment: Option<u64>,
    is_remote: bool,
) {
    let totals = Totals::of(meter.second_until(moment));
    ui.spacing_mut().item_spacing.y = 0.0;
    let second = match moment {
        Some(_) => "The second before what is shown",
        None => "Last second",
    };
    title(ui, second, &totals);
    if totals.snapshots == 0 {
        note(ui, "Nothing was sent.");
    } else {
        kinds(ui, &totals);
    }
    divider(ui);
    colors::draw(ui, &mut state.colors, &mut state.fixed_scale, is_remote);
    figures(ui, &totals, meter, is_remote);
}

/// Which second, and the bits of a packet in it.
fn title(ui: &mut Ui, second: &str, totals: &Totals) {
    let look = Look::of(ui);
    let bits = grouped(totals.per_snapshot(totals.ledger.total()));
    let unit = "bits a packet";
    let row = Row::show(ui, ROW, &format!("{second}: {bits} {unit}"));
    row.text(ui, At::Left(0.0), second, BODY, look.ink);
    let unit = row.text(ui, At::Right(0.0), unit, BODY, look.muted);
    let left = At::Right(unit.width() + GAP);
    row.text(ui, left, bits, BODY, look.ink);
}

/// A bar by kind, a row for each, and the names of those without bits.
fn kinds(ui: &mut Ui, totals: &Totals) {
    let look = Look::of(ui);
    let color = |kind| egui_color(look.theme.colors().bit_kind(kind));
    let of_kind = |kind: &BitKind| totals.ledger.kind(*kind);
    let share = |kind| format!("{:.1} %", 100.0 * totals.fraction(kind));
    ui.add_space(GAP);
    let parts = BitKind::DEMO.map(|kind| (of_kind(&kind), color(kind)));
    let (bar, hovered) = stack(ui, BAR_HEIGHT, &parts);
    if let Some(kind) = hovered.map(|index| BitKind::DEMO[index]) {
        let about = terms::bit_kind(kind);
        bar.on_hover_text_at_pointer(format!("{kind}: {}\n{about}", share(kind)));
    }
    ui.add_space(GAP);
    let head = Row::show(ui, LINE, "bits by kind");
    head.text(ui, At::Left(0.0), "kind", SMALL, look.muted);
    head.text(ui, At::Right(SHARE), "share", SMALL, look.muted);
    head.text(ui, At::Right(0.0), "bits a packet", SMALL, look.muted);
    let (used, unused): (Vec<_>, Vec<_>) = BitKind::DEMO
        .into_iter()
        .partition(|kind| of_kind(kind) > 0.0);
    let left = page_left(ui) - BELOW - if unused.is_empty() { 0.0 } else { LINE };
    let height = (left / used.len() as f32).clamp(ROW - 2.0, ROW + 2.0);
    for kind in used {
        let bits = rounded(totals.per_snapshot(of_kind(&kind)));
        let said = format!("{kind}: {}, {bits} bits a packet", share(kind));
        let row = Row::show(ui, height, &said);
        swatch(ui.painter(), row.rect, 0.0, color(kind));
        row.text(ui, At::Left(18.0), kind, BODY, look.ink);
        row.text(ui, At::Right(SHARE), share(kind), SMALL, look.muted);
        row.text(ui, At::Right(0.0), bits, SMALL, look.ink);
        row.response.on_hover_text(terms::bit_kind(kind));
    }
    if !unused.is_empty() {
        let names: Vec<_> = unused.iter().map(|kind| kind.name()).collect();
        let about = unused
            .iter()
            .map(|&kind| format!("{kind}: {}", terms::bit_kind(kind)));
        let about: Vec<_> = about.collect();
        note(ui, format!("Not used here: {}.", names.join(", "))).on_hover_text(about.join("\n"));
    }
}

fn figures(ui: &mut Ui, totals: &Totals, meter: &LaneMeter, is_remote: bool) {
    let per_cube = totals.bits_per_sent_cube();
    let bits = per_cube.map_or_else(|| "–".to_owned(), rounded);
    figure(ui, "A cube in a packet takes", bits, "bits").on_hover_text(
        "Mean over all cubes that a packet contains: the changed ones, or all of them without delta encoding.",
    );
    let mean = |sum: usize| rounded(totals.per_snapshot(sum as f64));
    let cubes = format!("Cubes in a packet, of {CUBES}");
    figure(ui, &cubes, mean(totals.sent_cubes), "").on_hover_text(format!(
        "Mean. {} cubes differ from the baseline.",
        mean(totals.changed_cubes)
    ));
    let [article, wire] = [Accounting::PayloadAndUdp, Accounting::OnTheWire];
    let wired = rounded(totals.kbps(wire));
    figure(ui, "With IP and UDP headers", wired, "kbps").on_hover_text(format!(
        "{}\n\n{} kbps as the article counts. {}",
        terms::accounting(wire),
        rounded(totals.kbps(article)),
        terms::accounting(article)
    ));
    let acks = rounded(totals.kbps_of(totals.traffic.ack_bytes));
    figure(ui, "Acks, the other way", acks, "kbps")
        .on_hover_ui(|ui| acks::explain(ui, totals, meter, is_remote));
    note(
        ui,
        format!(
            "Payload: mean {} bytes, largest {}. {:.0} datagrams a second.",
            mean(totals.payload_bytes),
            grouped(totals.max_payload_bytes as f64),
            totals.packets_per_second()
        ),
    )
    .on_hover_text(format!(
        "{} Snapshots of more than 1200 bytes take several datagrams.",
        terms::PAYLOAD
    ));
}

/// Logical points.
const BAR_HEIGHT: f32 = 24.0;
const SHARE: f32 = 96.0;
/// Of what follows the kinds: a divider, the colours, and the figures.
const BELOW: f32 = 9.0 + CONTROL + 5.0 * ROW + LINE;
