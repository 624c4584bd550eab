//! The ladder: a table of the rungs with columns that can be chosen, or with a curve for each rung. A row shows the cost of its rung
//! and selects it. Its switch toggles the stage that the rung adds.

mod columns;
mod curves;
mod switch;
mod table;
mod without;

use std::sync::Arc;

use bevy_egui::egui::{Align, Id, Rangef, Response, Ui};
use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, AFFINE, LADDER, Rung, SIMULATED, rung_of};
use cubewire_inspector::words::rounded;

use super::{kinds, sync};
use crate::controls::RUNG_KEYS;
use crate::panel::kept::kept;
use crate::panel::lane::LaneView;
use crate::panel::settings::{Column, Columns, PanelState};
use crate::panel::style::{LINE, Look, ROW};
use crate::panel::terms;
use crate::panel::widgets::line;
use crate::replication::{Accounting, ShadowLadder, TARGET_KBPS};
use columns::{Costs, DEARER};
pub(super) use columns::{SHOWN_AS_ZERO, chips};
use switch::Switch;
use table::Table;

/// Where the height of the present rung is kept, for the card that points to it.
pub(in crate::panel) const PRESENT: &str = "present rung";

/// The index of the rung with these stages, if there is one.
pub(in crate::panel) fn index_of(stages: Stages) -> Option<usize> {
    LADDER.iter().position(|rung| rung.stages == stages)
}

/// The index of the rung that a step of `up` rungs leads to. From stages that are not on the ladder, either direction
/// leads to the last rung.
pub(in crate::panel) fn step(current: Option<usize>, last_rung: usize, up: isize) -> usize {
    let rung = current.map_or(last_rung, |rung| rung.saturating_add_signed(up));
    rung.min(LADDER.len() - 1)
}

/// Returns whether the lane is to lose its world.
pub(super) fn draw(ui: &mut Ui, state: &PanelState, lane: &mut LaneView<'_>) -> bool {
    let height = table::height(ui, LADDER.len() + 1, AFFINE_GAP + GAP + LINE + ROW);
    let mut shown = state.columns.figures();
    shown.truncate(Table::most_columns(ui.available_width()) - 1);
    let table = Table::new(ui.available_width(), shown.len() + 1);
    let has_curves = state.columns.has(Column::OverTime);
    match lane.shadow {
        Some(shadow) => {
            let names = shown.iter().map(|column| column.texts()[0]);
            let names: Vec<_> = ["kbps"].into_iter().chain(names).collect();
            table.header(ui, &names, !has_curves, about(lane, shadow));
        }
        None => {
            let is_usual = state.columns == Columns::default();
            let words = if is_usual {
                "Requested from the server."
            } else {
                REMOTE
            };
            line(ui, words, Look::of(ui).muted);
        }
    }
    let costs = Costs::of(lane, &state.columns);
    let top = ui.cursor().top();
    let (mut hovered, rows) = draw_rows(ui, lane, (table, height), &shown, (&costs, !has_curves));
    let mut said = None;
    match lane.shadow {
        Some(shadow) if has_curves => {
            let bottom = ui.cursor().top();
            let plot = table.plot(ui.cursor().left(), Rangef::new(top, bottom));
            let of = (state.graph_seconds.0, lane.stages_shown());
            if let Some((rung, words, is_clicked)) =
                curves::draw(ui, plot, &rows, of, (shadow, hovered))
            {
                (hovered, said) = (Some(rung), Some(words));
                if is_clicked {
                    lane.settings.sender.stages = rung.stages;
                }
            }
        }
        Some(_) => table.target(ui, Rangef::new(top, ui.cursor().top())),
        None => {}
    }
    let said = said.or_else(|| match hovered {
        None if shown.iter().any(|column| column.is_step()) => Some(costs.sum()),
        _ => None,
    });
    let desyncs = below(ui, (hovered, said), lane, |ui, lane| {
        caption(ui, &state.columns, &costs, lane)
    });
    kinds::strip_if_it_fits(ui, lane);
    desyncs
}

/// Draws the row of each rung. Returns the rung that is pointed at, and the heights of the rows.
fn draw_rows(
    ui: &mut Ui,
    lane: &mut LaneView<'_>,
    (table, height): (Table, f32),
    columns: &[Column],
    (costs, has_bars): (&Costs, bool),
) -> (Option<Rung>, Vec<f32>) {
    let look = Look::of(ui);
    let (shown, set) = (lane.stages_shown(), lane.settings.sender.stages);
    let (mut hovered, mut rows) = (None, Vec::new());
    let switches = kept(ui, Id::new("switches of the ladder"), set, || {
        let switches = ladder::all().map(|rung| Switch::of(rung, set));
        Arc::new(switches.collect::<Vec<_>>())
    });
    let rungs = LADDER.iter().zip(RUNG_KEYS).chain([(&AFFINE, "")]);
    for (index, ((rung, key), switch)) in rungs.zip(&*switches).enumerate() {
        if *rung == AFFINE {
            ui.add_space(AFFINE_GAP);
        }
        let stages = &mut lane.settings.sender.stages;
        let row = table::rung(ui, height, (rung, key), shown, stages);
        rows.push(row.rect.center().y);
        let switch = switch.as_ref();
        let switch = switch.map(|switch| switch.draw(ui, row.rect, stages));
        if row.response.hovered() || switch.is_some_and(|switch| switch.hovered()) {
            hovered = Some(*rung);
        }
        let is_shown = rung.stages == shown;
        if is_shown {
            keep_in_sight(ui, &row.response, shown);
        }
        let Some(kbps) = costs.kbps[index] else {
            continue;
        };
        if has_bars {
            let bar = match kbps <= TARGET_KBPS {
                true => look.half,
                false => look.above_target,
            };
            table.bar(ui, &row, rung.name, kbps, bar);
        }
        table.figure(ui, &row, 0, (&rounded(kbps), look.ink));
        for (place, column) in columns.iter().enumerate() {
            let (words, color) = costs.text(*column, (index, rung), look);
            let is_ratio = is_shown && color == look.muted;
            let color = if is_ratio { look.ink } else { color };
            table.figure(ui, &row, place + 1, (&words, color));
        }
        let without = costs.without.as_ref();
        if let Some(about) = without.and_then(|without| without.about(rung)) {
            row.response.on_hover_text(about);
        }
    }
    (hovered, rows)
}

