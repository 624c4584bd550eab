//! The list of rungs, which shows the rung in use and lets the user choose another.

use cubewire_bevy::ConnectionSettings;
use cubewire_codec::Stages;
use cubewire_codec::ladder::{LADDER, Rung};
use cubewire_protocol::FallbackReason;

use super::{End, View};
use crate::prelude::*;

impl View<'_> {
    /// Draws a row for each rung. Returns the stages of the clicked one.
    pub(super) fn stages(&self, ui: &mut Ui) -> Option<Stages> {
        let used = match self.end {
            End::Server { peer, .. } => peer.settings().map(|settings| settings.stages),
            End::Client { .. } => {
                self.measure.record.packets().next_back().map(|packet| packet.stages)
            }
        };
        let mut pressed = None;
        let mut is_rung = false;
        for rung in LADDER {
            let stages = self.check(&rung);
            let is_used = used.is_some() && self.plan.legal(*rung.stages).ok() == used;
            is_rung |= is_used;
            if row(ui, &rung, stages.as_ref().err(), self.kbps(&rung), is_used) {
                pressed = stages.ok();
            }
        }
        if used.is_some() && !is_rung {
            note(ui, "Custom: no rung has these stages.");
        }
        self.explain_costs(ui);
        let (what, why) = match self.end {
            End::Server { peer, .. } => ("Refused", peer.refusal()),
            End::Client { replication, .. } => {
                ("Declined", replication.answer().and_then(Result::err))
            }
        };
        if let Some(why) = why {
            note(ui, format!("{what}: {why}."));
        }
        pressed
    }

    /// Returns a rung's stages in this scene, or the reason why the connection cannot use them.
    fn check(&self, rung: &Rung) -> Result<Stages, String> {
        let (legal, fallback) = match self.end {
            End::Server { peer, settings, .. } => {
                let budget = peer.settings().and_then(|settings| settings.budget_kbps);
                let settings = ConnectionSettings { stages: *rung.stages, ..*settings };
                (settings.check(self.plan, budget.is_some()), peer.fallback())
            }
            End::Client { replication, .. } => {
                let legal = self.plan.legal(*rung.stages);
                (legal.map_err(|why| why.to_string()), replication.fallback())
            }
        };
        let replaced = |why: FallbackReason| FallbackReason::instead_of(rung.stages).map(|_| why);
        match fallback.and_then(replaced) {
            Some(why) => Err(why.to_string()),
            None => legal,
        }
    }

    fn kbps(&self, rung: &Rung) -> Option<f64> {
        let End::Server { ladder, .. } = self.end else { return None };
        ladder?.rows().iter().find(|row| row.of == *rung)?.kbps(0)
    }

    /// Draws a note on the costs: their unit, their age if above a second, and the fraction of ticks they are measured on.
    fn explain_costs(&self, ui: &mut Ui) {
        let End::Server { ladder: Some(ladder), stats, .. } = self.end else { return };
        let Some(age) = ladder.age_ticks(stats.tick) else {
            note(ui, "Measuring the bandwidth of each rung \u{2026}");
            return;
        };
        let seconds = age as f64 / f64::from(self.rate());
        let when = match seconds > 1.0 {
            true => format!("{seconds:.0} s ago"),
            false => "in the last second".to_owned(),
        };
        let sampled = match 100.0 * ladder.share() {
            percent @ ..99.5 => format!(", from {percent:.0} % of the ticks"),
            _ => String::new(),
        };
        note(ui, format!("kbps {when}{sampled}, without a budget."));
    }
}

/// Draws the row of a rung. `refusal` is the reason why it cannot be chosen. Returns whether the row was clicked.
fn row(
    ui: &mut Ui,
    rung: &Rung,
    refusal: Option<&String>,
    kbps: Option<f64>,
    is_used: bool,
) -> bool {
    let (look, name) = (Look::of(ui), rung.name);
    let cost = kbps.map(rounded).unwrap_or_default();
    let (row, about, [ink, muted]) = match refusal {
        None => {
            let spoken = if cost.is_empty() { "" } else { &*format!(", {cost} kbps") };
            let row = Row::button(ui, ROW, &format!("{name}{spoken}"), is_used);
            (row, rung.summary, [look.ink, look.muted])
        }
        Some(why) => {
            (Row::show(ui, ROW, &format!("{name}: {why}")), &**why, [look.impossible[1]; 2])
        }
    };
    row.text(ui, At::Left(0.0), name, SMALL, ink);
    row.text(ui, At::Right(row.rect.width() - NAME - KBPS), cost, SMALL, ink);
    let right = row.rect.with_min_x(row.rect.left() + NAME + KBPS + GAP);
    let mut right = row_in(ui, right, Align::Min);
    let about = RichText::new(about).size(SMALL).color(muted);
    right.add(Label::new(about).truncate().selectable(false));
    row.response.clicked()
}

/// Widths of the name and of the cost, in logical points.
const NAME: f32 = 124.0;
const KBPS: f32 = 48.0;
