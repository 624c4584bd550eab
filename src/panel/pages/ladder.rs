//! The ladder. Each row shows the cost of a rung and selects it. Its switch toggles the stage that the rung adds.

mod switch;

use std::sync::Arc;

use bevy_egui::egui::{Align, Id, Rangef, Response, Ui};
use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, AFFINE, LADDER, Rung, SIMULATED, rung_of};
use cubewire_inspector::words::{factor, rounded};

use super::{bars, kinds, sync};
use crate::controls::RUNG_KEYS;
use crate::panel::kept::kept;
use crate::panel::lane::LaneView;
use crate::panel::style::{LINE, Look, ROW};
use crate::panel::terms;
use crate::panel::widgets::line;
use crate::replication::{Accounting, ShadowLadder, TARGET_KBPS};
use switch::Switch;

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
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) -> bool {
    let look = Look::of(ui);
    let height = bars::height(ui, LADDER.len() + 1, AFFINE_GAP + GAP + LINE + ROW);
    match lane.shadow {
        Some(shadow) => {
            bars::header(ui, None, ["kbps", "less"], about(lane, shadow));
        }
        None => {
            line(ui, "Requested from the server.", look.muted);
        }
    }
    let (shown, shadow) = (lane.stages_shown(), lane.shadow);
    let kbps_on = lane.kbps_on();
    let whole = kbps_on(&LADDER[0]).filter(|_| lane.arrives());
    let mut hovered = None;
    let top = ui.cursor().top();
    let mut bottom = top;
    let set = lane.settings.sender.stages;
    let switches = kept(ui, Id::new("switches of the ladder"), set, || {
        let switches = ladder::all().map(|rung| Switch::of(rung, set));
        Arc::new(switches.collect::<Vec<_>>())
    });
    let rungs = LADDER.iter().zip(RUNG_KEYS).chain([(&AFFINE, "")]);
    for ((rung, key), switch) in rungs.zip(&*switches) {
        if *rung == AFFINE {
            bottom = ui.cursor().top();
            ui.add_space(AFFINE_GAP);
        }
        let is_shown = rung.stages == shown;
        let stages = &mut lane.settings.sender.stages;
        let row = bars::rung(ui, height, (rung, key), shown, stages);
        let switch = switch.as_ref();
        let switch = switch.map(|switch| switch.draw(ui, row.rect, stages));
        if row.response.hovered() || switch.is_some_and(|switch| switch.hovered()) {
            hovered = Some(*rung);
        }
        if is_shown {
            keep_in_sight(ui, &row.response, shown);
        }
        if let Some(kbps) = kbps_on(rung) {
            let bar = match kbps <= TARGET_KBPS {
                true => look.half,
                false => look.above_target,
            };
            let less = whole.map_or("–".to_owned(), |whole| factor(whole / kbps));
            let color = if is_shown { look.ink } else { look.muted };
            let figures = [(rounded(kbps), look.ink), (less, color)];
            bars::bar(ui, &row, rung.name, [0.0, kbps], bar, figures);
        }
    }
    if shadow.is_some() {
        bars::target(ui, Rangef::new(top, bottom));
    }
    let desyncs = below(ui, hovered, lane);
    kinds::strip_if_it_fits(ui, lane);
    desyncs
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

/// What the rung does that is pointed at, or shown; below it what the colours mean, or a button. Returns whether the
/// lane is to lose its world.
fn below(ui: &mut Ui, hovered: Option<Rung>, lane: &LaneView<'_>) -> bool {
    let look = Look::of(ui);
    let shown = lane.stages_shown();
    let is_simulated = shown == SIMULATED.stages && lane.past.moment.is_none();
    let sync = lane.sync.filter(|_| is_simulated);
    match (hovered, sync, hovered.or(rung_of(shown))) {
        (None, Some(sync), _) => {
            line(ui, sync::state(sync), look.ink).on_hover_text(sync::about(sync.status));
        }
        (_, _, rung) => {
            if sync.is_none() {
                ui.add_space(GAP);
            }
            let about = rung.map_or("Custom: no rung has these stages.", |rung| rung.summary);
            line(ui, about, look.ink);
        }
    }
    if let Some(sync) = sync {
        return sync::nudge(ui, sync, !lane.peers.is_server());
    }
    if lane.shadow.is_some() {
        let target = format!("Full colour: at or below the target of {TARGET_KBPS:.0} kbps.");
        line(ui, target, look.muted);
    }
    false
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
        "What each rung would cost{budget} for the same snapshots, {} a second: mean of {second}. {} The bars are on a \
         logarithmic scale; the line through them is the target of the article, {TARGET_KBPS:.0} kbps. How many times \
         less: than the first rung.",
        lane.settings.sender.snapshots_per_second(),
        terms::accounting(Accounting::PayloadAndUdp)
    );
    if let Some(age) = shadow.age_ticks(lane.now()) {
        let ticks = terms::ticks(age);
        about += &format!(" Encoded beside the game, {ticks} behind it.");
    }
    about
}

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