/// Keeps the height of the row of the rung that is shown, and scrolls to it when that rung or the height of the page changes.
fn keep_in_sight(ui: &Ui, row: &Response, stages: Stages) {
    let (page, row_y) = (ui.clip_rect(), row.rect.y_range());
    ui.data_mut(|data| data.insert_temp(Id::new(PRESENT), row_y.center()));
    let id = Id::new("rung in sight");
    kept(ui, id, (stages, page.height()), || {
        // A page that fits is left as it is.
        let is_seen = page.y_range().contains(row_y.min) && page.y_range().contains(row_y.max);
        if !is_seen {
            row.scroll_to_me(Some(Align::Center));
        }
    });
}

/// Draws what is said about a curve or all rungs, or what the rung does that is pointed at or shown. Below it is a caption, or the
/// controls of the simulated rung. Returns whether the lane is to lose its world.
fn below(
    ui: &mut Ui,
    (hovered, said): (Option<Rung>, Option<String>),
    lane: &LaneView<'_>,
    caption: impl FnOnce(&mut Ui, &LaneView<'_>),
) -> bool {
    let look = Look::of(ui);
    let shown = lane.stages_shown();
    let is_simulated = shown == SIMULATED.stages && lane.past.moment.is_none();
    let sync = lane.sync.filter(|_| is_simulated);
    match (hovered, sync) {
        (None, Some(sync)) => {
            line(ui, sync::state(sync), look.ink).on_hover_text(sync::about(sync.status));
        }
        _ => {
            if sync.is_none() {
                ui.add_space(GAP);
            }
            let rung = hovered.or(rung_of(shown));
            let about = rung.map_or("Custom: no rung has these stages.", |rung| rung.summary);
            line(ui, said.unwrap_or_else(|| about.to_owned()), look.ink);
        }
    }
    if let Some(sync) = sync {
        return sync::nudge(ui, sync, !lane.peers.is_server());
    }
    if lane.shadow.is_some() {
        caption(ui, lane);
    }
    false
}

/// Explains the columns in a line.
fn caption(ui: &mut Ui, columns: &Columns, costs: &Costs, lane: &LaneView<'_>) {
    let look = Look::of(ui);
    let steps = columns.figures().iter().any(|column| column.is_step());
    let dearer = costs.dearer().filter(|_| steps);
    let (words, color, about) = match dearer {
        _ if columns.has(Column::Without) => {
            let (words, color) = without::caption(look, lane);
            (words, color, without::BACKGROUND)
        }
        _ if columns.has(Column::OverTime) => {
            let words = format!("Dashes: the target of {TARGET_KBPS:.0} kbps. Point at a curve.");
            (words, look.muted, "")
        }
        Some(dearer) => (dearer, look.warning, DEARER),
        None => {
            let words = format!("Full colour: at or below the target of {TARGET_KBPS:.0} kbps.");
            (words, look.muted, "")
        }
    };
    let response = line(ui, words, color);
    if !about.is_empty() {
        response.on_hover_text(about);
    }
}

/// What the figures are.
fn about(lane: &LaneView<'_>, shadow: &ShadowLadder) -> String {
    let second = match lane.past.moment {
        Some(_) => "the second up to what the views show",
        None => "the last second",
    };
    let budget = match lane.settings.sender.kept_budget() {
        Some(_) => " without its budget",
        None => "",
    };
    let mut about = format!(
        "What each rung would cost{budget} for the same snapshots, {} a second: mean of {second}. {} Bars are on a \
         logarithmic scale. The dashed line is the target of the article, {TARGET_KBPS:.0} kbps.",
        lane.settings.sender.snapshots_per_second(),
        terms::accounting(Accounting::PayloadAndUdp)
    );
    if let Some(age) = shadow.age_ticks(lane.now()) {
        let ticks = terms::ticks(age);
        about += &format!(" Encoded beside the game, {ticks} behind it.");
    }
    about
}

/// Why a column has no figures at a viewer.
const REMOTE: &str = "This is measured where the simulation runs.";

/// Logical points between the ladder and the rung that is not part of it.
const AFFINE_GAP: f32 = 3.0;

/// Logical points above what is told about a rung.
const GAP: f32 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: usize = LADDER.len() - 1;

    #[test]
    fn steps_stay_on_the_ladder_and_lead_back_to_the_last_rung() {
        for (current, last_rung, to, rung) in [
            (Some(4), 0, 1, 5),
            (Some(4), 0, -1, 3),
            (Some(TOP), 0, 1, TOP),
            (Some(0), 9, -1, 0),
            (None, 7, 1, 7),
            (None, 7, -1, 7),
            (None, usize::MAX, -1, TOP),
        ] {
            assert_eq!(step(current, last_rung, to), rung, "{current:?}, {to}");
        }
    }
}
