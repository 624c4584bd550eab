//! The ladder: a table of the rungs with selectable columns. A click on a row selects its rung. The switch in a row toggles
//! the stage that the rung adds.

mod columns;
mod switch;
mod table;
mod without;

use std::sync::Arc;

use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, AFFINE, LADDER, Rung, SIMULATED, rung_of};

use super::{kinds, sync};
use crate::controls::RUNG_KEYS;
use crate::panel::lane::LaneView;
use crate::panel::prelude::*;
use crate::panel::settings::{Column, PanelState};
use crate::panel::terms;
use crate::replication::{Accounting, LiveLadder, TARGET_KBPS};
use columns::Costs;
use switch::Switch;
#[cfg(not(target_family = "wasm"))]
pub(crate) use table::draw_costs;
use without::Left;

/// Key of the y coordinate of the displayed rung. The card that points to the rung reads it.
pub(crate) const PRESENT: &str = "present rung";

pub(crate) fn index_of(stages: Stages) -> Option<usize> {
    LADDER.iter().position(|rung| rung.stages == stages)
}

/// Returns the index of the rung after a step of `up` rungs. From custom stages, either direction leads to the last rung.
pub(crate) fn step(current: Option<usize>, last_rung: usize, up: isize) -> usize {
    current.map_or(last_rung, |rung| rung.saturating_add_signed(up)).min(LADDER.len() - 1)
}

pub(super) fn draw(ui: &mut Ui, state: &PanelState, lane: &mut LaneView<'_>) {
    let (look, column) = (Look::of(ui), super::column(state, lane));
    let height = table::height(ui, LADDER.len() + 1, AFFINE_GAP + GAP + LINE + ROW);
    if let Some(shadow) = lane.shadow {
        let [.., left, right] = column.texts();
        table::header(ui, [left, right], about(lane, shadow));
    } else {
        line(ui, "Requested from the server.", look.muted);
    }
    let costs = Costs::of(lane, column);
    let top = ui.cursor().top();
    let hovered = draw_rows(ui, lane, height, (&costs, column));
    let rows_y = Rangef::new(top, ui.cursor().top());
    let has_sum = lane.shadow.is_some() && hovered.is_none() && column == Column::Savings;
    let said = has_sum.then(|| costs.sum());
    if lane.shadow.is_some() {
        table::target(ui, rows_y);
    }
    below(ui, (hovered, said), lane, caption(look, column, &costs, lane));
    kinds::strip_if_it_fits(ui, lane);
}

/// Draws a row for each rung. Returns the hovered rung.
fn draw_rows(
    ui: &mut Ui,
    lane: &mut LaneView<'_>,
    height: f32,
    (costs, column): (&Costs, Column),
) -> Option<Rung> {
    let look = Look::of(ui);
    let (shown, set) = (lane.stages_shown(), lane.settings.sender.stages);
    let mut hovered = None;
    let switches = kept(ui, Id::new("switches of the ladder"), set, || {
        let switches = ladder::all().map(|rung| Switch::of(rung, set));
        Arc::new(switches.collect::<Vec<_>>())
    });
    for (index, (rung, switch)) in ladder::all().zip(&*switches).enumerate() {
        if rung == AFFINE {
            ui.add_space(AFFINE_GAP);
        }
        let is_shown = rung.stages == shown;
        let stages = &mut lane.settings.sender.stages;
        let row = table::rung(ui, height, (&rung, index), shown, stages);
        let switch = switch.as_ref();
        let switch = switch.map(|switch| switch.draw(ui, row.rect, stages));
        if row.response.hovered() || switch.is_some_and(|switch| switch.hovered()) {
            hovered = Some(rung);
        }
        if is_shown {
            keep_in_sight(ui, &row.response, shown);
        }
        let less = if is_shown { look.ink } else { look.muted };
        if let Some(cells) = costs.cells(column, (index, rung), (look, less)) {
            table::cells(ui, &row, rung.name, cells);
        }
        let key = RUNG_KEYS.get(index).map(|key| format!("Key: {key}"));
        let about: Vec<_> = costs.without(rung).map(Left::about).chain(key).collect();
        if !about.is_empty() {
            row.response.on_hover_text(about.join("\n\n"));
        }
    }
    hovered
}

/// Stores the y coordinate of the row of the displayed rung. Scrolls to it when the rung or the height of the page changes.
fn keep_in_sight(ui: &Ui, row: &Response, stages: Stages) {
    let (page, row_y) = (ui.clip_rect(), row.rect.y_range());
    ui.data_mut(|data| data.insert_temp(Id::new(PRESENT), row_y.center()));
    kept(ui, Id::new("rung in sight"), (stages, page.height()), || {
        // A page that fits is left as it is.
        let is_seen = page.y_range().contains(row_y.min) && page.y_range().contains(row_y.max);
        if !is_seen {
            row.scroll_to_me(Some(Align::Center));
        }
    });
}

/// Draws `said`, or else the summary of the hovered or displayed rung. Below it, draws the caption or the receiver's figures
/// on the simulated rung.
fn below(
    ui: &mut Ui,
    (hovered, said): (Option<Rung>, Option<String>),
    lane: &LaneView<'_>,
    (caption, color): (String, Color32),
) {
    let look = Look::of(ui);
    let shown = lane.stages_shown();
    let is_simulated = shown == SIMULATED.stages && lane.past.moment.is_none();
    let sync = lane.sync.filter(|_| is_simulated);
    ui.add_space(GAP);
    if let (None, Some(sync)) = (hovered, sync) {
        line(ui, sync::state(sync), look.ink).on_hover_text(sync::about(sync));
    } else {
        let rung = hovered.or(rung_of(shown));
        let about = rung.map_or("Custom: no rung has these stages.", |rung| rung.summary);
        line(ui, said.unwrap_or_else(|| about.to_owned()), look.ink);
    }
    if let Some(sync) = sync {
        sync::receiver(ui, sync);
    } else if lane.shadow.is_some() {
        line(ui, caption, color);
    }
}

fn caption(look: Look, column: Column, costs: &Costs, lane: &LaneView<'_>) -> (String, Color32) {
    let words = match (column, costs.dearer()) {
        (Column::Without, _) => return without::caption(look, lane, costs.without.is_some()),
        (Column::Savings, Some(dearer)) => return (dearer, look.warning),
        (Column::Cost, _) => "Full colour: at or below the target of",
        _ => "Dashes: the target of",
    };
    (format!("{words} {TARGET_KBPS:.0} kbps."), look.muted)
}

fn about(lane: &LaneView<'_>, shadow: &LiveLadder) -> String {
    let until = match lane.past.moment {
        Some(_) => "the second before the displayed tick",
        None => "the last second",
    };
    let budget = match lane.settings.sender.kept_budget() {
        Some(_) => " without its budget",
        None => "",
    };
    let rate = lane.settings.sender.snapshots_per_second();
    let accounting = terms::accounting(Accounting::PayloadAndUdp);
    let age = shadow.age_ticks(lane.now()).map(ticks);
    let age = age.map_or_else(String::new, |age| {
        format!(" Encoded in the background, {age} behind the game.")
    });
    format!(
        "Costs{budget} for the same snapshots, {rate} a second: mean of {until}. {accounting} Bars are on a logarithmic scale. The \
         dashed line is the target of the article, {TARGET_KBPS:.0} kbps.{age}"
    )
}

/// Logical points between the ladder and the rung `affine`, which is not part of it.
const AFFINE_GAP: f32 = 3.0;

/// Logical points above the summary of a rung.
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
