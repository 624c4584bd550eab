//! The ladder: a row for each rung with what it would cost, which selects it.

use bevy_egui::egui::{Id, Rangef, Response, Stroke, Ui};
use cubewire_codec::Stages;
use cubewire_codec::ladder::{AFFINE, LADDER, Rung, SIMULATED, rung_of};
use cubewire_scene::TICKS_PER_SECOND;

use super::bars::{self, Bars};
use super::{strip, sync};
use crate::controls::RUNG_KEYS;
use crate::panel::style::{LINE, Look, ROW};
use crate::panel::terms;
use crate::panel::widgets::{Row, line};
use crate::replication::{
    Accounting, LaneMeter, LaneSync, SenderSettings, ShadowLadder, ShadowRung, TARGET_KBPS, Totals,
    kbps,
};
use crate::words::{factor, rounded};

/// Where the height of the present rung is kept, for the card that points to it.
pub(in crate::panel) const PRESENT: &str = "present rung";

/// A direction on the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::panel) enum Step {
    /// Towards more compression.
    Up,
    /// Towards less compression.
    Down,
}

/// The index of the rung with these stages, if there is one.
pub(in crate::panel) fn index_of(stages: Stages) -> Option<usize> {
    LADDER.iter().position(|rung| rung.stages == stages)
}

/// The index of the rung that a step leads to. From stages that are not on the ladder, either direction
/// leads to the last rung.
pub(in crate::panel) fn step(current: Option<usize>, last_rung: usize, step: Step) -> usize {
    let rung = match (current, step) {
        (Some(rung), Step::Up) => rung + 1,
        (Some(rung), Step::Down) => rung.saturating_sub(1),
        (None, _) => last_rung,
    };
    rung.min(LADDER.len() - 1)
}

/// What a rung would cost now, in article accounting; none before it is known.
pub(in crate::panel) fn kbps_of(shadow: &ShadowLadder, rung: &Rung) -> Option<f64> {
    kbps_until(shadow, rung, None)
}

/// What a rung cost in the second up to that tick, or to the newest.
pub(in crate::panel) fn kbps_until(
    shadow: &ShadowLadder,
    rung: &Rung,
    tick: Option<u64>,
) -> Option<f64> {
    let mut rungs = shadow.rungs().iter();
    let shadowed = rungs.find(|shadowed| shadowed.rung().name == rung.name)?;
    let since = tick.map(|tick| shadow.newest_tick().unwrap_or(tick).saturating_sub(tick));
    let kbps = match since {
        None | Some(0) => ShadowRung::kbps(shadowed),
        Some(ticks) => {
            let second = shadowed.history().rev().skip(ticks as usize);
            let second: Vec<_> = second.take(TICKS_PER_SECOND as usize).collect();
            kbps(second.iter().sum(), second.len())
        }
    };
    Some(kbps).filter(|&kbps| kbps > 0.0)
}

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub(in crate::panel) struct Shown<'a> {
    /// The stages of what the views show.
    pub(in crate::panel) stages: Stages,
    /// The tick of the past that they show.
    pub(in crate::panel) moment: Option<u64>,
    /// Measurements of the lane.
    pub(in crate::panel) meter: &'a LaneMeter,
    /// The tick of the simulation.
    pub(in crate::panel) tick: Option<u64>,
    pub(in crate::panel) shadow: Option<&'a ShadowLadder>,
    pub(in crate::panel) sync: Option<&'a LaneSync>,
    /// Whether the sender is in this process.
    pub(in crate::panel) is_local: bool,
}

/// Returns whether the lane is to lose its world.
pub(in crate::panel) fn draw(ui: &mut Ui, sender: &mut SenderSettings, shown: &Shown<'_>) -> bool {
    let look = Look::of(ui);
    let bars = Bars::of(ui, 54.0, 54.0);
    ui.spacing_mut().item_spacing.y = 0.0;
    let height = bars::height(ui, LADDER.len() + 1, AFFINE_GAP + GAP + LINE + ROW);
    match shown.shadow {
        Some(shadow) => bars.header(ui, ["rung", "kbps", "less"], &about(sender, shown, shadow)),
        None => {
            line(ui, "Requested from the server.", look.muted);
        }
    }
    let mut rows = Rows {
        bars,
        height,
        shown,
        whole: shown.kbps(&LADDER[0]),
        hovered: None,
    };
    let top = ui.cursor().top();
    for (rung, key) in LADDER.iter().zip(RUNG_KEYS) {
        rows.draw(ui, &mut sender.stages, key, rung);
    }
    let bottom = ui.cursor().top();
    ui.add_space(AFFINE_GAP);
    rows.draw(ui, &mut sender.stages, "", &AFFINE);
    if shown.shadow.is_some() {
        bars.target(ui, Rangef::new(top, bottom));
    }
    let desyncs = below(ui, rows.hovered, shown);
    strip::draw_if_it_fits(ui, shown.moment, || {
        Totals::of(shown.meter.second_until(shown.moment))
    });
    desyncs
}

impl Shown<'_> {
    fn kbps(&self, rung: &Rung) -> Option<f64> {
        kbps_until(self.shadow?, rung, self.moment)
    }
}

/// What the rows have in common.
struct Rows<'a> {
    bars: Bars,
    /// Of a row, logical points.
    height: f32,
    shown: &'a Shown<'a>,
    /// What the first rung costs, kbps.
    whole: Option<f64>,
    hovered: Option<Rung>,
}

