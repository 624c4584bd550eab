//! The payload of a second by kind of bits, what the cubes' colours show, and what it comes to.

mod acks;

use bevy_egui::egui::Ui;
use cubewire_codec::Plan;
use cubewire_inspector::kinds;
use cubewire_inspector::names::Names;
use cubewire_inspector::words::{grouped, rounded};
use cubewire_scene::CUBES;

use super::strip;
use crate::panel::lane::LaneView;
use crate::panel::settings::PanelState;
use crate::panel::style::{BODY, CONTROL, GAP, LINE, Look, ROW};
use crate::panel::terms;
use crate::panel::widgets::{At, Choice, Row, chip, divider, figure, note, segmented};
use crate::replication::{Accounting, Totals};
use crate::view::CubeColors;

pub(super) fn draw(ui: &mut Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    let measured = lane.second();
    let nothing = match measured {
        Some(_) => "Nothing was sent.",
        None => "Measuring …",
    };
    let totals = measured.unwrap_or_default();
    let second = match lane.past.moment {
        Some(_) => "The second before what is shown",
        None => "Last second",
    };
    let (bar, hovered) = kinds::bar(ui, second, strip::bits(&totals));
    if let Some(kind) = hovered {
        bar.on_hover_text_at_pointer(strip::about(kind, &totals));
    }
    if totals.snapshots > 0 {
        let plan = Plan::cubes();
        let names = Names::of_cubes(&plan);
        kinds::table(ui, strip::bits(&totals), names, BELOW, terms::bit_kind);
    } else {
        note(ui, nothing);
    }
    divider(ui);
    colors(ui, state, lane.peers.is_server());
    figures(ui, &totals, lane);
}

/// What the cubes' colours show. What they mean is said over the picture.
fn colors(ui: &mut Ui, state: &mut PanelState, is_remote: bool) {
    let look = Look::of(ui);
    let row = Row::show(ui, ROW, "Colour cubes");
    row.text(ui, At::Left(0.0), "Colour cubes", BODY, look.ink);
    if state.colors.has_scale() {
        let fixed = row.controls(ui, |ui| chip(ui, ROW, 4, "fixed", state.fixed_scale));
        if fixed.on_hover_text(FIXED).clicked() {
            state.fixed_scale = !state.fixed_scale;
        }
    }
    ui.add_space(GAP);
    let choices = CubeColors::ALL.into_iter().map(|colors| {
        let mut choice = Choice::new(colors, colors.name(), terms::cube_colors(colors));
        let is_known = !(is_remote && colors.is_of_sender());
        choice.refusal = (!is_known).then(|| "Only the sender knows.".to_owned());
        choice
    });
    let across = ui.available_width();
    segmented(ui, across, &mut state.colors, &choices.collect::<Vec<_>>());
    if is_remote {
        note(ui, "Error, angle and wait: only the sender knows.");
    }
}

fn figures(ui: &mut Ui, totals: &Totals, lane: &LaneView<'_>) {
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
    let [counted, wired] = [article, wire].map(|accounting| totals.kbps(accounting));
    let more = match wired < counted {
        true => "less",
        false => "more",
    };
    let beside = rounded((wired - counted).abs());
    let name = format!("On the wire, {beside} kbps {more} than the article counts");
    figure(ui, &name, rounded(wired), "kbps").on_hover_text(format!(
        "{}\n\n{} kbps as the article counts. {}",
        terms::accounting(wire),
        rounded(counted),
        terms::accounting(article)
    ));
    let acks = rounded(totals.kbps_of(totals.traffic.ack_bytes));
    figure(ui, "Acks, the other way", acks, "kbps")
        .on_hover_ui(|ui| acks::explain(ui, totals, lane));
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

const FIXED: &str = "A fixed scale ends at the same amount always. Otherwise it ends at a power of two that reaches the \
    largest amount.";

/// Logical points, of what follows the kinds: a divider, the colours, and the figures.
const BELOW: f32 = 9.0 + GAP + CONTROL + 5.0 * ROW + LINE;