impl Rows<'_> {
    fn draw(&mut self, ui: &mut Ui, stages: &mut Stages, key: &str, rung: &Rung) {
        let look = Look::of(ui);
        let is_shown = self.shown.stages == rung.stages;
        let row = Row::button(ui, self.height, rung.name, is_shown);
        if row.response.clicked() {
            *stages = rung.stages;
        }
        if row.response.hovered() {
            self.hovered = Some(*rung);
        }
        if is_shown {
            keep_in_sight(ui, &row.response, rung.stages);
            // For the card at the start, whose arrow points here.
            let middle = row.rect.center().y;
            ui.data_mut(|data| data.insert_temp(Id::new(PRESENT), middle));
        }
        bars::name(ui, &row, key, rung.name);
        let Some(kbps) = self.shown.kbps(rung) else {
            return;
        };
        let color = match kbps <= TARGET_KBPS {
            true => look.half,
            false => look.above_target,
        };
        let edge = match is_shown {
            true => Stroke::new(1.0, look.half),
            false => Stroke::NONE,
        };
        self.bars.bar(ui, &row, rung.name, [0.0, kbps], color, edge);
        let less = self
            .whole
            .map_or_else(String::new, |whole| factor(whole / kbps));
        let color = match is_shown {
            true => look.ink,
            false => look.muted,
        };
        let figures = [(rounded(kbps), look.ink), (less, color)];
        self.bars.figures(ui, &row, figures);
    }
}

/// Scrolls to the row of the rung that is shown, when that changes.
fn keep_in_sight(ui: &Ui, row: &Response, stages: Stages) {
    let id = Id::new("rung in sight");
    let before: Option<Stages> = ui.data(|data| data.get_temp(id));
    if before != Some(stages) {
        ui.data_mut(|data| data.insert_temp(id, stages));
        row.scroll_to_me(None);
    }
}

/// What the rung does that is pointed at, or shown; below it what the colours mean, or a button. Returns whether the
/// lane is to lose its world.
fn below(ui: &mut Ui, hovered: Option<Rung>, shown: &Shown<'_>) -> bool {
    let look = Look::of(ui);
    let is_simulated = shown.stages == SIMULATED.stages && shown.moment.is_none();
    let sync = shown.sync.filter(|_| is_simulated);
    let rung = hovered.or(rung_of(shown.stages));
    let about = match (hovered, sync, rung) {
        (None, Some(sync), _) => {
            line(ui, sync::state(sync), look.ink).on_hover_text(sync::about(sync.status));
            return sync::nudge(ui, sync, shown.is_local);
        }
        (_, _, Some(rung)) => rung.summary,
        (_, _, None) => "Stages of your own: see Tuning.",
    };
    if sync.is_none() {
        ui.add_space(GAP);
    }
    line(ui, about, look.ink);
    if let Some(sync) = sync {
        return sync::nudge(ui, sync, shown.is_local);
    }
    if shown.shadow.is_some() {
        let target = format!("Full colour: at or below the target of {TARGET_KBPS:.0} kbps.");
        line(ui, target, look.muted);
    }
    false
}

/// What the figures are.
fn about(sender: &SenderSettings, shown: &Shown<'_>, shadow: &ShadowLadder) -> String {
    let second = match shown.moment {
        Some(_) => "the second up to what the views show",
        None => "the last second",
    };
    let mut about = format!(
        "What each rung would cost for the same snapshots, {} a second: mean of {second}. {} The bars are on a \
         logarithmic scale; the line through them is the target of the article, {TARGET_KBPS:.0} kbps. How many times \
         less: than the first rung.",
        sender.snapshots_per_second(),
        terms::accounting(Accounting::PayloadAndUdp)
    );
    if let Some(age) = shown.tick.and_then(|tick| shadow.age_ticks(tick)) {
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
    fn every_rung_is_found_at_its_index() {
        for (at, rung) in LADDER.iter().enumerate() {
            assert_eq!(index_of(rung.stages), Some(at), "{}", rung.name);
        }
        assert_eq!(index_of(AFFINE.stages), None);
    }

    #[test]
    fn steps_stay_on_the_ladder() {
        assert_eq!(step(Some(4), 0, Step::Up), 5);
        assert_eq!(step(Some(4), 0, Step::Down), 3);
        assert_eq!(step(Some(TOP), 0, Step::Up), TOP);
        assert_eq!(step(Some(0), 9, Step::Down), 0);
    }

    #[test]
    fn steps_from_custom_stages_lead_to_the_last_rung() {
        assert_eq!(step(None, 7, Step::Up), 7);
        assert_eq!(step(None, 7, Step::Down), 7);
        assert_eq!(step(None, usize::MAX, Step::Down), TOP);
    }

    #[test]
    fn the_past_has_the_figures_of_its_own_second() {
        // A packet of 1000 bytes in the first second, of 2000 bytes from then on.
        let bytes = |_, tick| if tick < 60 { 1_000 } else { 2_000 };
        let shadow = ShadowLadder::of_bytes(180, bytes);
        let at = |tick| kbps_until(&shadow, &LADDER[3], tick).unwrap();
        assert_eq!(at(None), 960.0);
        assert_eq!(at(Some(179)), at(None));
        assert_eq!(at(Some(59)), 480.0);
        assert_eq!(at(Some(89)), 720.0);
        assert_eq!(at(Some(500)), at(None), "what is not encoded yet");
    }
}
